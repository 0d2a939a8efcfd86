"""A build that is killed, cut off or meets documents that kill its workers ends in the bytes of an undisturbed one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from functools import partial
from pathlib import Path

import pytest

from sectioncls.corpora import spill as spilling
from sectioncls.corpora.build import build_from_articles
from sectioncls.corpora.labelling import ArticleRules
from sectioncls.corpora.reading import read_locally
from sectioncls.corpora.sources import Meter, container_of, list_sources
from sectioncls.corpora.spill import Spill
from sectioncls.documents import Document, read_jats_each
from sectioncls.errors import OutputError
from sectioncls.records import Article, Rejected
from sectioncls.schemes import load_scheme

HEADS = ("Introduction", "Aims", "Methods", "Results")
SCRIPT = """
import sys
from tests.integration.test_resume import build
if __name__ == "__main__":
    build(sys.argv[1], sys.argv[2], jobs=int(sys.argv[3]), resume=sys.argv[4] == "resume", slow=True)
"""


def jats(number: int, words: str = "graze") -> str:
    sections = "".join(
        f"<sec><title>{head}</title><p>Sheep {number} {words} by {head}. They sleep.</p></sec>" for head in HEADS
    )
    return (
        f'<article><front><article-meta><article-id pub-id-type="pmc">{number}</article-id></article-meta></front>'
        f"<body>{sections}</body></article>"
    )


def read(document: Document | Rejected, *, slow: bool = False) -> list[Article | Rejected]:
    """Read JATS, and do what a document's name says to its reader."""
    if isinstance(document, Rejected):
        return [document]
    name = Path(document.name).name
    if name == "kill.xml":
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "hang.xml":
        time.sleep(600)
    if name == "fault.xml":
        raise ZeroDivisionError("a fault of ours")
    if slow:
        time.sleep(0.02)
    return list(read_jats_each(document.data, document.name))


def build(src: str | Path, out: str | Path, *, jobs: int = 1, resume: bool = False, slow: bool = False) -> None:
    spilling.COMMIT_SECONDS = 0.1
    build_from_articles(
        list_sources([Path(src)]),
        partial(read, slow=slow),
        out,
        rules=ArticleRules(load_scheme("pmc-sents")),
        name="c",
        command="x",
        container_of=container_of,
        jobs=jobs,
        resume=resume,
    )


@pytest.fixture
def src(tmp_path: Path) -> Path:
    """A folder of 60 files and an archive of 60 members, one of each broken."""
    folder = tmp_path / "src"
    folder.mkdir()
    for number in range(120):
        (folder / f"{number}.xml").write_text(jats(number))
    (folder / "broken.xml").write_text("<article>")
    (folder / "60.xml").write_text("<html/>")
    with tarfile.open(folder / "flock.tar.gz", "w:gz") as archive:
        for number in range(60, 120):
            archive.add(folder / f"{number}.xml", f"{number}.xml")
            (folder / f"{number}.xml").unlink()
    return folder


def assert_same(one: Path, two: Path) -> None:
    names = sorted(path.name for path in one.iterdir())
    assert sorted(path.name for path in two.iterdir()) == names
    for name in names:
        assert (one / name).read_bytes() == (two / name).read_bytes(), name


def killed(src: Path, out: Path, jobs: int, mode: str, documents: int) -> None:
    """Build in a process of its own, and kill -9 it once so many documents are committed."""
    root = Path(__file__).resolve().parents[2]
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(src), str(out), str(jobs), mode], cwd=root)
    work = out.with_name(f"{out.name}.building")
    until = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < until and committed(work) < documents:
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert work.is_dir(), "it was killed too late to show anything"
    assert not out.exists()


def committed(work: Path) -> int:
    import sqlite3

    try:
        with sqlite3.connect(f"file:{work}/keys.sqlite?mode=ro", uri=True) as keys:
            return keys.execute("SELECT COUNT(*) FROM documents").fetchone()[0]
    except sqlite3.Error:
        return 0


@pytest.mark.parametrize("jobs", [1, 2])
def test_kill_and_resume_give_the_same_bytes(src: Path, tmp_path: Path, jobs: int) -> None:
    build(src, tmp_path / "whole" / "c")
    out = tmp_path / "cut" / "c"
    out.parent.mkdir()
    killed(src, out, jobs, "begin", 10)
    with pytest.raises(OutputError, match=r"cut off here \(--resume to go on, --overwrite"):
        build(src, out)
    killed(src, out, jobs, "resume", 40)
    build(src, out, resume=True, jobs=3 - jobs)
    assert_same(tmp_path / "whole" / "c", out)
    assert [path.name for path in out.parent.iterdir()] == ["c"]


def test_what_is_done_is_not_read_again(src: Path, tmp_path: Path) -> None:
    rules = ArticleRules(load_scheme("pmc-sents"))
    with Spill(tmp_path) as spill:
        stream = read_locally(Meter(list_sources([src])), read, rules, spill, container_of=container_of, jobs=1)
        first = [next(stream) for _ in range(70)]
        stream.close()
    with Spill(tmp_path) as spill:
        rest = list(read_locally(Meter(list_sources([src])), read, rules, spill, container_of=container_of, jobs=1))
        assert len(first) + len(rest) == 121
        assert sum(spill.counts().values()) == 121


def test_files_that_change_in_between(src: Path, tmp_path: Path) -> None:
    out = tmp_path / "cut" / "c"
    out.parent.mkdir()
    killed(src, out, 1, "begin", 50)
    (src / "0.xml").write_text(jats(0, "leap"))
    (src / "1.xml").unlink()
    (src / "1000.xml").write_text(jats(1000))
    build(src, out, resume=True)
    build(src, tmp_path / "whole" / "c")
    assert_same(tmp_path / "whole" / "c", out)


def test_killed_while_writing(src: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(src, tmp_path / "whole" / "c")
    out = tmp_path / "cut" / "c"
    out.parent.mkdir()
    from sectioncls.corpora import build as building

    with monkeypatch.context() as patched:
        patched.setattr(building, "_write_rejections", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            build(src, out)
    left = tmp_path / "cut" / ".c.zzz.part"  # what a kill leaves where an interrupt sweeps up itself
    left.mkdir()
    (tmp_path / "cut" / "c.building" / "part").write_text(left.name)
    build(src, out, resume=True)
    assert_same(tmp_path / "whole" / "c", out)
    assert [path.name for path in out.parent.iterdir()] == ["c"]


def test_documents_that_kill_hang_or_fail_are_rejected(src: Path, tmp_path: Path) -> None:
    build(src, tmp_path / "whole" / "c")
    for name in ("kill", "fault"):
        (src / f"{name}.xml").write_text(jats(2000))
    for jobs in (2, 3):
        build(src, tmp_path / str(jobs) / "c", jobs=jobs)
    assert_same(tmp_path / "2" / "c", tmp_path / "3" / "c")
    rows = [json.loads(line) for line in (tmp_path / "2" / "c" / "rejected.jsonl").read_text().splitlines()]
    lost = {Path(row["source"]).name: row for row in rows if row["reason"] == "crashed"}
    assert sorted(lost) == ["fault.xml", "kill.xml"]
    assert lost["kill.xml"]["detail"] == "the worker process was ended by SIGKILL"
    assert lost["fault.xml"]["detail"].startswith("ZeroDivisionError: a fault of ours (in test_resume.py, line ")
    for split in ("train", "dev", "test"):
        one, two = (tmp_path / name / "c" / f"{split}.parquet" for name in ("whole", "2"))
        assert one.read_bytes() == two.read_bytes()


def test_a_document_that_hangs(tmp_path: Path) -> None:
    src = tmp_path / "src"
    src.mkdir()
    for name in ("a", "b", "hang", "z"):
        (src / f"{name}.xml").write_text(jats(2000))
    rules = ArticleRules(load_scheme("pmc-sents"))
    with Spill(tmp_path) as spill:
        # a limit well above what a worker takes to warm up
        stream = read_locally(
            Meter(list_sources([src])), read, rules, spill, container_of=container_of, jobs=2, time_limit=6.0
        )
        assert len(list(stream)) == 4
        (slow,) = spill.rejections()
        assert (Path(slow.source).name, slow.reason, slow.detail) == ("hang.xml", "too-slow", "more than 6 seconds")


def test_a_file_that_only_the_worker_can_not_read(src: Path, tmp_path: Path) -> None:
    items = list(list_sources([src]))
    (src / "0.xml").unlink()
    rules = ArticleRules(load_scheme("pmc-sents"))
    with Spill(tmp_path) as spill:
        assert len(list(read_locally(Meter(items), read, rules, spill, container_of=container_of, jobs=2))) == 121
        reasons = {Path(row.source).name: row.reason for row in spill.rejections()}
    assert reasons["0.xml"] == "unreadable"


def test_the_same_text_under_two_ids(src: Path, tmp_path: Path) -> None:
    (src / "twin.xml").write_text(jats(7).replace('"pmc">7<', '"pmc">3000<'))
    build(src, tmp_path / "c")
    rows = [json.loads(line) for line in (tmp_path / "c" / "rejected.jsonl").read_text().splitlines()]
    (twin,) = [row for row in rows if row["reason"] == "duplicate"]
    assert (Path(twin["source"]).name, twin["detail"]) == ("7.xml", "the text is that of PMC3000")
