"""PMC-Sents-FULL, the Parquet files of arXiv 2404.00224.

Columns: ``id`` (PMC id of the article), ``text`` (equal to ``sentence``) and ``label_id``. The ids have no
names in the files; what they mean follows from the sentences and is the order of the scheme ``pmc-sents``:
0 other, 1 objective, 2 method, 3 result, 4 background. Rows are shuffled, so ``index`` is a row's rank among
the rows of its article in one file, not its place in the article.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from sectioncls.corpora.conflicts import ConflictRule
from sectioncls.corpora.corpus import SPLITS, Corpus
from sectioncls.corpora.labelled import Rows, build_labelled, sound_text, source_sentence
from sectioncls.corpora.openers import find_split_files
from sectioncls.corpora.splits import hash_fraction
from sectioncls.corpora.tables import read_rows
from sectioncls.errors import InputError, UsageError
from sectioncls.records import Sentence
from sectioncls.schemes import LabelScheme, load_scheme

__all__ = ["build_pmc_sents", "read_pmc_sents"]

DEV_SHARE = 0.1
COLUMNS = ("id", "text", "label_id")


def build_pmc_sents(
    src: str | Path,
    out: str | Path,
    *,
    command: str,
    name: str = "pmc-sents-full",
    roles: Mapping[str, str] | None = None,
    seed: int = 0,
    conflicts: ConflictRule = "keep",
    overwrite: bool = False,
) -> Corpus:
    """Give the corpus built from a folder with ``pmc_sents_full_{train,dev,test}.parquet``.

    ``roles`` maps our split to the file's (``{"train": "dev", "test": "test"}``), each file as itself by
    default. Where no dev comes out, a tenth of train's articles becomes dev, chosen by a seeded hash of the
    article id.
    """
    scheme = load_scheme("pmc-sents")
    files = find_split_files(
        Path(src),
        prefix="pmc_sents_full_",
        suffix=".parquet",
        todo="pmc_sents_full_train.parquet is looked for",
    )
    roles = dict(roles) if roles else {split: split for split in files}
    for ours, theirs in roles.items():
        if ours not in SPLITS:
            raise UsageError(f"{ours!r} is not a split", None, f"one of {', '.join(SPLITS)}")
        if theirs not in files:
            raise InputError(f"has no {theirs} file (there: {', '.join(files)})", src, "see --as")
    if len(set(roles.values())) < len(roles):
        raise UsageError("one file can't be two splits", None, "see --as")
    notes = [f"{ours} is the file {files[theirs].name}" for ours, theirs in roles.items() if ours != theirs]
    splits: dict[str, Rows] = {ours: partial(read_pmc_sents, files[theirs], scheme) for ours, theirs in roles.items()}
    if "dev" not in splits and "train" in splits:
        whole = splits["train"]
        splits["train"] = partial(_part, whole, seed, in_dev=False)
        splits["dev"] = partial(_part, whole, seed, in_dev=True)
        notes.append(f"dev is {DEV_SHARE:.0%} of train's articles, cut by article with seed {seed}")
    return build_labelled(
        splits,
        out,
        name=name,
        scheme=scheme,
        command=command,
        conflicts=conflicts,
        overwrite=overwrite,
        licence="not stated (PubMed Central articles)",
        notes=notes,
    )


def read_pmc_sents(path: Path, scheme: LabelScheme) -> Iterator[Sentence]:
    """Give the sentences of one file in order. Raises InputError for a lacking column or unknown label id."""
    seen: dict[str, int] = {}
    for where, (article_id, raw, label_id) in read_rows(path, COLUMNS):
        text = sound_text(raw, where)
        if not isinstance(article_id, str) or not article_id:
            raise InputError("has no article id", where)
        if not isinstance(label_id, int) or not 0 <= label_id < len(scheme.labels):
            raise InputError(f"unknown label id {label_id!r}", where, f"0 to {len(scheme.labels) - 1} are known")
        index = seen.get(article_id, 0)
        seen[article_id] = index + 1
        yield source_sentence(article_id, index, text, scheme.labels[label_id])


def _part(rows: Rows, seed: int, *, in_dev: bool) -> Iterator[Sentence]:
    """Give the sentences whose article is, or is not, in the new dev."""
    for sentence in rows():
        if (hash_fraction(sentence.article_id, seed) < DEV_SHARE) == in_dev:
            yield sentence
