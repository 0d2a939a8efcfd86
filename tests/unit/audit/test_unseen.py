"""Which test sentences no other split holds, against what the clean twin leaves and a loop over texts."""

from __future__ import annotations

from sectioncls.audit import survey_corpus, unseen_rows, write_clean

LONG = "the flock was counted at dawn and at dusk by two shepherds who did not know the aim of the study"
SPLITS = {
    "train": {
        "a": [("We count sheep.", "method"), ("The flock grew.", "result"), ("Own of train.", "other")],
        "b": [(f"Indeed {LONG}.", "method"), ("Shared article, part one.", "method")],
    },
    "dev": {"c": [("Wool was weighed.", "method"), ("Only in dev.", "result")]},
    "test": {
        "d": [("we  COUNT sheep.", "method"), ("The flock grew.", "result")],  # stands whole in train
        "e": [(f"{LONG.capitalize()}.", "method"), ("Stock.", "other"), ("Wool was weighed.", "method")],
        "b": [("Shared article, part two.", "method")],
        "f": [("Stock.", "method"), ("Only in test.", "result")],
    },
}
NEW = ["Stock.", "Stock.", "Only in test."]


def test_what_stands_elsewhere_is_seen_and_repeats_inside_test_are_not(make_corpus) -> None:
    corpus = make_corpus(SPLITS)
    test = corpus.split("test")
    mask = unseen_rows(corpus)
    assert mask.shape == (len(test),)
    assert sorted(text for text, new in zip(test.texts, mask, strict=True) if new) == sorted(NEW)


def test_every_sentence_of_the_twin_that_keeps_train_is_unseen(make_corpus, tmp_path) -> None:
    corpus = make_corpus(SPLITS)
    twin, _ = write_clean(corpus, survey_corpus(corpus), tmp_path / "twin", command="x", keep="train")
    test, mask = corpus.split("test"), unseen_rows(corpus)
    unseen = {(a, int(i)) for a, i, new in zip(test.article_ids, test.index, mask, strict=True) if new}
    left = twin.split("test")
    assert set(zip(left.article_ids, left.index.tolist(), strict=True)) <= unseen


def test_languages_are_left_alone_when_not_asked_for(make_corpus) -> None:
    corpus = make_corpus(SPLITS)
    every, quick = survey_corpus(corpus), survey_corpus(corpus, languages=False)
    assert (quick.near == every.near).all() and (quick.copies == every.copies).all()


def test_without_leaks_everything_is_unseen(make_corpus) -> None:
    assert unseen_rows(make_corpus({name: {name: [(f"Only in {name}.", "other")]} for name in SPLITS})).all()
