"""Writing an encoder: a sentence-transformers folder with a model card and ``sectioncls.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sectioncls.encoders.delta import save_delta
from sectioncls.encoders.encoder import Encoder
from sectioncls.encoders.heads import LinearHead, save_head
from sectioncls.encoders.load import without_bars
from sectioncls.staging import folder_files, staged_folder, write_json

__all__ = ["read_facts", "read_history", "save_encoder"]

_FACTS = "sectioncls.json"
_HISTORY = "history.jsonl"


def save_encoder(
    encoder: Encoder,
    folder: Path,
    *,
    facts: Mapping[str, Any],
    head: LinearHead | None = None,
    history: Sequence[Mapping[str, Any]] = (),
    delta: tuple[Mapping[str, Any], dict[str, Any]] | None = None,
    overwrite: bool = False,
) -> None:
    """Write ``encoder`` as a folder that plain ``SentenceTransformer(folder)`` loads.

    With ``delta``, its weights and facts (see delta.py), only these are written: a few hundred kB to some MB that
    ``load_encoder(folder)`` puts on their base.

    ``facts`` (base model, corpus, recipe, dev scores, versions, notes) become ``sectioncls.json`` and the model card,
    ``history`` the lines of ``history.jsonl``.
    Raises OutputError when the folder is taken or the disk is full; nothing half-written stays.
    """
    with staged_folder(folder, overwrite=overwrite) as aside:
        if delta is not None:
            save_delta(dict(delta[0]), aside, delta[1])
        else:
            encoder.backbone.config._name_or_path = str(facts.get("base_model", ""))  # not the folder of this machine
            with without_bars():
                encoder.model.save(str(aside), create_model_card=False, safe_serialization=True)
        if head is not None:
            save_head(head, aside)
        (aside / "README.md").write_text(_card(facts, encoder), encoding="utf-8")
        if history:
            lines = "".join(json.dumps(row) + "\n" for row in history)
            (aside / _HISTORY).write_text(lines, encoding="utf-8")
        write_json(aside / _FACTS, {**facts, "files": [*folder_files(aside), _FACTS]})


def read_facts(folder: Path) -> dict[str, Any]:
    """Give what ``sectioncls.json`` of an encoder folder says; empty for a folder that is not ours."""
    try:
        facts = json.loads((folder / _FACTS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def read_history(folder: Path) -> list[dict[str, Any]]:
    """Give how the encoder in ``folder`` was trained, step by step; empty for a folder that does not say."""
    try:
        text = (folder / _HISTORY).read_text(encoding="utf-8")
        return [dict(json.loads(line)) for line in text.splitlines()]
    except (OSError, ValueError, TypeError):
        return []


def _card(facts: Mapping[str, Any], encoder: Encoder) -> str:
    """Give the model card: YAML header as the hub reads it, then data, recipe, scores and limits."""
    base, corpus = facts.get("base_model", "?"), facts.get("corpus", {})
    dev = facts.get("dev", {})
    rows = "\n".join(f"| {name} | {100 * value:.2f} |" for name, value in dev.items())
    recipe = "\n".join(f"| {key} | {value} |" for key, value in facts.get("training", {}).items())
    alone = "A sentence is read alone, without its neighbours."
    if encoder.context is not None:
        alone = "Sentences are read in windows of their article; encode them with sectioncls, which makes the windows."
    notes = "\n".join(f"- {note}" for note in facts.get("notes", []))
    return f"""---
library_name: sentence-transformers
pipeline_tag: sentence-similarity
base_model: {base}
tags: [sentence-transformers, sectioncls, scientific-text]
---

# {facts.get("name", "Sentence encoder")}

Maps a sentence of a scientific article to {encoder.dimension} numbers that tell its rhetorical role.
Fine-tuned from {base} on the corpus `{corpus.get("name", "?")}` (labels: {", ".join(corpus.get("labels", []))};
{corpus.get("train", "?")} training sentences; fingerprint `{str(corpus.get("fingerprint", ""))[:16]}`).

```python
from sentence_transformers import SentenceTransformer
vectors = SentenceTransformer("PATH").encode(["We propose a new method."])
```

## Training

| setting | value |
|---|---|
{recipe}

## Scores on dev (x100; the model was chosen by them, so they flatter it)

| metric | value |
|---|---|
{rows}

## Limits

Trained on the corpus above only: other fields, languages and document types were not measured. Texts are cut at
{encoder.max_length} tokens. {alone}
{notes}
"""
