"""Nothing half-written, nothing of others overwritten, a full disk in one line."""

from __future__ import annotations

import errno
import json
import os

import pytest

from sectioncls.errors import OutputError
from sectioncls.staging import folder_files, staged_file, staged_folder, write_json


def ours(path):
    with staged_folder(path) as aside:
        (aside / "data.txt").write_text("old")
        write_json(aside / "run.json", {"files": ["data.txt"]})


def leftovers(folder):
    return [p.name for p in folder.iterdir() if p.name.startswith(".")]


def test_a_folder_appears_whole(tmp_path):
    target = tmp_path / "deep" / "out"
    with staged_folder(target) as aside:
        (aside / "a.txt").write_text("a")
        assert not target.exists()
    assert folder_files(target) == ["a.txt"]
    assert leftovers(target.parent) == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_nothing(tmp_path, error):
    with pytest.raises(error), staged_folder(tmp_path / "out") as aside:
        (aside / "a.txt").write_text("a")
        raise error
    with pytest.raises(error), staged_file(tmp_path / "f.txt") as aside:
        aside.write_text("half")
        raise error
    assert list(tmp_path.iterdir()) == []


def test_an_error_keeps_the_old(tmp_path):
    ours(tmp_path / "out")
    with pytest.raises(ValueError), staged_folder(tmp_path / "out", overwrite=True):
        raise ValueError
    assert (tmp_path / "out" / "data.txt").read_text() == "old"
    (tmp_path / "f").write_text("old")
    with pytest.raises(ValueError), staged_file(tmp_path / "f"):
        raise ValueError
    assert (tmp_path / "f").read_text() == "old"


def test_overwrite_replaces_only_ours(tmp_path):
    target = tmp_path / "out"
    ours(target)
    with pytest.raises(OutputError, match="exists already"), staged_folder(target):
        pass
    with staged_folder(target, overwrite=True) as aside:
        (aside / "new.txt").write_text("new")
    assert folder_files(target) == ["new.txt"]
    with pytest.raises(OutputError, match="not a folder that sectioncls made"), staged_folder(target, overwrite=True):
        pass


def test_overwrite_spares_a_folder_with_foreign_files(tmp_path):
    target = tmp_path / "out"
    ours(target)
    (target / "thesis.tex").write_text("precious")
    with pytest.raises(OutputError, match=r"thesis\.tex"), staged_folder(target, overwrite=True):
        pass
    assert (target / "thesis.tex").exists()


def test_overwrite_does_not_follow_links(tmp_path):
    ours(tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(OutputError), staged_folder(tmp_path / "link", overwrite=True):
        pass


def test_an_empty_folder_may_be_filled(tmp_path):
    (tmp_path / "out").mkdir()
    with staged_folder(tmp_path / "out") as aside:
        (aside / "a").write_text("a")
    assert folder_files(tmp_path / "out") == ["a"]


@pytest.mark.parametrize(
    ("code", "words"), [(errno.ENOSPC, "no space left"), (errno.EDQUOT, "no space left"), (errno.EACCES, "permission")]
)
def test_disk_errors_are_one_line(tmp_path, code, words):
    for staged in (staged_file, staged_folder):
        with pytest.raises(OutputError, match=words) as caught, staged(tmp_path / "out"):
            raise OSError(code, "the system's words")
        assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_told_in_words_only(tmp_path):
    class Foreign(Exception):
        pass

    with pytest.raises(OutputError, match="no space left"), staged_file(tmp_path / "out"):
        raise Foreign("I/O error: No space left on device (os error 28)")
    with pytest.raises(Foreign), staged_file(tmp_path / "out"):
        raise Foreign("something else")


def test_json_is_whole_and_readable(tmp_path):
    write_json(tmp_path / "x.json", {"é": [1, 2]})
    assert json.loads((tmp_path / "x.json").read_text(encoding="utf-8")) == {"é": [1, 2]}
    assert (tmp_path / "x.json").stat().st_mode & 0o444 == 0o444


def test_others_may_read_what_was_written_for_its_owner_alone(tmp_path):
    mask = os.umask(0o022)
    try:
        with staged_folder(tmp_path / "m") as aside:
            (aside / "in").mkdir(mode=0o700)
            (aside / "in" / "weights").touch(mode=0o600)
    finally:
        os.umask(mask)
    modes = [path.stat().st_mode & 0o777 for path in (tmp_path / "m", tmp_path / "m/in", tmp_path / "m/in/weights")]
    assert modes == [0o755, 0o755, 0o644]
