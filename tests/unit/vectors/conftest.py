"""A small index of made-up papers, written by hand: no encoder, no paper set behind it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from sectioncls.vectors.index import FORMAT, INDEX_FILES
from sectioncls.vectors.terms import write_terms

TITLES = ("Edges of large graphs", "Graphs that move", "Sleep and memory", "Memory of mice", "An untitled thing")
VECTORS = np.array([[1, 0, 0], [0.8, 0.6, 0], [0, 0, 1], [0, 0.6, 0.8], [0.6, 0, 0.8]], dtype=np.float32)


def write_index(folder: Path, *, similarity: str = "cosine", vectors: np.ndarray = VECTORS) -> Path:
    """Write an index of TITLES with the given vectors."""
    folder.mkdir(parents=True)
    np.save(folder / "dense.npy", vectors)
    write_terms(TITLES, folder / "terms")
    columns = {"ids": [f"p{row}" for row in range(5)], "titles": list(TITLES), "years": [2001, -1, 2003, 2004, 2005]}
    (folder / "papers.json").write_text(json.dumps(columns))
    info = {
        "format": FORMAT,
        "papers": {"name": "small", "fingerprint": "f" * 64, "count": 5},
        "encoder": {"model": "letters", "fingerprint": "e" * 64, "dimension": 3, "similarity": similarity},
        "files": list(INDEX_FILES),
    }
    (folder / "index.json").write_text(json.dumps(info))
    return folder


def write_facets(index: Path, vectors: np.ndarray, shares: np.ndarray, **changed: object) -> None:
    """Write facets beside an index, those of background, method and result."""
    folder = index.with_name(f"{index.name}.facets")
    folder.mkdir(exist_ok=True)
    np.save(folder / "dense.npy", vectors.astype(np.float32))
    np.save(folder / "shares.npy", shares.astype(np.float32))
    info = {"facets": ["background", "method", "result"], "papers": "f" * 64, "encoder": "e" * 64, "roles": ""}
    (folder / "index.json").write_text(json.dumps({**info, **changed}))


@pytest.fixture
def index_path(tmp_path: Path) -> Path:
    return write_index(tmp_path / "papers.index" / "letters")


@pytest.fixture
def encode() -> Callable[[Sequence[str]], np.ndarray]:
    """An encoder of three dimensions: graphs, movement, memory."""

    def encoder(queries: Sequence[str]) -> np.ndarray:
        words = ("graph", "mov", "memor")
        return np.array([[float(word in query.lower()) for word in words] for query in queries], dtype=np.float32)

    return encoder
