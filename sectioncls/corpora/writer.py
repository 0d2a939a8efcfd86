"""Writing a corpus folder row by row, in constant memory, with the same bytes for the same rows."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib import metadata
from itertools import count
from json.encoder import encode_basestring as _quoted
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

import sectioncls
from sectioncls.corpora.corpus import FORMAT, SPLITS, CorpusInfo
from sectioncls.corpora.datacard import DATA_CARD, data_card
from sectioncls.corpora.rowgroups import Rows
from sectioncls.errors import InputError
from sectioncls.records import Paragraph, Rejected, Sentence
from sectioncls.schemes import LabelScheme
from sectioncls.staging import folder_files, staged_folder

__all__ = ["CORE_FIELDS", "EXTRA_FIELDS", "CorpusWriter", "CutParagraph", "create_corpus", "versions_of"]

CORE_FIELDS: dict[str, pa.DataType] = {
    "article_id": pa.string(),
    "index": pa.int32(),
    "paragraph": pa.int32(),
    "text": pa.string(),
    "label": pa.string(),
    "path": pa.list_(pa.string()),
    "label_source": pa.string(),
    "start": pa.int32(),
    "end": pa.int32(),
    "node": pa.int32(),
    "language": pa.string(),
    "licence": pa.string(),
}
EXTRA_FIELDS: dict[str, pa.DataType] = {"confidence": pa.float64(), "labels": pa.list_(pa.string())}
PARAGRAPH_FIELDS: dict[str, pa.DataType] = {
    "article_id": pa.string(),
    "node": pa.int32(),
    "kind": pa.string(),
    "path": pa.list_(pa.string()),
    "text": pa.string(),
}
CutParagraph = Sequence[Any]
"""A labelled paragraph with its sentences: node, kind, path, text, label, label source, [(start, end), …]."""


class _Tally:
    """What corpus.json says about one split, counted while its rows pass."""

    def __init__(self, labels: tuple[str, ...], *, grouped: bool) -> None:
        self.counts = dict.fromkeys(labels, 0)
        self.words = 0
        self.longest = 0
        self.digest = hashlib.sha256()
        self.grouped = grouped
        self.last: str | None = None
        self.article_ids: set[str] = set()
        self.articles = 0

    def add(self, split: str, sentence: Sentence) -> None:
        self.counts[sentence.label] += 1
        words = len(sentence.text.split())
        self.words += words
        self.longest = max(self.longest, words)
        self.digest.update(_line(split, sentence.article_id, sentence.index, sentence.text, sentence.label).encode())
        self.add_article(sentence.article_id)

    def add_many(self, split: str, article_id: str, texts: Sequence[str], labels: Sequence[str]) -> None:
        """Count all sentences of an article at once."""
        lengths = [len(text.split()) for text in texts]
        self.words += sum(lengths)
        self.longest = max(self.longest, *lengths)
        for label, number in Counter(labels).items():
            self.counts[label] += number
        lines = [
            _line(split, article_id, index, text, label)
            for index, text, label in zip(count(), texts, labels, strict=False)
        ]
        self.digest.update("".join(lines).encode())
        self.add_article(article_id)

    def add_article(self, article_id: str) -> None:
        if article_id == self.last:
            return
        self.last = article_id
        if self.grouped:
            self.articles += 1
        elif article_id not in self.article_ids:
            self.article_ids.add(article_id)
            self.articles += 1


def _line(split: str, article_id: str, index: int, text: str, label: str) -> str:
    """Give a row as the fingerprint sees it: the line that json.dumps gives for the list of these."""
    return f"[{_quoted(split)}, {_quoted(article_id)}, {index}, {_quoted(text)}, {_quoted(label)}]\n"


class CorpusWriter:
    """Takes the rows of a corpus that is being built; create_corpus gives one."""

    def __init__(
        self, folder: Path, scheme: LabelScheme, *, extra: Sequence[str], has_articles: bool, grouped: bool
    ) -> None:
        self._scheme = scheme
        self._extra = tuple(extra)
        self._grouped = grouped
        self._rows: dict[str, Rows] = {}
        self._tallies: dict[str, _Tally] = {}
        self._rejected: IO[str] | None = None
        self._notes: list[str] = []
        self._dropped: Counter[str] = Counter()
        self._licences: Counter[str] = Counter()
        self._languages: Counter[str] = Counter()
        self.has_articles = has_articles
        self.folder = folder
        self.info: CorpusInfo | None = None
        """What was written, once the block of create_corpus has ended."""

    def add(
        self,
        split: str,
        sentences: Iterable[Sentence],
        *,
        language: str | None = None,
        licence: str | None = None,
    ) -> None:
        """Write sentences at the end of a split. Raises InputError for a label outside the scheme."""
        rows, tally = self._of_split(split)
        for sentence in sentences:
            if sentence.label not in tally.counts:
                raise InputError(f"label {sentence.label!r} is not in {self._scheme.name}", sentence.article_id)
            tally.add(split, sentence)
            self._count(language, licence, 1)
            rows.append(_row(sentence, language, licence, self._extra))

    def add_article(
        self,
        split: str,
        article_id: str,
        paragraphs: Sequence[CutParagraph],
        *,
        language: str | None = None,
        licence: str | None = None,
    ) -> None:
        """Write all sentences of an article into one split as ``add`` would, faster."""
        rows, tally = self._of_split(split)
        columns: list[list[Any]] = [[] for _ in range(7)]
        nodes, texts, labels, paths, sources, starts, ends = columns
        for node, _, path, text, label, label_source, cuts in paragraphs:
            if label not in tally.counts:
                raise InputError(f"label {label!r} is not in {self._scheme.name}", article_id)
            number = len(cuts)
            nodes += [node] * number
            texts += [text[start:end] for start, end in cuts]
            labels += [label] * number
            paths += [path] * number
            sources += [label_source] * number
            starts += [start for start, _ in cuts]
            ends += [end for _, end in cuts]
        number = len(texts)
        if not number:
            return
        self._count(language, licence, number)
        tally.add_many(split, article_id, texts, labels)
        ids, languages, licences = [article_id] * number, [language] * number, [licence] * number
        indices = range(number)
        rows.extend((ids, indices, nodes, texts, labels, paths, sources, starts, ends, nodes, languages, licences))

    def add_paragraphs(self, article_id: str, paragraphs: Iterable[Paragraph]) -> None:
        """Write the paragraphs of an article."""
        rows = self._rows.setdefault("paragraphs", Rows(self.folder / "paragraphs.parquet", PARAGRAPH_FIELDS))
        for part in paragraphs:
            rows.append((article_id, part.node, part.kind, list(part.path), part.text))

    def _count(self, language: str | None, licence: str | None, number: int) -> None:
        if language:
            self._languages[language] += number
        if licence:
            self._licences[licence] += number

    def _of_split(self, split: str) -> tuple[Rows, _Tally]:
        """Give the rows and the tally of a split, made when first asked for."""
        if split not in SPLITS:
            raise InputError(f"{split!r} is not a split", None, f"one of {', '.join(SPLITS)}")
        if split not in self._rows:
            fields = CORE_FIELDS | {name: EXTRA_FIELDS[name] for name in self._extra}
            self._rows[split] = Rows(self.folder / f"{split}.parquet", fields)
            self._tallies[split] = _Tally(self._scheme.labels, grouped=self._grouped)
        return self._rows[split], self._tallies[split]

    def reject(self, rejected: Rejected) -> None:
        """Record a document that was left out, and count its reason."""
        self._dropped[rejected.reason] += 1
        line = json.dumps(asdict(rejected), ensure_ascii=False)
        self.begin_rejections().write(line + "\n")

    def begin_rejections(self) -> IO[str]:
        """Give rejected.jsonl opened for writing; it exists from then on, even if nothing is rejected."""
        if self._rejected is None:
            self._rejected = (self.folder / "rejected.jsonl").open("w", encoding="utf-8", newline="\n")
        return self._rejected

    def add_near_duplicates(self, pairs: Iterable[tuple[str, str, float]]) -> None:
        """Write near_duplicates.jsonl: (article, its near duplicate, share of equal shingles)."""
        number = 0
        with (self.folder / "near_duplicates.jsonl").open("w", encoding="utf-8", newline="\n") as stream:
            for one, other, share in pairs:
                stream.write(json.dumps({"article_id": one, "near": other, "share": share}, ensure_ascii=False) + "\n")
                number += 1
        if number:
            self.note(f"{number} pairs of articles are near duplicates (near_duplicates.jsonl)")

    def note(self, text: str) -> None:
        """Add a remark to corpus.json."""
        self._notes.append(text)

    def dropped(self, reason: str, count: int) -> None:
        """Count rows that were left out on purpose."""
        if count:
            self._dropped[reason] += count

    def abandon(self) -> None:
        """Close what is open, whatever state it is in."""
        for rows in self._rows.values():
            rows.abandon()
        if self._rejected is not None:
            self._rejected.close()
            self._rejected = None

    def close(self, **known: Any) -> CorpusInfo:
        """Write what is left and give what corpus.json says. Raises InputError when there is no sentence."""
        for rows in self._rows.values():
            rows.flush()
        self.abandon()
        tallies = {split: self._tallies[split] for split in SPLITS if split in self._tallies}
        tallies = {split: tally for split, tally in tallies.items() if any(tally.counts.values())}
        if not tallies:
            raise InputError("no sentence was found, so there is no corpus to write", known["name"])
        digest = hashlib.sha256(b"".join(tally.digest.digest() for tally in tallies.values()))
        self.info = CorpusInfo(
            format=FORMAT,
            scheme=self._scheme.name,
            labels=self._scheme.labels,
            counts={split: dict(tally.counts) for split, tally in tallies.items()},
            articles={split: tally.articles for split, tally in tallies.items()},
            sentences=sum(sum(tally.counts.values()) for tally in tallies.values()),
            has_articles=self.has_articles,
            fingerprint=digest.hexdigest(),
            notes=(*self._notes, *_gaps(tallies)),
            dropped=dict(sorted(self._dropped.items())),
            lengths={split: _lengths(tally) for split, tally in tallies.items()},
            files=tuple(sorted({*folder_files(self.folder), "corpus.json", DATA_CARD})),
            **known,
        )
        return self.info

    def data_card(self) -> str:
        """Give the text of README.md, once the corpus is closed."""
        if self.info is None:
            raise ValueError("the corpus is not closed yet")
        digests = {split: self._tallies[split].digest.hexdigest() for split in self.info.counts}
        return data_card(self.info, licences=self._licences, languages=self._languages, digests=digests)


@contextmanager
def create_corpus(
    path: str | Path,
    *,
    name: str,
    scheme: LabelScheme,
    command: str,
    overwrite: bool = False,
    licence: str = "",
    notes: Iterable[str] = (),
    extra: Sequence[str] = (),
    has_articles: bool = True,
    grouped: bool = False,
    packages: Sequence[str] = (),
    label_sets: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[CorpusWriter]:
    """Give a writer whose rows become the corpus ``path`` when the block ends well, and nothing otherwise.

    ``extra`` names the columns beyond the core (``confidence``, ``labels``); ``grouped`` promises that the
    sentences of an article stand together, so that articles are counted without keeping their ids;
    ``packages`` are those whose versions decide the rows; ``label_sets`` see CorpusInfo. Raises OutputError when
    ``path`` is taken (see staging.check_output), InputError when no sentence was added.
    """
    with staged_folder(Path(path), overwrite=overwrite) as folder:
        writer = CorpusWriter(folder, scheme, extra=extra, has_articles=has_articles, grouped=grouped)
        for text in notes:
            writer.note(text)
        try:
            yield writer
            sets = {part: tuple(labels) for part, labels in (label_sets or {}).items()}
            info = writer.close(
                name=name, licence=licence, command=command, versions=versions_of(packages), label_sets=sets
            )
        finally:
            writer.abandon()
        manifest = json.dumps(asdict(info), indent=1, ensure_ascii=False)
        (folder / "corpus.json").write_text(manifest + "\n", encoding="utf-8")
        (folder / DATA_CARD).write_text(writer.data_card(), encoding="utf-8", newline="\n")


def _row(sentence: Sentence, language: str | None, licence: str | None, extra: Sequence[str]) -> tuple[Any, ...]:
    """Give a sentence as the cells of its row."""
    row = (
        sentence.article_id,
        sentence.index,
        sentence.paragraph,
        sentence.text,
        sentence.label,
        list(sentence.path),
        sentence.label_source,
        sentence.start,
        sentence.end,
        sentence.paragraph,
        language,
        licence,
    )
    return row + tuple(getattr(sentence, name) for name in extra)


def _lengths(tally: _Tally) -> dict[str, float]:
    """Give mean and longest length in words, as white space parts them."""
    return {
        "mean_words": round(tally.words / sum(tally.counts.values()), 4),
        "max_words": tally.longest,
    }


def _gaps(tallies: dict[str, _Tally]) -> list[str]:
    """Give one remark for each thing that training or scoring will miss."""
    used = {label for tally in tallies.values() for label, count in tally.counts.items() if count}
    gaps = []
    if len(used) == 1:
        gaps.append(f"only one label occurs ({next(iter(used))}): nothing can be learnt from it")
    missing = [split for split in SPLITS if split not in tallies]
    if missing:
        gaps.append(f"no {' and no '.join(missing)} split")
    for split, tally in tallies.items():
        absent = [label for label, count in tally.counts.items() if label in used and not count]
        if absent:
            gaps.append(f"{split} has no sentence labelled {', '.join(absent)}")
    return gaps


def versions_of(packages: Sequence[str]) -> dict[str, str]:
    """Give the versions of what decides rows and bytes."""
    versions = {"sectioncls": sectioncls.__version__}
    return versions | {package: metadata.version(package) for package in ("pyarrow", *packages)}
