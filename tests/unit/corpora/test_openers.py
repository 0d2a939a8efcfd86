"""Lines from plain and packed files, and the files of a folder by split."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zipfile
from pathlib import Path

import pytest

from sectioncls.corpora.openers import find_split_files, read_lines
from sectioncls.errors import InputError

TEXT = "\ufefffirst\r\nsecond\u2028still\x85second\n\nlast é"
LINES = [(1, "first"), (2, "second\u2028still\x85second"), (3, ""), (4, "last é")]


def packed(folder: Path, suffix: str, data: bytes = TEXT.encode()) -> Path:
    path = folder / f"train.txt{suffix}"
    if suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("__MACOSX/x", "")
            archive.writestr("train.txt", data)
    elif suffix == ".7z":
        py7zr = pytest.importorskip("py7zr")
        (folder / "plain").write_bytes(data)
        with py7zr.SevenZipFile(path, "w") as archive:
            archive.write(folder / "plain", "train.txt")
    else:
        pack = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}[suffix]
        path.write_bytes(pack(data))
    return path


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".bz2", ".zip", ".7z"])
def test_lines_of_every_packing(tmp_path: Path, suffix: str) -> None:
    assert list(read_lines(packed(tmp_path, suffix))) == LINES


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".bz2", ".zip", ".7z"])
def test_broken_packings_are_input_errors(tmp_path: Path, suffix: str) -> None:
    whole = packed(tmp_path, suffix, os.urandom(3000).hex().encode()).read_bytes()
    path = tmp_path / f"train.txt{suffix}"
    for bad in (whole[: len(whole) // 2], b"no archive at all", whole[:40] + b"\0" * 40 + whole[80:]):
        path.write_bytes(bad)
        with pytest.raises(InputError, match=r"train\.txt"):
            list(read_lines(path))


def test_bad_lines_are_named(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_bytes(b"good\nbad \xff\n")
    with pytest.raises(InputError, match=r"train\.txt:2: is not UTF-8"):
        list(read_lines(path))
    path.write_bytes(b"")
    with pytest.raises(InputError, match="is empty"):
        list(read_lines(path))
    with pytest.raises(InputError, match="is empty"):
        list(read_lines(packed(tmp_path, ".gz", b"")))
    with pytest.raises(InputError, match="does not exist"):
        list(read_lines(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="can't be read"):
        list(read_lines(tmp_path))


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sectioncls.corpora.openers.LONGEST_LINE", 100)
    path = tmp_path / "train.txt"
    path.write_text("x\n" + "y" * 101 + "\n")
    with pytest.raises(InputError, match=":2: has a line beyond"):
        list(read_lines(path))


def test_archives_with_several_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "train.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "a")
        archive.writestr("b.txt", "b")
    with pytest.raises(InputError, match="holds 2 files"):
        list(read_lines(path))


def find(folder: Path) -> dict[str, str]:
    return {split: file.name for split, file in find_split_files(folder, suffix=".txt", todo="x").items()}


def test_split_files_of_a_folder(tmp_path: Path) -> None:
    for name in (
        "test_clean.txt.gz",
        "dev.txt",
        "dev.txt.xz",
        "train.7z",
        "train.jsonl.gz",
        "README",
        "trainer.txt",
    ):
        (tmp_path / name).write_text("x")
    assert find(tmp_path) == {"train": "train.7z", "dev": "dev.txt", "test": "test_clean.txt.gz"}
    assert find_split_files(tmp_path / "README", suffix=".txt", todo="x") == {"train": tmp_path / "README"}
    assert list(find_split_files(tmp_path / "dev.txt", suffix=".txt", todo="x")) == ["dev"]
    (tmp_path / "dev_clean.txt").write_text("x")
    with pytest.raises(InputError, match="more than one dev file"):
        find(tmp_path)


def test_folder_without_split_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no file named like train\.txt"):
        find(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        find(tmp_path / "nowhere")
