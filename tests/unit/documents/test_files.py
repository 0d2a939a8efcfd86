from __future__ import annotations

import gzip
import io
import lzma
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from sectioncls.documents import ALL_SUFFIXES, Document, find_documents, open_documents, read_documents
from sectioncls.errors import InputError
from sectioncls.records import Article, Rejected

DATA = b"<article><body><p>Kites rise.</p></body></article>"


def found(path: Path) -> dict[str, bytes | str]:
    """Name (below the path) → bytes, or the reason of the rejection."""
    items: dict[str, bytes | str] = {}
    for item in find_documents([path]):
        if isinstance(item, Document):
            items[item.name.removeprefix(str(path))] = item.data
        else:
            items[item.source.removeprefix(str(path))] = item.reason
    return items


def make_tar(path: Path, mode: str, members: dict[str, bytes]) -> Path:
    with tarfile.open(path, mode) as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def test_a_folder_is_read_in_order_with_what_is_below(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("z.xml", "a.nxml", "b/c.XML", "notes.txt", "._a.xml"):
        (tmp_path / name).write_bytes(DATA)
    (tmp_path / "d.xml.gz").write_bytes(gzip.compress(DATA))
    (tmp_path / "e.xml.xz").write_bytes(lzma.compress(DATA))
    assert list(found(tmp_path)) == ["/a.nxml", "/d.xml.gz", "/e.xml.xz", "/z.xml", "/b/c.XML"]
    assert set(found(tmp_path).values()) == {DATA}


def test_the_caller_says_which_names_are_documents(tmp_path: Path) -> None:
    names = ["a.MD", "b.markdown", "c.pdf", "d.txt", "e.tei", "f.md.gz", "g.csv", "h.xml"]
    for name in names:
        (tmp_path / name).write_bytes(gzip.compress(DATA) if name.endswith(".gz") else DATA)
    make_tar(tmp_path / "z.tar", "w", dict.fromkeys(names[:4], DATA))
    assert list(found(tmp_path)) == ["/e.tei", "/f.md.gz", "/h.xml"]
    items = [item.name for item in find_documents([tmp_path], suffixes=ALL_SUFFIXES) if isinstance(item, Document)]
    wanted = [
        *(f"{tmp_path}/{name}" for name in names if name != "g.csv"),
        *(f"{tmp_path}/z.tar!{name}" for name in names[:4]),
    ]
    assert items == wanted


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_an_open_stream(tmp_path: Path, pack: object) -> None:
    assert callable(pack)
    assert list(open_documents("-", io.BytesIO(pack(DATA)))) == [Document("-", DATA)]
    whole = make_tar(tmp_path / "w.tar", "w", {"a.xml": DATA, "b.md": DATA}).read_bytes()
    assert list(open_documents("-", io.BytesIO(pack(whole)))) == [Document("-!a.xml", DATA), Document("-!b.md", DATA)]
    [item] = open_documents("-", io.BytesIO(b"PK\x03\x04 kite"))
    assert isinstance(item, Rejected) and item.reason == "unreadable"


def test_records_of_a_set_in_an_archive(tmp_path: Path) -> None:
    record = b"<PubmedArticle><MedlineCitation><PMID>1</PMID></MedlineCitation></PubmedArticle>"
    data = b"<PubmedArticleSet>" + record * 2 + b"</PubmedArticleSet>"
    path = make_tar(tmp_path / "a.tar", "w", {"p.xml.gz": gzip.compress(data), "q.xml": data[:-30], "r.xml": DATA})
    expected = ["!p.xml.gz#1", "!p.xml.gz#2", "!q.xml#1", "!q.xml", "!r.xml"]
    assert list(found(path)) == expected
    zipped = tmp_path / "a.zip"
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("p.xml.gz", gzip.compress(data))
        archive.writestr("q.xml", data[:-30])
        archive.writestr("r.xml", DATA)
    assert list(found(zipped)) == expected


def test_a_file_named_itself_is_read_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "article"
    path.write_bytes(DATA)
    assert found(path) == {"": DATA}
    path.write_bytes(gzip.compress(DATA) + gzip.compress(DATA))
    assert found(path) == {"": DATA + DATA}


@pytest.mark.parametrize("suffix", ["tar", "tar.gz", "tgz", "tar.xz"])
def test_tar_archives(tmp_path: Path, suffix: str) -> None:
    kind = {"tar": "w", "tgz": "w:gz"}.get(suffix, f"w:{suffix[4:]}")
    members = {"x/b.xml": DATA, "x/a.nxml": DATA, "x/p.pdf": b"%PDF", "c.xml.gz": gzip.compress(DATA)}
    path = make_tar(tmp_path / f"a.{suffix}", kind, members)
    assert found(path) == {"!x/b.xml": DATA, "!x/a.nxml": DATA, "!c.xml.gz": DATA}
    [first, *_] = read_documents([path])
    assert isinstance(first, Article)
    assert first.id == "b"


def test_zip_archives(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/b.xml", DATA)
        archive.writestr("../c.xml", DATA)
        archive.writestr("d.zip", DATA)
        archive.writestr("e.xml.xz", lzma.compress(DATA))
        link = zipfile.ZipInfo("f.xml")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "b.xml")
    reasons = {"!../c.xml": "unreadable", "!d.zip": "unreadable", "!f.xml": "unreadable"}
    assert found(path) == {"!x/b.xml": DATA, "!e.xml.xz": DATA, **reasons}


def test_links_and_outside_names_in_a_tar_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        for name, kind in (("s.xml", tarfile.SYMTYPE), ("h.xml", tarfile.LNKTYPE), ("f.xml", tarfile.FIFOTYPE)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "../../secret"
            archive.addfile(member)
        for name in ("../o.xml", "/r.xml", "ok.xml"):
            member = tarfile.TarInfo(name)
            member.size = len(DATA)
            archive.addfile(member, io.BytesIO(DATA))
    assert found(path) == {
        **dict.fromkeys(["!s.xml", "!h.xml", "!f.xml", "!../o.xml", "!/r.xml"], "unreadable"),
        "!ok.xml": DATA,
    }


def test_links_and_pipes_in_a_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(DATA)
    (tmp_path / "b.xml").symlink_to(tmp_path / "a.xml")
    os.mkfifo(tmp_path / "c.xml")
    (tmp_path / "d").symlink_to(tmp_path)
    assert found(tmp_path) == {"/a.xml": DATA, **dict.fromkeys(["/b.xml", "/c.xml", "/d"], "unreadable")}
    with pytest.raises(InputError, match="neither"):
        found(tmp_path / "c.xml")


def test_a_missing_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be read"):
        list(find_documents([tmp_path / "none.xml"]))


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_an_error_alone_and_a_value_in_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_bytes(DATA)
    path.chmod(0)
    with pytest.raises(InputError):
        found(path)
    assert found(tmp_path) == {"/a.xml": "unreadable"}


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_damaged_archives_are_told(tmp_path: Path, pack: object) -> None:
    assert callable(pack)
    path = tmp_path / "a.xml.gz"
    path.write_bytes(pack(os.urandom(5000))[:-600])
    assert found(path) == {"": "unreadable"}
    whole = make_tar(tmp_path / "w.tar", "w", {"a.xml": DATA, "b.xml": DATA}).read_bytes()
    path = tmp_path / "b.tar.gz"
    path.write_bytes(pack(whole[:1024] + b"x" * 512 + whole[1536:]))
    assert found(path) == {"!a.xml": DATA, "": "unreadable"}
    path.write_bytes(pack(whole[:1600]))
    assert found(path)[""] == "unreadable"
    path = tmp_path / "c.zip"
    path.write_bytes(b"PK\x03\x04" + b"x" * 100)
    assert found(path) == {"": "unreadable"}


def test_a_huge_name_in_a_tar_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo("x" * (1 << 20) + ".xml"))
    assert found(path) == {"": "unreadable"}


def test_bombs_are_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sectioncls.documents.files.MAX_BYTES", 1 << 20)
    monkeypatch.setattr("sectioncls.documents.streams._FREE", 1 << 20)
    zeros = bytes((1 << 20) + 1)
    big = tmp_path / "a.xml.gz"
    big.write_bytes(gzip.compress(zeros, 1))
    assert found(big) == {"": "too-large"}
    bomb = tmp_path / "b.tar.xz"
    bomb.write_bytes(
        lzma.compress(make_tar(tmp_path / "w.tar", "w", {"a.bin": zeros * 2, "b.xml": DATA}).read_bytes(), preset=0)
    )
    assert found(bomb) == {"": "too-large"}
    path = tmp_path / "c.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.xml", zeros)
        archive.writestr("b.xml", DATA)
    assert found(path) == {"!a.xml": "too-large", "!b.xml": DATA}


def test_each_document_is_read_or_told(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(DATA)
    (tmp_path / "b.xml").write_bytes(b"")
    kept, refused = read_documents([tmp_path])
    assert isinstance(kept, Article)
    assert isinstance(refused, Rejected)
    assert refused.reason == "empty"
