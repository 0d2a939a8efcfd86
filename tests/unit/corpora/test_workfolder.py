"""The work folder: left over, in use, begun with other settings, not ours; each is one line."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest

from sectioncls.corpora.workfolder import note_part, work_folder
from sectioncls.errors import InputError, OutputError

SETTINGS: dict[str, object] = {"seed": 0, "labels": ("a", "b")}


def begin(out: Path, **options: bool) -> None:
    """Begin a build that is cut off after its first article."""
    with (
        pytest.raises(KeyboardInterrupt),
        work_folder(out, SETTINGS, **{"resume": False, "overwrite": False} | options) as folder,
    ):
        (folder / "articles").write_bytes(b"first")
        raise KeyboardInterrupt


def refused(match: str, out: Path, settings: dict[str, object] = SETTINGS, **options: bool) -> None:
    given = {"resume": False, "overwrite": False} | options
    with pytest.raises(OutputError, match=match), work_folder(out, settings, **given):
        pass


def test_it_goes_when_all_is_well(tmp_path: Path) -> None:
    with work_folder(tmp_path / "c", SETTINGS, resume=True, overwrite=False) as folder:
        assert folder == tmp_path / "c.building"
        (folder / "articles").write_bytes(b"first")
    assert not list(tmp_path.iterdir())


def test_it_stays_when_a_build_is_cut_off(tmp_path: Path) -> None:
    out = tmp_path / "c"
    begin(out)
    refused(r"c\.building: a build was cut off here \(--resume.*--overwrite", out)
    refused(r"was begun with another seed \(0, now 1\)", out, SETTINGS | {"seed": 1}, resume=True)
    with work_folder(out, SETTINGS, resume=True, overwrite=False) as folder:
        assert (folder / "articles").read_bytes() == b"first"
    begin(out)
    with work_folder(out, SETTINGS | {"seed": 1}, resume=False, overwrite=True) as folder:
        assert not (folder / "articles").exists()


def test_nothing_read_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError), work_folder(tmp_path / "c", SETTINGS, resume=False, overwrite=False):
        raise InputError("is missing")
    assert not list(tmp_path.iterdir())


def test_a_full_disk_names_the_way_on(tmp_path: Path) -> None:
    with (
        pytest.raises(OutputError, match=r"no space left.*--resume goes on"),
        work_folder(tmp_path / "c", SETTINGS, resume=False, overwrite=False) as folder,
    ):
        (folder / "articles").write_bytes(b"first")
        raise OSError(28, os.strerror(28))
    assert (tmp_path / "c.building").is_dir()


def test_half_written_corpora_are_swept_up(tmp_path: Path) -> None:
    begin(tmp_path / "c")
    part, other = tmp_path / ".c.abc.part", tmp_path / ".d.abc.part"
    part.mkdir()
    other.mkdir()
    note_part(tmp_path / "c.building", part)
    with work_folder(tmp_path / "c", SETTINGS, resume=True, overwrite=False):
        assert not part.exists()
    begin(tmp_path / "c")
    note_part(tmp_path / "c.building", other)
    with work_folder(tmp_path / "c", SETTINGS, resume=True, overwrite=False):
        assert other.exists(), "another corpus's"


def test_strangers_are_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "c.building" / "thesis.txt"
    mine.parent.mkdir()
    mine.write_text("mine")
    for overwrite in (False, True):
        refused("not ours", tmp_path / "c", resume=True, overwrite=overwrite)
    assert [path.name for path in mine.parent.iterdir()] == ["thesis.txt"]


def hold(out: Path, pipe) -> None:  # type: ignore[no-untyped-def]
    with work_folder(out, SETTINGS, resume=False, overwrite=False) as folder:
        (folder / "articles").write_bytes(b"first")
        pipe.send("held")
        pipe.recv()


def test_two_builds_at_once_and_the_lock_of_a_dead_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[3])  # where the other process finds this module
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=hold, args=(tmp_path / "c", theirs))
    process.start()
    theirs.close()  # so that its death is an error here, not a wait
    assert ours.recv() == "held"
    for overwrite in (False, True):
        refused("is being built by another process", tmp_path / "c", resume=True, overwrite=overwrite)
    process.kill()
    process.join()
    with work_folder(tmp_path / "c", SETTINGS, resume=True, overwrite=False) as folder:
        assert (folder / "articles").read_bytes() == b"first"
