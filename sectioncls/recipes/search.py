"""From a paper set and an encoder to a saved index that answers searches."""

from __future__ import annotations

import errno
import hashlib
import importlib.metadata
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sectioncls import __version__
from sectioncls.encoders import Encoder, encode_batches, load_encoder, read_facts
from sectioncls.errors import InputError, ModelError
from sectioncls.papersets import PaperSet, open_paperset, paper_texts
from sectioncls.papersets.texts import SEPARATOR
from sectioncls.recipes.facets import load_roles, write_facets
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.staging import staged_folder, write_json
from sectioncls.vectors.bert import folder_digest, open_bert
from sectioncls.vectors.facets import facets_folder
from sectioncls.vectors.index import (
    FORMAT,
    INDEX_FILES,
    Encode,
    Index,
    find_index,
    index_folder,
    load_index,
    model_name,
)
from sectioncls.vectors.terms import BM25, write_terms

__all__ = ["build_index", "open_index", "search_vectors"]

Vectors = npt.NDArray[np.float32]

# Papers whose tokens are held at once.
_CHUNK = 16_384

# Texts on which numpy's vectors of queries are compared with the encoder's.
_SAMPLE = 8


def open_index(
    papers: str | Path,
    *,
    model: str = "minilm",
    facets: bool = False,
    roles: str | Path | None = None,
    rebuild: bool = False,
    observer: Observer = SILENT,
) -> Index:
    """Give the index of a paper set by an encoder, ready to search; what is missing of it is built and saved.

    It lies beside the set, in ``PAPERS.index/MODEL``. One whose papers have changed since is built anew. ``model`` is a
    short name, a folder or a hub id. ``facets`` asks for them too: sentences are labelled by the section model in the
    folder ``roles``, by the one that the package carries where that is None.

    Raises InputError for a folder that is no paper set or holds no papers, ModelError for an encoder that can't be had
    or is another than the one that made the index.
    """
    opened = open_paperset(papers)
    index = None if rebuild else find_index(opened.path, model)
    wanted = facets and (index is None or not index.has_facets(roles))
    labeller = load_roles(roles) if wanted else None  # first: it may be missing, and encoding takes minutes
    encoder: Encoder | None = None
    if index is None:
        encoder = load_encoder(model)
        index = load_index(build_index(opened, encoder, model, observer=observer))
        alone = index.info["without_abstract"]
        observer.note(f"{index.path}: {len(index):,} papers, {alone:,} of them by their title alone")
    if labeller is not None and (rebuild or not index.has_facets(roles)):
        encoder = encoder or load_encoder(model)
        _check_encoder(index, encoder)
        with _replacing(facets_folder(index.path)) as aside:
            write_facets(aside, opened.papers(), encoder, labeller, index, name=roles, observer=observer)
        index = load_index(index.path)
    if encoder is None and index.encode is None:
        encoder = load_encoder(model)
        _check_encoder(index, encoder)
    return index if encoder is None else load_index(index.path, encode=search_vectors(encoder))


def build_index(papers: PaperSet, encoder: Encoder, model: str, *, observer: Observer = SILENT) -> Path:
    """Write the index of a paper set and give its folder; one that is there is replaced when the new one is whole.

    A paper is read as title and abstract, by its title alone where it has none. Raises InputError for a set without
    papers.
    """
    table = papers.papers()
    if not len(table):
        raise InputError("holds no papers", papers.path)
    folder = index_folder(papers.path, model)
    separator = _separator(model)
    texts = paper_texts(table, separator=separator)
    similarity = str(encoder.model.similarity_fn_name or "cosine")
    with _replacing(folder) as aside:
        dense = np.lib.format.open_memmap(
            aside / "dense.npy", mode="w+", dtype=np.float32, shape=(len(texts), encoder.dimension)
        )
        with observer.stage("encoding papers", len(texts), "papers") as advance:
            for rows, vectors in _encoded(encoder, texts):
                dense[rows] = _unit(vectors) if similarity == "cosine" else vectors
                advance(len(rows))
        dense.flush()
        del dense
        write_terms(texts, aside / "terms")
        columns = {"ids": list(table.ids), "titles": list(table.titles), "years": table.years.tolist()}
        (aside / "papers.json").write_text(json.dumps(columns, ensure_ascii=False), encoding="utf-8")
        info = {
            "format": FORMAT,
            "papers": {"name": papers.name, "fingerprint": papers.info.fingerprint, "count": len(texts)},
            "encoder": {
                "model": model_name(model),
                "fingerprint": _fingerprint(encoder),
                "dimension": encoder.dimension,
                "similarity": similarity,
                "separator": separator,
                "quick": _quick(encoder, table.titles),
            },
            "bm25": BM25,
            "without_abstract": sum(not text for text in table.abstracts),
            "versions": {"sectioncls": __version__, "bm25s": importlib.metadata.version("bm25s")},
            "files": list(INDEX_FILES),
        }
        write_json(aside / "index.json", info)
    return folder


def _encoded(encoder: Encoder, texts: Sequence[str]) -> Iterator[tuple[npt.NDArray[np.int64], Vectors]]:
    """Yield (rows, vectors) of texts as the documents of a search, a bounded number of tokens at a time."""
    for first in range(0, len(texts), _CHUNK):
        tokens = encoder.tokenise(texts[first : first + _CHUNK], "search", "document")
        for rows, vectors in encode_batches(encoder, tokens):
            yield rows + first, vectors


def search_vectors(encoder: Encoder) -> Encode:
    """Give what turns queries into vectors as the encoder reads the queries of a search."""

    def encode(queries: Sequence[str]) -> Vectors:
        tokens = encoder.tokenise(queries, "search", "query")
        vectors = np.zeros((len(queries), encoder.dimension), dtype=np.float32)
        for rows, block in encode_batches(encoder, tokens):
            vectors[rows] = block
        return vectors

    return encode


def _fingerprint(encoder: Encoder) -> str:
    """Give a SHA-256 of all weights, by name and value."""
    digest = hashlib.sha256()
    for name, weight in sorted(encoder.model.state_dict().items()):
        digest.update(f"{name} {tuple(weight.shape)} ".encode())
        digest.update(weight.detach().float().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def _check_encoder(index: Index, encoder: Encoder) -> None:
    if index.info["encoder"]["fingerprint"] != _fingerprint(encoder):
        raise ModelError("was made by other weights than this encoder has now", index.path, "build it again: --rebuild")


def _quick(encoder: Encoder, texts: Sequence[str]) -> dict[str, str] | None:
    """Give where numpy finds the encoder of queries (see vectors/bert.py), once their vectors agree; None elsewhere."""
    folder = Path(str(getattr(encoder.backbone, "name_or_path", "")))
    if encoder.conditioning is not None or not folder.is_dir():
        return None
    try:
        bert = open_bert(folder)
    except ModelError:
        return None
    sample = [*texts[:_SAMPLE], "a query of a few words"]
    if bert is None or not bert.agrees(sample, search_vectors(encoder)(sample)):
        return None
    return {"folder": str(folder.resolve()), "sha256": folder_digest(folder)}


@contextmanager
def _replacing(folder: Path) -> Iterator[Path]:
    """Give an empty folder that takes the place of ``folder``; where another process is first, its work stays."""
    whole = False
    try:
        with staged_folder(folder, overwrite=True) as aside:
            yield aside
            whole = True
    except OSError as error:
        if not whole or error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
            raise


def _separator(model: str) -> str:
    """Give what stands between title and abstract for an encoder: as it was trained, else a full stop."""
    kept = read_facts(Path(model).expanduser()).get("separator")
    return kept if isinstance(kept, str) else SEPARATOR


def _unit(rows: Vectors) -> Vectors:
    unit: Vectors = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-12))
    return unit
