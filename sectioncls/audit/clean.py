"""A twin of a corpus whose splits share nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from sectioncls.audit.content import disputed
from sectioncls.audit.findings import many
from sectioncls.audit.rewrite import NOWHERE, rewrite
from sectioncls.audit.rows import Array
from sectioncls.audit.survey import Survey
from sectioncls.corpora import SPLITS, Corpus, CorpusWriter
from sectioncls.errors import InputError

__all__ = ["AUTHORITY", "Kept", "removals", "write_clean"]

Kept = Literal["test", "train"]

AUTHORITY: dict[Kept, tuple[str, ...]] = {"test": ("test", "dev", "train"), "train": ("train", "dev", "test")}
"""Which split stays as published, and whose rows go when two splits share something: the later one's."""

REASONS = (
    "article-in-two-splits",
    "article-copied",
    "sentence-copied",
    "sentence-nearly-copied",
    "labels-disagree",
    "article-repeated",
    "sentence-repeated",
)

Mask = npt.NDArray[np.bool_]


def removals(survey: Survey, keep: Kept) -> Array:
    """Give for each row why it goes (a position in REASONS), -1 for one that stays.

    From a split goes what a split before it in AUTHORITY holds: articles by id or by text, then sentences, then near
    copies. The first split stays whole; inside the others every copy of a text with two labels goes, and of repeats
    all but the first.
    """
    rows = survey.rows
    reasons = np.full(len(rows), -1, dtype=np.int8)
    before: list[int] = []
    for name in AUTHORITY[keep]:
        if name not in rows.splits:
            continue
        split = rows.splits.index(name)
        if before:
            for reason, mask in _masks(survey, split, before, reasons):
                reasons[mask & rows.of(split) & (reasons < 0)] = REASONS.index(reason)
        before.append(split)
    return reasons


def _masks(survey: Survey, split: int, before: list[int], reasons: Array) -> Iterator[tuple[str, Mask]]:
    """Give reason and rows, one reason after the other; ``reasons`` holds what was decided meanwhile."""
    rows, articles, copies = survey.rows, survey.articles, survey.copies
    above = np.isin(rows.split, before)
    if rows.has_articles:
        yield "article-in-two-splits", np.isin(rows.article, rows.article[above & (reasons < 0)])
        both = np.concatenate([copies, copies[:, ::-1]])  # the inner one and the outer one
        here = both[(articles.split[both[:, 0]] == split) & np.isin(articles.split[both[:, 1]], before)]
        yield "article-copied", np.isin(articles.of_row, here[:, 0])
    stay = above & (reasons < 0)
    held = np.zeros(len(rows.hashes), dtype=np.bool_)
    held[rows.text[stay]] = True
    yield "sentence-copied", held[rows.text]
    near = np.zeros(len(rows.hashes), dtype=np.bool_)
    near[survey.near[held[survey.near[:, 0]], 1]] = True
    near[survey.near[held[survey.near[:, 1]], 0]] = True
    yield "sentence-nearly-copied", near[rows.text]
    mine = np.flatnonzero(rows.of(split) & (reasons < 0))
    yield "labels-disagree", disputed(rows, mine)[rows.text]
    if rows.has_articles:
        inside = copies[(articles.split[copies[:, 0]] == split) & (articles.split[copies[:, 1]] == split)]
        equal = np.isin(inside[:, ::-1] @ [len(articles), 1], inside @ [len(articles), 1])
        # Of equal articles the first stays, of unequal ones the longer.
        yield "article-repeated", np.isin(articles.of_row, inside[~equal | (inside[:, 0] > inside[:, 1]), 0])
    mine = np.flatnonzero(rows.of(split) & (reasons < 0))
    again = np.zeros(len(rows), dtype=np.bool_)
    again[mine] = True
    again[mine[np.unique(rows.text[mine], return_index=True)[1]]] = False
    yield "sentence-repeated", again


def write_clean(
    corpus: Corpus,
    survey: Survey,
    out: str | Path,
    *,
    command: str,
    keep: Kept = "test",
    overwrite: bool = False,
) -> tuple[Corpus, dict[str, dict[str, int]]]:
    """Give the twin and {split: {reason: sentences removed}}; its corpus.json tells the same.

    ``keep`` is the split that stays as published: ``test``, so that scores stay comparable with published ones while
    train and dev lose what they share with it; or ``train``, for models that were trained on it already. Raises
    InputError when no split but that one would be left.
    """
    rows = survey.rows
    reasons = removals(survey, keep)
    removed: dict[str, dict[str, int]] = {}
    for split, name in enumerate(rows.splits):
        counts = [int((rows.of(split) & (reasons == number)).sum()) for number in range(len(REASONS))]
        removed[name] = {reason: count for reason, count in zip(REASONS, counts, strict=True) if count}
        if sum(counts) == int(rows.of(split).sum()):
            raise InputError(
                f"no sentence of {name} would be left", corpus.path, "`sectioncls split` cuts it anew instead"
            )
    destination = np.array([SPLITS.index(name) for name in rows.splits], dtype=np.int8)[rows.split]

    def tell(writer: CorpusWriter) -> None:
        writer.note(f"clean twin of {corpus.name} (fingerprint {corpus.info.fingerprint}), near {survey.threshold:g}")
        for name, counts in removed.items():
            each = ", ".join(f"{count:,} {reason}" for reason, count in counts.items())
            total = many(sum(counts.values()), "sentence")
            writer.note(f"{name}: {total} removed ({each})" if counts else f"{name}: nothing removed")
        for number, reason in enumerate(REASONS):
            writer.dropped(reason, int((reasons == number).sum()))

    twin = rewrite(
        corpus,
        out,
        np.where(reasons < 0, destination, NOWHERE),
        name=f"{corpus.name}-clean" if keep == "test" else f"{corpus.name}-clean-keep-train",
        command=command,
        tell=tell,
        overwrite=overwrite,
    )
    return twin, removed
