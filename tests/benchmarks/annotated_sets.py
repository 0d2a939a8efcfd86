"""Texts with known sentence ends: our hard passages, and the sentences of four published sets joined again."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from sectioncls.sentences.boundaries import Passage

GOLD = Path(__file__).resolve().parents[1] / "data" / "sentences"
REAL = {
    "art_coresc": ["all"],
    "consort_tm": ["all"],
    "mulms_az": ["train", "dev", "test"],
    "uci_sentence_corpus": ["all"],
}
"""The published sets and their files."""

# A stop, perhaps with quotes, brackets and a citation behind it. A sentence that ends otherwise is a heading, a cell,
# a line before a formula or one half of a sentence that a figure cuts in two.
_WHOLE = re.compile(r"[.?!][\"'”’)\]]*(?:\^?\s?[\[(]?\d[\da-z,;–−\s-]*[\])]?)?[\"'”’)\]]*$")


def gold_passages(half: str) -> dict[str, list[Passage]]:
    """Give {phenomenon: passages} of one half of our set, ``dev`` or ``test``."""
    passages: dict[str, list[Passage]] = {}
    for line in (GOLD / f"gold-{half}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        passages.setdefault(row["phenomenon"], []).append(Passage(row["text"], row["ends"]))
    return passages


def real_passages(folder: Path, name: str, half: str) -> tuple[list[Passage], Counter[str]]:
    """Give one half of a published set as passages, and how many sentences and documents were used and left out.

    A passage is a run of sentences of one section (the sets know no paragraphs), joined by one blank. A sentence
    without a stop at its end is left out and ends the run, so are headings and captions where the set marks them.
    Documents whose stops were deleted upstream are left out. A document's half is a hash of its id.
    """
    passages: list[Passage] = []
    counts: Counter[str] = Counter()
    for row in _rows(folder / name, REAL[name]):
        if _half(row["doc_id"]) != half:
            continue
        sentences = [" ".join(sentence.split()) for sentence in row["sentences"]]
        whole = [_WHOLE.search(sentence) is not None for sentence in sentences]
        if 2 * sum(whole) < len(whole):
            counts["documents left out"] += 1
            continue
        structure = row.get("structure", [[]] * len(sentences))
        prose = [fit and set(tags) <= {"Abstract"} for fit, tags in zip(whole, structure, strict=True)]
        counts["documents"] += 1
        counts["sentences"] += sum(prose)
        counts["sentences left out"] += len(prose) - sum(prose)
        sections = row.get("sections", [""] * len(sentences))
        document = f"{name}/{row['doc_id']}"
        passages += [_joined(run, document) for run in _runs(sentences, prose, sections)]
    return passages, counts


def _rows(folder: Path, parts: Iterable[str]) -> Iterator[dict]:
    for part in parts:
        with gzip.open(folder / f"{part}.jsonl.gz", "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def _half(document: str) -> str:
    return "test" if hashlib.sha256(document.encode()).digest()[0] % 2 else "dev"


def _runs(sentences: list[str], prose: list[bool], sections: list[str]) -> Iterator[list[str]]:
    run: list[str] = []
    at = None
    for sentence, fit, section in zip(sentences, prose, sections, strict=True):
        if run and (not fit or section != at):
            yield run
            run = []
        if fit:
            run.append(sentence)
        at = section
    if run:
        yield run


def _joined(sentences: list[str], document: str) -> Passage:
    ends: list[int] = []
    for sentence in sentences:
        ends.append((ends[-1] + 1 if ends else 0) + len(sentence))
    return Passage(" ".join(sentences), ends, document)
