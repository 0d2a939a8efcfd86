"""Folders of tables: the made-up set in tests/data/papers/flock, BEIR, reviewers, facets, and what is malformed."""

from __future__ import annotations

import json
import shutil
from math import log1p
from pathlib import Path

import pytest

from sectioncls.errors import InputError
from sectioncls.papersets import PaperSet, build_papers, split_of_paper
from sectioncls.papersets.folder import sort_files


@pytest.fixture
def flock(tmp_path: Path, repository: Path) -> Path:
    """A copy of the made-up set, to be changed."""
    return Path(shutil.copytree(repository / "tests" / "data" / "papers" / "flock", tmp_path / "flock"))


def build(*sources: Path, **options: object) -> PaperSet:
    out = sources[0].parent / "out"
    return build_papers(sources, out, command="x", overwrite=True, **options)[0]  # type: ignore[arg-type]


def lines(path: Path, *records: object) -> None:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))


def test_a_whole_set(flock: Path) -> None:
    found = build(flock)
    info = found.info
    assert (info.form, info.name) == ("edges", "flock")
    assert (info.counts["papers"], info.counts["without abstract"], info.counts["citations"]) == (12, 1, 18)
    assert info.splits["test"] == {"papers": 2, "with_abstract": 2, "citations": 5}
    assert found.collections() == ("terms", "track")
    terms, track = found.topics("terms"), found.topics("track")
    assert terms.names == ("Dogs", "Grazing", "Looms", "Sheep", "Wool")
    assert track.definitions[track.names.index("Wool")].startswith("Fibres")
    assert len(terms.pairs) == 24
    assert len(track.pairs) == 12
    assert found.ranking_tasks() == ("cite", "search")  # it brings a ranking, so none is made
    assert found.qrels("cite", "test").scores.tolist() == [1.0, 0.0, 0.0]
    assert found.qrels("search", "dev").query_ids.tolist() == ["q1"] * 3
    assert found.link_kinds() == ("cocitation", "coupling")
    assert len(found.outside("train").sources) == 2
    assert found.target_names() == ("log_n_cited", "year")
    assert found.targets("log_n_cited")[2] == log1p(6)
    assert (info.dropped, info.notes) == ({}, ())


def test_a_graph_without_rankings_gets_them(flock: Path) -> None:
    shutil.rmtree(flock / "rerank_cite")
    found = build(flock)
    assert set(found.ranking_tasks()) >= {"cite", "cite_hard", "search"}
    assert found.qrels("cite").query_rows is not None
    assert any(note.startswith("task cite was made from the graph: 4 queries") for note in found.info.notes)


def test_files_of_any_name(flock: Path) -> None:
    (flock / "papers.jsonl").rename(flock / "sheep.jsonl")
    (flock / "citations.tsv").rename(flock / "graph.tsv")
    found = build(flock / "sheep.jsonl", flock / "graph.tsv")
    assert (found.name, found.info.counts["citations"]) == ("sheep", 18)


def test_beir(tmp_path: Path) -> None:
    src = tmp_path / "barn"
    lines(
        src / "corpus.jsonl",
        {"_id": "1", "title": "Wool", "text": "It is warm.", "metadata": {}},
        {"_id": "2", "title": "", "text": "Bells"},
        {"_id": "3", "title": "", "text": ""},
    )
    lines(
        src / "queries.jsonl",
        *({"_id": name, "text": f"what is {name}"} for name in ("1", "b", "c", "d")),
        {"_id": "e", "text": "unjudged", "split": "unjudged"},
    )
    (src / "qrels").mkdir()
    (src / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\n1\t1\t1\nb\t2\t1\nb\t3\t1\n")
    (src / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nb\t1\t-1\nc\t2\t2\nc\t7\t1\nz\t1\t1\n")
    found = build(src)
    assert found.info.form == "beir"
    queries = found.queries()
    splits = dict(zip(queries.ids, queries.splits, strict=True))
    assert (splits["1"], splits["b"], splits["c"]) == ("train", "test", "test")
    assert splits["d"] in ("dev", "test")
    search = found.qrels("search")
    assert search.query_rows is None  # though a query has the id of a paper
    assert sorted(zip(search.query_ids, search.paper_rows.tolist(), search.scores, search.splits, strict=True)) == [
        ("1", 0, 1.0, "train"),
        ("b", 0, 0.0, "test"),
        ("b", 1, 1.0, "train"),
        ("c", 1, 2.0, "test"),
    ]
    assert found.info.dropped == {
        "judgements below 0 (taken as 0)": 1,
        "judgements for a query that is not in the set": 1,
        "judgements of a paper that is not in the set": 2,
        "papers without title and abstract": 1,
        "queries without judgements": 1,
    }
    assert found.papers().splits == (split_of_paper("Wool", ""), split_of_paper("", "barn|2"))


def test_facets_and_folds(tmp_path: Path) -> None:
    src = tmp_path / "facets"
    lines(src / "papers.jsonl", *({"id": f"a_{number}", "title": f"T {number}"} for number in range(4)))
    (src / "qrels_method.tsv").write_text("query-id\tcorpus-id\tscore\na_0\ta_1\t3\na_0\ta_0\t3\na_2\ta_3\t0\n")
    folds = {"method": {"fold1_dev": ["a_0_method"], "fold1_test": ["a_2_method"], "fold2_dev": ["a_2_method"]}}
    (src / "evaluation_splits.json").write_text(json.dumps(folds))
    found = build(src)
    method = found.qrels("method")
    assert method.query_rows is not None
    assert (method.query_rows.tolist(), method.splits.tolist()) == ([0, 2], ["dev", "test"])
    assert found.info.dropped == {"judgements of the query itself": 1}


def test_reviewers(tmp_path: Path) -> None:
    src = tmp_path / "panel"
    lines(src / "papers.jsonl", *({"id": name, "title": f"T {name}"} for name in "abc"))
    lines(src / "profiles.jsonl", {"reviewer": "r1", "papers": ["a", "gone"]}, {"reviewer": "r0", "papers": []})
    (src / "expertise.tsv").write_text("reviewer\tpaper\texpertise\nr1\tb\t4.5\nr0\tc\t1\n")
    found = build(src)
    assert found.topics("reviewers").names == ("r0", "r1")
    assert found.topics("reviewers").pairs.tolist() == [[0, 1]]
    expertise = found.qrels("expertise")
    assert expertise.query_rows is None
    assert sorted(zip(expertise.query_ids, expertise.scores, strict=True)) == [("r0", 1.0), ("r1", 4.5)]
    assert found.info.tasks["expertise"]["queries"] == "reviewers"
    assert found.info.dropped == {"topics of a paper that is not in the set": 1}


def test_check_tags_stand_apart(tmp_path: Path) -> None:
    src = tmp_path / "tagged"
    lines(src / "papers.jsonl", {"id": "a", "title": "T", "mesh": [{"h": "Human"}, {"h": "Wool"}]})
    (src / "mesh_headings.tsv").write_text("heading\tcount\tcheck_tag\nHuman\t9\t1\nWool\t1\t0\n")
    found = build(src)
    assert {name: found.topics(name).names for name in found.collections()} == {
        "mesh": ("Wool",),
        "mesh_check_tags": ("Human",),
    }


def test_a_split_that_the_papers_contradict(flock: Path) -> None:
    text = (flock / "citations.tsv").read_text()
    (flock / "citations.tsv").write_text(text.replace("f12\tf1\ttest", "f12\tf1\ttrain"))
    found = build(flock)
    assert len(found.citations("test")) == 5
    assert found.info.notes[0].startswith("1 citations stood in another split")


def test_files_that_are_not_read_are_named(flock: Path) -> None:
    (flock / "notes.md").write_text("x")
    assert build(flock).info.notes == ("files that are not read: notes.md",)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("papers.jsonl", '{"id":"f1","title":"A"}\n{"id":"f2"', "papers.jsonl:2: is not JSON"),
        ("papers.jsonl", "[1]\n", "papers.jsonl:1: is not a JSON object"),
        ("papers.jsonl", '{"id":"f1","title":"A","split":"holdout"}\n', "papers.jsonl:1: 'holdout' is no split"),
        ("papers.jsonl", '{"id":"f1","title":""}\n', "no paper was found"),
        ("citations.tsv", "src\tdst\tsplit\nf1\tf2\tlater\n", "citations.tsv:2: 'later' is no split"),
        ("queries.jsonl", '{"text":"a"}\n', "queries.jsonl:1: has no _id"),
        ("labels_track.jsonl", '{"definition":"a"}\n', "labels_track.jsonl:1: has no name"),
        ("links.tsv", "a\tb\tweight\nf1\tf2\tx\n", "links.tsv:2: has a weight that is no number"),
        ("references_outside.tsv", "src\twork\nf1\tx\n", "references_outside.tsv:1: lacks the column dst"),
        ("evaluation_splits.json", '{"cite": {"fold1_dev": [1]}}', "fold1_dev is no list of texts"),
        ("profiles.jsonl", '{"reviewer": 1}\n', "profiles.jsonl:1: has no reviewer"),
    ],
)
def test_malformed_files(flock: Path, name: str, text: str, words: str) -> None:
    (flock / name).write_text(text)
    with pytest.raises(InputError, match=words):
        build(flock)
    assert not (flock.parent / "out").exists()


def test_a_line_that_unpacks_to_too_much(flock: Path) -> None:
    import gzip

    (flock / "papers.jsonl").unlink()
    with gzip.open(flock / "papers.jsonl.gz", "wb") as handle:
        for _ in range(9):
            handle.write(b" " * (15 << 20) + b"\n")
    with pytest.raises(InputError, match="unpacks to more than 200 times its size"):
        build(flock)


def test_names_of_files() -> None:
    found = sort_files(
        [Path("s") / name for name in ("qrels.tsv", "qrels_val.tsv", "qrels_method.tsv", "qrels/dev.tsv")]
    )
    assert [(task, split) for task, split, _ in found.qrels] == [
        ("", None),
        ("", "dev"),
        ("method", None),
        ("", "dev"),
    ]
    found = sort_files([Path("s/rerank_cite_hard/dev.tsv.gz"), Path("s/retrieval_cite/test.tsv")])
    assert [(task, split) for task, split, _ in found.rankings] == [("cite_hard", "dev"), ("retrieval_cite", "test")]
