"""A paper set that is written is read back: tables, what is left out, and what is said about it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sectioncls.corpora import open_corpus
from sectioncls.errors import InputError, OutputError
from sectioncls.papersets import PaperSet, create_paperset, open_paperset
from sectioncls.records import Paper

DROPPED = {
    "citations given twice": 1,
    "citations of the paper itself": 1,
    "citations with a paper that is not in the set": 2,
    "judgements for a query that is not in the set": 2,
    "judgements given twice (the higher is kept)": 1,
    "judgements of a paper that is not in the set": 1,
    "judgements of the query itself": 1,
    "links of a paper with itself": 1,
    "links with a paper that is not in the set": 1,
    "numbers of a paper that is not in the set": 1,
    "numbers that are none (NaN, infinite)": 1,
    "papers with the id of another": 1,
    "papers without title and abstract": 1,
    "queries with the id of another": 1,
    "queries without text": 1,
    "references of a paper that is not in the set": 1,
    "topics of a paper that is not in the set": 1,
    "topics of papers given twice": 1,
}


def write(out: Path, **options: object) -> PaperSet:
    """Five papers, 0 to 2 in train, 3 in dev, 4 in test, with something of everything."""
    with create_paperset(out, name="flock", form="edges", command="x", **options) as writer:  # type: ignore[arg-type]
        for number, split in enumerate(("train", "train", "train", "dev", "test")):
            paper = Paper(f"p{number}", f"Title {number}", f"Text {number}" if number else "", 1990 + number or None)
            assert writer.add_paper(paper, split, ["bell"] if number == 2 else [])
        assert not writer.add_paper(Paper("p0", "Another"), "train")
        assert not writer.add_paper(Paper("void", " ", ""), "train")
        for src, dst in ((1, 0), (1, 0), (4, 0), (3, 0), (3, 4), (2, 2), (2, 9), (9, 2)):
            writer.add_citation(f"p{src}", f"p{dst}", "train", by="doi" if dst == 4 else None)
        for src, work in (("p3", "doi:x"), ("p1", "doi:y"), ("p1", "doi:x"), ("p9", "doi:x")):
            writer.add_outside(src, work)
        for one, other in (("p4", "p0"), ("p1", "p1"), ("p1", "p9")):
            writer.add_link("coupling", one, other, 3)
        writer.add_topic("track", "Wool", "What sheep wear.")
        for paper, topic in (("p4", "Wool"), ("p4", "Dogs"), ("p0", "Wool"), ("p0", "Wool"), ("p9", "Wool")):
            writer.add_paper_topic("track", paper, topic)
        writer.add_query("q", "what do sheep wear", "test")
        writer.add_query("q", "again", "test")
        writer.add_query("r", " ", "test")
        writer.add_task("search", "texts")
        writer.add_task("cite")
        for query, found, score in (("q", "p2", 0), ("q", "p1", 1), ("q", "p1", 2), ("r", "p1", 1), ("q", "p9", 1)):
            writer.add_judgement("search", query, found, score, "test")
        for query, found in (("p4", "p0"), ("p4", "p4"), ("q", "p0")):
            writer.add_judgement("cite", query, found, 1, "test")
        writer.add_judgement("cite", "p3", "p0", 1, "dev")
        for paper, value in (("p2", 1992.0), ("p0", 1990.0), ("p1", float("nan")), ("p9", 1.0)):
            writer.add_target("year", paper, value)
    return open_paperset(out)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    found = write(tmp_path / "p")
    papers = found.papers()
    assert papers.ids == ("p0", "p1", "p2", "p3", "p4")
    assert papers.abstracts[:2] == ("", "Text 1")
    assert papers.years.tolist() == [1990, 1991, 1992, 1993, 1994]
    assert (papers.venues[0], papers.authors[0], papers.keywords[2]) == ("", (), ("bell",))
    assert papers.rows("dev", "test").tolist() == [3, 4]
    assert papers.rows().tolist() == [0, 1, 2, 3, 4]
    assert papers.row_of()["p3"] == 3
    assert found.citations().tolist() == [[1, 0], [3, 0], [3, 4], [4, 0]]
    assert found.citations("train").tolist() == [[1, 0]]
    assert found.citations("dev").tolist() == [[3, 0]]
    assert found.citations("test").tolist() == [[3, 4], [4, 0]]  # one end in test is enough
    outside = found.outside()
    assert outside.sources.tolist() == [1, 1, 3]
    assert [outside.references[work] for work in outside.works] == ["doi:x", "doi:y", "doi:x"]
    assert found.outside("dev").sources.tolist() == [3]
    assert found.link_kinds() == ("coupling",)
    assert found.links("coupling").pairs.tolist() == [[0, 4]]
    assert found.links("coupling", "train").pairs.tolist() == []
    topics = found.topics("track")
    assert topics.names == ("Dogs", "Wool")  # sorted: the order in which they come may tell how frequent they are
    assert topics.definitions == ("", "What sheep wear.")
    assert topics.pairs.tolist() == [[0, 1], [4, 0], [4, 1]]
    assert found.queries().texts == ("what do sheep wear",)
    assert found.ranking_tasks() == ("cite", "search")
    search = found.qrels("search")
    assert search.query_rows is None
    assert (search.paper_rows.tolist(), search.scores.tolist()) == ([1, 2], [2.0, 0.0])
    cite = found.qrels("cite", "test")
    assert cite.query_rows is not None
    assert (cite.query_ids.tolist(), cite.query_rows.tolist(), cite.paper_rows.tolist()) == (["p4"], [4], [0])
    assert len(found.qrels("cite")) == 2
    assert found.target_names() == ("year",)
    np.testing.assert_array_equal(found.targets("year"), [1990, np.nan, 1992, np.nan, np.nan])


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    info = write(tmp_path / "p").info
    assert info.dropped == DROPPED
    assert info.splits["test"] == {"papers": 1, "with_abstract": 1, "citations": 2}
    assert info.tasks["cite"] == {
        "queries": "papers",
        "splits": {
            "dev": {"queries": 1, "pairs": 1, "positives": 1},
            "test": {"queries": 1, "pairs": 1, "positives": 1},
        },
    }
    assert info.edges_by == {"doi": 1}
    assert info.collections == {"track": {"topics": 2, "defined": 1, "papers": 2, "pairs": 3}}
    assert info.notes == ("3 citations stood in another split than their papers do; the papers' is written",)


def test_the_same_bytes_and_another_fingerprint(tmp_path: Path) -> None:
    one, two = write(tmp_path / "1"), write(tmp_path / "2")
    assert one.info == two.info
    for name in one.info.files:
        assert (one.path / name).read_bytes() == (two.path / name).read_bytes()
    with create_paperset(tmp_path / "3", name="flock", form="edges", command="x") as writer:
        writer.add_paper(Paper("p0", "Title 0"), "train")
    assert open_paperset(tmp_path / "3").info.fingerprint != one.info.fingerprint


def test_nothing_is_left_of_a_writing_that_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), create_paperset(tmp_path / "p", name="p", form="edges", command="x"):
        raise ZeroDivisionError
    with (
        pytest.raises(InputError, match="no paper was found"),
        create_paperset(tmp_path / "p", name="p", form="edges", command="x"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []
    write(tmp_path / "p")
    with pytest.raises(OutputError, match="exists already"):
        write(tmp_path / "p")
    write(tmp_path / "p", overwrite=True)


def test_wrong_use(tmp_path: Path) -> None:
    with create_paperset(tmp_path / "p", name="p", form="edges", command="x") as writer:
        with pytest.raises(InputError, match="'val' is not a split"):
            writer.add_paper(Paper("p0", "Title"), "val")
        writer.add_paper(Paper("p0", "Title"), "train")
        writer.add_task("search", "texts")
        with pytest.raises(InputError, match="queries of the task 'search' are texts and papers"):
            writer.add_task("search")


def test_names_that_do_not_exist(tmp_path: Path) -> None:
    found = write(tmp_path / "p")
    for call, words in (
        (lambda: found.topics("mesh"), r"no collection 'mesh' \(collections: track\)"),
        (lambda: found.qrels("couple"), r"no task 'couple' \(tasks: cite, search\)"),
        (lambda: found.targets("score"), r"no target 'score' \(targets: year\)"),
        (lambda: found.links("cocitation"), r"no links 'cocitation' \(links: coupling\)"),
        (lambda: found.citations("val"), r"no split 'val'"),
    ):
        with pytest.raises(InputError, match=words):
            call()


def test_a_set_of_papers_only(tmp_path: Path) -> None:
    with create_paperset(tmp_path / "p", name="p", form="edges", command="x") as writer:
        writer.add_paper(Paper("p0", "Title"), "train")
    found = open_paperset(tmp_path / "p")
    assert found.info.files == ("corpus.json", "papers.parquet")
    assert found.citations().shape == (0, 2)
    assert found.queries().ids == ()
    assert (found.ranking_tasks(), found.collections(), found.target_names(), found.link_kinds()) == ((), (), (), ())
    assert found.papers().years.tolist() == [-1]
    assert len(found.outside().sources) == 0


def test_folders_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        open_paperset(tmp_path / "p")
    with pytest.raises(InputError, match=r"no corpus\.json"):
        open_paperset(tmp_path)
    (tmp_path / "corpus.json").write_text('{"format": 1, "scheme": "pmc-sents"}')
    with pytest.raises(InputError, match="is a corpus of sentences, not a paper set"):
        open_paperset(tmp_path)
    found = write(tmp_path / "p")
    with pytest.raises(InputError, match="is a paper set, not a corpus of sentences"):
        open_corpus(found.path)
    manifest = found.path / "corpus.json"
    whole = json.loads(manifest.read_text())
    for content, words in (
        ("[", "is not JSON"),
        ("[]", "of format 1"),
        (json.dumps(whole | {"format": 2}), "of format 1"),
        (json.dumps({key: value for key, value in whole.items() if key != "tasks"}), "lacks tasks"),
        (json.dumps(whole | {"notes": 3}), "notes is not a list"),
        (json.dumps(whole | {"tasks": []}), "tasks is not an object"),
    ):
        manifest.write_text(content)
        with pytest.raises(InputError, match=words):
            open_paperset(found.path)
    manifest.write_text(json.dumps(whole))
    (found.path / "qrels.parquet").unlink()
    with pytest.raises(InputError, match=r"qrels\.parquet: is missing"):
        open_paperset(found.path)


def test_tables_that_are_broken(tmp_path: Path) -> None:
    found = write(tmp_path / "p")
    pq.write_table(pa.table({"src": ["p1"], "dst": ["gone"], "split": ["train"]}), found.path / "citations.parquet")
    with pytest.raises(InputError, match=r"citations\.parquet: names a paper that papers\.parquet lacks"):
        found.citations()
    (found.path / "papers.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match="can't be read as Parquet"):
        found.papers()
