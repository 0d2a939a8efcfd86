"""The list of files leads to the same documents as reading them all at once, and a changed file is another."""

from __future__ import annotations

import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from sectioncls.corpora.sources import (
    Meter,
    Source,
    Watched,
    container_of,
    key_of,
    list_sources,
    open_source,
    total_size,
    unfold,
)
from sectioncls.documents import Document, find_documents
from sectioncls.errors import InputError
from sectioncls.records import Rejected


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "in"
    (root / "deep" / "deeper").mkdir(parents=True)
    for name in ("b.xml", "a.nxml", "deep/c.XML", "deep/deeper/d.xml", "._ghost.xml", "notes.csv"):
        (root / name).write_text(f"<article>{name}</article>")
    with tarfile.open(root / "deep" / "flock.tar.gz", "w:gz") as archive:
        archive.add(root / "a.nxml", "x/a.nxml")
        archive.add(root / "b.xml", "../b.xml")
    with zipfile.ZipFile(root / "flock.zip", "w") as packed:
        packed.write(root / "b.xml", "b.xml")
    (root / "link.xml").symlink_to(root / "b.xml")
    (root / "folder-link").symlink_to(root / "deep")
    (root / "broken.zip").write_bytes(b"PK\x03\x04 no more")
    return root


def documents(items) -> list[Document | Rejected]:  # type: ignore[no-untyped-def]
    found: list[Document | Rejected] = []
    for item in items:
        found += open_source(item) if isinstance(item, Source) else [item]
    return found


def test_equals_find_documents(folder: Path) -> None:
    for paths in ([folder], [folder / "b.xml", folder / "deep"], [folder / "notes.csv"], []):
        expected = list(find_documents(paths))
        assert documents(list_sources(paths)) == expected
        assert documents(unfold(list_sources(paths))) == expected
    assert len(list(find_documents([folder]))) >= 10


def test_archives_are_unfolded_where_they_are_listed(folder: Path) -> None:
    kinds = {type(item) for item in unfold(list_sources([folder / "deep" / "flock.tar.gz"]))}
    assert kinds == {Document, Rejected}
    assert [type(item) for item in unfold(list_sources([folder / "b.xml"]))] == [Source]


def test_an_archive_named_twice_is_read_once(folder: Path) -> None:
    assert len(list(list_sources([folder / "flock.zip", folder / "flock.zip"]))) == 1


def test_a_path_that_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be read"):
        list(list_sources([tmp_path / "nowhere"]))
    (gone,) = documents([Source(str(tmp_path / "gone.xml"), 3, 0)])
    assert isinstance(gone, Rejected)
    assert gone.reason == "unreadable"


def test_keys_tell_a_changed_file(folder: Path) -> None:
    (one,) = list_sources([folder / "b.xml"])
    assert key_of(one) == key_of(next(iter(list_sources([folder / "b.xml"]))))
    (folder / "b.xml").write_text("<article>B.xml</article>")
    os.utime(folder / "b.xml", ns=(1, 1))
    (two,) = list_sources([folder / "b.xml"])
    assert key_of(one) != key_of(two)
    assert key_of(Document("a", b"x")) not in (key_of(Document("b", b"x")), key_of(Document("a", b"y")))
    assert len({key_of(item) for item in unfold(list_sources([folder]))}) == len(list(unfold(list_sources([folder]))))


def test_containers() -> None:
    assert container_of(Document("/in/flock.tar!x/a.xml", b"")) == "/in/flock.tar"
    assert container_of(Source("/in/deep/a.xml", 1, 1)) == "/in/deep"
    assert container_of(Rejected("/in/flock.zip!b.xml", "unreadable")) == "/in/flock.zip"


def test_the_meter_guesses_by_bytes(tmp_path: Path) -> None:
    for n in range(8):
        (tmp_path / f"{n}.xml").write_bytes(b"x" * 100)
    meter = Meter(list_sources([tmp_path]), total_size([tmp_path]))
    assert meter.expected(0) is None
    stream = iter(meter)
    for _ in range(5):
        next(stream)
    assert meter.expected(4) == 8  # of 4 files behind, 4 documents
    assert meter.expected(2) == 4  # half of what is behind is still being read
    meter.skipped = 2
    assert meter.expected(2) == 6
    assert Meter([]).expected(3) is None
    watched = Watched(["a", "b"], meter)
    assert list(watched) == ["a", "b"]
    assert watched.expected() == 6
