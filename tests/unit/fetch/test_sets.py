"""All files of a card into one folder."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from sectioncls.errors import InputError, OutputError
from sectioncls.fetch import Card, CardFile, Patience, fetch_set, folder_lock, missing_by_hand

from .conftest import Site, status, whole


def card(*files: CardFile, by_hand: str = "") -> Card:
    return Card(
        name="sheep",
        title="Sheep",
        about="Sheep.",
        citation="Ourselves.",
        licence="CC0-1.0",
        builder="rct",
        by_hand=by_hand,
        homepage="https://example.org/sheep",
        files=files,
    )


def test_files_and_receipt(site: Site, tmp_path: Path, patience: Patience) -> None:
    body = b"###1\nMETHODS\tWe count sheep.\n"
    sha = hashlib.sha256(body).hexdigest()
    files = (
        CardFile(name="train.txt", url=site.put("/train.txt", whole(body)), sha256=sha),
        CardFile(name="test.txt", url=site.put("/test.txt", whole(body))),
        CardFile(name="dev.txt"),
    )
    sheep = card(*files, by_hand="ask the shepherd")
    seen: dict[str, int] = {}
    found = fetch_set(sheep, tmp_path, patience=patience, watch=lambda file, here: seen.update({file.name: here}))
    assert [(file.name, file.bytes, file.sha256, file.checked, file.fetched) for file in found] == [
        ("train.txt", len(body), sha, True, True),
        ("test.txt", len(body), sha, False, True),
    ]
    assert seen == {"train.txt": len(body), "test.txt": len(body)}
    assert missing_by_hand(sheep, tmp_path) == ["dev.txt"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fetched.json", "test.txt", "train.txt"]
    receipt = (tmp_path / "fetched.json").read_bytes()
    assert json.loads(receipt)["files"][0]["sha256"] == sha
    again = fetch_set(sheep, tmp_path, patience=patience)
    assert [file.fetched for file in again] == [False, False]
    assert (tmp_path / "fetched.json").read_bytes() == receipt


def test_what_came_before_a_fault_stays(site: Site, tmp_path: Path, patience: Patience) -> None:
    files = (
        CardFile(name="train.txt", url=site.put("/train.txt", whole(b"x"))),
        CardFile(name="test.txt", url=site.put("/test.txt", status(503))),
    )
    with pytest.raises(InputError, match="answers 503"):
        fetch_set(card(*files), tmp_path, patience=patience)
    assert [path.name for path in tmp_path.iterdir()] == ["train.txt"]


def test_by_hand_and_locked(site: Site, tmp_path: Path, patience: Patience) -> None:
    by_hand = card(CardFile(name="all.txt"), by_hand="ask the shepherd")
    with pytest.raises(InputError, match=r"by machine \(ask the shepherd; homepage: https://example.org/sheep\)"):
        fetch_set(by_hand, tmp_path / "x", patience=patience)
    assert not (tmp_path / "x").exists()
    one = card(CardFile(name="a", url=site.put("/a", whole(b"x"))))
    with folder_lock(tmp_path), pytest.raises(OutputError, match="another download"):
        fetch_set(one, tmp_path, patience=patience)
