"""What splits share."""

from __future__ import annotations

from sectioncls.audit import Place, survey_corpus
from sectioncls.audit.leaks import leaks

A = [("We count sheep on four farms.", "method"), ("The flock grew.", "result"), ("Nobody knows why.", "background")]
B = [("Hay is dear in winter.", "background"), ("Wool was weighed by hand.", "method")]
C = [("Rams were older than ewes.", "result"), ("All rights reserved.", "other")]


def found(corpus, near: float = 0.8):
    return {(finding.check, *finding.splits): finding for finding in leaks(survey_corpus(corpus, near=near))}


def filler(prefix: str, count: int) -> dict:
    return {
        f"{prefix}{number}": [(f"{prefix} {number} grazes alone, {number * 7} days.", "method")]
        for number in range(count)
    }


def test_nothing_is_shared(make_corpus) -> None:
    assert found(make_corpus({"train": {"a": A}, "dev": {"b": B}, "test": {"c": C}})) == {}


def test_an_article_in_two_splits(make_corpus) -> None:
    got = found(make_corpus({"train": {"a": A[:1], "b": B}, "test": {"a": A[1:], "c": C}}))
    assert list(got) == [("article-in-two-splits", "test", "train")]
    finding = got["article-in-two-splits", "test", "train"]
    assert (finding.severity, finding.count, finding.of, finding.sentences) == ("error", 1, 2, 2)
    assert finding.text == "test articles have sentences in train too: 2 of 4 sentences (50.0 %)"
    assert finding.examples == ((Place("test", "a"), Place("train", "a")),)
    assert "sectioncls split" in finding.todo


def test_made_up_articles_are_not_compared(make_corpus) -> None:
    rows = {"0": A[:1]}, {"0": B[:1]}
    assert found(make_corpus({"train": rows[0], "test": rows[1]}, has_articles=False)) == {}


def test_an_article_under_another_id(make_corpus) -> None:
    shuffled = [A[2], (A[0][0].upper(), "method"), A[1]]
    corpus = make_corpus({"train": {"a": A, "b": B}, "dev": {"d": C}, "test": {"c": shuffled, "e": [*C, *B[:1]]}})
    got = found(corpus)
    whole = got["article-copied", "test", "train"]
    assert (whole.severity, whole.count, whole.of, whole.sentences) == ("error", 1, 2, 3)
    assert whole.examples == ((Place("test", "c"), Place("train", "a")),)
    around = got["article-copied", "test", "dev"]
    assert around.text == "test articles hold a whole article of dev: 3 sentences"
    assert around.examples == ((Place("test", "e"), Place("dev", "d")),)
    copied = got["sentence-copied", "test", "train"]
    assert (copied.count, copied.of) == (4, 6)
    assert copied.examples[0] == (Place("test", "c", 0), Place("train", "a", 2))
    assert got["sentence-copied", "test", "dev"].count == 2


def test_few_shared_sentences_are_a_warning(make_corpus) -> None:
    splits = {"train": {"a": A}, "test": {"b": B, "c": [A[0]], **filler("Ram", 97)}}
    finding = found(make_corpus(splits))["sentence-copied", "test", "train"]
    assert (finding.severity, finding.count, finding.of) == ("error", 1, 100)
    splits["test"] |= filler("Ewe", 1)
    assert found(make_corpus(splits))["sentence-copied", "test", "train"].severity == "warning"


def test_almost_the_same(make_corpus) -> None:
    long = "The flock was counted at dawn and at dusk by two shepherds who did not know the aim of the study"
    corpus = make_corpus({"train": {"a": [(long + ".", "method")]}, "dev": {"b": [(f"First, {long}!", "method")]}})
    got = found(corpus)
    assert list(got) == [("sentence-nearly-copied", "dev", "train")]
    finding = got["sentence-nearly-copied", "dev", "train"]
    assert finding.examples == ((Place("dev", "b", 0), Place("train", "a", 0)),)
    assert found(corpus, near=1.0) == {}


def test_the_same_text_is_not_almost_the_same(make_corpus) -> None:
    got = found(make_corpus({"train": {"a": A, "b": [("The flock grew!", "result")]}, "test": {"c": A}}))
    assert ("sentence-nearly-copied", "test", "train") not in got
