from __future__ import annotations

import importlib.util
import json
from collections import Counter

import numpy as np
import pytest

from sectioncls.errors import UsageError
from sectioncls.sentences.boundaries import Passage, boundary_counts, boundary_difference, boundary_scores

TEXT = "It grew. It fell. It lay."  # ends: 8, 17, 25


def test_counts_leave_the_last_end_out() -> None:
    assert boundary_counts(TEXT, [8, 17, 25], [8, 17, 25]) == (2, 2, 2)
    assert boundary_counts(TEXT, [8, 17, 25], [25]) == (0, 0, 2)
    assert boundary_counts(TEXT, [8, 17, 25], []) == (0, 0, 2)
    assert boundary_counts("", [], []) == (0, 0, 0)


def test_white_space_does_not_matter() -> None:
    text = " One.\n\n Two.\u00a0 "
    assert boundary_counts(text, [5, 12], [7, len(text)]) == (1, 1, 1)
    assert boundary_counts(text, [5, 12], [0, 1, 6, 8, 13, 14]) == (1, 1, 1)
    assert boundary_counts(text, [5, 12], [4]) == (0, 1, 1)


def test_scores_by_hand() -> None:
    # 2 of 2 right; 1 of 2 found and 1 false; nothing to find, 1 false: right 3, predicted 5, annotated 4.
    gold = [Passage(TEXT, [8, 17, 25]), Passage(TEXT, [8, 17, 25]), Passage(TEXT, [25])]
    scores = boundary_scores(gold, [[8, 17, 25], [8, 14, 25], [8, 25]])
    assert (scores.right, scores.predicted, scores.gold, scores.documents) == (3, 5, 4, 3)
    assert scores.precision == 3 / 5
    assert scores.recall == 3 / 4
    assert scores.f1 == pytest.approx(2 * (3 / 5) * (3 / 4) / (3 / 5 + 3 / 4))
    assert 0 <= scores.low <= scores.f1 <= scores.high <= 1


@pytest.mark.parametrize(
    ("ends", "predicted", "expected"),
    [([25], [25], (1, 1, 1)), ([25], [8, 25], (0, 0, 0)), ([8, 25], [25], (0, 0, 0))],
)
def test_nothing_to_find_or_nothing_found(ends: list[int], predicted: list[int], expected: tuple[int, ...]) -> None:
    scores = boundary_scores([Passage(TEXT, ends)], [predicted])
    assert (scores.precision, scores.recall, scores.f1) == expected


def resampled(rows: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """The bootstrap as a naive loop over drawn documents."""
    generator = np.random.default_rng(seed)
    values = []
    for _ in range(resamples):
        right, predicted, gold = sum(rows[i] for i in generator.integers(len(rows), size=len(rows)))
        values.append(2 * right / (predicted + gold))
    return np.array(values)


def test_the_interval_is_the_bootstrap_over_documents() -> None:
    # Documents a and b have two passages each, so there are three units of resampling.
    names = ["a", "a", "b", "b", "c"]
    gold = [Passage(TEXT, [8, 17, 25], name) for name in names]
    first = [[8, 17], [8, 17], [8], [4, 8], [8, 17, 20]]
    second = [[8], [8, 17], [8, 17], [4], []]
    rows = np.array([[4, 4, 4], [2, 3, 4], [2, 3, 2]])
    others = np.array([[3, 3, 4], [2, 3, 4], [0, 0, 2]])
    values, lower = resampled(rows, 300, 7), resampled(others, 300, 7)
    scores = boundary_scores(gold, first, resamples=300, seed=7)
    assert scores.documents == 3
    assert (scores.low, scores.high) == pytest.approx(tuple(np.percentile(values, [2.5, 97.5])))
    gap = boundary_difference(gold, first, second, resamples=300, seed=7)
    assert gap.f1 == pytest.approx(16 / 20 - 10 / 16)
    assert (gap.low, gap.high) == pytest.approx(tuple(np.percentile(values - lower, [2.5, 97.5])))


def test_a_splitter_does_not_differ_from_itself() -> None:
    gold = [Passage(TEXT, [8, 17, 25])] * 4
    ends = [[8], [17], [8, 17], []]
    gap = boundary_difference(gold, ends, ends, resamples=50)
    assert (gap.f1, gap.low, gap.high) == (0, 0, 0)


@pytest.mark.parametrize("predicted", [[], [[8], [8]]])
def test_each_passage_needs_one_prediction(predicted: list[list[int]]) -> None:
    with pytest.raises(UsageError, match="can't be compared"):
        boundary_scores([Passage(TEXT, [25])], predicted)
    with pytest.raises(UsageError):
        boundary_scores([], [])


@pytest.fixture(scope="module")
def rows(repository) -> dict[str, list[dict]]:
    folder = repository / "tests" / "data" / "sentences"
    return {
        half: [json.loads(line) for line in (folder / f"gold-{half}.jsonl").read_text(encoding="utf-8").splitlines()]
        for half in ("dev", "test")
    }


def test_the_hard_passages_are_whole(rows) -> None:
    everything = rows["dev"] + rows["test"]
    assert len({row["id"] for row in everything}) == len({row["text"] for row in everything}) == 372
    for row in everything:
        text, starts = row["text"], [0, *row["ends"]]
        assert row["ends"] == sorted(set(row["ends"]))
        assert starts[-1] == len(text)
        for start, end in zip(starts, row["ends"], strict=False):
            assert text[start:end].strip()
            assert not text[end - 1].isspace()


def test_each_phenomenon_stands_six_times_in_each_half(rows) -> None:
    dev, test = (Counter(row["phenomenon"] for row in rows[half]) for half in ("dev", "test"))
    assert dev == test
    assert set(dev.values()) == {6}
    assert all(row["id"].startswith(f"{half}-{row['phenomenon']}-") for half in rows for row in rows[half])


def test_no_sentence_stands_in_both_halves(rows) -> None:
    def sentences(half: str) -> set[str]:
        return {
            " ".join(row["text"][start:end].split())
            for row in rows[half]
            for start, end in zip([0, *row["ends"]], row["ends"], strict=False)
        }

    shared = {sentence for sentence in sentences("dev") & sentences("test") if len(sentence) > 12}
    assert not shared


@pytest.fixture(scope="module")
def annotated_sets(repository):
    path = repository / "tests" / "benchmarks" / "annotated_sets.py"
    spec = importlib.util.spec_from_file_location("annotated_sets", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_sentences_of_a_section_are_joined_and_headings_cut(annotated_sets) -> None:
    sentences = ["Ewes ate.", "Rams slept.[3]", "Results", "Lambs  grew.", "“All did.”12b", "They were", "Why?"]
    prose = [annotated_sets._WHOLE.search(sentence) is not None for sentence in sentences]
    assert prose == [True, True, False, True, True, False, True]
    runs = list(annotated_sets._runs(sentences, prose, ["a", "a", "a", "a", "b", "b", "b"]))
    assert runs == [sentences[:2], [sentences[3]], [sentences[4]], [sentences[6]]]
    assert annotated_sets._joined(runs[0], "d") == Passage("Ewes ate. Rams slept.[3]", [9, 24], "d")


@pytest.mark.shared
def test_the_published_sets_are_read_whole(annotated_sets, shared) -> None:
    published = {"art_coresc": 34_454, "consort_tm": 9_558, "mulms_az": 10_308}
    for name, total in published.items():
        counts: Counter[str] = Counter()
        for half in ("dev", "test"):
            passages, some = annotated_sets.real_passages(shared / "sentences", name, half)
            counts += some
            assert sum(len(passage.ends) for passage in passages) == some["sentences"]
        assert counts["sentences"] + counts["sentences left out"] == total
        assert not counts["documents left out"]
