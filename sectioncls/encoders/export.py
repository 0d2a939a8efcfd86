"""Writing an encoder: a sentence-transformers folder with a model card and ``sectioncls.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sectioncls.encoders.delta import save_delta
from sectioncls.encoders.encoder import Encoder
from sectioncls.encoders.exported import GraphBackbone
from sectioncls.encoders.heads import LinearHead, save_head
from sectioncls.encoders.load import without_bars
from sectioncls.staging import folder_files, staged_folder, write_json

__all__ = ["read_facts", "read_history", "save_encoder"]

_FACTS = "sectioncls.json"
# Dev scores of training that are no fractions.
_AS_IS = ("triplet-loss", "effective-rank", "mean-distance", "label-spread")
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
    """Write ``encoder`` as a folder that plain ``SentenceTransformer(folder)`` loads, a conditioned one once
    ``sectioncls.encoders`` is imported.

    With ``delta``, its weights and facts (see delta.py), only these are written: a few hundred kB to some MB that
    ``load_encoder(folder)`` puts on their base.

    ``facts`` (base model, corpus, recipe, dev scores, versions, notes) become ``sectioncls.json`` and the model card,
    ``history`` the lines of ``history.jsonl``. A conditioned encoder's kind and tasks are added to them.
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
        if encoder.conditioning is not None:
            facts = {"conditioning": encoder.conditioning.name, "routes": list(encoder.routes), **facts}
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
    base, dev = facts.get("base_model", "?"), facts.get("dev", {})
    rows = "\n".join(f"| {name} | {(1 if name in _AS_IS else 100) * value:.2f} |" for name, value in dev.items())
    recipe = "\n".join(f"| {key} | {value} |" for key, value in facts.get("training", {}).items())
    about, alone = _about(facts, encoder)
    learnt = "Trained on the corpus above only: other fields, languages and document types were not measured. "
    learnt = learnt if facts.get("corpus") else ""
    notes = "\n".join(f"- {note}" for note in facts.get("notes", []))
    return f"""---
library_name: sentence-transformers
pipeline_tag: sentence-similarity
base_model: {base}
tags: [sentence-transformers, sectioncls, scientific-text]
---

# {facts.get("name", "Sentence encoder")}

{about}

```python
{_usage(encoder)}
```

## Training

| setting | value |
|---|---|
{recipe}

## Scores on dev (x100, losses, ranks and distances as they are; the model was chosen by them, so they flatter it)

| metric | value |
|---|---|
{rows}

## Limits

{learnt}Texts are cut at
{encoder.max_length} tokens. {alone}
{notes}
"""


def _about(facts: Mapping[str, Any], encoder: Encoder) -> tuple[str, str]:
    """Give what the vectors are of and what the encoder learnt from, and how it reads a text."""
    corpus, base = facts.get("corpus", {}), facts.get("base_model", "?")
    named = f"`{corpus.get('name', '?')}`", f"fingerprint `{str(corpus.get('fingerprint', ''))[:16]}`"
    if facts.get("kind") == "papers":
        about = (
            f"Maps a scientific paper (title and abstract), a topic or a query to {encoder.dimension} numbers.\n"
            f"Fine-tuned from {base} on the paper set {named[0]} ({corpus.get('train', '?')} training papers;\n"
            f"{named[1]})."
        )
        return about, "Full texts are not read."
    if not corpus:  # exported as its makers trained it
        return f"Maps a sentence to {encoder.dimension} numbers, as {base} does.", "A sentence is read alone."
    about = (
        f"Maps a sentence of a scientific article to {encoder.dimension} numbers that tell its rhetorical role.\n"
        f"Fine-tuned from {base} on the corpus {named[0]} (labels: {', '.join(corpus.get('labels', []))};\n"
        f"{corpus.get('train', '?')} training sentences; {named[1]})."
    )
    if encoder.context is not None:
        return (
            about,
            "Sentences are read in windows of their article; encode them with sectioncls, which makes the windows.",
        )
    return about, "A sentence is read alone, without its neighbours."


def _usage(encoder: Encoder) -> str:
    """Give the lines of Python that encode a text."""
    if isinstance(encoder.backbone, GraphBackbone):
        return (
            "import sectioncls.encoders  # runs the graph; pip install 'sectioncls[export]'\n"
            "from sentence_transformers import SentenceTransformer\n"
            'vectors = SentenceTransformer("PATH").encode(["We propose a new method."])'
        )
    if encoder.conditioning is None:
        return (
            "from sentence_transformers import SentenceTransformer\n"
            'vectors = SentenceTransformer("PATH").encode(["We propose a new method."])'
        )
    tasks = ", ".join(encoder.routes)
    return (
        "import sectioncls.encoders  # tells transformers of the network; pip install sectioncls\n"
        "from sentence_transformers import SentenceTransformer\n"
        f"# task: {tasks}; side of a search: query, document\n"
        'vectors = SentenceTransformer("PATH").encode(["We propose a new method."], '
        f'task="{encoder.routes[0]}", side="document")'
    )
