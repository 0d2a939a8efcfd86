"""Cutting a corpus into other splits."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from sectioncls.audit.findings import many
from sectioncls.audit.rewrite import NOWHERE, rewrite
from sectioncls.audit.rows import Array, Rows, RowsReader, read_batches
from sectioncls.corpora import SPLITS, Corpus, CorpusWriter
from sectioncls.corpora.splits import hash_fraction
from sectioncls.errors import UsageError

__all__ = ["By", "Order", "places", "split_corpus"]

By = Literal["article", "sentence"]
Order = Literal["file", "hash", "random"]


def split_corpus(
    corpus: Corpus,
    out: str | Path,
    *,
    sizes: Sequence[float],
    command: str,
    by: By = "article",
    order: Order = "hash",
    seed: int = 0,
    overwrite: bool = False,
) -> Corpus:
    """Give the corpus with its rows cut anew into train, dev and test of these sizes.

    ``sizes`` are numbers of articles (or sentences), or shares of them that make up 1 at most; what is beyond them is
    left out. ``order`` says who goes where: ``file`` takes the first for train, the next for dev, and so on; ``random``
    shuffles them before; ``hash`` goes by a hash of the id, so that with shares nothing depends on what else is in the
    corpus (and shares hold on average), and with numbers one more article moves one over each border at most.
    ``article`` never cuts an article. Rows keep the order of the source. Raises UsageError for sizes that don't fit.
    """
    reader = RowsReader(corpus)
    for batch in read_batches(corpus, RowsReader.COLUMNS):
        reader.add(batch)
    rows = reader.rows()
    units, names = _units(rows, by)
    destination = places(names, sizes, order=order, seed=seed)

    def tell(writer: CorpusWriter) -> None:
        shares = " ".join(f"{size:g}" for size in sizes)
        seeded = "" if order == "file" else f", seed {seed}"
        writer.note(
            f"cut from {corpus.name} (fingerprint {corpus.info.fingerprint}) "
            f"by {by} into {shares}, order {order}{seeded}"
        )
        if by == "article" and not rows.has_articles:
            writer.note("the rows do not say which article they come from: they were cut by sentence")
        beyond = int((destination == NOWHERE).sum())
        if beyond:
            writer.note(f"beyond the sizes asked for: {many(beyond, by)}")
            writer.dropped("beyond-sizes", int((destination[units] == NOWHERE).sum()))

    return rewrite(corpus, out, destination[units], name=corpus.name, command=command, tell=tell, overwrite=overwrite)


def places(names: Sequence[str], sizes: Sequence[float], *, order: Order, seed: int = 0) -> Array:
    """Give the position in SPLITS of each named unit, NOWHERE for those beyond the sizes."""
    shares = _are_shares(sizes)
    if order == "hash" and shares:
        borders = np.cumsum(sizes)
        borders[np.isclose(borders, 1)] = 1  # so that no rounding of the sum leaves the last ones out
        found = np.searchsorted(borders, [hash_fraction(name, seed) for name in names], side="right")
        return np.where(found < len(SPLITS), found, NOWHERE).astype(np.int8)
    counts = _exact(sizes, len(names)) if shares else [int(size) for size in sizes]
    if sum(counts) > len(names):
        raise UsageError(f"--sizes ask for {sum(counts):,}, the corpus has {len(names):,}", None, "ask for less")
    ranks = list(range(len(names)))
    if order == "random":
        random.Random(seed).shuffle(ranks)
    elif order == "hash":
        ranks.sort(key=lambda number: hash_fraction(names[number], seed))
    destination = np.full(len(names), NOWHERE, dtype=np.int8)
    destination[ranks[: sum(counts)]] = np.repeat(np.arange(len(SPLITS)), counts)
    return destination


def _units(rows: Rows, by: By) -> tuple[Array, list[str]]:
    """Give what is cut, in file order: the unit of each row, and the units' names for hashing."""
    if by == "article":  # numbered as they come
        return rows.article, list(rows.article_ids)
    names = [
        f"{rows.article_ids[article]}\t{index}"
        for article, index in zip(rows.article.tolist(), rows.index.tolist(), strict=True)
    ]
    return np.arange(len(rows)), names


def _are_shares(sizes: Sequence[float]) -> bool:
    """Say whether sizes are shares, not numbers. Raises UsageError for what is neither."""
    if len(sizes) != len(SPLITS):
        raise UsageError(f"--sizes are {len(sizes)} numbers", None, f"one each for {', '.join(SPLITS)}")
    if not all(0 <= size < float("inf") for size in sizes) or not sum(sizes):
        raise UsageError("--sizes hold a number below 0, or nothing but 0", None, "as 700,100,200 or 0.8,0.1,0.1")
    if sum(sizes) <= 1 + 1e-9 and max(sizes) <= 1 and not all(float(size).is_integer() for size in sizes):
        return True
    if not all(float(size).is_integer() for size in sizes):
        raise UsageError("--sizes are shares of more than 1 in all, or mix shares and numbers", None, "as 0.8,0.1,0.1")
    return False


def _exact(sizes: Sequence[float], total: int) -> list[int]:
    """Give the numbers nearest to shares of a total that add up (largest remainders, of equals the first)."""
    wanted = [size * total for size in sizes]
    counts = [int(size + 1e-9) for size in wanted]
    missing = round(sum(wanted)) - sum(counts)
    for number in sorted(range(len(sizes)), key=lambda n: counts[n] - wanted[n])[:missing]:
        counts[number] += 1
    return counts
