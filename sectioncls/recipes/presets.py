"""Presets of fine-tuning: named settings for what a call leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sectioncls.recipes.schema import FinetuneOptions, RangeOptions, SearchOptions

__all__ = ["SEARCHES", "Plan", "plan", "space_of"]


@dataclass(frozen=True, slots=True)
class Plan:
    """Every setting of one fine-tuning, nothing left open.

    ``checks`` is how often per epoch dev is scored. With ``patience`` > 0 the best state on dev is kept, and training
    stops after that many checks without a better one; with 0 it runs to its end and the last state is kept.
    """

    model: str
    revision: str | None
    preset: str
    objective: str
    context: str
    window: int
    overlap: int
    titles: bool
    place: bool
    pooling: str | None
    tune: str
    rank: int
    freeze: int
    delta: bool
    margin: float
    distance: str
    temperature: float
    smoothing: float
    dropout: float
    class_weights: str
    weigh_rows: bool
    epochs: float
    learning_rate: float
    batch_size: int
    chunk: int
    warmup: float
    precision: str
    patience: int
    checks: int

    def loss_settings(self) -> dict[str, Any]:
        """Give what the losses may take."""
        return {"margin": self.margin, "distance": self.distance, "temperature": self.temperature}


# ``default`` was chosen on the dev split of CSAbstruct (docs/guides/finetuning.md has the table): on unit vectors a
# small margin ranks best, and one that can't be met pulls labels into points. ``paper`` is arXiv 2404.00224: 20 epochs,
# 2e-5, warm-up over a tenth; it names no margin, 5 is the default of the library that it used. ``cls`` is a [CLS]
# classifier as BERT's authors tune it (arXiv 1810.04805, A.3: a few epochs, dropout, rate chosen on dev; see SEARCHES),
# with balanced labels, light smoothing (arXiv 1512.00567) and early stopping.
_HEAD: dict[str, Any] = {"smoothing": 0.0, "dropout": 0.1, "class_weights": "none"}
_DEFAULT: dict[str, Any] = {
    **_HEAD,
    "objective": "triplet",
    "margin": 0.25,
    "epochs": 4,
    "learning_rate": 5e-5,
    "batch_size": 32,
    "warmup": 0.1,
    "patience": 4,
    "checks": 2,
}
_PAPER: dict[str, Any] = {
    **_HEAD,
    "objective": "triplet",
    "margin": 5.0,
    "epochs": 20,
    "learning_rate": 2e-5,
    "batch_size": 32,
    "warmup": 0.1,
    "patience": 0,
    "checks": 1,
}
_CLS: dict[str, Any] = {
    **_DEFAULT,
    "objective": "ce",
    "smoothing": 0.1,
    "class_weights": "balanced",
    "epochs": 5,
}
PRESETS: dict[str, dict[str, Any]] = {"default": _DEFAULT, "paper": _PAPER, "cls": _CLS}

SEARCHES: dict[str, SearchOptions] = {
    "default": SearchOptions(),
    "learning-rate": SearchOptions(sampler="grid", trials=4, space={"learning_rate": (2e-5, 5e-5, 1e-4, 2e-4)}),
}
"""Searches by name: over what matters most to the objective, and the usual few learning rates."""


def space_of(search: SearchOptions, options: FinetuneOptions) -> dict[str, RangeOptions | tuple[Any, ...]]:
    """Give the space of a search; one that names none takes the rate and what the objective's losses depend on."""
    if search.space:
        return dict(search.space)
    objective = str(options.objective or PRESETS[options.preset]["objective"])
    space: dict[str, RangeOptions | tuple[Any, ...]] = {
        "learning_rate": RangeOptions(low=1e-5, high=3e-4, log=True),
        "warmup": (0.0, 0.1, 0.2),
    }
    terms = {term.split("*")[-1].strip() for term in objective.split("+")}
    if terms & {"triplet", "batch-hard", "semi-hard", "contrastive"}:
        space["margin"] = RangeOptions(low=0.05, high=1.0, log=True)
    if terms & {"supcon", "npair"}:
        space["temperature"] = RangeOptions(low=0.03, high=0.5, log=True)
    if "ce" in terms:
        space["smoothing"] = (0.0, 0.1)
    return space


def plan(options: FinetuneOptions, corpus_scheme: str) -> Plan:
    """Give the settings that ``options`` mean on a corpus of scheme ``corpus_scheme``.

    The paper's batch is 32, but 16 for SciBERT on corpora other than CSAbstruct, and 16 for its [CLS] classifiers. A
    classifier (``objective="ce"``) reads [CLS] unless told otherwise, without the normalisation that would bound it.
    Windows pool the mean of each sentence's tokens, unbounded too; their batch counts windows, not sentences.
    """
    values = dict(PRESETS[options.preset])
    objective = options.objective or values["objective"]
    if options.preset == "paper" and (
        objective == "ce" or (options.model == "scibert" and corpus_scheme != "csabstruct")
    ):
        values["batch_size"] = 16
    given = options.model_dump()
    values.update({key: value for key, value in given.items() if key not in values or value is not None})
    if options.context == "window":
        values["pooling"] = options.pooling or "mean"
        values["batch_size"] = options.batch_size or 8
    elif objective == "ce" and options.pooling is None:
        values["pooling"] = "cls"
    return Plan(**values)
