"""The text form of PubMed-RCT 20k and 200k, in which NICTA-PIBOSO is passed around too.

::

    ###24293578
    OBJECTIVE<TAB>To investigate ...
    METHODS<TAB>A total of ...
    (blank line)

Numbers may stand as they are or as ``@``; the text is taken as it is. Paper: arXiv 1710.06071.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from sectioncls.corpora.conflicts import ConflictRule
from sectioncls.corpora.corpus import SPLITS, Corpus
from sectioncls.corpora.labelled import Rows, build_labelled, known_label, sound_text, source_sentence
from sectioncls.corpora.openers import find_split_files, read_lines
from sectioncls.errors import InputError, UsageError
from sectioncls.records import Sentence
from sectioncls.schemes import LabelScheme, load_scheme

__all__ = ["SCHEMES", "build_rct", "guess_scheme", "read_rct"]

SCHEMES = ("pubmed-rct", "nicta-piboso")
LICENCES = {"pubmed-rct": "not stated (PubMed abstracts)", "nicta-piboso": "not stated (PubMed abstracts)"}
FORM = "the form is ###id, then LABEL<TAB>sentence lines, then a blank line"


def build_rct(
    src: str | Path,
    out: str | Path | None,
    *,
    command: str,
    name: str | None = None,
    conflicts: ConflictRule = "keep",
    sizes: Sequence[int] | None = None,
    overwrite: bool = False,
) -> Corpus:
    """Give the corpus built from ``{train,dev,test}[_anything].txt``, plain or packed, or from one such file.

    The scheme follows from the labels seen; name and folder (``corpora/NAME``) follow from the scheme unless
    given. ``sizes`` cuts a single file into that many train, dev and test abstracts in file order.
    """
    files = find_split_files(Path(src), suffix=".txt", todo=FORM)
    scheme = guess_scheme(files.values())
    splits: dict[str, Rows] = {split: partial(_rows, file, split, scheme, 0, None) for split, file in files.items()}
    notes: list[str] = []
    if sizes is not None:
        splits = _cut(files, scheme, sizes)
        notes.append(f"cut from one file in file order: {', '.join(map(str, sizes))} abstracts")
    name = name or scheme.name
    return build_labelled(
        splits,
        Path("corpora") / name if out is None else out,
        name=name,
        scheme=scheme,
        command=command,
        conflicts=conflicts,
        overwrite=overwrite,
        licence=LICENCES[scheme.name],
        notes=notes,
    )


def read_rct(path: Path, split: str, scheme: LabelScheme) -> Iterator[tuple[str, Sentence]]:
    """Give (``file:line``, sentence) for each sentence of a file.

    An abstract without an id is numbered (``train-00012``); an id that comes back goes on counting its
    sentences. Raises InputError for a line without a tab, an unknown label, an empty sentence, and a sentence
    before the first ``###``.
    """
    lengths: dict[str, int] = {}
    for where, article_id, raw_label, raw_text in _lines(path, split):
        text = sound_text(raw_text, where)
        index = lengths.get(article_id, 0)
        lengths[article_id] = index + 1
        yield (
            where,
            source_sentence(article_id, index, text, known_label(raw_label, scheme, where)),
        )


def guess_scheme(files: Iterable[Path]) -> LabelScheme:
    """Give the scheme that knows every label in the files, PubMed-RCT before NICTA-PIBOSO.

    Raises InputError at the first line that leaves no scheme.
    """
    left = [load_scheme(name) for name in SCHEMES]
    seen: set[str] = set()
    for file in files:
        for where, _, raw_label, _ in _lines(file, "train"):
            if raw_label in seen:
                continue
            seen.add(raw_label)
            known = [scheme for scheme in left if _knows(scheme, raw_label)]
            if not known:
                schemes = " or ".join(scheme.name for scheme in left)
                raise InputError(f"unknown label {raw_label!r}", where, f"not one of {schemes}")
            left = known
    if not seen:
        raise InputError("holds no sentence", ", ".join(map(str, files)), FORM)
    return left[0]


def _lines(path: Path, split: str) -> Iterator[tuple[str, str, str, str]]:
    """Give (``file:line``, article id, label, text) as written for each sentence line."""
    article_id = ""
    number = -1
    for line_number, line in read_lines(path):
        if line.startswith("###"):
            number += 1
            article_id = line[3:].strip() or f"{split}-{number:05d}"
        elif line.strip():
            where = f"{path}:{line_number}"
            label, tab, text = line.partition("\t")
            if not tab:
                raise InputError("has no tab between label and sentence", where, FORM)
            if not article_id:
                raise InputError("is a sentence before the first ###", where, FORM)
            yield where, article_id, label, text


def _rows(path: Path, split: str, scheme: LabelScheme, first: int, count: int | None) -> Iterator[Sentence]:
    """Give the sentences of ``count`` abstracts from abstract ``first`` on, all where None."""
    number, last = -1, None
    for _, sentence in read_rct(path, split, scheme):
        if sentence.article_id != last:
            number, last = number + 1, sentence.article_id
        if count is not None and number >= first + count:
            return
        if number >= first:
            yield sentence


def _cut(files: Mapping[str, Path], scheme: LabelScheme, sizes: Sequence[int]) -> dict[str, Rows]:
    """Give the splits of a single file cut by number of abstracts."""
    if len(files) != 1:
        raise UsageError("--sizes is for a single file", ", ".join(str(file) for file in files.values()))
    if len(sizes) != len(SPLITS) or min(sizes) < 0:
        raise UsageError("--sizes takes three numbers: train, dev and test abstracts", sizes)
    (file,) = files.values()
    there = sum(1 for _ in islice(_abstracts(file, scheme), sum(sizes)))
    if there < sum(sizes):
        raise InputError(f"holds {there} abstracts, --sizes asks for {sum(sizes)}", file)
    splits: dict[str, Rows] = {}
    first = 0
    for split, count in zip(SPLITS, sizes, strict=True):
        if count:
            splits[split] = partial(_rows, file, "train", scheme, first, count)
        first += count
    return splits


def _abstracts(path: Path, scheme: LabelScheme) -> Iterator[str]:
    """Give the article id of each abstract."""
    last = None
    for _, sentence in read_rct(path, "train", scheme):
        if sentence.article_id != last:
            last = sentence.article_id
            yield last


def _knows(scheme: LabelScheme, raw_label: str) -> bool:
    """Say whether a scheme has a label."""
    try:
        scheme.label(raw_label)
    except InputError:
        return False
    return True
