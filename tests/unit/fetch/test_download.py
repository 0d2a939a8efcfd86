"""Downloads against a server with faults: whole and right, or nothing but a part to go on from."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import subprocess
from pathlib import Path

import pytest

from sectioncls.errors import InputError, OutputError
from sectioncls.fetch import Download, Patience, fetch_file, folder_lock
from sectioncls.fetch import download as room

from .conftest import Site, endless, half, known, reset, silent, status, whole

BODY = random.Random(0).randbytes(300_000)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_whole_file(site: Site, tmp_path: Path, patience: Patience, pauses: list[float]) -> None:
    url = site.put("/a.bin", whole(BODY))
    seen: list[int] = []
    assert fetch_file(known(url, BODY), tmp_path / "a.bin", patience=patience, watch=seen.append)
    assert (tmp_path / "a.bin").read_bytes() == BODY
    assert names(tmp_path) == ["a.bin"]
    assert seen == sorted(seen)
    assert seen[-1] == len(BODY)
    assert pauses == []
    assert not fetch_file(known(url, BODY), tmp_path / "a.bin", patience=patience)
    assert len(site.asked) == 1


def test_the_blob_id_is_gits(tmp_path: Path, site: Site, patience: Patience) -> None:
    file = tmp_path / "b"
    file.write_bytes(BODY)
    git = subprocess.run(["git", "hash-object", str(file)], capture_output=True, text=True, check=True).stdout.strip()
    url = site.put("/b", whole(BODY))
    assert fetch_file(Download(url, git_blob=git), tmp_path / "c", patience=patience)
    with pytest.raises(InputError, match=f"its git blob id is {git}, {'0' * 40} was expected: not kept"):
        fetch_file(Download(url, git_blob="0" * 40), tmp_path / "d", patience=patience)


def test_half_a_file_then_the_rest(site: Site, tmp_path: Path, patience: Patience, pauses: list[float]) -> None:
    url = site.put("/a.bin", half(BODY, 100_000), whole(BODY))
    assert fetch_file(known(url, BODY), tmp_path / "a.bin", patience=patience)
    assert (tmp_path / "a.bin").read_bytes() == BODY
    assert site.ranges() == [None, "bytes=100000-"]
    assert site.asked[1][1]["If-Range"] == '"v1"'
    assert len(pauses) == 1
    assert names(tmp_path) == ["a.bin"]


def test_a_call_that_was_cut_off_goes_on(site: Site, tmp_path: Path, patience: Patience) -> None:
    url = site.put("/a.bin", half(BODY, 100_000))
    with pytest.raises(InputError, match=r"sent 100,000 of 300,000 bytes and stopped \(4 tries\) \(run it again"):
        fetch_file(Download(url), tmp_path / "a.bin", patience=patience)
    assert names(tmp_path) == ["a.bin.part", "a.bin.part.json"]
    site.put("/a.bin", whole(BODY))
    before = len(site.asked)
    assert fetch_file(Download(url), tmp_path / "a.bin", patience=patience)
    assert site.ranges()[before:] == ["bytes=100000-"]
    assert (tmp_path / "a.bin").read_bytes() == BODY


def test_another_file_at_the_server_starts_over(site: Site, tmp_path: Path, patience: Patience) -> None:
    url = site.put("/a.bin", half(b"y" * 300_000, 100_000), whole(BODY, etag='"v2"'))
    assert fetch_file(Download(url), tmp_path / "a.bin", patience=patience)
    assert site.ranges() == [None, "bytes=100000-"]
    assert (tmp_path / "a.bin").read_bytes() == BODY


def test_without_etag_or_checksum_nothing_is_trusted(site: Site, tmp_path: Path, patience: Patience) -> None:
    url = site.put("/a.bin", half(BODY, 1000, etag=""), whole(BODY, etag=""))
    assert fetch_file(Download(url), tmp_path / "a.bin", patience=patience)
    assert site.ranges() == [None, None]
    url = site.put("/b.bin", half(BODY, 1000, etag=""), whole(BODY, etag=""))
    assert fetch_file(known(url, BODY), tmp_path / "b.bin", patience=patience)
    assert site.ranges()[2:] == [None, "bytes=1000-"]


def test_a_part_beyond_the_file_is_dropped(site: Site, tmp_path: Path, patience: Patience) -> None:
    url = site.put("/a.bin", whole(BODY))
    (tmp_path / "a.bin.part").write_bytes(BODY + b"more")
    (tmp_path / "a.bin.part.json").write_text(json.dumps({"url": url, "validator": '"v1"'}))
    assert fetch_file(Download(url), tmp_path / "a.bin", patience=patience)
    assert (tmp_path / "a.bin").read_bytes() == BODY


def test_a_part_that_is_whole_needs_no_server(site: Site, tmp_path: Path, patience: Patience) -> None:
    (tmp_path / "a.bin.part").write_bytes(BODY)
    assert fetch_file(known(site.url + "/gone", BODY), tmp_path / "a.bin", patience=patience)
    assert site.asked == []


def test_pauses_double_with_a_jitter_that_is_always_the_same(
    site: Site, tmp_path: Path, patience: Patience, pauses: list[float]
) -> None:
    url = site.put("/a.bin", status(503), status(500), reset, whole(BODY))
    assert fetch_file(known(url, BODY), tmp_path / "a.bin", patience=patience)
    assert [1 <= pause / 2**n <= 1.5 for n, pause in enumerate(pauses)] == [True] * 3
    first = list(pauses)
    site.put("/a.bin", status(503), status(500), reset, whole(BODY))
    fetch_file(known(url, BODY), tmp_path / "b.bin", patience=patience)
    assert pauses[3:] == first


def test_retry_after(site: Site, tmp_path: Path, patience: Patience, pauses: list[float]) -> None:
    url = site.put("/a.bin", status(429, Retry_After="7"), whole(BODY))
    assert fetch_file(known(url, BODY), tmp_path / "a.bin", patience=patience)
    assert pauses == [7.0]
    site.put("/b.bin", status(503, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"), whole(BODY))
    assert fetch_file(known(site.url + "/b.bin", BODY), tmp_path / "b.bin", patience=patience)
    assert pauses == [7.0, 0.0]
    site.put("/c.bin", status(503, Retry_After="86400"))
    with pytest.raises(InputError, match=r"answers 503 .* asks to come back in 86,400 s"):
        fetch_file(Download(site.url + "/c.bin"), tmp_path / "c.bin", patience=patience)
    site.put("/d.bin", status(503, Retry_After="inf"))
    with pytest.raises(InputError, match="asks to come back"):
        fetch_file(Download(site.url + "/d.bin"), tmp_path / "d.bin", patience=patience)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (status(503), r"answers 503 .*\(4 tries\) \(try again later\)"),
        (status(404), "answers 404: there is no such file"),
        (status(403), "answers 403 Forbidden .*login"),
        (status(302, Location="/a.bin"), "answers 302 .*infinite loop"),
        (status(302, Location="file:///etc/passwd"), "answers 302 .*file:///etc/passwd' is not allowed"),
        (whole(b""), "sent nothing"),
        (reset, "broke the connection off"),
        (half(BODY, 100), "sent 100 of 300,000 bytes"),
        (half(BODY, 100, announce=False), "sent 100 of 300,000 bytes"),
        (half(b"z" * 7, 7), "offers 7 bytes, 300,000 were expected"),
        (whole(b"<!DOCTYPE html><p>Log in", kind="text/html"), r"offers 24 bytes \(a web page\), 300,000"),
        (half(b"  <HTML>" + BODY, 10_000, announce=False), "sent a web page instead of the file"),
        (endless, "sends more than the 300,000 bytes expected: not kept"),
        (whole(bytes(len(BODY))), "its sha256 is [0-9a-f]{64}, [0-9a-f]{64} was expected: not kept"),
    ],
)
def test_one_clear_line_and_no_file(
    site: Site, tmp_path: Path, patience: Patience, answer: object, message: str
) -> None:
    url = site.put("/a.bin", answer)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=message) as caught:
        fetch_file(known(url, BODY), tmp_path / "a.bin", patience=patience)
    assert "\n" not in str(caught.value)
    assert "a.bin" not in names(tmp_path)
    kept = tmp_path / "a.bin.part"
    assert not kept.exists() or kept.read_bytes() == BODY[: kept.stat().st_size]


def test_silence_and_closed_doors(site: Site, tmp_path: Path) -> None:
    short = Patience(tries=2, timeout=0.2, sleep=lambda seconds: None)
    url = site.put("/a.bin", silent(1.0))
    with pytest.raises(InputError, match=r"says nothing \(timed out\)"):
        fetch_file(Download(url), tmp_path / "a.bin", patience=short)
    with pytest.raises(InputError, match="can't be reached"):
        fetch_file(Download("http://127.0.0.1:9/a"), tmp_path / "a.bin", patience=short)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://a.b/c", "data:,x", "http:///x", "x", "http://a b/c"])
def test_addresses(tmp_path: Path, url: str) -> None:
    with pytest.raises(InputError, match=r"is not an http\(s\) address"):
        fetch_file(Download(url), tmp_path / "a.bin")
    assert names(tmp_path) == []


def test_an_endless_file_of_unknown_size(
    site: Site, tmp_path: Path, patience: Patience, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "LARGEST", 1_000_000)
    url = site.put("/a.bin", endless)
    with pytest.raises(InputError, match="sends more than the 1,000,000 bytes"):
        fetch_file(Download(url), tmp_path / "a.bin", patience=patience)
    assert names(tmp_path) == []


def test_redirects_are_followed(site: Site, tmp_path: Path, patience: Patience) -> None:
    site.put("/a.bin", status(302, Location="/b.bin"))
    site.put("/b.bin", whole(BODY))
    assert fetch_file(known(site.url + "/a.bin", BODY), tmp_path / "a.bin", patience=patience)


def test_what_is_there_is_kept(site: Site, tmp_path: Path, patience: Patience) -> None:
    url = site.put("/a.bin", whole(BODY))
    (tmp_path / "a.bin").write_bytes(b"mine")
    with pytest.raises(OutputError, match="is there already, with other bytes"):
        fetch_file(known(url, BODY), tmp_path / "a.bin", patience=patience)
    assert (tmp_path / "a.bin").read_bytes() == b"mine"
    assert fetch_file(known(url, BODY), tmp_path / "a.bin", patience=patience, overwrite=True)
    assert (tmp_path / "a.bin").read_bytes() == BODY


def test_overwriting_with_a_bad_file_keeps_the_old(site: Site, tmp_path: Path, patience: Patience) -> None:
    url = site.put("/a.bin", whole(bytes(len(BODY))))
    (tmp_path / "a.bin").write_bytes(b"mine")
    with pytest.raises(InputError, match="not kept"):
        fetch_file(known(url, BODY), tmp_path / "a.bin", patience=patience, overwrite=True)
    assert (tmp_path / "a.bin").read_bytes() == b"mine"


def test_ctrl_c_leaves_the_part(site: Site, tmp_path: Path, patience: Patience) -> None:
    url = site.put("/a.bin", whole(BODY))

    def stop(here: int) -> None:
        if here >= 1000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch_file(known(url, BODY), tmp_path / "a.bin", patience=patience, watch=stop)
    part = (tmp_path / "a.bin.part").read_bytes()
    assert part == BODY[: len(part)] != b""
    assert fetch_file(known(url, BODY), tmp_path / "a.bin", patience=patience)
    assert (tmp_path / "a.bin").read_bytes() == BODY


def test_a_full_disk(site: Site, tmp_path: Path, patience: Patience, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(room, "_copy", full)
    url = site.put("/a.bin", whole(BODY))
    with pytest.raises(OutputError, match="no space left on the disk"):
        fetch_file(known(url, BODY), tmp_path / "a.bin", patience=patience)


def test_two_downloads_into_one_folder(tmp_path: Path) -> None:
    with folder_lock(tmp_path / "x"):
        with (
            pytest.raises(OutputError, match="another download into this folder is running"),
            folder_lock(tmp_path / "x"),
        ):
            pass
        with folder_lock(tmp_path / "y"):
            pass
    with folder_lock(tmp_path / "x"):
        pass
    assert names(tmp_path / "x") == []
    (tmp_path / "x" / room.LOCK).touch()  # as kill -9 leaves it
    with folder_lock(tmp_path / "x"):
        pass


def test_the_helper_knows_its_sums() -> None:
    assert known("http://x/y", b"").git_blob == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert known("http://x/y", b"").sha256 == hashlib.sha256(b"").hexdigest()
