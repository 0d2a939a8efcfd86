"""build-papers: the real sets have the counts of their README, and JATS gives the same bytes however it is read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from sectioncls.cli.build_papers import build_papers as verb
from sectioncls.corpora import spill as spilling
from sectioncls.documents import Document
from sectioncls.errors import InputError, OutputError, UsageError
from sectioncls.papersets import PaperSet, build_papers, cocited, open_paperset
from sectioncls.papersets import jats as reading
from sectioncls.records import Article, Rejected
from tests.integration.test_resume import assert_same, committed

SCRIPT = """
import sys
from tests.integration.test_build_papers import build_slowly
if __name__ == "__main__":
    build_slowly(sys.argv[1], sys.argv[2], jobs=int(sys.argv[3]), resume=sys.argv[4] == "resume")
"""
READ = reading._read
app = typer.Typer()
app.command()(verb)


def jats(number: int) -> str:
    """An article that cites the four before it, each by another key, and a work that all cite."""
    keys = (
        f'<pub-id pub-id-type="pmid">{9000 + number - 1}</pub-id>',
        f'<pub-id pub-id-type="pmcid">PMC{number - 2}</pub-id>',
        f'<pub-id pub-id-type="doi">10.9999/s{number - 3}</pub-id>',
        f"<article-title>{_title(number - 4)}</article-title>",
    )
    references = "".join(f"<ref>{key}</ref>" for key in keys[:number])
    references += '<ref><pub-id pub-id-type="doi">10.9999/elsewhere</pub-id></ref>'
    return (
        f'<article><front><article-meta><article-id pub-id-type="pmc">{number}</article-id>'
        f'<article-id pub-id-type="pmid">{9000 + number}</article-id>'
        f'<article-id pub-id-type="doi">10.9999/s{number}</article-id>'
        f"<title-group><article-title>{_title(number)}</article-title></title-group>"
        f"<abstract><p>Sheep number {number} was counted.</p></abstract></article-meta></front>"
        f"<body><p>Sheep {number} sleeps.</p></body><back><ref-list>{references}</ref-list></back></article>"
    )


def _title(number: int) -> str:
    return f"What the sheep with number {number} did"


@pytest.fixture
def src(tmp_path: Path) -> Path:
    """Forty files and an archive of forty members, one of each broken, one of them a copy."""
    folder = tmp_path / "src"
    folder.mkdir()
    for number in range(80):
        (folder / f"{number}.xml").write_text(jats(number))
    (folder / "broken.xml").write_text("<article>")
    (folder / "40.xml").write_text("<html/>")
    (folder / "copy.xml").write_text(jats(7))
    with tarfile.open(folder / "flock.tar.gz", "w:gz") as archive:
        for number in range(40, 80):
            archive.add(folder / f"{number}.xml", f"{number}.xml")
            (folder / f"{number}.xml").unlink()
    return folder


def build(src: str | Path, out: str | Path, **options: Any) -> PaperSet:
    return build_papers([src], out, command="x", name="flock", **options)[0]


def slow_read(document: Document | Rejected) -> list[Article | Rejected]:
    time.sleep(0.03)
    return READ(document)


def build_slowly(src: str, out: str, *, jobs: int, resume: bool) -> None:
    spilling.COMMIT_SECONDS = 0.1
    reading._read = slow_read
    build(src, out, jobs=jobs, resume=resume)


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


def test_the_same_bytes_however_it_is_read(src: Path, tmp_path: Path) -> None:
    one = build(src, tmp_path / "1" / "p")
    build(src, tmp_path / "2" / "p", jobs=2)
    assert_same(tmp_path / "1" / "p", tmp_path / "2" / "p")
    files = sorted(src.iterdir(), reverse=True)
    build_papers(files, tmp_path / "3" / "p", command="x", name="flock", form="jats")
    assert_same(tmp_path / "1" / "p", tmp_path / "3" / "p")
    assert one.info.counts["papers"] == 79
    assert one.info.dropped == {
        "documents: duplicate": 1,
        "documents: malformed": 1,
        "documents: not-jats": 1,
    }
    assert one.info.edges_by == {"doi": 75, "pmcid": 76, "pmid": 77, "title": 74}
    assert one.outside().references == ("doi:10.9999/elsewhere",)
    assert len(one.outside().sources) == 79


@pytest.mark.parametrize("jobs", [1, 2])
def test_kill_and_resume_give_the_same_bytes(src: Path, tmp_path: Path, jobs: int) -> None:
    build(src, tmp_path / "whole" / "p")
    out = tmp_path / "cut" / "p"
    out.parent.mkdir()
    killed(src, out, jobs, "begin", 10)
    with pytest.raises(OutputError, match=r"cut off here \(--resume to go on, --overwrite"):
        build(src, out)
    with pytest.raises(OutputError, match="was begun with another seed"):
        build(src, out, resume=True, seed=1)
    killed(src, out, jobs, "resume", 40)
    build(src, out, resume=True, jobs=3 - jobs)
    assert_same(tmp_path / "whole" / "p", out)
    assert [path.name for path in out.parent.iterdir()] == ["p"]


def test_on_ray(src: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    build(src, tmp_path / "here" / "p")
    build(src, tmp_path / "there" / "p", engine="ray", jobs=2)
    assert_same(tmp_path / "here" / "p", tmp_path / "there" / "p")


def test_options_that_do_not_fit(tmp_path: Path, repository: Path) -> None:
    flock = repository / "tests" / "data" / "papers" / "flock"
    with pytest.raises(UsageError, match="--form 'tei' is not known"):
        build(flock, tmp_path / "p", form="tei")
    with pytest.raises(UsageError, match="--engine ray reads documents, not the form edges"):
        build(flock, tmp_path / "p", engine="ray")
    with pytest.raises(UsageError, match="no source"):
        build_papers([], tmp_path / "p", command="x")
    with pytest.raises(InputError, match="does not exist"):
        build(tmp_path / "gone", tmp_path / "p")
    build(flock, tmp_path / "p")
    with pytest.raises(OutputError, match="exists already"):
        build(flock, tmp_path / "p")
    with pytest.raises(OutputError, match="nothing to resume"):
        build(flock, tmp_path / "p", resume=True)


def test_the_verb(tmp_path: Path, repository: Path) -> None:
    flock = os.fspath(repository / "tests" / "data" / "papers" / "flock")
    result = CliRunner().invoke(app, [flock, "-o", os.fspath(tmp_path / "p")])
    assert result.exit_code == 0, result.output
    table = [line.split() for line in result.stdout.splitlines()]
    assert ["papers", "8", "2", "2", "12"] in table
    assert ["citations", "8", "5", "5", "18"] in table
    assert ["cite:", "queries", "0", "1", "1", "2"] in table
    assert "topics track: 3 of 12 papers, 3 with a definition" in result.stdout
    result = CliRunner().invoke(app, [flock, "-o", os.fspath(tmp_path / "p"), "--overwrite", "--json", "--seed", "1"])
    content = json.loads(result.stdout)
    assert content["path"] == os.fspath(tmp_path / "p")
    assert content["counts"]["papers"] == 12
    assert content["command"].endswith("--seed 1")


def test_the_verb_on_documents(src: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, [os.fspath(src), "-o", os.fspath(tmp_path / "p"), "--jobs", "1"])
    assert result.exit_code == 0, result.output
    assert "citations found by doi (75), pmcid (76), pmid (77), title (74)" in result.stdout
    assert f"{src / 'flock.tar.gz'}: 40 documents, 1 left out" in result.stdout
    assert "left out: 1 documents: duplicate" in result.stdout


def queries(found: PaperSet, task: str) -> tuple[int, int]:
    splits = found.info.tasks[task]["splits"]
    return splits["dev"]["queries"], splits["test"]["queries"]


@pytest.fixture(scope="module")
def real(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Build one of the real sets, each once."""
    folder = tmp_path_factory.mktemp("papers")

    def make(name: str) -> PaperSet:
        if not (folder / name).exists():
            build_papers([shared / "papers" / name], folder / name, command="x")
        return open_paperset(folder / name)

    return make


# papers, citations, papers by split: the counts of the README beside the data, and what it says of texts
COUNTS = {
    "vis": (4309, 26596, (3431, 438, 440)),
    "cf": (1239, 2518, (988, 131, 120)),
    "cacm": (3204, 2720, (2577, 319, 308)),
    "scifact": (5175, 0, None),
    "iclr": (1456, 0, (1192, 126, 138)),
    "areas": (2100, 0, (1675, 215, 210)),
    "drsm": (959, 0, (755, 94, 110)),
    "petal": (702, 0, (548, 72, 82)),
    "csfcube": (4196, 0, None),
    "reviewers": (1250, 0, None),
    "cora": (2277, 4984, None),
}


@pytest.mark.shared
@pytest.mark.parametrize("name", COUNTS)
def test_counts_of_the_real_sets(real: Any, name: str) -> None:
    papers, citations, splits = COUNTS[name]
    info = real(name).info
    assert info.form == ("beir" if name == "scifact" else "edges")
    assert (info.counts["papers"], info.counts.get("citations", 0)) == (papers, citations)
    if splits is not None:
        assert tuple(info.splits[split]["papers"] for split in ("train", "dev", "test")) == splits
    unwanted = [reason for reason in info.dropped if reason.startswith(("papers", "citations", "topics"))]
    assert unwanted == []


@pytest.mark.shared
def test_vis(real: Any) -> None:
    vis = real("vis")
    splits = ("train", "dev", "test")
    assert tuple(vis.info.splits[split]["citations"] for split in splits) == (16525, 4556, 5515)
    assert vis.info.counts["outside"] == 55315
    assert {task: queries(vis, task) for task in vis.ranking_tasks()} == {
        "cite": (227, 229),
        "cite_hard": (227, 229),
        "cocite": (177, 172),
        "couple": (220, 235),
        "retrieval_cite": (378, 382),
    }
    pairs = vis.info.tasks["retrieval_cite"]["splits"]
    assert (pairs["dev"]["pairs"], pairs["test"]["pairs"]) == (2936, 2900)
    terms = vis.topics("terms")
    numbers = np.bincount(terms.pairs[:, 1])
    assert (int(np.sum(numbers >= 5)), int(np.sum(numbers >= 10))) == (927, 544)
    assert vis.info.collections["track"]["papers"] == 2809
    # outside references of dev and test papers would give the coupling test away
    papers = vis.papers()
    held = set(papers.rows("dev", "test").tolist())
    assert not held & set(vis.outside("train").sources.tolist())
    assert sum(len(text) < 50 for text in papers.abstracts) == 48


@pytest.mark.shared
def test_the_cocitations_of_the_real_sets_are_ours(real: Any) -> None:
    """What the source calls a positive of its co-citation ranking has two papers that cite both."""
    vis = real("vis")
    together = {tuple(pair) for pair in cocited(vis.citations())[0].tolist()}
    qrels = vis.qrels("cocite")
    positives = qrels.scores > 0
    rows = np.stack([qrels.query_rows[positives], qrels.paper_rows[positives]], axis=1)
    assert {tuple(sorted(pair)) for pair in rows.tolist()} <= together
    assert (
        not {
            tuple(sorted(pair))
            for pair in np.stack([qrels.query_rows[~positives], qrels.paper_rows[~positives]], axis=1).tolist()
        }
        & together
    )


@pytest.mark.shared
def test_cf_and_cacm(real: Any) -> None:
    cf, cacm = real("cf"), real("cacm")
    assert cf.info.counts["without abstract"] == 24
    assert sum(cf.info.collections[name]["topics"] for name in ("mesh", "mesh_check_tags")) == 2100
    assert int(np.sum(np.bincount(cf.topics("mesh").pairs[:, 1]) >= 5)) == 435
    judged = cf.info.tasks["search"]["splits"]
    twice = cf.info.dropped["judgements given twice (the higher is kept)"]
    assert sum(split["pairs"] for split in judged.values()) + twice == 4819
    assert queries(cf, "search") == (27, 72)
    assert (queries(cf, "couple"), queries(cf, "cocite")) == ((64, 58), (52, 48))
    assert cf.qrels("search").scores.max() == 8
    for found, kind, pairs in ((cf, "coupling", 9742), (cf, "cocitation", 5915)):
        assert len(found.links(kind).pairs) == pairs
    for kind, pairs in (("coupling", 6165), ("cocitation", 5320)):
        assert len(cacm.links(kind).pairs) == pairs
    assert sum(len(text) > 4 for text in cacm.papers().abstracts) == 1583  # four consist of a stop or two
    assert cacm.info.counts["queries"] + cacm.info.dropped["queries without judgements"] == 64
    assert sum(split["pairs"] for split in cacm.info.tasks["search"]["splits"].values()) == 796
    assert set(cacm.ranking_tasks()) >= {"cite", "cite_hard", "cocite"}


@pytest.mark.shared
def test_the_smaller_sets(real: Any) -> None:
    scifact = real("scifact").info
    assert scifact.counts["queries"] == 1109
    pairs = {split: (one["queries"], one["pairs"]) for split, one in scifact.tasks["search"]["splits"].items()}
    assert pairs == {"train": (809, 919), "test": (300, 339)}
    drsm = real("drsm").topics("label")
    assert sorted(np.bincount(drsm.pairs[:, 1]).tolist(), reverse=True) == [367, 292, 211, 67, 22]
    petal = real("petal").info.collections
    assert [petal[f"labels_{level}"]["topics"] for level in (1, 2, 3)] == [10, 27, 94]
    areas = real("areas")
    assert np.bincount(areas.topics("area").pairs[:, 1]).tolist() == [350] * 6
    assert areas.info.targets["log_gs_citation"] == 1980
    assert real("iclr").info.targets["score"] == 1456
    facets = real("csfcube")
    assert [sum(queries(facets, facet)) for facet in ("background", "method", "result")] == [16, 17, 17]
    judged = sum(len(facets.qrels(facet)) for facet in facets.ranking_tasks())
    assert judged + facets.info.dropped["judgements of the query itself"] == 6235
    reviewers = real("reviewers").info
    assert (reviewers.collections["reviewers"]["topics"], reviewers.counts["qrels"]) == (58, 474)
    cora = real("cora").info
    assert (cora.collections["label"]["topics"], cora.collections["label"]["papers"]) == (7, 2211)
    assert cora.counts["without title"] == 2277


@pytest.mark.shared
def test_the_samples(real: Any) -> None:
    samples = real("scirepeval_samples").info
    assert samples.form == "scirepeval"
    assert (samples.collections["fos"]["papers"], samples.collections["fos"]["topics"]) == (205, 23)
    assert (samples.collections["mesh"]["papers"], samples.collections["mesh"]["topics"]) == (206, 30)
    asked = {task: sum(split["queries"] for split in one["splits"].values()) for task, one in samples.tasks.items()}
    assert (asked["search"], asked["same_author"]) == (100, 40)
    assert sum(split["positives"] for split in samples.tasks["specter"]["splits"].values()) == 193


@pytest.mark.shared
def test_real_articles(shared: Path, tmp_path: Path) -> None:
    found = build_papers([shared / "jats"], tmp_path / "p", command="x", jobs=2)[0]
    assert found.info.counts["papers"] > 1190
    assert sum(found.info.edges_by.values()) == found.info.counts["citations"] >= 55
    papers = found.papers()
    years = papers.years[found.citations()]
    known = (years > 0).all(axis=1)
    assert np.mean(years[known, 0] >= years[known, 1]) > 0.95  # nobody cites the future
