"""From splits of sentences that are labelled already to a corpus folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from sectioncls.corpora.conflicts import ConflictRule, conflicting_texts, without_texts
from sectioncls.corpora.corpus import SPLITS, Corpus, open_corpus
from sectioncls.corpora.writer import create_corpus
from sectioncls.errors import InputError
from sectioncls.records import Sentence
from sectioncls.schemes import LabelScheme

__all__ = ["Rows", "build_labelled", "known_label", "sound_text", "source_sentence"]

Rows = Callable[[], Iterable[Sentence]]
"""Gives the sentences of a split; called twice, so that no split is ever held in memory."""


def build_labelled(
    splits: Mapping[str, Rows],
    out: str | Path,
    *,
    name: str,
    scheme: LabelScheme,
    command: str,
    conflicts: ConflictRule = "keep",
    overwrite: bool = False,
    licence: str = "",
    notes: Iterable[str] = (),
    extra: Sequence[str] = (),
    has_articles: bool = True,
) -> Corpus:
    """Give the corpus written from labelled splits, rows in the order given.

    ``conflicts`` says what becomes of texts with two labels inside one split: ``keep`` counts them in a note,
    ``paper`` removes every copy. Raises InputError from the rows, OutputError when ``out`` is taken.
    """
    with create_corpus(
        out,
        name=name,
        scheme=scheme,
        command=command,
        overwrite=overwrite,
        licence=licence,
        notes=notes,
        extra=extra,
        has_articles=has_articles,
    ) as writer:
        for split in SPLITS:
            if split not in splits:
                continue
            texts, copies = conflicting_texts(splits[split]())
            if conflicts == "paper":
                writer.add(split, without_texts(splits[split](), texts))
                writer.dropped("conflict", copies)
            else:
                writer.add(split, splits[split]())
            if texts:
                done = "removed" if conflicts == "paper" else "kept (--drop-conflicts paper removes them)"
                writer.note(f"{split}: {len(texts)} texts with two labels in {copies} rows, {done}")
    return open_corpus(out)


def known_label(raw: object, scheme: LabelScheme, where: str) -> str:
    """Give the scheme's name for a label as written in a source. Raises InputError for an unknown one."""
    try:
        return scheme.label(raw if isinstance(raw, str) else repr(raw))
    except InputError as error:
        raise InputError(f"unknown label {raw!r}", where, error.todo) from error


def sound_text(raw: object, where: str) -> str:
    """Give a sentence's text on. Raises InputError when it is no text, blank, or can't be stored as UTF-8."""
    if not isinstance(raw, str) or not raw.strip():
        raise InputError("a sentence is empty or not text", where)
    try:
        raw.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError("a sentence holds half a surrogate pair", where) from error
    return raw


def source_sentence(article_id: str, index: int, text: str, label: str, confidence: float | None = None) -> Sentence:
    """Give a sentence of a set that has labels of its own and no paragraphs."""
    return Sentence(
        article_id=article_id,
        index=index,
        paragraph=-1,
        text=text,
        start=0,
        end=len(text),
        label=label,
        confidence=confidence,
        label_source="source",
    )
