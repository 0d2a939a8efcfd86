"""The stream from articles to a corpus: documents → labelled, split sentences → sorted → splits.

Workers read and label; what they give is set aside on disk, then taken back sorted by article id, so that
neither the order of the documents nor the number of workers shows in the corpus, and memory stays constant.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from sectioncls.corpora.corpus import Corpus, open_corpus
from sectioncls.corpora.spill import Packed, Spill, Stored, pack
from sectioncls.corpora.splits import StratifiedSplitter, split_of_article
from sectioncls.corpora.writer import CorpusWriter, create_corpus
from sectioncls.documents import labelled_paragraphs
from sectioncls.errors import OutputError
from sectioncls.parallel import map_ordered
from sectioncls.records import Article, Paragraph, Rejected, Sentence
from sectioncls.schemes import LabelScheme
from sectioncls.sentences import split_sentences

__all__ = ["BuildCounts", "Reader", "SplitBy", "build_from_articles", "label_articles"]

SplitBy = Literal["article", "sentence"]
Reader = Callable[[Any], list[Article | Rejected]]
"""Gives the articles of one document; runs in the workers, so it must be picklable."""


@dataclass(frozen=True, slots=True)
class BuildCounts:
    """What went in.

    ``documents`` counts the documents and ``left_out`` the rejections by container (archive or folder),
    ``articles`` those found, ``kept`` those in the corpus, ``rejected`` the rejections by reason.
    """

    documents: dict[str, int]
    left_out: dict[str, int]
    articles: int
    kept: int
    rejected: dict[str, int]


def build_from_articles(
    documents: Iterable[Any],
    read: Reader,
    out: str | Path,
    *,
    name: str,
    scheme: LabelScheme,
    command: str,
    container_of: Callable[[Any], str],
    required: frozenset[str] = frozenset(),
    split_by: SplitBy = "article",
    splitter: str = "sentencizer",
    seed: int = 0,
    jobs: int = 1,
    overwrite: bool = False,
    licence: str = "",
    notes: Iterable[str] = (),
    packages: tuple[str, ...] = (),
) -> tuple[Corpus, BuildCounts]:
    """Give the corpus built from a stream of documents, and what went in.

    An article is kept when every ``required`` label is the label of a paragraph of it; of articles with one
    id the first by source is kept; what is left out stands in rejected.jsonl. ``split_by="article"`` splits
    by a seeded hash of the article id, ``"sentence"`` by sentence within labels. Rows are sorted by article
    id and index: the bytes depend on neither the order of the documents nor ``jobs``.
    """
    work = partial(label_articles, read=read, required=required, splitter=splitter)
    containers: Counter[str] = Counter()
    out = Path(out)
    try:
        with (
            create_corpus(
                out,
                name=name,
                scheme=scheme,
                command=command,
                overwrite=overwrite,
                licence=licence,
                notes=notes,
                grouped=True,
                packages=packages,
            ) as writer,
            tempfile.TemporaryDirectory(prefix=f".{out.name}.", suffix=".part", dir=out.parent) as folder,
            Spill(Path(folder)) as spill,
        ):
            stream = _counted(documents, container_of, containers)
            found = _read_all(map_ordered(work, stream, jobs=jobs, prepare=_without_torch), spill)
            kept = _write(writer, spill, split_by, scheme, seed)
            left_out, rejected = _write_rejections(writer, spill, container_of)
    except sqlite3.Error as error:
        raise OutputError(f"can't hold the articles' keys: {error}", out, "is the disk full?") from error
    counts = BuildCounts(
        documents=dict(sorted(containers.items())),
        left_out={container: left_out[container] for container in sorted(containers)},
        articles=found,
        kept=kept,
        rejected=dict(sorted(rejected.items())),
    )
    return open_corpus(out), counts


def label_articles(document: Any, *, read: Reader, required: frozenset[str], splitter: str) -> list[Packed | Rejected]:
    """Give the articles of a document with their paragraphs labelled and split into sentences."""
    results: list[Packed | Rejected] = []
    for place, article in enumerate(read(document)):
        if isinstance(article, Rejected):
            results.append(article)
            continue
        counts: Counter[str] = Counter()
        paragraphs = []
        for part, label, label_source in labelled_paragraphs(article):
            cuts = split_sentences(part.text, splitter=splitter)
            counts[label] += len(cuts)
            paragraphs.append([part.node, part.kind, part.path, part.text, label, label_source, cuts])
        missing = sorted(required - set(counts))
        results.append(
            Packed(
                article_id=article.id,
                source=article.source,
                place=place,
                counts=counts,
                lacks=f"no {' and no '.join(missing)} heading" if missing else "",
                data=pack([article.language, article.licence, paragraphs]),
            )
        )
    return results


def _without_torch() -> None:
    """Keep torch out of a worker: spaCy would load it where it is installed, and nothing here uses it."""
    sys.modules.setdefault("torch", None)  # type: ignore[arg-type]


def _read_all(stream: Iterable[list[Packed | Rejected]], spill: Spill) -> int:
    """Set everything aside and give the number of articles."""
    found = 0
    for results in stream:
        for result in results:
            if isinstance(result, Rejected):
                spill.reject(result)
            else:
                spill.add(result)
                found += 1
    return found


def _counted(documents: Iterable[Any], container_of: Callable[[Any], str], counts: Counter[str]) -> Iterator[Any]:
    """Give the documents on, counting them by container."""
    for document in documents:
        counts[container_of(document)] += 1
        yield document


def _write(writer: CorpusWriter, spill: Spill, split_by: SplitBy, scheme: LabelScheme, seed: int) -> int:
    """Write the kept articles in order of their ids and give their number."""
    stratified = None
    if split_by == "sentence":
        totals = dict.fromkeys(scheme.labels, 0)
        for stored, verdict in _judged(spill):
            for label, count in stored.counts.items() if verdict is None else ():
                totals[label] += count
        stratified = StratifiedSplitter(totals, seed)
    kept = 0
    for stored, verdict in _judged(spill):
        if verdict is not None:
            spill.reject(verdict)
            continue
        kept += 1
        language, licence, paragraphs = spill.load(stored)
        parts = [Paragraph(text, kind, tuple(path), node) for node, kind, path, text, _, _, _ in paragraphs]
        writer.add_paragraphs(stored.article_id, parts)
        by_split: dict[str, list[Sentence]] = {}
        for sentence in _sentences(stored.article_id, paragraphs):
            if stratified is None:
                split = split_of_article(stored.article_id, seed)
            else:
                split = stratified.split_of(sentence.label)
            by_split.setdefault(split, []).append(sentence)
        for split, sentences in by_split.items():
            writer.add(split, sentences, language=language, licence=licence)
    return kept


def _judged(spill: Spill) -> Iterator[tuple[Stored, Rejected | None]]:
    """Give each article in order with the reason to leave it out, None for one to keep."""
    last: Stored | None = None
    for stored in spill.articles():
        if last is not None and stored.article_id == last.article_id:
            detail = f"the same id is in {last.source}"
            yield stored, Rejected(stored.source, "duplicate", detail, stored.article_id)
            continue
        last = stored
        if stored.lacks:
            yield stored, Rejected(stored.source, "lacks-labels", stored.lacks, stored.article_id)
        else:
            yield stored, None


def _sentences(article_id: str, paragraphs: list[list[Any]]) -> Iterator[Sentence]:
    """Give the sentences of an article's packed paragraphs, counted from 0."""
    index = 0
    for node, _, path, text, label, label_source, cuts in paragraphs:
        for start, end in cuts:
            yield Sentence(
                article_id=article_id,
                index=index,
                paragraph=node,
                text=text[start:end],
                start=start,
                end=end,
                path=tuple(path),
                label=label,
                label_source=label_source,
            )
            index += 1


def _write_rejections(
    writer: CorpusWriter, spill: Spill, container_of: Callable[[Any], str]
) -> tuple[Counter[str], Counter[str]]:
    """Write rejected.jsonl in order and give the counts by container and by reason."""
    containers: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    writer.begin_rejections()
    for rejected in spill.rejections():
        writer.reject(rejected)
        containers[container_of(rejected)] += 1
        reasons[rejected.reason] += 1
    return containers, reasons
