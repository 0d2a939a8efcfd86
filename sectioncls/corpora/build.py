"""The stream from articles to a corpus: documents → labelled, split sentences → sorted → splits.

Workers read and label; what they give is set aside on disk, then taken back sorted by article id, so that
neither the order of the documents nor the number of workers shows in the corpus, and memory stays constant. What
is set aside outlives a killed build, and ``resume`` goes on from it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from sectioncls.corpora.corpus import Corpus, open_corpus
from sectioncls.corpora.gather import Watch, gathered, judged
from sectioncls.corpora.labelling import FILTERED, ArticleRules, Reader
from sectioncls.corpora.near import bands, near_pairs
from sectioncls.corpora.reading import Engine
from sectioncls.corpora.sources import Item
from sectioncls.corpora.spill import Spill
from sectioncls.corpora.splits import StratifiedSplitter, split_of_article
from sectioncls.corpora.workfolder import note_part
from sectioncls.corpora.writer import CorpusWriter, create_corpus, versions_of
from sectioncls.records import Paragraph, Sentence
from sectioncls.schemes import LabelScheme

__all__ = ["BuildCounts", "SplitBy", "build_from_articles"]

SplitBy = Literal["article", "sentence"]


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
    documents: Iterable[Item],
    read: Reader,
    out: str | Path,
    *,
    rules: ArticleRules,
    name: str,
    command: str,
    container_of: Callable[[Any], str],
    split_by: SplitBy = "article",
    seed: int = 0,
    jobs: int = 1,
    engine: Engine = "local",
    address: str | None = None,
    overwrite: bool = False,
    resume: bool = False,
    licence: str = "",
    notes: Iterable[str] = (),
    packages: tuple[str, ...] = (),
    watch: Watch = iter,
    size: int = 0,
) -> tuple[Corpus, BuildCounts]:
    """Give the corpus built from a stream of documents, and what went in.

    ``rules`` say which articles are kept; of articles with one id the first by source is kept; what is left out
    stands in rejected.jsonl. ``split_by="article"`` splits by a seeded hash of the article id, ``"sentence"`` by
    sentence within labels. Rows are sorted by article id and index: the bytes depend on neither the order of the
    documents nor ``jobs`` nor ``engine``. ``jobs`` processes read (see read_locally), or Ray at ``address``; ``resume``
    goes on with a build that was cut off. ``watch`` gets the documents as they are done and gives them on; for its
    guess at how many there will be, ``size`` is the bytes of all files. Raises OutputError for an output that is taken
    or a build that was begun otherwise.
    """
    out = Path(out)
    notes = tuple(notes)
    settings = _settings(
        rules, packages, name=name, command=command, split_by=split_by, seed=seed, licence=licence, notes=notes
    )
    with gathered(
        documents,
        read,
        rules,
        out,
        settings,
        container_of=container_of,
        jobs=jobs,
        engine=engine,
        address=address,
        overwrite=overwrite,
        resume=resume,
        watch=watch,
        size=size,
    ) as (folder, spill):
        with create_corpus(
            out,
            name=name,
            scheme=rules.scheme,
            command=command,
            overwrite=overwrite,
            licence=licence,
            notes=notes,
            grouped=True,
            packages=packages,
        ) as writer:
            note_part(folder, writer.folder)
            kept = _write(writer, spill, split_by, rules.scheme, seed)
            if rules.near_duplicates:
                writer.add_near_duplicates(near_pairs(spill))
            left_out, rejected = _write_rejections(writer, spill, container_of)
        containers = spill.counts()
        found = spill.found(FILTERED)
    counts = BuildCounts(
        documents=containers,
        left_out={container: left_out[container] for container in containers},
        articles=found,
        kept=kept,
        rejected=dict(sorted(rejected.items())),
    )
    return open_corpus(out), counts


def _settings(rules: ArticleRules, packages: tuple[str, ...], **more: Any) -> dict[str, Any]:
    """Give all that decides the bytes of a corpus, the documents aside."""
    table = Path(rules.scheme.source)
    scheme = {
        "scheme": rules.scheme.name,
        "scheme table": hashlib.sha256(table.read_bytes()).hexdigest() if table.is_file() else "",
    }
    values = {field.name: getattr(rules, field.name) for field in fields(rules) if field.name != "scheme"}
    values = {name: sorted(value) if isinstance(value, frozenset) else value for name, value in values.items()}
    return more | scheme | values | {"versions": versions_of(packages)}


def _write(writer: CorpusWriter, spill: Spill, split_by: SplitBy, scheme: LabelScheme, seed: int) -> int:
    """Write the kept articles in order of their ids and give their number."""
    stratified = None
    if split_by == "sentence":
        totals = dict.fromkeys(scheme.labels, 0)
        for stored, verdict in judged(spill):
            for label, count in stored.counts.items() if verdict is None else ():
                totals[label] += count
        stratified = StratifiedSplitter(totals, seed)
    kept = 0
    remarks: Counter[str] = Counter()
    for stored, verdict in judged(spill):
        if verdict is not None:
            spill.reject(verdict)
            continue
        kept += 1
        if signed := spill.signature(stored):
            spill.add_bands(stored, bands(signed))
        language, licence, paragraphs, more = spill.load(stored)
        remarks.update(more)
        parts = [Paragraph(text, kind, tuple(path), node) for node, kind, path, text, _, _, _ in paragraphs]
        writer.add_paragraphs(stored.article_id, parts)
        if stratified is None:
            split = split_of_article(stored.article_id, seed)
            writer.add_article(split, stored.article_id, paragraphs, language=language, licence=licence)
            continue
        by_split: dict[str, list[Sentence]] = {}
        for sentence in _sentences(stored.article_id, paragraphs):
            by_split.setdefault(stratified.split_of(sentence.label), []).append(sentence)
        for split, sentences in by_split.items():
            writer.add(split, sentences, language=language, licence=licence)
    for remark, count in sorted(remarks.items()):
        writer.note(f"{remark}: {count}")
    return kept


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
