"""A short text as a vector with numpy alone: what a search needs of an encoder, without the seconds that torch loads.

It reads the folder of a plain BERT-shaped sentence encoder (weights in float32 or float16, mean or [CLS] pooling, with
or without normalisation). Whoever builds an index checks once that its vectors are the encoder's own (``agrees``).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.errors import ModelError

__all__ = ["BertQueries", "folder_digest", "open_bert"]

Matrix = npt.NDArray[np.float32]

_WEIGHTS = "model.safetensors"
_POOLINGS = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
_MOST_CONFIG = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, eq=False)
class BertQueries:
    """A BERT of float32 weights by name, its tokenizer, and how its token states become one vector."""

    weights: dict[str, Matrix]
    words: Any
    tokenizer: Any
    heads: int
    layers: int
    epsilon: float
    pooling: str
    normalises: bool

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Give one float32 vector per text, (n, dimension); a text is cut where the encoder cuts it."""
        rows = [self._encode(text) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.weights["embeddings.LayerNorm.weight"].size), np.float32)

    def agrees(self, texts: Sequence[str], vectors: npt.NDArray[Any], tolerance: float = 0.01) -> bool:
        """Say whether the vectors of ``texts`` are these, each within ``tolerance`` of its length (bfloat16 is)."""
        found = self.encode(texts)
        if found.shape != vectors.shape or not np.isfinite(found).all():
            return False
        return bool((np.linalg.norm(found - vectors, axis=1) <= tolerance * np.linalg.norm(found, axis=1)).all())

    def _encode(self, text: str) -> Matrix:
        ids = self.tokenizer.encode(text.strip()).ids
        hidden = np.concatenate([self.words[place : place + 1] for place in ids]).astype(np.float32)
        hidden = hidden + self.weights["embeddings.position_embeddings.weight"][: len(ids)]
        hidden = self._norm(hidden + self.weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for number in range(self.layers):
            name = f"encoder.layer.{number}"
            mixed = self._linear(self._attend(hidden, name), f"{name}.attention.output.dense")
            hidden = self._norm(hidden + mixed, f"{name}.attention.output.LayerNorm")
            wide = _gelu(self._linear(hidden, f"{name}.intermediate.dense"))
            hidden = self._norm(hidden + self._linear(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")
        vector: Matrix = hidden[0] if self.pooling == "cls" else hidden.mean(axis=0)
        return np.asarray(_unit(vector[None])[0]) if self.normalises else vector

    def _attend(self, hidden: Matrix, name: str) -> Matrix:
        length, width = hidden.shape
        query, key, value = (
            self._linear(hidden, f"{name}.attention.self.{part}").reshape(length, self.heads, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.float32(math.sqrt(width // self.heads))
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        mixed: Matrix = (weights @ value).transpose(1, 0, 2).reshape(length, width)
        return mixed

    def _linear(self, hidden: Matrix, name: str) -> Matrix:
        return hidden @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def _norm(self, hidden: Matrix, name: str) -> Matrix:
        centred = hidden - hidden.mean(axis=-1, keepdims=True)
        variance = np.mean(centred * centred, axis=-1, keepdims=True)
        scaled: Matrix = centred / np.sqrt(variance + np.float32(self.epsilon))
        return scaled * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]


def open_bert(folder: Path) -> BertQueries | None:
    """Give the encoder in ``folder`` for numpy; None where it is of another shape than a plain BERT.

    Raises ModelError for a folder whose files can't be read.
    """
    with _reading(folder):
        config = _json(folder / "config.json")
        shape = _shape(folder, config)
        tokens = folder / "tokenizer.json"
        if shape is None or not tokens.is_file() or not (folder / _WEIGHTS).is_file():
            return None
        from safetensors import safe_open
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(tokens))
        tokenizer.no_padding()
        tokenizer.enable_truncation(shape[2])
        file: Any = safe_open(str(folder / _WEIGHTS), framework="numpy")
        names = {name.removeprefix("bert."): name for name in file.keys()}  # noqa: SIM118
        words = file.get_slice(names.pop("embeddings.word_embeddings.weight"))
        wanted = {name: full for name, full in names.items() if name.startswith(("embeddings.", "encoder.layer."))}
        if words.get_dtype() not in ("F32", "F16"):
            return None
        weights = {
            name: np.asarray(file.get_tensor(full), dtype=np.float32)
            for name, full in wanted.items()
            if name.endswith((".weight", ".bias"))
        }
        return BertQueries(
            weights=weights,
            words=words,
            tokenizer=tokenizer,
            heads=int(config["num_attention_heads"]),
            layers=int(config["num_hidden_layers"]),
            epsilon=float(config["layer_norm_eps"]),
            pooling=shape[0],
            normalises=shape[1],
        )


def folder_digest(folder: Path) -> str:
    """Give a SHA-256 of the files that make an encoder's vectors: settings, tokenizer, weights.

    Raises ModelError for a folder that can't be read.
    """
    digest = hashlib.sha256()
    with _reading(folder):
        names = ["config.json", "modules.json", "sentence_bert_config.json", "tokenizer.json", _WEIGHTS]
        for path in [*(folder / name for name in names), *sorted(folder.glob("*_Pooling/config.json"))]:
            if path.is_file():
                with path.open("rb") as stream:
                    digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def _shape(folder: Path, config: dict[str, Any]) -> tuple[str, bool, int] | None:
    """Give pooling, whether vectors are normalised, and the longest text; None for what numpy here can't follow."""
    plain = (config.get("model_type"), config.get("hidden_act"), config.get("position_embedding_type", "absolute"))
    if plain != ("bert", "gelu", "absolute"):
        return None
    if not (folder / "modules.json").is_file():
        limit = _json(folder / "tokenizer_config.json").get("model_max_length", math.inf)
        return "mean", False, int(min(limit, config["max_position_embeddings"]))
    modules = _json(folder / "modules.json", list)
    kinds = [str(module["type"]).rpartition(".")[2] for module in modules]
    ours = all(str(module["type"]).startswith("sentence_transformers.") for module in modules)
    if (
        not ours
        or kinds[:2] != ["Transformer", "Pooling"]
        or kinds[2:] not in ([], ["Normalize"])
        or modules[0]["path"]
    ):
        return None
    settings = _json(folder / "config_sentence_transformers.json", missing=True)
    reading = _json(folder / "sentence_bert_config.json", missing=True)
    prompts = settings.get("prompts") or {}
    used = ("query", "document", settings.get("default_prompt_name"))
    if any(prompts.get(name) for name in used) or reading.get("do_lower_case"):
        return None
    pool = _json(folder / str(modules[1]["path"]) / "config.json")
    poolings = [name for key, name in _POOLINGS.items() if pool.get(key)] or [str(pool.get("pooling_mode"))]
    if len(poolings) != 1 or poolings[0] not in _POOLINGS.values():
        return None
    limit = reading.get("max_seq_length") or _json(folder / "tokenizer_config.json").get("model_max_length", math.inf)
    return poolings[0], kinds[2:] == ["Normalize"], int(min(limit, config["max_position_embeddings"]))


def _json(path: Path, kind: type = dict, *, missing: bool = False) -> Any:
    """Give what a JSON file of the folder says; {} for one that may be missing."""
    if missing and not path.is_file():
        return {}
    with path.open("rb") as stream:
        text = stream.read(_MOST_CONFIG)
    content = json.loads(text)
    if not isinstance(content, kind):
        raise ValueError(f"{path.name} holds something else")
    return content


@contextmanager
def _reading(folder: Path) -> Iterator[None]:
    """Turn what goes wrong while an encoder's files are read into one line."""
    try:
        yield
    except Exception as error:  # tokenizers and safetensors raise exceptions of their own
        raise ModelError(f"can't be read: {error}", folder) from error


def _unit(rows: Matrix) -> Matrix:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Matrix = rows / np.maximum(lengths, np.float32(1e-12))
    return unit


def _gelu(x: Matrix) -> Matrix:
    """Give x times the normal distribution's function of x; erf by Abramowitz and Stegun 7.1.26 (error below 2e-7)."""
    scaled = np.abs(x) * np.float32(math.sqrt(0.5))
    t = 1 / (1 + np.float32(0.3275911) * scaled)
    powers = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    tail = powers * np.exp(-scaled * scaled)  # 1 - erf of the positive side
    result: Matrix = np.asarray(x * np.where(x < 0, tail / 2, 1 - tail / 2), dtype=np.float32)
    return result
