"""What is odd inside a split."""

from __future__ import annotations

import numpy as np
import pytest

from sectioncls.audit import Place, survey_corpus
from sectioncls.audit.content import conflicts, labels, languages, repeats, sentences

A = [("We count sheep on four farms.", "method"), ("The flock grew.", "result")]
B = [("Hay is dear in winter.", "background"), ("Wool was weighed by hand.", "method")]


def found(kind, corpus) -> dict:
    return {finding.check: finding for finding in kind(survey_corpus(corpus))}


def test_repeats(make_corpus) -> None:
    splits = {"train": {"a": A, "b": [*A, *B], "c": [A[1]]}, "test": {"d": A, "e": [(A[0][0], "other"), B[0]]}}
    got = found(repeats, make_corpus(splits))
    assert list(got) == ["article-repeated", "sentence-repeated"]
    article = got["article-repeated"]
    assert (article.count, article.of, article.sentences, article.severity) == (1, 5, 2, "warning")
    assert article.examples == ((Place("train", "a"), Place("train", "b")),)
    sentence = got["sentence-repeated"]
    assert (sentence.count, sentence.of, sentence.severity) == (4, 11, "note")
    assert sentence.text.endswith("train 3, test 1")
    assert sentence.examples[0] == (Place("train", "b", 0), Place("train", "a", 0))


def test_near_repeats(make_corpus) -> None:
    splits = {"train": {"a": A, "b": [("The flock grew …", "result")]}, "test": {"c": [("The flock grew!", "result")]}}
    got = found(repeats, make_corpus(splits))
    assert (got["sentence-nearly-repeated"].count, got["sentence-nearly-repeated"].splits) == (2, ("train",))


def test_labels_that_disagree(make_corpus) -> None:
    torn = ("the FLOCK grew.", "other")
    splits = {"train": {"a": A, "b": [torn], "c": B}, "dev": {"d": A}, "test": {"e": [(B[0][0], "objective")]}}
    got = found(conflicts, make_corpus(splits))
    inside, across = got["labels-disagree"], got["labels-disagree-across"]
    assert (inside.count, inside.of, inside.splits) == (2, 8, ("train",))
    assert inside.examples == ((Place("train", "a", 1), Place("train", "b", 0)),)
    assert (across.count, across.splits) == (2, ("train", "test"))
    assert across.examples == ((Place("train", "c", 0), Place("test", "e", 0)),)
    assert found(conflicts, make_corpus({"train": {"a": A}, "test": {"b": A}})) == {}


def test_odd_sentences(make_corpus) -> None:
    rows = [("12.5 (3)", "other"), ("…", "other"), ("None declared.", "other"), ("sheep " * 201, "result"), *A]
    got = found(sentences, make_corpus({"train": {"a": rows}}))
    assert {check: finding.count for check, finding in got.items()} == {"no-words": 2, "too-short": 1, "too-long": 1}
    assert got["no-words"].examples == ((Place("train", "a", 0),), (Place("train", "a", 1),))
    assert found(sentences, make_corpus({"train": {"a": A}})) == {}


def many(label_counts: dict[str, int], word: str) -> dict:
    return {
        f"{word}-{label}-{number}": [(f"{word} {label} {number}.", label)]
        for label, count in label_counts.items()
        for number in range(count)
    }


def test_label_shares(make_corpus) -> None:
    even = {"method": 100, "result": 100}
    corpus = make_corpus({"train": many(even, "a"), "test": many({"method": 130, "result": 60, "other": 10}, "b")})
    got = {(f.check, *f.splits): f for f in labels(survey_corpus(corpus))}
    assert list(got) == [("label-missing", "train"), ("label-shares", "train"), ("label-shares", "test")]
    test = got["label-shares", "test"]
    assert (test.count, test.of) == (40, 200)  # 30 method and 10 other too many, 40 result too few
    assert test.text.endswith("result 30.0 %, elsewhere 50.0 %")


@pytest.mark.parametrize("test", [{"method": 52, "result": 48}, {"method": 14, "result": 6}])
def test_shares_that_chance_explains_or_nobody_minds(make_corpus, test: dict[str, int]) -> None:
    corpus = make_corpus({"train": many({"method": 5000, "result": 5000}, "a"), "test": many(test, "b")})
    assert found(labels, corpus) == {}


def test_a_missing_label(make_corpus) -> None:
    counts = {"method": 10, "result": 10, "objective": 1}
    corpus = make_corpus({"train": many(counts, "a"), "test": many({"method": 10, "result": 10}, "b")})
    finding = found(labels, corpus)["label-missing"]
    assert (finding.text, finding.severity) == ("label is missing in test: objective", "warning")


PORTUGUESE = (
    "As ovelhas foram pesadas todas as semanas durante o inverno por dois pastores que não conheciam os grupos.",
    "Os resultados mostram que o peso dos animais aumentou apenas nas fazendas que tinham água corrente e sombra.",
)
ENGLISH = "In the {} winter the sheep were weighed every week by two shepherds who did not know about the groups."


def test_languages_by_sentence(make_corpus) -> None:
    years = [(ENGLISH.format(year), "method") for year in ("first", "second", "third", "fourth", "last")]
    mixed = [years[0], *((text, "other") for text in PORTUGUESE), ("Peso.", "other")]
    finding = found(languages, make_corpus({"train": {"a": years[1:], "b": mixed}}))["other-language"]
    assert (finding.count, finding.of, finding.severity) == (2, 8, "warning")
    assert finding.text == "sentences of 1 article are not in en: pt 2"
    assert finding.examples == ((Place("train", "b", 1),),)
    assert found(languages, make_corpus({"train": {"a": years}})) == {}
    assert found(languages, make_corpus({"train": {"a": [("Peso.", "other")]}})) == {}


def test_the_chance_is_scipys() -> None:
    from scipy.stats import chisquare

    from sectioncls.audit.content import _chance

    mine, rest = np.array([30, 10, 0]), np.array([100, 100, 0])
    total = (mine + rest)[:2]
    expected = np.concatenate([total * mine.sum() / 240, total * rest.sum() / 240])
    wanted = chisquare(np.concatenate([mine[:2], rest[:2]]), expected, ddof=2).pvalue
    assert _chance(mine, rest) == pytest.approx(wanted)
