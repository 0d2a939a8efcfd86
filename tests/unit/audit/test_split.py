"""Cutting a corpus anew."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow.parquet as pq
import pytest

from sectioncls.audit import split_corpus
from sectioncls.audit.split import places
from sectioncls.corpora import SPLITS
from sectioncls.corpora.splits import split_of_article
from sectioncls.errors import OutputError, UsageError

NAMES = [f"PMC{number}" for number in range(1000)]


def counts(destination) -> list[int]:
    return [int((destination == number).sum()) for number in range(-1, 3)]


@pytest.mark.parametrize("order", ["file", "hash", "random"])
@pytest.mark.parametrize("sizes", [(700, 100, 200), (0.7, 0.1, 0.2), (600, 0, 100)])
def test_sizes_are_exact(order: str, sizes: tuple[float, ...]) -> None:
    found = counts(places(NAMES, sizes, order=order, seed=3))
    if order == "hash" and sizes == (0.7, 0.1, 0.2):
        assert found[0] == 0
        assert all(abs(count - wanted) < 50 for count, wanted in zip(found[1:], (700, 100, 200), strict=True))
    else:
        wanted = [round(size * 1000) if size < 1 else size for size in sizes]
        assert found == [1000 - sum(wanted), *wanted]


def test_file_order_takes_the_first() -> None:
    assert places(list("abcdefg"), (3, 1, 2), order="file").tolist() == [0, 0, 0, 1, 2, 2, -1]


@pytest.mark.parametrize(
    ("sizes", "total", "wanted"),
    [
        ((0.8, 0.1, 0.1), 7, [0, 5, 1, 1]),  # 5.6, 0.7, 0.7: the largest remainders first
        ((0.5, 0.25, 0.25), 3, [0, 1, 1, 1]),
        ((1 / 3, 1 / 3, 1 / 3), 10, [0, 4, 3, 3]),
        ((0.4, 0.1, 0.1), 10, [4, 4, 1, 1]),
        ((0.8, 0.1, 0.1), 0, [0, 0, 0, 0]),
    ],
)
def test_shares_become_numbers(sizes: tuple[float, ...], total: int, wanted: list[int]) -> None:
    assert counts(places(NAMES[:total], sizes, order="file")) == wanted


def test_hash_with_shares_is_the_split_of_build_pmc() -> None:
    found = places(NAMES, (0.8, 0.1, 0.1), order="hash", seed=5)
    assert [SPLITS[place] for place in found] == [split_of_article(name, 5) for name in NAMES]
    assert places(NAMES[::-3], (0.8, 0.1, 0.1), order="hash", seed=5).tolist() == found[::-3].tolist()


def test_hash_with_numbers_moves_one_over_each_border() -> None:
    before = places(NAMES[:-1], (500, 100, 100), order="hash")
    after = places(NAMES, (500, 100, 100), order="hash")[:-1]
    assert (before != after).sum() <= 3


def test_random_is_a_function_of_the_seed() -> None:
    one, again, other = (places(NAMES, (700, 100, 200), order="random", seed=seed) for seed in (1, 1, 2))
    assert one.tolist() == again.tolist() != other.tolist()


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((700, 100), "2 numbers"),
        ((0, 0, 0), "nothing but 0"),
        ((-1, 2, 3), "below 0"),
        ((float("nan"), 1, 1), "below 0"),
        ((0.8, 0.2, 0.1), "more than 1"),
        ((0.5, 1, 2), "more than 1"),
        ((900, 100, 100), "ask for 1,100, the corpus has 1,000"),
    ],
)
def test_sizes_that_do_not_fit(sizes: tuple[float, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        places(NAMES, sizes, order="file")


def test_one_whole_share_is_one_split() -> None:
    assert counts(places(NAMES, (1.0, 0.0, 0.0), order="file"))[1] == 1


@pytest.fixture
def corpus(make_corpus):
    def article(name: str, size: int) -> list[tuple[str, str]]:
        return [(f"Sheep {name} {number}.", ("method", "result")[number % 2]) for number in range(size)]

    train = {f"a{number}": article(f"a{number}", number % 4 + 1) for number in range(8)}
    return make_corpus({"train": train, "test": {"b0": article("b0", 2), "a1": article("again", 2)}})


def test_no_article_is_cut(corpus, tmp_path) -> None:
    made = split_corpus(corpus, tmp_path / "cut", sizes=(5, 2, 2), order="file", command="sectioncls split")
    ids = {name: list(dict.fromkeys(made.split(name).article_ids)) for name in made.splits}
    assert ids == {"train": ["a0", "a1", "a2", "a3", "a4"], "dev": ["a5", "a6"], "test": ["a7", "b0"]}
    assert Counter(made.split("train").article_ids)["a1"] == 4
    assert made.info.sentences == corpus.info.sentences
    assert made.info.articles == {"train": 5, "dev": 2, "test": 2}
    assert made.info.command == "sectioncls split"
    assert made.info.notes[0] == (
        f"cut from sheep (fingerprint {corpus.info.fingerprint}) by article into 5 2 2, order file"
    )


def test_columns_and_paragraphs_stay(corpus, tmp_path) -> None:
    made = split_corpus(corpus, tmp_path / "cut", sizes=(3, 3, 2), order="file", command="x")
    before = corpus.to_pandas("train")
    first = before[before["article_id"].isin(["a0", "a1", "a2"])]
    after = made.to_pandas("train")
    assert after[after["text"].isin(first["text"])].reset_index(drop=True).equals(first)
    assert len(after) == len(first) + 2  # a1 stood in test too
    paragraphs = pq.read_table(made.path / "paragraphs.parquet")["article_id"].to_pylist()
    assert set(paragraphs) == {article for name in made.splits for article in made.split(name).article_ids}
    assert made.info.dropped == {"beyond-sizes": 2}
    assert "beyond the sizes asked for: 1 article" in made.info.notes


def test_by_sentence(corpus, tmp_path) -> None:
    made = split_corpus(corpus, tmp_path / "cut", sizes=(0.5, 0.25, 0.25), by="sentence", order="random", command="x")
    total = corpus.info.sentences
    sizes = {name: len(made.split(name)) for name in made.splits}
    assert sizes == {"train": total // 2, "dev": total // 4, "test": total // 4}
    assert any("order random, seed 0" in note for note in made.info.notes)


def test_rows_without_articles_say_so(make_corpus, tmp_path) -> None:
    rows = {f"row{number}": [(f"Sheep {number}.", "method")] for number in range(10)}
    corpus = make_corpus({"train": rows}, has_articles=False)
    made = split_corpus(corpus, tmp_path / "cut", sizes=(8, 1, 1), order="file", command="x")
    assert not made.info.has_articles
    assert any("cut by sentence" in note for note in made.info.notes)


def test_the_same_bytes_again(corpus, tmp_path) -> None:
    for name in ("one", "two"):
        split_corpus(corpus, tmp_path / name, sizes=(0.6, 0.2, 0.2), order="hash", command="x")
    one, two = ({file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in ("one", "two"))
    assert one == two
    with pytest.raises(OutputError, match="exists already"):
        split_corpus(corpus, tmp_path / "one", sizes=(0.6, 0.2, 0.2), command="x")


def test_a_big_corpus_keeps_its_order(make_corpus, tmp_path) -> None:
    rows = {f"a{number % 97}": [] for number in range(97)}
    for number in range(20_000):
        rows[f"a{number % 97}"].append((f"Sheep {number}.", "method"))
    corpus = make_corpus({"train": rows})
    made = split_corpus(corpus, tmp_path / "cut", sizes=(50, 20, 27), order="hash", command="x")
    old = {text: row for row, text in enumerate(corpus.split("train").texts)}
    for name in made.splits:
        assert np.all(np.diff([old[text] for text in made.split(name).texts]) > 0)
