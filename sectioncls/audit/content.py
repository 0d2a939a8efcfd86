"""What is odd inside a split: repeats, labels that disagree, sentences that are none, shares, languages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

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
from sectioncls.audit.rows import Array, Rows
from sectioncls.audit.survey import Survey

__all__ = ["CONFLICTS", "LABELS", "REPEATS", "SENTENCES", "conflicts", "labels", "languages", "repeats", "sentences"]

REPEATS = ("article-repeated", "sentence-repeated", "sentence-nearly-repeated")
CONFLICTS = ("labels-disagree", "labels-disagree-across")
SENTENCES = ("no-words", "too-short", "too-long")
LABELS = ("label-missing", "label-shares")

SHORT, LONG = 3, 200
"""Words: fewer are a fragment as a rule; more than MiniLM's 256 tokens see, so it cuts them."""

SHARE_GAP, SHARE_CHANCE = 0.05, 0.001
"""Label shares differ when so much would have to change label, and chance would do it this rarely."""


def repeats(survey: Survey) -> Iterator[Finding]:
    """Give the articles and sentences that stand more than once inside a split."""
    rows, articles, copies = survey.rows, survey.articles, survey.copies
    inside = copies[articles.split[copies[:, 0]] == articles.split[copies[:, 1]]]
    mine, first = np.unique(inside[:, 0], return_index=True)
    if len(mine):
        yield Finding(
            check="article-repeated",
            severity="warning",
            text=f"articles stand whole in another of their split: {_by_split(rows, articles.split[mine])}",
            count=len(mine),
            of=len(articles),
            sentences=int(articles.sentences[mine].sum()),
            splits=_splits(rows, articles.split[mine]),
            examples=tuple(
                tuple(article_place(rows, articles.split[unit], articles.article[unit]) for unit in inside[number])
                for number in first[:EXAMPLES]
            ),
            todo=_clean(rows, articles.split[mine]),
        )
    keys = rows.split.astype(np.int64) * max(1, len(rows.hashes)) + rows.text
    _, first, back = np.unique(keys, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[back] != np.arange(len(rows)))
    if len(again):
        yield _sentences_finding(
            rows,
            again,
            check="sentence-repeated",
            text="sentences repeat an earlier one of their split",
            examples=((row, first[back[row]]) for row in again),
            todo=_clean(rows, rows.split[again]),
        )
    near = survey.near_splits_of_texts()[rows.text]
    again = np.flatnonzero(near & np.left_shift(1, rows.split) > 0)
    if len(again):
        yield _sentences_finding(
            rows,
            again,
            check="sentence-nearly-repeated",
            text="sentences have a near copy in their split",
            examples=((row,) for row in again),
        )


def conflicts(survey: Survey) -> Iterator[Finding]:
    """Give the texts that bear two labels, inside a split and across splits."""
    rows = survey.rows
    bits, inside = rows.splits_of_texts(), np.zeros(len(rows.hashes), dtype=np.bool_)
    torn: list[Array] = []
    for split in range(len(rows.splits)):
        mine = np.flatnonzero(rows.of(split))
        two = disputed(rows, mine)
        inside |= two
        torn.append(mine[two[rows.text[mine]]])
    across = disputed(rows, np.arange(len(rows))) & ~inside & (bits & (bits - 1) > 0)
    kinds = (
        ("labels-disagree", np.concatenate(torn), "sentences bear another label than their copies"),
        (
            "labels-disagree-across",
            np.flatnonzero(across[rows.text]),
            "sentences bear another label than their copies elsewhere",
        ),
    )
    for check, found, text in kinds:
        if len(found):
            yield _sentences_finding(
                rows,
                found,
                check=check,
                severity="warning",
                text=text,
                examples=_by_text(rows, found),
                todo=CLEAN,
            )


def disputed(rows: Rows, mine: Array) -> Array:
    """Give for each text of the corpus whether the rows ``mine`` give it two labels."""
    low = np.full(len(rows.hashes), np.iinfo(np.int16).max, dtype=np.int16)
    high = np.full(len(rows.hashes), -1, dtype=np.int16)
    np.minimum.at(low, rows.text[mine], rows.label[mine])
    np.maximum.at(high, rows.text[mine], rows.label[mine])
    return np.asarray(low < high)


def sentences(survey: Survey) -> Iterator[Finding]:
    """Give the sentences without a letter, and those that are very short or long."""
    rows = survey.rows
    kinds: tuple[tuple[str, Severity, Array, str], ...] = (
        ("no-words", "warning", ~rows.letters, "sentences have no letter"),
        ("too-short", "note", rows.letters & (rows.words < SHORT), f"sentences have fewer than {SHORT} words"),
        ("too-long", "note", rows.words > LONG, f"sentences have more than {LONG} words: encoders cut them"),
    )
    for check, severity, mask, text in kinds:
        found = np.flatnonzero(mask)
        if len(found):
            yield _sentences_finding(
                rows, found, check=check, severity=severity, text=text, examples=((row,) for row in found)
            )


def labels(survey: Survey) -> Iterator[Finding]:
    """Give the labels that a split lacks, and splits whose label shares are not those of the other splits."""
    rows = survey.rows
    table = np.zeros((len(rows.splits), len(rows.labels)), dtype=np.int64)
    np.add.at(table, (rows.split, rows.label), 1)
    for split, name in enumerate(rows.splits):
        absent = [rows.labels[label] for label in np.flatnonzero((table[split] == 0) & (table.sum(axis=0) > 0))]
        if absent:
            yield Finding(
                check="label-missing",
                severity="warning",
                text=f"{'label is' if len(absent) == 1 else 'labels are'} missing in {name}: {', '.join(absent)}",
                count=len(absent),
                of=int((table.sum(axis=0) > 0).sum()),
                sentences=0,
                splits=(name,),
            )
    for split, name in enumerate(rows.splits) if len(rows.splits) > 1 else ():
        mine, rest = table[split], table.sum(axis=0) - table[split]
        difference = mine / mine.sum() - rest / rest.sum()
        gap = 0.5 * float(np.abs(difference).sum())  # total variation
        if gap >= SHARE_GAP and _chance(mine, rest) < SHARE_CHANCE:
            most = int(np.argmax(np.abs(difference)))
            yield Finding(
                check="label-shares",
                severity="warning",
                text=f"{name} sentences are beyond the other splits' label shares: {rows.labels[most]} "
                f"{share(int(mine[most]), int(mine.sum()))}, elsewhere {share(int(rest[most]), int(rest.sum()))}",
                count=round(gap * int(mine.sum())),
                of=int(mine.sum()),
                sentences=int(mine.sum()),
                splits=(name,),
                todo="label shares differ: look at f1-macro and the scores by label, or cut the corpus anew",
            )


def _chance(mine: Array, rest: Array) -> float:
    """Give the p value of the chi-squared test that two rows of counts have the same shares."""
    from scipy.stats import chi2_contingency

    table = np.stack([mine, rest])
    return float(chi2_contingency(table[:, table.sum(axis=0) > 0], correction=False).pvalue)


def languages(survey: Survey) -> Iterator[Finding]:
    """Give the sentences that read as another language than most."""
    rows, names, codes = survey.rows, survey.languages.names, survey.languages.codes
    counts = np.bincount(codes[codes >= 0], minlength=len(names))
    if not counts.any():
        return
    main = int(np.argmax(counts))
    other = np.flatnonzero((codes >= 0) & (codes != main))
    if len(other):
        ranked = sorted(np.unique(codes[other]).tolist(), key=lambda code: (-counts[code], names[code]))
        each = ", ".join(f"{names[code]} {counts[code]:,}" for code in ranked[:4]) + (", …" if len(ranked) > 4 else "")
        where = f" of {many(len(np.unique(rows.article[other])), 'article')}" if rows.has_articles else ""
        yield _sentences_finding(
            rows,
            other,
            check="other-language",
            severity="warning" if len(other) >= LARGE_SHARE * len(rows) else "note",
            text=f"sentences{where} are not in {names[main]}: {each}",
            examples=((row,) for row in other[np.sort(np.unique(rows.article[other], return_index=True)[1])]),
            breakdown=False,
            todo="other languages: leave those articles out, or score them apart",
        )


def _sentences_finding(
    rows: Rows,
    found: Array,
    *,
    check: str,
    text: str,
    examples: Iterable[Sequence[Any]],
    severity: Severity = "note",
    breakdown: bool = True,
    todo: str = "",
) -> Finding:
    """Give what there is to say about some rows."""
    splits = rows.split[found]
    return Finding(
        check=check,
        severity=severity,
        text=f"{text}: {_by_split(rows, splits)}" if breakdown and len(rows.splits) > 1 else text,
        count=len(found),
        of=len(rows),
        sentences=len(found),
        splits=_splits(rows, splits),
        examples=sentence_places(rows, examples),
        todo=todo,
    )


def _clean(rows: Rows, splits: Array) -> str:
    """Give the advice to write a twin, nothing where that would change test alone: it stays as published."""
    return CLEAN if any(rows.splits[split] != "test" for split in np.unique(splits)) else ""


def _splits(rows: Rows, splits: Array) -> tuple[str, ...]:
    return tuple(rows.splits[split] for split in np.unique(splits))


def _by_split(rows: Rows, splits: Array) -> str:
    """Give ``train 118, dev 8``."""
    counts = np.bincount(splits, minlength=len(rows.splits))
    return ", ".join(f"{name} {count:,}" for name, count in zip(rows.splits, counts, strict=True) if count)


def _by_text(rows: Rows, some: Array) -> Iterator[list[int]]:
    """Give rows of the same text together, in the order of their first row."""
    groups: dict[int, list[int]] = {}
    for row in some.tolist():
        groups.setdefault(int(rows.text[row]), []).append(row)
    yield from groups.values()
