"""What is known of a model by its name alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sectioncls.encoders import MODELS, read_facts

__all__ = ["model_facts"]


def model_facts(model: str) -> dict[str, Any]:
    """Give name, backbone, state and public name (``model``) of what load_encoder takes.

    A folder of ours says more of itself. The public name is a hub id, of a folder only its last part: no path of this
    machine gets into results.
    """
    name = Path(model).name
    own = read_facts(Path(model))
    if own:
        return {**own, "model": name}
    if model in MODELS:
        return {"name": model, "backbone": model, "state": "base", "model": MODELS[model].hub_id, "notes": []}
    shown = name if Path(model).is_dir() else model
    return {"name": name, "backbone": "other", "state": "base", "model": shown, "notes": []}
