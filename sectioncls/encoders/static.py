"""Static encoders: one vector a token, and a sentence is the mean of its tokens' vectors. No network is run.

The folder is sentence-transformers' (StaticEmbedding, Normalize) and model2vec's at once, so that
``SentenceTransformer(folder)`` and ``StaticModel.from_pretrained(folder)`` give the same vectors as we do.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor, nn

from sectioncls.encoders.encoder import Encoder
from sectioncls.encoders.pooling import mean
from sectioncls.encoders.tokens import Batch, Tokens
from sectioncls.errors import UsageError
from sectioncls.staging import folder_files, staged_folder, write_json

__all__ = ["StaticEncoder", "is_static", "save_static", "static_tokens", "whole_tokenizer"]

# Texts that are tokenised at once.
_CHUNK = 8192
# Tokens of a text are not cut; the number only stands where others have one.
_NO_LIMIT = 1_000_000


class StaticEncoder(Encoder):
    """A SentenceTransformer that begins with a StaticEmbedding, used like any other encoder.

    It reads words one by one, so it knows no context and no tasks; every text is read whole.
    """

    def __init__(self, model: Any) -> None:
        nn.Module.__init__(self)
        self.model = model
        self.context = None
        self.pool = mean
        model[0].config = SimpleNamespace(max_position_embeddings=_NO_LIMIT, _name_or_path="")

    @property
    def backbone(self) -> Any:
        """The table of token vectors."""
        return self.model[0]

    @property
    def max_length(self) -> int:
        """Tokens that a text may have: more than any has."""
        return _NO_LIMIT

    def tokenise(self, texts: Sequence[str], task: str | None = None, side: str = "document") -> Tokens:
        """Give the token ids of ``texts``, without special tokens; every task and side is read alike."""
        prompt = self.model.prompts.get(self.model.default_prompt_name or "", "")
        return static_tokens(self.backbone.tokenizer, [prompt + text for text in texts] if prompt else texts)

    def forward(self, batch: Batch) -> Tensor:
        """Give one vector per text, (rows, dimension); a text without a token gets zeros."""
        starts, _ = batch.bounds()
        vectors = nn.functional.embedding_bag(batch.ids, self.backbone.embedding.weight, starts, mode="mean")
        features = {"sentence_embedding": vectors}
        for module in list(self.model)[1:]:
            features = module(features)
        return features["sentence_embedding"][:, : self.model.truncate_dim]


def is_static(model: Any) -> bool:
    """Tell whether a SentenceTransformer begins with a table of token vectors."""
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    return isinstance(model[0], StaticEmbedding)


def whole_tokenizer(tokenizer: Any) -> Any:
    """Give a copy of a tokenizer of the library tokenizers that neither cuts nor pads, whatever was asked of it."""
    from tokenizers import Tokenizer

    own = Tokenizer.from_str(tokenizer.to_str())
    own.no_padding()
    own.no_truncation()
    return own


def static_tokens(tokenizer: Any, texts: Sequence[str]) -> Tokens:
    """Give the ids of ``texts`` by a tokenizer of the library tokenizers, without special tokens."""
    ids, lengths = [], [np.zeros(1, dtype=np.int64)]
    for first in range(0, len(texts), _CHUNK):
        rows = [
            encoding.ids
            for encoding in tokenizer.encode_batch_fast(list(texts[first : first + _CHUNK]), add_special_tokens=False)
        ]
        lengths.append(np.fromiter(map(len, rows), dtype=np.int64, count=len(rows)))
        ids.append(np.fromiter(itertools.chain.from_iterable(rows), dtype=np.int32))
    flat = np.concatenate(ids) if ids else np.zeros(0, dtype=np.int32)
    return Tokens(ids=flat, offsets=np.cumsum(np.concatenate(lengths)))


def save_static(
    table: npt.NDArray[np.float32],
    tokenizer: Any,
    folder: Path,
    *,
    facts: Mapping[str, Any],
    overwrite: bool = False,
) -> None:
    """Write token vectors, (words, dimension), as a folder that sentence-transformers and model2vec load.

    ``tokenizer`` is one of the library tokenizers whose ids are the rows. Vectors of texts are normed. ``facts`` become
    ``sectioncls.json`` and the model card. Raises UsageError where the rows are not the tokenizer's words, OutputError
    when the folder is taken or the disk is full.
    """
    from safetensors.numpy import save_file

    if len(table) != tokenizer.get_vocab_size():
        raise UsageError(f"{len(table)} vectors for {tokenizer.get_vocab_size()} words")
    own = whole_tokenizer(tokenizer)
    table = np.array(table, dtype=np.float32)
    unknown = unknown_id(own)
    if unknown is not None:
        table[unknown] = 0  # model2vec leaves the unknown word out, sentence-transformers counts it: zero is both
    with staged_folder(folder, overwrite=overwrite) as aside:
        save_file({"embeddings": table}, aside / "model.safetensors")
        own.save(str(aside / "tokenizer.json"), pretty=False)
        write_json(aside / "config.json", _config(table, facts))
        write_json(aside / "modules.json", _MODULES)
        settings: dict[str, Any] = {"prompts": {}, "default_prompt_name": None, "similarity_fn_name": "cosine"}
        write_json(aside / "config_sentence_transformers.json", settings)
        (aside / "README.md").write_text(_card(facts, table.shape[1]), encoding="utf-8")
        write_json(aside / "sectioncls.json", {**facts, "files": [*folder_files(aside), "sectioncls.json"]})


def unknown_id(tokenizer: Any) -> int | None:
    """Give the id of the word that stands for unknown ones, None where there is none."""
    name = json.loads(tokenizer.to_str())["model"].get("unk_token")
    return None if name is None else tokenizer.token_to_id(name)


_MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.StaticEmbedding"},
    {"idx": 1, "name": "1", "path": "1_Normalize", "type": "sentence_transformers.models.Normalize"},
]


def _config(table: npt.NDArray[np.float32], facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "tokenizer_name": str(facts.get("base_model", "")),
        "hidden_dim": int(table.shape[1]),
        "max_length": None,
        "normalize": True,
        "embedding_dtype": "float32",
    }


def _card(facts: Mapping[str, Any], dimension: int) -> str:
    """Give the model card."""
    rows = "\n".join(f"| {name} | {100 * value:.2f} |" for name, value in facts.get("dev", {}).items())
    notes = "\n".join(f"- {note}" for note in facts.get("notes", []))
    return f"""---
library_name: model2vec
pipeline_tag: sentence-similarity
base_model: {facts.get("base_model", "?")}
tags: [sentence-transformers, model2vec, static-embeddings, sectioncls, scientific-text]
---

# {facts.get("name", "Static sentence encoder")}

Maps a sentence to {dimension} numbers: the mean of its tokens' vectors, which were distilled from
{facts.get("teacher", "an encoder")}. No network is run, so it encodes some hundred times as fast.

```python
from sentence_transformers import SentenceTransformer
vectors = SentenceTransformer("PATH").encode(["We propose a new method."])
```

## Scores on dev (x100; how it was distilled was chosen by them, so they flatter it)

| metric | value |
|---|---|
{rows}

## Limits

The order of words does not count. {notes}
"""
