"""Vectors of texts by one encoder, each (text, route) made once and kept in the run for whoever asks again.

What a text's vector depends on is its *route*: the encoder's route for a task and side, for an ensemble those of its
members, for an encoder without conditioning nothing but a prompt. Texts are known by their digests alone.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.encoders import Encoder, encode_batches, fingerprint, join_tokens
from sectioncls.recipes.observer import Observer
from sectioncls.staging import staged_file, write_json

__all__ = ["KeptVectors", "Request", "Vectors", "folder_name", "route_name"]

Vectors = npt.NDArray[np.float32]
Request = tuple[Sequence[str], str, str]
"""Texts, the task and the side that they are read for."""

# Vectors that are kept to be asked for again, about 1.5 kB each; beyond them each is made when it is asked for.
_REMEMBERED = 500_000
# New vectors after which a file is written, or as many as it has, so that all writing stays linear.
_FLUSH = 2_048
_FACTS = "vectors.json"


def route_name(encoder: Encoder, task: str, side: str) -> str:
    """Give the name of all that decides a text's vector besides the text; requests of one name have equal vectors.

    Raises UsageError for a task that the encoder has no route for.
    """
    conditioning = encoder.conditioning
    if conditioning is None:
        prompted = task == "search" and bool(encoder.model.prompts.get(side))
        return f"search-{side}" if prompted else "all"
    members = getattr(encoder.backbone, "members", None)
    if members is None:
        return str(conditioning.routes[conditioning.route_of(task, side)])
    conditioning.route_of(task, side)
    return "+".join(
        member.conditioning.routes[member.conditioning.route_of(task, side)]
        if hasattr(member, "conditioning")
        else "all"
        for member in members
    )


class KeptVectors:
    """Give vectors of texts, ``vectors(texts, task, side)``, (n, dimension) float32; none is made twice.

    ``prepare`` encodes what several requests lack in one go, rows of all routes sorted by length together. With
    ``folder`` the vectors are kept there, one file a route, and found again by an encoder of the same weights that
    encodes in the same ``precision``. ``bf16`` keeps 16 bit, and gives what it keeps, so that a second scoring has the
    first one's vectors. ``encoded`` counts the texts that were encoded, ``found`` those that lay in the folder.
    """

    def __init__(
        self, encoder: Encoder, observer: Observer, *, precision: str = "float32", folder: Path | None = None
    ) -> None:
        self.encoder, self.observer, self.precision = encoder, observer, precision
        self.folder = folder
        self.encoded = 0
        self.rows: dict[str, dict[bytes, int]] = {}
        self.blocks: dict[str, list[Vectors]] = {}
        self.written: dict[str, int] = {}
        self.found = self._open() if folder is not None else 0

    def __call__(self, texts: Sequence[str], task: str, side: str) -> Vectors:
        """Give one vector a text, (n, dimension)."""
        self.prepare([(texts, task, side)])
        name = route_name(self.encoder, task, side)
        known, keys = self.rows.get(name, {}), [_digest(text) for text in texts]
        lacking = [place for place, key in enumerate(keys) if key not in known]
        vectors = np.zeros((len(texts), self.encoder.dimension), dtype=np.float32)
        there = [place for place, key in enumerate(keys) if key in known]
        if there:
            vectors[there] = self._all(name)[[known[keys[place]] for place in there]]
        if lacking:  # there is no room to keep them
            vectors[lacking] = self._encode([(name, [texts[place] for place in lacking], task, side)])[0]
        return vectors

    def prepare(self, requests: Iterable[Request]) -> None:
        """Encode what the requests lack, as far as there is room to keep it."""
        new: dict[str, tuple[dict[bytes, str], str, str]] = {}
        for texts, task, side in requests:
            name = route_name(self.encoder, task, side)
            known = self.rows.get(name, {})
            mine = new.setdefault(name, ({}, task, side))[0]
            mine.update((key, text) for text in texts if (key := _digest(text)) not in known)
        parts = [(name, list(mine.values()), task, side) for name, (mine, task, side) in new.items() if mine]
        count = sum(len(texts) for _, texts, _, _ in parts)
        if not count or count + sum(map(len, self.rows.values())) > _REMEMBERED:
            return
        for name, *_ in parts:
            self.rows.setdefault(name, {})
            self.blocks.setdefault(name, [])
        try:
            self._encode(parts, keep=True)
        finally:
            self._flush()

    def _encode(self, parts: Sequence[tuple[str, list[str], str, str]], *, keep: bool = False) -> list[Vectors]:
        """Give the vectors of each part, or with ``keep`` put them among the known batch by batch."""
        encoder = self.encoder
        tokens = join_tokens([encoder.tokenise(texts, task, side) for _, texts, task, side in parts])
        texts = [text for part in parts for text in part[1]]
        owner = np.repeat(np.arange(len(parts)), [len(part[1]) for part in parts])
        vectors = np.zeros((0 if keep else len(texts), encoder.dimension), dtype=np.float32)
        words = ", ".join(dict.fromkeys(task for _, _, task, _ in parts))
        with self.observer.stage(f"encoding for {words}", len(texts), "texts") as advance:
            for rows, block in encode_batches(encoder, tokens, precision=self.precision):
                block = self._rounded(block)
                if keep:
                    self._keep(parts, texts, owner, rows, block)
                else:
                    vectors[rows] = block
                self.encoded += len(rows)
                advance(len(rows))
        return [vectors[owner == number] for number in range(len(parts))] if not keep else []

    def _keep(self, parts: Sequence[tuple[Any, ...]], texts: list[str], owner: Any, rows: Any, block: Vectors) -> None:
        for number in np.unique(owner[rows]).tolist():
            name, own = parts[number][0], owner[rows] == number
            known = self.rows[name]
            self.blocks[name].append(block[own])  # before its keys: who interrupts here leaves no key without a vector
            for row in rows[own].tolist():
                known[_digest(texts[row])] = len(known)
            if len(known) - self.written.get(name, 0) >= max(_FLUSH, self.written.get(name, 0)):
                self._write(name)

    def _rounded(self, block: Vectors) -> Vectors:
        return block if self.precision == "float32" else block.astype(np.float16).astype(np.float32)

    def _all(self, name: str) -> Vectors:
        """Give all vectors of a route, (n, dimension), put together once."""
        if len(self.blocks[name]) > 1:
            self.blocks[name] = [np.concatenate(self.blocks[name])]
        return self.blocks[name][0]

    def _open(self) -> int:
        """Take what lies in the folder if it is of this encoder; else begin anew."""
        assert self.folder is not None
        facts = {
            "format": 1,
            "weights": fingerprint(self.encoder),
            "precision": self.precision,
            "max_length": self.encoder.max_length,
            "dimension": self.encoder.dimension,
            "pooling": self.encoder.model[1].pooling_mode,
            "prompts": dict(self.encoder.model.prompts),
            "conditioning": getattr(self.encoder.backbone.config, "conditioning", None),
        }
        facts = json.loads(json.dumps(facts))
        there = self.folder / _FACTS
        if not (there.is_file() and _json(there) == facts):
            for file in self.folder.glob("*.npy") if self.folder.is_dir() else ():
                file.unlink()
            self.folder.mkdir(parents=True, exist_ok=True)
            write_json(there, facts)
            return 0
        found = 0
        for file in sorted(self.folder.glob("*.npy")):
            table = _read(file, self._type())
            if table is None:
                file.unlink()
                continue
            name = file.name.removesuffix(".npy")
            self.rows[name] = {bytes(key): row for row, key in enumerate(table["text"])}
            self.blocks[name] = [table["vector"].astype(np.float32)]
            self.written[name] = len(table)
            found += len(table)
        return found

    def _type(self) -> np.dtype[Any]:
        kind = "<f4" if self.precision == "float32" else "<f2"
        return np.dtype([("text", "u1", (16,)), ("vector", kind, (self.encoder.dimension,))])

    def _flush(self) -> None:
        for name, known in self.rows.items():
            if len(known) > self.written.get(name, 0):
                self._write(name)

    def _write(self, name: str) -> None:
        known = self.rows[name]
        if self.folder is None or not known:
            return
        table = np.zeros(len(known), dtype=self._type())
        table["text"] = np.frombuffer(b"".join(known), dtype=np.uint8).reshape(-1, 16)
        table["vector"] = self._all(name)[: len(known)]
        with staged_file(self.folder / f"{name}.npy") as aside, aside.open("wb") as stream:
            np.save(stream, table, allow_pickle=False)
        self.written[name] = len(known)


def folder_name(name: str, seed: int | None) -> str:
    """Give the folder of an encoder's vectors in a run: its name in plain letters, with the seed of its training."""
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-.") or "encoder"
    return plain if seed is None else f"{plain}-{seed}"


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _read(path: Path, kind: np.dtype[Any]) -> npt.NDArray[Any] | None:
    """Give the table in a file; None where it is not one of ours, whole."""
    try:
        table = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return table if isinstance(table, np.ndarray) and table.dtype == kind and table.ndim == 1 else None
