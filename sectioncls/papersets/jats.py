"""Paper sets from articles: JATS (and TEI, PubMed) files, folders and archives, with the citations among them.

The documents go through the stream of sentence corpora (``corpora/gather.py``): read by workers or on Ray, set
aside, taken back sorted by id. What a paper is known by and what it refers to is then matched in three passes over
what was set aside: the papers, the references to them, and the references to other works that two papers share.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sectioncls.corpora.build import BuildCounts
from sectioncls.corpora.gather import Watch, gathered, judged
from sectioncls.corpora.reading import Engine
from sectioncls.corpora.sources import container_of, list_sources, total_size
from sectioncls.corpora.spill import Packed, Spill, Stored, pack, text_digest
from sectioncls.corpora.workfolder import note_part
from sectioncls.corpora.writer import versions_of
from sectioncls.documents import Document, read_each
from sectioncls.papersets.splits import normalised, split_of_paper
from sectioncls.papersets.writer import PaperSetWriter, create_paperset
from sectioncls.records import Article, Paper, Rejected, Section

__all__ = ["KEYS", "create_from_jats", "pack_papers"]

KEYS = ("pmid", "pmcid", "doi", "title")
"""What references are matched by, the best first."""
_PACKAGES = ("lxml",)
_DIGITS = re.compile(r"\d+")
_SHORTEST_TITLE = 20  # characters of a title that is no key of its own: "Introduction", "Reply"
_FEWEST_WORDS = 4
_NONE = -1
_SHARED = 2  # papers that refer to a work outside the set, for it to be kept


def pack_papers(document: Document | Rejected, *, read: Any, rules: Any) -> list[Packed | Rejected]:
    """Give the papers of a document ready to be set aside, or why there are none; runs in the workers."""
    results: list[Packed | Rejected] = []
    for place, item in enumerate(read(document)):
        results.append(item if isinstance(item, Rejected) else _packed(item, place))
    return results


def _packed(article: Article, place: int) -> Packed | Rejected:
    abstract = " ".join(_prose(article.abstract))
    if not (article.title.strip() or abstract):
        return Rejected(article.source, "no-text", "neither title nor abstract", article.id)
    keys = [key for name in (article.id, article.doi, article.pmid) if name and (key := _key_of_id(name))]
    title = normalised(article.title)
    if len(title) >= _SHORTEST_TITLE and len(title.split()) >= _FEWEST_WORDS:
        keys.append(f"title:{title}")
    references = [[_normal(key) for key in one] for one in article.reference_keys]
    about = [article.title, abstract, article.year, article.journal, article.authors, sorted(set(keys)), references]
    return Packed(
        article_id=article.id,
        source=article.source,
        place=place,
        counts={},
        lacks="",
        data=pack(about),
        doi=article.doi or "",
        text=text_digest([article.title, abstract]) if abstract else b"",
    )


def _prose(sections: Iterable[Section]) -> Iterator[str]:
    """Give the paragraphs of an abstract in order, without its headings."""
    for section in sections:
        yield from (part.text.strip() for part in section.paragraphs if part.text.strip())
        yield from _prose(section.sections)


def _key_of_id(name: str) -> str:
    """Give the key of an article's own PMCID, DOI or PMID, '' where it has another kind of id (a file's name)."""
    if name.startswith("PMC") and name[3:].isdigit():
        return f"pmcid:{name}"
    if name.startswith("10."):
        return f"doi:{name}"
    number = name.removeprefix("pmid:")
    return f"pmid:{number}" if number.isdigit() else ""


def _normal(key: str) -> str:
    """Give a reference's key as papers' own keys are written."""
    kind, _, value = key.partition(":")
    if kind == "title":
        return f"title:{normalised(value)}"
    if kind == "pmcid":
        number = _DIGITS.search(value)
        return f"pmcid:PMC{number.group()}" if number else key
    return key


def _read(document: Document | Rejected) -> list[Article | Rejected]:
    return [document] if isinstance(document, Rejected) else list(read_each(document))


@contextmanager
def create_from_jats(
    paths: list[Path],
    out: Path,
    *,
    name: str,
    command: str,
    seed: int,
    jobs: int,
    engine: Engine,
    address: str | None,
    overwrite: bool,
    resume: bool,
    watch: Watch,
    licence: str = "",
) -> Iterator[tuple[PaperSetWriter, BuildCounts]]:
    """Give a writer that holds the papers of documents with their citations, and what went in.

    For the options see corpora.build.build_from_articles: the bytes depend on neither the order of the documents nor
    the workers, and a build that was cut off is gone on with.
    """
    settings = {"name": name, "command": command, "seed": seed, "licence": licence, "kind": "papers"}
    settings["versions"] = versions_of(_PACKAGES)
    with (
        gathered(
            list_sources(paths),
            _read,
            None,
            out,
            settings,
            make=pack_papers,
            container_of=container_of,
            jobs=jobs,
            engine=engine,
            address=address,
            overwrite=overwrite,
            resume=resume,
            watch=watch,
            size=0 if watch is iter else total_size(paths),
        ) as (folder, spill),
        create_paperset(
            out, name=name, form="jats", command=command, overwrite=overwrite, licence=licence, packages=_PACKAGES
        ) as writer,
    ):
        note_part(folder, writer.folder)
        kept = _Kept(spill)
        _write_papers(kept, writer, name, seed)
        _write_citations(kept, writer)
        left_out: dict[str, int] = {}
        reasons: dict[str, int] = {}
        writer.begin_rejections()
        for rejected in spill.rejections():
            writer.reject(rejected)
            left_out[container_of(rejected)] = left_out.get(container_of(rejected), 0) + 1
            reasons[rejected.reason] = reasons.get(rejected.reason, 0) + 1
        documents = spill.counts()
        yield (
            writer,
            BuildCounts(
                documents=documents,
                left_out={container: left_out.get(container, 0) for container in documents},
                articles=spill.found(("no-text",)),
                kept=len(kept.ids),
                rejected=dict(sorted(reasons.items())),
            ),
        )


class _Kept:
    """The papers that are kept: where they lie in the spill, and what they are known by."""

    def __init__(self, spill: Spill) -> None:
        self.spill = spill
        self.ids: list[str] = []
        self.ambiguous = 0
        self._places = array("q")
        self._hashes: list[NDArray[np.uint64]] = []
        self._rows: list[NDArray[np.int64]] = []

    def add(self, stored: Stored) -> Any:
        """Note a paper and give what was packed of it."""
        packed = self.spill.load(stored)
        hashes = _hashes(packed[5])
        self._hashes.append(hashes)
        self._rows.append(np.full(len(hashes), len(self.ids), dtype=np.int64))
        self.ids.append(stored.article_id)
        self._places.extend((stored.offset, stored.size))
        return packed

    def references(self) -> Iterator[tuple[int, list[list[str]], list[tuple[int, str]]]]:
        """Give (row, references, what each of them found) of each paper; see ``_best``."""
        hashes, rows = np.concatenate(self._hashes), np.concatenate(self._rows)
        values, first, counts = np.unique(hashes, return_index=True, return_counts=True)
        self.ambiguous = int(np.sum(counts > 1))
        values, rows = values[counts == 1], rows[first[counts == 1]]
        for row, paper in enumerate(self.ids):
            offset, size = self._places[2 * row : 2 * row + 2]
            *_, references = self.spill.load(Stored(paper, "", {}, "", offset, size))
            yield row, references, _best(references, values, rows)


def _best(references: list[list[str]], values: NDArray[np.uint64], rows: NDArray[np.int64]) -> list[tuple[int, str]]:
    """Give for each reference the row that it names and the first of KEYS that says so; -1 where none does."""
    best = [(_NONE, "")] * len(references)
    flat = [(number, key) for number, keys in enumerate(references) for key in keys]
    if not flat or not len(values):
        return best
    hashes = _hashes([key for _, key in flat])
    places = np.minimum(np.searchsorted(values, hashes), len(values) - 1)
    for hit in np.flatnonzero(values[places] == hashes).tolist():
        number, key = flat[hit]
        kind = key.partition(":")[0]
        if best[number][0] == _NONE or KEYS.index(kind) < KEYS.index(best[number][1]):
            best[number] = (int(rows[places[hit]]), kind)
    return best


def _hashes(keys: list[str]) -> NDArray[np.uint64]:
    joined = b"".join(blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest() for key in keys)
    return np.frombuffer(joined, dtype=np.uint64)


def _write_papers(kept: _Kept, writer: PaperSetWriter, name: str, seed: int) -> None:
    """Write the papers in the order of their ids; what is left out is set aside as a rejection."""
    for stored, verdict in judged(kept.spill):
        if verdict is not None:
            kept.spill.reject(verdict)
            continue
        title, abstract, year, journal, authors, _, _ = kept.add(stored)
        paper = Paper(stored.article_id, title, abstract, year, journal, tuple(authors))
        writer.add_paper(paper, split_of_paper(title, f"{name}|{paper.id}", seed))
        if year is not None:
            writer.add_target("year", paper.id, float(year))
    writer.note(f"{len(kept.ids)} papers were put into splits by the hash of their title with seed {seed}")


def _write_citations(kept: _Kept, writer: PaperSetWriter) -> None:
    """Match references to papers, and keep the other works that two papers refer to."""
    if not kept.ids:
        return
    others = array("Q")
    for row, references, found in kept.references():
        cited: dict[int, str] = {}
        for other, by in found:
            if other == row:
                writer.dropped("citations of the paper itself")
            elif other in cited:
                writer.dropped("citations given twice")
            elif other != _NONE:
                cited[other] = by
        for other, by in cited.items():
            writer.add_citation(kept.ids[row], kept.ids[other], by=by)
        others.frombytes(_hashes(_unmatched(references, found)).tobytes())
    values, counts = np.unique(np.frombuffer(others, dtype=np.uint64), return_counts=True)
    shared = values[counts >= _SHARED]
    for row, references, found in kept.references() if len(shared) else ():
        keys = _unmatched(references, found)
        for place in np.flatnonzero(np.isin(_hashes(keys), shared)).tolist():
            writer.add_outside(kept.ids[row], keys[place])
    if kept.ambiguous:
        writer.note(f"{kept.ambiguous} keys (mostly titles) are those of several papers and match no reference")
    writer.note(
        f"of {len(others)} references to works that are not in the set, those that {_SHARED} papers share are kept"
    )


def _unmatched(references: list[list[str]], found: list[tuple[int, str]]) -> list[str]:
    """Give the best key of each reference that names no paper of the set, each once, sorted."""
    return sorted({keys[0] for keys, (row, _) in zip(references, found, strict=True) if row == _NONE})
