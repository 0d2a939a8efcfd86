"""Texts in, matrices out: what ``encode`` reads and writes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.corpora import open_corpus
from sectioncls.errors import InputError, OutputError
from sectioncls.staging import staged_file

__all__ = ["Source", "check_matrix", "read_sources", "write_matrix"]


@dataclass(frozen=True, slots=True)
class Source:
    """Sentences with the article that each stands in, its place there, and the titles above it where known."""

    texts: tuple[str, ...]
    article_ids: tuple[str, ...]
    index: tuple[int, ...]
    paths: tuple[tuple[str, ...], ...] | None = None


def read_sources(src: Path) -> dict[str, Source]:
    """Give the sentences of each split of a corpus folder, or under ``""`` the lines of a text file.

    Every line counts, also a blank one; the lines of a file are one article.

    Raises InputError for a path that is missing, empty or not UTF-8.
    """
    if src.is_dir():
        corpus = open_corpus(src)
        splits = {name: corpus.split(name) for name in corpus.splits}
        return {
            name: Source(rows.texts, rows.article_ids, tuple(rows.index), rows.paths) for name, rows in splits.items()
        }
    try:
        lines = src.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as error:
        raise InputError("no such file or folder", src) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't be read as UTF-8 text: {error}", src) from error
    if not lines:
        raise InputError("is empty", src)
    return {"": Source(tuple(lines), ("",) * len(lines), tuple(range(len(lines))))}


def check_matrix(path: Path, *, overwrite: bool) -> None:
    """Raise OutputError when ``path`` is taken; with ``overwrite`` only a .npy file may go."""
    if path.exists() and not (overwrite and path.suffix == ".npy" and path.is_file()):
        raise OutputError("exists already", path, "choose another -o, or --overwrite")


def write_matrix(path: Path, vectors: npt.NDArray[Any]) -> None:
    """Write a matrix as .npy, whole or not at all."""
    with staged_file(path) as aside, aside.open("wb") as stream:
        np.save(stream, vectors, allow_pickle=False)
