"""Search in a saved index: hand-worked rankings, other encoders and papers, and files that are broken."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sectioncls.errors import InputError, ModelError, UsageError
from sectioncls.vectors.index import INDEX_FILES, find_index, index_folder, load_index

from .conftest import VECTORS, write_facets, write_index


def test_a_hand_worked_search(index_path, encode):
    found = load_index(index_path, encode=encode).search("graphs", k=5)
    # By vectors 0, 1, 4, then 2 and 3 (both 0); by words 0 and 1, whose titles are of unlike length.
    # By words p1 is first, the shorter title: both get 1/11 + 1/12, and p0 stands by its row.
    assert [hit.id for hit in found] == ["p0", "p1", "p4", "p2", "p3"]
    assert [hit.score for hit in found[:2]] == pytest.approx([(1 / 11 + 1 / 12) * 11 / 2] * 2)
    by_id = {hit.id: hit for hit in found}
    assert by_id["p0"].similarity == pytest.approx(1)
    assert by_id["p1"].similarity == pytest.approx(0.8)
    assert by_id["p4"].words is None
    assert by_id["p1"].year is None
    assert by_id["p0"].year == 2001
    assert [hit.rank for hit in found] == [1, 2, 3, 4, 5]


def test_several_queries_at_once_and_one_by_one(index_path, encode):
    index = load_index(index_path, encode=encode)
    queries = ["moving graphs", "memory of mice"]
    assert index.search_each(queries, 3) == [index.search(query, 3) for query in queries]
    assert index.search("how memory of mice moves", 1)[0].title == "Memory of mice"


def test_related_needs_no_encoder_and_leaves_the_paper_out(index_path):
    found = load_index(index_path).related("p0", k=10)
    assert [hit.id for hit in found] == ["p1", "p4", "p2", "p3"]
    assert found[0].score == pytest.approx(1)  # first by vectors, and the only one that shares a word


@pytest.mark.parametrize("similarity", ["dot", "euclidean"])
def test_other_similarities(tmp_path, similarity):
    vectors = VECTORS * np.array([[1], [5], [1], [1], [3]], dtype=np.float32)
    index = load_index(write_index(tmp_path / "i" / "m", similarity=similarity, vectors=vectors))
    found = {hit.id: hit.similarity for hit in index.related("p0")}
    if similarity == "dot":
        assert found["p1"] == pytest.approx(4)
    else:
        assert found["p1"] == pytest.approx(-np.linalg.norm(vectors[0] - vectors[1]))


def test_facets_rank_by_their_own_vectors(index_path, encode):
    vectors = np.stack([VECTORS, VECTORS[::-1], np.zeros((5, 3))])
    shares = np.array([[0.5, 0.5, 0]] * 4 + [[1, 0, 0]])
    write_facets(index_path, vectors, shares)
    index = load_index(index_path, encode=encode)
    assert index.has_facets() and not index.has_facets("another")
    # Paper 0 has paper 4's vector there; paper 4 has no sentence of the facet.
    found = index.related("p0", facet="method")
    expected = {f"p{row}": pytest.approx(float(VECTORS[4 - row] @ VECTORS[4])) for row in (1, 2, 3)}
    assert {hit.id: hit.similarity for hit in found} == expected
    assert found[0].shares == {"background": 0.5, "method": 0.5, "result": 0.0}
    assert {hit.id for hit in index.search("memory", facet="method")} == {"p0", "p1", "p2", "p3"}
    assert index.search("memory", facet="result") == []
    with pytest.raises(InputError, match="paper p4: has no sentence of the facet 'method'"):
        index.related("p4", facet="method")


def test_facets_of_another_index_are_not_there(index_path, encode):
    write_facets(index_path, np.zeros((3, 5, 3)), np.zeros((5, 3)), papers="0" * 64)
    index = load_index(index_path, encode=encode)
    assert not index.has_facets()
    with pytest.raises(InputError, match="has no facets yet"):
        index.search("graphs", facet="method")


def test_wrong_questions_are_one_line(index_path, encode):
    index = load_index(index_path, encode=encode)
    with pytest.raises(UsageError, match="an empty query"):
        index.search(" \n")
    with pytest.raises(UsageError, match="not UTF-8"):
        index.search("graphs\udcff")
    with pytest.raises(UsageError, match=r"no facet 'methods'.*background, method, result"):
        index.search("graphs", facet="methods")
    with pytest.raises(UsageError, match="the best 0 papers"):
        index.search("graphs", 0)
    with pytest.raises(InputError, match=r"no paper 'p12' among 5 \(near it: p2, p1") as error:
        index.related("p12")
    assert "\n" not in str(error.value)
    with pytest.raises(InputError, match="ids look like p0, p1, p2"):
        index.related("10.1000/xyz")
    with pytest.raises(ModelError, match="knows no encoder"):
        load_index(index_path).search("graphs")
    with pytest.raises(ModelError, match="gives vectors of shape"):
        load_index(index_path, encode=lambda queries: np.zeros((1, 7))).search("graphs")


@pytest.mark.parametrize("name", INDEX_FILES)
def test_broken_files_are_one_line(index_path, name):
    file = index_path / name
    kept = file.read_bytes()
    for content in (b"", b"[1, 2]", b"{}", kept[: len(kept) // 2]):
        file.write_bytes(content)
        if content == b"{}" and name.endswith(("vocab.index.json",)):
            continue  # no words: nothing is found by them
        with pytest.raises(InputError):
            load_index(index_path)


def test_parts_of_unlike_length_don_t_fit(index_path):
    np.save(index_path / "dense.npy", VECTORS[:4])
    with pytest.raises(InputError, match="don't fit together"):
        load_index(index_path)


def test_pickles_are_not_opened(index_path):
    np.save(index_path / "dense.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="is not a saved array"):
        load_index(index_path)


def test_an_index_is_found_beside_its_set_while_the_papers_are_the_same(tmp_path):
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "corpus.json").write_text(json.dumps({"fingerprint": "f" * 64}))
    assert find_index(papers, "letters") is None
    write_index(index_folder(papers, "letters"))
    assert index_folder(papers, "letters") == tmp_path / "papers.index" / "letters"
    assert find_index(papers, "letters") is not None
    (papers / "corpus.json").write_text(json.dumps({"fingerprint": "0" * 64}))
    assert find_index(papers, "letters") is None
    (papers / "corpus.json").write_text("[]")
    with pytest.raises(InputError, match="is not a paper set"):
        find_index(papers, "letters")


def test_an_index_by_another_model_of_the_name_is_refused(tmp_path):
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "corpus.json").write_text(json.dumps({"fingerprint": "f" * 64}))
    write_index(index_folder(papers, "letters"))
    other = tmp_path / "elsewhere" / "letters"
    other.mkdir(parents=True)
    assert index_folder(papers, other) == index_folder(papers, "letters")
    with pytest.raises(ModelError, match="another model of that name"):
        find_index(papers, other)


def test_hub_ids_are_one_folder(tmp_path):
    assert index_folder(tmp_path / "papers", "org/name").name == "org--name"


def test_opening_loads_no_heavy_library(index_path):
    code = (
        "import sys; from sectioncls.vectors.index import load_index; "
        f"load_index({str(index_path)!r}).related('p0'); "
        "print([name for name in ('torch', 'pyarrow', 'scipy', 'sklearn', 'bm25s', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_file_of_an_index_is_listed(index_path: Path):
    files = {file.relative_to(index_path).as_posix() for file in index_path.rglob("*") if file.is_file()}
    assert files == set(INDEX_FILES)
