"""A saved index of papers: dense vectors and BM25, fused, in files that are mapped instead of read.

::

    index.json       what it belongs to: paper set, encoder, sizes, versions
    papers.json      ids, titles, years
    dense.npy        (papers, dimensions) float32, of unit length where the encoder compares by cosine
    terms/           BM25 (see terms.py)

It lies beside its paper set, is written aside and renamed when whole, so readers need no lock. Its facets, where
somebody asked for them, lie beside it (see facets.py). Opening it loads neither torch nor a reader of Parquet:
``load_index(folder).search("…")`` answers within a second of the start of a process.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError, ModelError, UsageError
from sectioncls.vectors.bert import folder_digest, open_bert
from sectioncls.vectors.facets import FACETS, Facets, open_facets
from sectioncls.vectors.fusion import best_words, fuse, nearest
from sectioncls.vectors.terms import TERM_FILES, Terms, load_array, open_terms

__all__ = ["FORMAT", "INDEX_FILES", "Encode", "Hit", "Index", "find_index", "index_folder", "load_index", "model_name"]

FORMAT = 1
MANIFEST = "index.json"

INDEX_FILES = (
    MANIFEST,
    "papers.json",
    "dense.npy",
    *(f"terms/{name}" for name in TERM_FILES),
)
"""Every file that the folder of an index may hold."""

_AGAIN = "build it again: --rebuild"

Vectors = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]
Similarity = Literal["cosine", "dot", "euclidean"]
Encode = Callable[[Sequence[str]], npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Hit:
    """A paper that was found.

    ``score`` is the fused one, 1 for a paper that is first in every list. ``similarity`` is that of the vectors (a
    cosine, for most encoders; of the facet's in a search by facet), ``words`` that of the words: BM25 for a query, the
    cosine of two papers' BM25 weights. Each is None where the paper is not among the best of that list. ``year`` is
    None where it is unknown. ``shares`` has, in a search by facet, every facet's share of the paper's sentences.
    """

    rank: int
    score: float
    id: str
    title: str
    year: int | None
    similarity: float | None
    words: float | None
    shares: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """An opened index; ``encode`` turns queries into vectors, where ``load_index`` was told how or finds it out."""

    path: Path
    info: Mapping[str, Any]
    ids: tuple[str, ...]
    titles: tuple[str, ...]
    years: npt.NDArray[np.int64]
    dense: Vectors
    terms: Terms
    facets: Facets | None
    encode: Encode | None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def similarity(self) -> Similarity:
        """How the encoder compares vectors."""
        similarity: Similarity = self.info["encoder"]["similarity"]
        return similarity

    def has_facets(self, roles: str | Path | None = None) -> bool:
        """Say whether it has facets, by the section model ``roles`` where one is named."""
        return self.facets is not None and (roles is None or self.facets.info.get("roles") == model_name(roles))

    def search(self, query: str, k: int = 10, *, facet: str | None = None, among: Rows | None = None) -> list[Hit]:
        """Give the ``k`` papers that answer a query in words, best first; ``among`` holds the rows that may be found.

        With ``facet`` the vectors of their sentences of that role take part too, and papers without any are not found.
        Raises UsageError for an empty query or an unknown facet, ModelError where nothing encodes queries.
        """
        return self.search_each([query], k, facet=facet, among=among)[0]

    def search_each(
        self, queries: Sequence[str], k: int = 10, *, facet: str | None = None, among: Rows | None = None
    ) -> list[list[Hit]]:
        """Give the answers to several queries, encoded together (see search)."""
        for query in queries:
            if not query.strip():
                raise UsageError("an empty query", todo="give some words")
            if not query.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in query):
                raise UsageError("a query that is not UTF-8")
        self._check(facet, k)
        if self.encode is None:
            raise ModelError("knows no encoder for queries", self.path, "hand one to load_index(…, encode=…)")
        vectors = np.asarray(self.encode(queries), dtype=np.float32)
        if vectors.shape != (len(queries), self.dense.shape[1]):
            raise ModelError(f"gives vectors of shape {vectors.shape[1:]}, the index has {self.dense.shape[1:]}")
        if self.similarity == "cosine":
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))
        allowed = self._allowed(facet, among)
        return [
            self._hits(vector, vector, self.terms.scores(query), k, facet, allowed)
            for query, vector in zip(queries, vectors, strict=True)
        ]

    def related(self, paper: str, k: int = 10, *, facet: str | None = None, among: Rows | None = None) -> list[Hit]:
        """Give the ``k`` papers that are nearest to a paper of the index, best first; no encoder is needed.

        ``among`` holds the rows that may be found, all where it is None; the paper itself never is.
        With ``facet`` the vectors of their sentences of that role take part too. Raises InputError for an unknown id,
        naming those that look like it, and for a paper without a sentence of the facet.
        """
        row = self.row_of(paper)
        self._check(facet, k)
        vector = own = np.asarray(self.dense[row])
        if facet is not None and self.facets is not None:
            if not self.facets.present(facet)[row]:
                raise InputError(f"has no sentence of the facet {facet!r}", f"paper {paper}", "leave --facet out")
            own = np.asarray(self.facets.vectors(facet)[row])
        allowed = self._allowed(facet, among)
        allowed[row] = False
        return self._hits(vector, own, self.terms.scores_like(row), k, facet, allowed)

    def row_of(self, paper: str) -> int:
        """Give the row of a paper's id. Raises InputError naming ids that look like it."""
        try:
            return self.ids.index(paper)
        except ValueError:
            near = get_close_matches(paper, self.ids, n=3, cutoff=0.5)
            todo = f"near it: {', '.join(near)}" if near else f"ids look like {', '.join(self.ids[:3])}"
            raise InputError(f"has no paper {paper!r} among {len(self):,}", self.info["papers"]["name"], todo) from None

    def _check(self, facet: str | None, k: int) -> None:
        if k < 1:
            raise UsageError(f"the best {k} papers", todo="ask for one at least")
        if facet is not None and facet not in FACETS:
            raise UsageError(f"no facet {facet!r}", todo=f"facets: {', '.join(FACETS)}")
        if facet is not None and self.facets is None:
            raise InputError("has no facets yet", self.path, "recipes.open_index(…, facets=True) adds them")

    def _allowed(self, facet: str | None, among: Rows | None) -> npt.NDArray[np.bool_]:
        """Say of every row whether it may be found."""
        allowed = np.ones(len(self), dtype=np.bool_)
        if among is not None:
            allowed[:] = False
            allowed[among] = True
        return allowed if facet is None or self.facets is None else allowed & self.facets.present(facet)

    def _hits(
        self, vector: Vectors, own: Vectors, words: Vectors, k: int, facet: str | None, allowed: npt.NDArray[np.bool_]
    ) -> list[Hit]:
        """Give the best of the ``allowed`` papers for a vector, its facet's vector and scores by words."""
        whole = nearest(vector, self.dense, allowed, self.similarity)
        near, similarities = whole
        lists = [whole[0]]
        if facet is not None and self.facets is not None:
            near, similarities = nearest(own, self.facets.vectors(facet), allowed, self.similarity)
            lists.append(near)
        said, weights = best_words(words, allowed)
        rows, scores = fuse([*lists, said])
        similar = dict(zip(near.tolist(), similarities.tolist(), strict=True))
        worded = dict(zip(said.tolist(), weights.tolist(), strict=True))
        return [
            Hit(
                rank=rank,
                score=score,
                id=self.ids[row],
                title=self.titles[row],
                year=None if self.years[row] < 0 else int(self.years[row]),
                similarity=similar.get(row),
                words=worded.get(row),
                shares={} if facet is None or self.facets is None else self.facets.shares_of(row),
            )
            for rank, (row, score) in enumerate(zip(rows[:k].tolist(), scores[:k].tolist(), strict=True), start=1)
        ]


def model_name(model: str | Path) -> str:
    """Give how an index names a model: a folder by its whole path, others as they are."""
    folder = Path(model).expanduser()
    return str(folder.resolve()) if folder.is_dir() else str(model)


def index_folder(papers: str | Path, model: str | Path = "minilm") -> Path:
    """Give the place of the index of a paper set by a model: ``PAPERS.index/MODEL``, beside the set.

    A folder goes by its own name there, a hub id with ``--`` for its slash.
    """
    folder, path = Path(model).expanduser(), Path(papers)
    name = folder.resolve().name if folder.is_dir() else str(model).replace("/", "--")
    beside = path.resolve()
    return beside.with_name(f"{beside.name}.index") / name


def find_index(papers: str | Path, model: str | Path = "minilm") -> Index | None:
    """Give the index of a paper set by a model; None where there is none, or the papers have changed since.

    Raises InputError for a paper set that is none, ModelError for the index of another model of that name.
    """
    folder = index_folder(papers, model)
    if not (folder / MANIFEST).is_file():
        return None
    kept = _manifest(folder)
    try:
        now = json.loads((Path(papers) / "corpus.json").read_bytes()).get("fingerprint")
    except (OSError, ValueError, AttributeError) as error:
        raise InputError("is not a paper set (no corpus.json)", papers, "make one with `build-papers`") from error
    if kept["papers"]["fingerprint"] != now:
        return None
    if kept["encoder"]["model"] != model_name(model):
        what = f"was made by {kept['encoder']['model']}, another model of that name"
        raise ModelError(what, folder, "rename one of the two, or build it again: --rebuild")
    return load_index(folder)


def load_index(folder: str | Path, *, encode: Encode | None = None) -> Index:
    """Give the index in ``folder``.

    ``encode`` turns a list of queries into their vectors (queries, dimensions). Without it, queries are encoded by
    numpy where the index was made by a plain BERT whose folder is still there (see bert.py); else only ``related``
    answers.

    Raises InputError for a folder that holds no index or a broken one.
    """
    path = Path(folder)
    info = _manifest(path)
    columns = _json(path / "papers.json")
    dense, terms = load_array(path / "dense.npy"), open_terms(path / "terms")
    ids, titles, years = (columns.get(name) for name in ("ids", "titles", "years"))
    count = info["papers"]["count"]
    fits = (
        all(isinstance(column, list) and len(column) == count for column in (ids, titles, years))
        and all(isinstance(text, str) for column in (ids, titles) for text in column or ())
        and all(isinstance(year, int) for year in years or ())
        and dense.shape == (count, info["encoder"]["dimension"])
        and dense.dtype == np.float32
        and terms.count == count
    )
    if not fits or ids is None or titles is None:
        raise InputError("is an index whose parts don't fit together", path, _AGAIN)
    quick = info["encoder"].get("quick")
    if encode is None and isinstance(quick, Mapping):
        encode = _Quick(Path(str(quick.get("folder"))), str(quick.get("sha256")))
    facets = open_facets(path, info)
    return Index(path, info, tuple(ids), tuple(titles), np.asarray(years), dense, terms, facets, encode)


class _Quick:
    """The encoder of queries in numpy, opened at the first query, once it is known to be the index's own."""

    def __init__(self, folder: Path, sha256: str) -> None:
        self._folder, self._sha256 = folder, sha256
        self._opened: Encode | None = None

    def __call__(self, queries: Sequence[str]) -> npt.NDArray[Any]:
        if self._opened is None:
            if not self._folder.is_dir():
                raise ModelError("the encoder of the index is gone", self._folder, _AGAIN)
            bert = open_bert(self._folder) if folder_digest(self._folder) == self._sha256 else None
            if bert is None:
                raise ModelError("is another encoder than the one that made the index", self._folder, _AGAIN)
            self._opened = bert.encode
        return self._opened(queries)


def _manifest(path: Path) -> dict[str, Any]:
    """Give what index.json says, or raise InputError."""
    if not (path / MANIFEST).is_file():
        raise InputError("holds no index (no index.json)", path, "make one: sectioncls search PAPERS QUERY")
    info = _json(path / MANIFEST)
    if info.get("format") != FORMAT:
        raise InputError(f"is an index of format {info.get('format')}; this version reads {FORMAT}", path, _AGAIN)
    wanted = {
        "papers": ("name", "fingerprint", "count"),
        "encoder": ("model", "fingerprint", "dimension", "similarity"),
    }
    for part, names in wanted.items():
        held = info.get(part)
        missing = [name for name in names if not isinstance(held, dict) or name not in held]
        if missing:
            raise InputError(f"lacks {part}.{missing[0]}", path / MANIFEST, _AGAIN)
    if info["encoder"]["similarity"] not in get_args(Similarity):
        raise InputError(f"compares by {info['encoder']['similarity']!r}", path / MANIFEST, _AGAIN)
    return info


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(f"can't be read: {error}", path, _AGAIN) from error
    if not isinstance(content, dict):
        raise InputError("is not a JSON object", path, _AGAIN)
    return content
