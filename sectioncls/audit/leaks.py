"""What test or dev share with the data that a model learns or is chosen from."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sectioncls.audit.findings import (
    CLEAN,
    EXAMPLES,
    LARGE_SHARE,
    Finding,
    Severity,
    article_place,
    many,
    sentence_places,
    share,
)
from sectioncls.audit.rows import Array
from sectioncls.audit.survey import Survey

__all__ = ["LEAKS", "leaks"]

LEAKS = ("article-in-two-splits", "article-copied", "sentence-copied", "sentence-nearly-copied")

PAIRS = (("test", "train"), ("test", "dev"), ("dev", "train"))

RESPLIT = "sectioncls split CORPUS -o OUT --by article   gives every article one split"


def leaks(survey: Survey) -> Iterator[Finding]:
    """Give what splits share, articles before sentences.

    An article in two splits is an error; so is a sentence when they make up 1 % of the split or more: below
    that they are stock phrases as a rule, and a warning.
    """
    names = survey.rows.splits
    pairs = [(names.index(held), names.index(other)) for held, other in PAIRS if held in names and other in names]
    if survey.rows.has_articles:
        for held, other in pairs:
            yield from _shared_articles(survey, held, other)
        for held, other in pairs:
            yield from _copied_articles(survey, held, other)
    for held, other in pairs:
        yield from _copied_sentences(survey, held, other)
    for held, other in pairs:
        yield from _near_sentences(survey, held, other)


def _shared_articles(survey: Survey, held: int, other: int) -> Iterator[Finding]:
    rows, articles = survey.rows, survey.articles
    mine = np.flatnonzero(articles.split == held)
    shared = mine[np.isin(articles.article[mine], articles.article[articles.split == other])]
    if not len(shared):
        return
    sentences, total = int(articles.sentences[shared].sum()), int(articles.sentences[mine].sum())
    yield Finding(
        check="article-in-two-splits",
        severity="error",
        text=f"{rows.splits[held]} articles have sentences in {rows.splits[other]} too: {sentences:,} of "
        f"{total:,} sentences ({share(sentences, total)})",
        count=len(shared),
        of=len(mine),
        sentences=sentences,
        splits=(rows.splits[held], rows.splits[other]),
        examples=tuple(
            (article_place(rows, held, article), article_place(rows, other, article))
            for article in articles.article[shared[:EXAMPLES]]
        ),
        todo=RESPLIT,
    )


def _copied_articles(survey: Survey, held: int, other: int) -> Iterator[Finding]:
    """Give the articles of ``held`` that stand whole in one of ``other``, and the other way round."""
    rows, articles, copies = survey.rows, survey.articles, survey.copies
    of = int((articles.split == held).sum())
    inside = copies[(articles.split[copies[:, 0]] == held) & (articles.split[copies[:, 1]] == other)]
    around = copies[(articles.split[copies[:, 0]] == other) & (articles.split[copies[:, 1]] == held)][:, ::-1]
    around = around[~np.isin(around[:, 0], inside[:, 0])]
    for pairs, does in ((inside, "stand whole in"), (around, "hold a whole article of")):
        mine, first = np.unique(pairs[:, 0], return_index=True)
        if not len(mine):
            continue
        sentences = int(articles.sentences[mine].sum())
        yield Finding(
            check="article-copied",
            severity="error",
            text=f"{rows.splits[held]} articles {does} {rows.splits[other]}: {many(sentences, 'sentence')}",
            count=len(mine),
            of=of,
            sentences=sentences,
            splits=(rows.splits[held], rows.splits[other]),
            examples=tuple(
                tuple(article_place(rows, articles.split[unit], articles.article[unit]) for unit in pairs[number])
                for number in first[:EXAMPLES]
            ),
            todo=CLEAN,
        )


def _copied_sentences(survey: Survey, held: int, other: int) -> Iterator[Finding]:
    rows = survey.rows
    mine, theirs = np.flatnonzero(rows.of(held)), np.flatnonzero(rows.of(other))
    shared = mine[np.isin(rows.text[mine], rows.text[theirs])]
    if not len(shared):
        return
    yield Finding(
        check="sentence-copied",
        severity=_severity(len(shared), len(mine)),
        text=f"{rows.splits[held]} sentences stand in {rows.splits[other]} word for word "
        f"({share(len(shared), len(mine))})",
        count=len(shared),
        of=len(mine),
        sentences=len(shared),
        splits=(rows.splits[held], rows.splits[other]),
        examples=sentence_places(rows, _twins(rows.text, shared[:EXAMPLES], theirs)),
        todo=CLEAN,
    )


def _near_sentences(survey: Survey, held: int, other: int) -> Iterator[Finding]:
    rows = survey.rows
    mine = np.flatnonzero(rows.of(held))
    bit = np.uint8(1 << other)
    near, same = survey.near_splits_of_texts()[rows.text[mine]], rows.splits_of_texts()[rows.text[mine]]
    shared = mine[(near & bit > 0) & (same & bit == 0)]
    if not len(shared):
        return
    yield Finding(
        check="sentence-nearly-copied",
        severity=_severity(len(shared), len(mine)),
        text=f"{rows.splits[held]} sentences stand almost so in {rows.splits[other]} ({share(len(shared), len(mine))})",
        count=len(shared),
        of=len(mine),
        sentences=len(shared),
        splits=(rows.splits[held], rows.splits[other]),
        examples=sentence_places(rows, _near_twins(survey, shared[:EXAMPLES], np.flatnonzero(rows.of(other)))),
        todo=CLEAN,
    )


def _severity(count: int, of: int) -> Severity:
    return "error" if count >= LARGE_SHARE * of else "warning"


def _twins(texts: Array, some: Array, among: Array) -> Iterator[tuple[int, int]]:
    """Give each of some rows with the first row of the same text among others."""
    for row in some:
        yield row, among[np.argmax(texts[among] == texts[row])]


def _near_twins(survey: Survey, some: Array, among: Array) -> Iterator[tuple[int, int]]:
    """Give each of some rows with the first row among others whose text is nearly the same."""
    rows, near = survey.rows, survey.near
    for row in some:
        text = rows.text[row]
        alike = np.concatenate([near[near[:, 0] == text, 1], near[near[:, 1] == text, 0]])
        yield row, among[np.argmax(np.isin(rows.text[among], alike))]
