"""``sectioncls search`` and ``related`` as a user types them, on a made-up paper set and a tiny encoder."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from sectioncls.encoders import LinearHead, load_encoder, save_encoder
from sectioncls.papersets import create_paperset
from sectioncls.records import Paper
from sectioncls.vectors.index import find_index

PAPERS = (
    (
        "PMC1",
        "Edges of large graphs",
        "Graphs have many edges. We bundle them. The results are clear.",
        2001,
    ),
    ("PMC2", "Graphs that move", "Little is known of moving graphs. We draw them slowly. Readers follow them.", 2002),
    ("PMC3", "Sleep and memory in mice", "Mice sleep a lot. We woke them up. They forgot the way.", 2003),
    ("PMC4", "A study without abstract", "", None),
)


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets") / "papers"
    with create_paperset(folder, name="papers", form="edges", command="made up") as writer:
        for name, title, abstract, year in PAPERS:
            writer.add_paper(Paper(name, title, abstract, year), "test")
    return folder


@pytest.fixture(scope="module")
def roles(tiny_bert, tmp_path_factory):
    torch.manual_seed(4)
    encoder = load_encoder(tiny_bert, device="cpu")
    folder = tmp_path_factory.mktemp("roles") / "roles"
    head = LinearHead(encoder.dimension, ("background", "method", "result"))
    save_encoder(encoder, folder, facts={"name": "roles"}, head=head)
    return folder


def call(*arguments, given=None):
    command = [sys.executable, "-c", "from sectioncls.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False, timeout=240)


def test_the_first_call_builds_and_the_next_ones_answer(papers, tiny_bert):
    first = call("search", papers, "graphs with many edges", "--model", tiny_bert, "-k", "2")
    assert first.returncode == 0, first.stderr
    assert first.stdout.splitlines()[0] == "graphs with many edges"
    assert "PMC1  2001  Edges of large graphs" in first.stdout.splitlines()[1]
    assert (papers.parent / "papers.index" / "tiny-bert" / "index.json").is_file()
    kept = (papers.parent / "papers.index" / "tiny-bert" / "dense.npy").stat().st_mtime_ns
    second = call("search", papers, "graphs with many edges", "--model", tiny_bert, "-k", "2")
    assert second.stdout == first.stdout
    assert (papers.parent / "papers.index" / "tiny-bert" / "dense.npy").stat().st_mtime_ns == kept


def test_three_queries_as_json_each_in_under_a_second(papers, tiny_bert):
    queries = ["graphs", "mice that sleep", "a study"]
    done = call("search", papers, queries[0], "-", "--model", tiny_bert, "--json", given="mice that sleep\n\na study\n")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["query"] for row in rows] == queries
    assert all(row["seconds"] < 1 for row in rows)
    assert [rows[1]["papers"][0]["id"], rows[2]["papers"][0]["id"]] == ["PMC3", "PMC4"]
    assert set(rows[0]["papers"][0]) == {"rank", "score", "id", "title", "year", "similarity", "words"}
    assert rows[2]["papers"][0]["year"] is None


def test_related_papers_come_from_the_saved_vectors(papers, tiny_bert):
    call("search", papers, "graphs", "--model", tiny_bert)
    done = call("related", papers, "PMC1", "PMC3", "--model", tiny_bert, "--json", "-k", "3")
    assert done.returncode == 0, done.stderr
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert (first["id"], first["title"]) == ("PMC1", "Edges of large graphs")
    assert {paper["id"] for paper in first["papers"]} == {"PMC2", "PMC3", "PMC4"}
    assert second["id"] not in {paper["id"] for paper in second["papers"]}


def test_searching_by_facet_shows_the_shares(papers, tiny_bert, roles):
    done = call("search", papers, "we draw them", "--model", tiny_bert, "--facet", "method", "--roles", roles, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["papers"]
    assert {paper["id"] for paper in found} == {"PMC1", "PMC2", "PMC3"}
    assert all(sum(paper["shares"].values()) == pytest.approx(1, abs=1e-5) for paper in found)
    table = call("related", papers, "PMC1", "--model", tiny_bert, "--facet", "result")
    assert table.returncode == 0, table.stderr
    assert "background" in table.stdout and "%" in table.stdout


def test_what_is_wrong_is_one_line(papers, tiny_bert, tmp_path):
    call("search", papers, "graphs", "--model", tiny_bert)
    for arguments, code, words in (
        (("related", papers, "PMC11", "--model", tiny_bert), 1, "near it: PMC1"),
        (("search", papers, " ", "--model", tiny_bert), 2, "an empty query"),
        (("search", papers, "graphs", "--model", tiny_bert, "--facet", "methods"), 2, "background, method, result"),
        (("search", tmp_path, "graphs", "--model", tiny_bert), 1, "is not a paper set"),
        (("search", tmp_path / "nowhere", "graphs"), 1, "nowhere"),
        (("search", papers, "graphs", "--model", tmp_path / "nowhere"), 1, "no such model folder"),
        (("search", papers, "-", "--model", tiny_bert), 1, "not UTF-8"),
    ):
        given = "\udcff\n" if "-" in arguments else None
        command = [sys.executable, "-c", "from sectioncls.cli import main; main()", *map(str, arguments)]
        done = subprocess.run(
            command, input=given, capture_output=True, encoding="utf-8", errors="surrogateescape", check=False
        )
        assert done.returncode == code, done.stderr
        assert words in done.stderr and done.stderr.count("\n") == 1, done.stderr
        assert "Traceback" not in done.stderr


def test_a_call_on_a_saved_index_loads_no_torch(papers, tiny_bert):
    call("search", papers, "graphs", "--model", tiny_bert)
    code = (
        "import sys; sys.argv = ['sectioncls', *sys.argv[1:]]\n"
        "from sectioncls.cli import app\n"
        "app(standalone_mode=False)\n"
        "print([name for name in ('torch', 'transformers', 'sklearn', 'pyarrow', 'bm25s') if name in sys.modules])"
    )
    for verb, asked in (("search", "graphs"), ("related", "PMC1")):
        arguments = [sys.executable, "-c", code, verb, str(papers), asked, "--model", str(tiny_bert), "-q"]
        done = subprocess.run(arguments, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.shared
def test_minilm_answers_from_numpy_as_from_torch(shared, tmp_path):
    from sectioncls.encoders import encode
    from sectioncls.papersets import open_paperset
    from sectioncls.recipes.search import build_index

    lines = (shared / "papers" / "cf" / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    queries = [json.loads(line)["text"] for line in lines[:20]]
    with create_paperset(tmp_path / "papers", name="papers", form="edges", command="made up") as writer:
        for name, title, abstract, year in PAPERS:
            writer.add_paper(Paper(name, title, abstract, year), "test")
    encoder = load_encoder("minilm", device="cpu")
    build_index(open_paperset(tmp_path / "papers"), encoder, "minilm")
    index = find_index(tmp_path / "papers", "minilm")
    assert index is not None and index.encode is not None
    np.testing.assert_allclose(index.encode(queries), encode(encoder, queries), atol=2e-6)
    started = time.perf_counter()
    index.search(queries[0])
    assert time.perf_counter() - started < 1
