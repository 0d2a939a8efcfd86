"""Vectors that were computed before: a folder of .npy files, named by what the encoder is and by what it read.

The name is a SHA-256 of the weights, of what follows them, and of the token ids: prompts, truncation, windows and
tokenizer all show in the ids, so a changed model or a changed text finds nothing. Files are written aside and renamed;
one that is not whole counts as absent. What has not been read for longest goes when the folder outgrows its limit.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import sectioncls
from sectioncls.encoders.encoder import Encoder
from sectioncls.encoders.tokens import Tokens
from sectioncls.encoders.windows import Windows
from sectioncls.staging import staged_file

__all__ = ["CACHE_LIMIT", "cached_vectors", "vectors_key"]

CACHE_LIMIT = 4 << 30
"""Bytes that a cache folder may hold."""

_OURS = re.compile(r"[0-9a-f]{64}\.npy")


def cached_vectors(
    folder: Path,
    encoder: Encoder,
    tokens: Tokens | Windows,
    make: Callable[[], npt.NDArray[np.float32]],
    *,
    precision: str = "float32",
    limit: int = CACHE_LIMIT,
) -> npt.NDArray[np.float32]:
    """Give the vectors of ``tokens``, (n, dimension), from ``folder`` where they are there, else from ``make()``.

    New vectors are kept, unless they alone are more than ``limit`` bytes. Several processes may share the folder.
    Raises OutputError when it can't be written.
    """
    file = folder / f"{vectors_key(encoder, tokens, precision)}.npy"
    kept = _read(file, (tokens.items, encoder.dimension))
    if kept is not None:
        return kept
    vectors = make()
    if vectors.nbytes <= limit:
        with staged_file(file) as aside, aside.open("wb") as stream:
            np.save(stream, vectors, allow_pickle=False)
        _shrink(folder, limit, file)
    return vectors


def vectors_key(encoder: Encoder, tokens: Tokens | Windows, precision: str = "float32") -> str:
    """Give the SHA-256 that names the vectors which ``encoder`` gives for ``tokens``."""
    digest = hashlib.sha256()
    about = [sectioncls.__version__, precision, encoder.device.type, encoder.model.truncate_dim, type(tokens).__name__]
    about += [[type(module).__name__, _settings(module)] for module in list(encoder.model)[1:]]
    digest.update(json.dumps(about, sort_keys=True, default=str).encode())
    for name, weight in sorted(encoder.model.state_dict().items()):
        digest.update(f"{name} {tuple(weight.shape)} {weight.dtype} ".encode())
        digest.update(weight.detach().float().cpu().contiguous().numpy().tobytes())
    for name in ("ids", "offsets", "routes", "spans", "sentences", "firsts"):
        array = getattr(tokens, name, None)
        if array is not None:
            digest.update(f"{name} {array.shape} ".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _settings(module: Any) -> dict[str, Any]:
    """Give what a module that follows the transformer is set to."""
    told = getattr(module, "get_config_dict", None)
    return dict(told()) if told is not None else {}


def _read(file: Path, shape: tuple[int, int]) -> npt.NDArray[np.float32] | None:
    """Give the matrix in ``file``, None where there is no whole one of this shape."""
    try:
        vectors = np.load(file, allow_pickle=False)
        os.utime(file)
    except (OSError, ValueError, EOFError):
        return None
    return vectors if vectors.shape == shape and vectors.dtype == np.float32 else None


def _shrink(folder: Path, limit: int, newest: Path) -> None:
    """Remove what was not read for longest until the folder holds ``limit`` bytes at most; strange files stay."""
    files = []
    for file in folder.iterdir():
        if _OURS.fullmatch(file.name):
            with contextlib.suppress(OSError):  # another process may have removed it
                known = file.stat()
                files.append((file == newest, known.st_mtime_ns, known.st_size, file))
    total = sum(size for _, _, size, _ in files)
    for _, _, size, file in sorted(files):
        if total <= limit:
            break
        with contextlib.suppress(OSError):
            file.unlink()
        total -= size
