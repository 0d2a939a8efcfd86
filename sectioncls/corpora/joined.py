"""One corpus of several, whose label sets differ.

Sets name different labels: one has no conclusions, another calls what introduces an article introduction, whatever the
sentence does. So a joined corpus keeps two things beside a sentence's label: the labels that its part knows (a sentence
of a part without conclusions says nothing about them), and those that the sentence may truly bear (``labels``: under
an introduction stand background and objectives).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sectioncls.corpora.corpus import SPLITS, Corpus, open_corpus
from sectioncls.corpora.splits import hash_fraction
from sectioncls.corpora.writer import create_corpus
from sectioncls.errors import InputError
from sectioncls.records import Sentence
from sectioncls.schemes import LabelScheme

__all__ = ["Part", "join_corpora"]

_COLUMNS = ("article_id", "index", "text", "label", "path", "label_source", "language", "licence")


@dataclass(frozen=True, slots=True)
class Part:
    """A corpus that is joined, and what becomes of it.

    ``labels`` says for a label of the corpus which labels of the joined one its sentences may bear, the first of them
    standing for it; a label that is not named keeps its name, one with none is left out. ``articles`` bounds the
    articles of each split (0: all; those with the smallest hash of their id). Sentences whose label no heading gave
    (``label_source`` none) are left out.
    """

    name: str
    corpus: Corpus
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    articles: int = 0


def join_corpora(
    parts: Sequence[Part],
    out: str | Path,
    *,
    name: str,
    labels: Sequence[str],
    command: str,
    overwrite: bool = False,
) -> Corpus:
    """Give the corpus of all parts, split by split, its articles called PART/ID.

    ``labels`` are those of the joined corpus in order. Raises InputError for parts of one name, a label that is not
    among them, or a corpus without articles of which some are asked for.
    """
    names = [part.name for part in parts]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice or any("/" in name for name in names):
        raise InputError(f"parts of a joined corpus need names of their own without /: {', '.join(names)}")
    maps = {part.name: _label_map(part, labels) for part in parts}
    sets = {part.name: [label for label in labels if label in _known(part, maps[part.name])] for part in parts}
    with create_corpus(
        out,
        name=name,
        scheme=LabelScheme(name=name, labels=tuple(labels)),
        command=command,
        overwrite=overwrite,
        licence="; ".join(f"{part.name}: {part.corpus.info.licence or 'not stated'}" for part in parts),
        notes=[f"{part.name}: {part.corpus.name}, fingerprint {part.corpus.info.fingerprint}" for part in parts],
        extra=["labels"],
        label_sets=sets,
    ) as writer:
        for split in SPLITS:
            for part in parts:
                if split in part.corpus.splits:
                    left = Counter[str]()
                    for (language, licence), sentence in _sentences(part, split, maps[part.name], left):
                        writer.add(split, [sentence], language=language, licence=licence)
                    for reason, count in left.items():
                        writer.dropped(f"{part.name}:{reason}", count)
    return open_corpus(out)


def _label_map(part: Part, labels: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Give for each label of the part's corpus those of the joined one. Raises InputError for unknown ones."""
    known = {label: part.labels.get(label, (label,)) for label in part.corpus.labels}
    strange = [label for label in part.labels if label not in known]
    if strange:
        raise InputError(f"has no label {strange[0]!r}", part.name, f"its labels: {', '.join(part.corpus.labels)}")
    used = {label for counts in part.corpus.info.counts.values() for label, count in counts.items() if count}
    known = {label: tuple(targets) for label, targets in known.items() if label in used}
    for label, targets in known.items():
        for target in targets:
            if target not in labels:
                what = f"the label {label!r} becomes {target!r}, which the joined corpus does not have"
                raise InputError(what, part.name, f"say what becomes of it; there are {', '.join(labels)}")
    return known


def _known(part: Part, found: Mapping[str, tuple[str, ...]]) -> set[str]:
    return {target for targets in found.values() for target in targets}


def _sentences(
    part: Part, split: str, found: Mapping[str, tuple[str, ...]], left: Counter[str]
) -> Iterator[tuple[tuple[str | None, str | None], Sentence]]:
    """Yield the sentences of a part's split with language and licence; count those left out."""
    chosen = _chosen(part, split)
    for batch in part.corpus.table(split, _COLUMNS).to_batches(max_chunksize=4096):
        for row in batch.to_pylist():
            if chosen is not None and row["article_id"] not in chosen:
                left["articles-beyond"] += 1
            elif row["label_source"] == "none":
                left["no-heading"] += 1
            elif not found[row["label"]]:
                left[f"label-{row['label']}"] += 1
            else:
                yield (row["language"], row["licence"]), _sentence(part.name, row, found[row["label"]])


def _sentence(part: str, row: Mapping[str, Any], labels: tuple[str, ...]) -> Sentence:
    return Sentence(
        article_id=f"{part}/{row['article_id']}",
        index=row["index"],
        paragraph=-1,
        text=row["text"],
        start=0,
        end=len(row["text"]),
        path=tuple(row["path"] or ()),
        label=labels[0],
        labels=labels,
        label_source=row["label_source"],
    )


def _chosen(part: Part, split: str) -> set[str] | None:
    """Give the articles that are taken, None for all."""
    if not part.articles:
        return None
    if not part.corpus.info.has_articles:
        raise InputError("has no articles to choose among", part.corpus.path)
    ids = sorted(
        set(part.corpus.table(split, ["article_id"])["article_id"].to_pylist()), key=lambda name: hash_fraction(name, 0)
    )
    return set(ids[: part.articles])
