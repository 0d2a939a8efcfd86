"""An encoder with instructions that is told its tasks in other words, without training."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sectioncls.encoders import load_encoder, read_facts, save_encoder
from sectioncls.errors import UsageError

__all__ = ["reword"]

# Conditionings whose options are wordings.
_WORDED = ("instruction", "prefix")


def reword(start: Path, folder: Path, wordings: Mapping[str, str], *, name: str) -> None:
    """Write the encoder at ``start`` to ``folder`` with other ``wordings`` of its routes; those not named stay.

    Paper: arXiv 2305.14232, appendix E (SciMult): other reasonable wordings at inference change little. Raises
    UsageError for an encoder that reads no instructions, and for an empty, long or superfluous wording.
    """
    encoder = load_encoder(start)
    kind = encoder.conditioning
    if kind is None or kind.name not in _WORDED:
        named = "none" if kind is None else kind.name
        raise UsageError(
            f"wordings for an encoder without instructions ({named})", name, f"known: {', '.join(_WORDED)}"
        )
    config = dict(encoder.backbone.config.conditioning)
    options = type(kind).resolve(
        encoder.model, kind.routes, {"wordings": {**config["options"]["wordings"], **wordings}}
    )
    encoder.backbone.config.conditioning = {**config, "options": {**config["options"], **options}}
    facts = read_facts(start)
    before = [*facts.get("earlier", []), {"name": facts["name"], **facts["training"]}]
    own = {"wordings": dict(wordings), "of": facts["name"], "seed": facts["training"].get("seed")}
    save_encoder(
        encoder,
        folder,
        facts={**facts, "name": name, "training": own, "earlier": before, "papers": 0, "seconds": 0.0},
        overwrite=folder.exists(),
    )
