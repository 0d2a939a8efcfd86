"""Writing a corpus anew with its rows in other splits, or without some of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sectioncls.audit.rows import Array, Batch, read_batches
from sectioncls.corpora import SPLITS, Corpus, CorpusWriter, create_corpus, open_corpus
from sectioncls.corpora.writer import EXTRA_FIELDS
from sectioncls.errors import InputError
from sectioncls.records import Paragraph, Sentence
from sectioncls.schemes import LabelScheme

__all__ = ["NOWHERE", "rewrite"]

NOWHERE = -1


def rewrite(
    corpus: Corpus,
    out: str | Path,
    destination: Array,
    *,
    name: str,
    command: str,
    tell: Callable[[CorpusWriter], None],
    overwrite: bool = False,
) -> Corpus:
    """Give the corpus in which each row stands in ``SPLITS[destination]``, or nowhere, rows in their old order.

    ``destination`` has one number a row, train before dev before test. Columns, index and paragraphs stay as they
    are; ``tell`` notes what was done. Raises OutputError when ``out`` is taken.
    """
    info = corpus.info
    extra = [name for name in EXTRA_FIELDS if name in _columns(corpus)]
    scheme = LabelScheme(name=info.scheme, labels=info.labels)
    with create_corpus(
        out,
        name=name,
        scheme=scheme,
        command=command,
        overwrite=overwrite,
        licence=info.licence,
        extra=extra,
        has_articles=info.has_articles,
        label_sets=info.label_sets,
    ) as writer:
        tell(writer)
        kept: set[str] = set()
        for batch in read_batches(corpus):
            targets = destination[batch.first : batch.first + len(batch)].tolist()
            for target, rows in groupby(zip(targets, batch.columns.to_pylist(), strict=True), key=lambda pair: pair[0]):
                if target != NOWHERE:
                    _add(writer, SPLITS[target], (row for _, row in rows), kept)
        for article_id, paragraphs in _paragraphs(corpus):
            if article_id in kept:
                writer.add_paragraphs(article_id, paragraphs)
    return open_corpus(out)


def _columns(corpus: Corpus) -> Sequence[str]:
    """Give the columns of the first split."""
    first: Batch | None = next(read_batches(corpus), None)
    return [] if first is None else list(first.columns.schema.names)


def _add(writer: CorpusWriter, split: str, rows: Iterable[dict[str, Any]], kept: set[str]) -> None:
    """Write rows, those of one language and licence at a time."""
    for (language, licence), some in groupby(rows, key=lambda row: (row.get("language"), row.get("licence"))):
        writer.add(split, (_sentence(row, kept) for row in some), language=language, licence=licence)


def _sentence(row: dict[str, Any], kept: set[str]) -> Sentence:
    """Give a row as the record that it was written from."""
    kept.add(row["article_id"])
    return Sentence(
        article_id=row["article_id"],
        index=row["index"],
        paragraph=row["paragraph"],
        text=row["text"],
        start=row["start"],
        end=row["end"],
        path=tuple(row["path"] or ()),
        label=row["label"],
        labels=tuple(row.get("labels") or ()),
        confidence=row.get("confidence"),
        label_source=row["label_source"],
    )


def _paragraphs(corpus: Corpus) -> Iterator[tuple[str, list[Paragraph]]]:
    """Give the paragraphs of a corpus, those of an article together where they stand together."""
    path = corpus.path / "paragraphs.parquet"
    if not path.is_file():
        return
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches():
                for article_id, rows in groupby(batch.to_pylist(), key=lambda row: str(row["article_id"])):
                    parts = [Paragraph(row["text"], row["kind"], tuple(row["path"]), row["node"]) for row in rows]
                    yield article_id, parts
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"can't be read as Parquet: {error}", path, "build the corpus again") from error
