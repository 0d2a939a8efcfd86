"""What ``--objective`` names: losses and weighted sums of them, such as ``triplet`` or ``ce+0.5*supcon``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor, nn

from sectioncls.encoders import CrfHead, LinearHead
from sectioncls.errors import UsageError
from sectioncls.losses import (
    ArcFaceLoss,
    CentreLoss,
    batch_all_triplet_loss,
    batch_hard_triplet_loss,
    batch_semi_hard_triplet_loss,
    contrastive_loss,
    multi_similarity_loss,
    npair_loss,
    soft_triplet_loss,
    supcon_loss,
)

__all__ = ["LOSSES", "Objective", "build_objective", "parse_objective"]

_TERM = re.compile(r"(?:(\d+(?:\.\d+)?)\*)?([a-z-]+)")


@dataclass(frozen=True, slots=True)
class _Loss:
    """A loss by name, and which settings and columns it takes."""

    call: Callable[..., Tensor]
    settings: tuple[str, ...] = ()
    columns: tuple[str, ...] = ("groups", "weights")


LOSSES: dict[str, _Loss] = {
    "triplet": _Loss(batch_all_triplet_loss, ("margin", "distance"), ()),
    "soft-triplet": _Loss(soft_triplet_loss, ("distance",), ("groups",)),
    "batch-hard": _Loss(batch_hard_triplet_loss, ("margin", "distance")),
    "semi-hard": _Loss(batch_semi_hard_triplet_loss, ("margin", "distance")),
    "contrastive": _Loss(contrastive_loss, ("margin", "distance")),
    "supcon": _Loss(supcon_loss, ("temperature",)),
    "npair": _Loss(npair_loss, ("temperature",)),
    "multi-similarity": _Loss(multi_similarity_loss),
}
"""Losses over labels without weights of their own. Beside them: ``ce``, ``crf``, ``arcface`` and ``centre``."""

_MODULES = ("ce", "crf", "arcface", "centre")


def parse_objective(text: str) -> list[tuple[float, str]]:
    """Give the (weight, loss) terms of ``ce+0.5*supcon``. Raises UsageError for what is not known."""
    terms: list[tuple[float, str]] = []
    known = (*LOSSES, *_MODULES)
    for part in text.replace(" ", "").split("+"):
        found = _TERM.fullmatch(part)
        if found is None or found[2] not in known:
            todo = f"one of {', '.join(known)}, a sum a+0.5*b, or hsln alone"
            raise UsageError(f"there is no objective {part!r}", None, todo)
        terms.append((float(found[1] or 1), found[2]))
    names = [name for _, name in terms]
    if len(set(names)) < len(names):
        raise UsageError(f"the objective {text!r} names a loss twice")
    if {"ce", "crf"} <= set(names):
        raise UsageError(f"the objective {text!r} has two classifiers", None, "take ce or crf")
    if names == ["centre"]:
        raise UsageError("the objective centre alone is met by one point for all", None, "add another: ce+0.01*centre")
    return terms


class Objective(nn.Module):
    """A weighted sum of losses over vectors, labels, text groups and weights of the rows."""

    def __init__(self, terms: list[tuple[float, str]], modules: dict[str, nn.Module], settings: dict[str, Any]) -> None:
        super().__init__()
        self.terms = terms
        self.parts = nn.ModuleDict(modules)
        self.settings = settings

    @property
    def head(self) -> LinearHead | None:
        """The classifier that is learnt, None without ``ce`` or ``crf``."""
        parts = dict(self.parts.items())
        return parts.get("crf", parts.get("ce"))  # type: ignore[return-value]

    def uses(self, setting: str) -> bool:
        """Tell whether one of the losses takes ``setting``."""
        return any(name in LOSSES and setting in LOSSES[name].settings for _, name in self.terms)

    def forward(
        self,
        vectors: Tensor,
        labels: Tensor,
        groups: Tensor | None = None,
        weights: Tensor | None = None,
        articles: Tensor | None = None,
        allowed: Tensor | None = None,
        possible: Tensor | None = None,
    ) -> Tensor:
        """Give the loss of (B, dimension) vectors; the other columns are (B,), ``articles`` their articles' numbers.

        ``allowed`` and ``possible`` (B, labels) see LinearHead.
        """
        columns = {"groups": groups, "weights": weights}
        total = vectors.new_zeros(())
        for share, name in self.terms:
            if name in self.parts:
                given = {
                    "ce": {"weights": weights, "allowed": allowed, "possible": possible},
                    "crf": {"sequences": articles},
                }.get(name, {})
                loss = self.parts[name](vectors, labels, **given)
            else:
                chosen = LOSSES[name]
                given = {key: self.settings[key] for key in chosen.settings}
                loss = chosen.call(vectors, labels, **given, **{key: columns[key] for key in chosen.columns})
            total = total + share * loss
        return total


def build_objective(
    text: str,
    dimension: int,
    labels: tuple[str, ...],
    settings: dict[str, Any],
    smoothing: float,
    seed: int,
    *,
    dropout: float = 0.1,
    class_weights: npt.ArrayLike | None = None,
) -> Objective:
    """Give the objective that ``text`` names, its weights drawn with ``seed``.

    ``settings`` holds margin, distance and temperature; ``smoothing`` and ``class_weights`` (labels,) are those of
    ``ce``, ``dropout`` that of the classifier. Raises UsageError for an objective or a sum that does not exist, and for
    class weights without ``ce``.
    """
    terms = parse_objective(text)
    if class_weights is not None and "ce" not in [name for _, name in terms]:
        raise UsageError(f"class weights do nothing with the objective {text}", todo="take ce, or leave them out")
    modules: dict[str, nn.Module] = {}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for _, name in terms:
            if name == "ce":
                modules[name] = LinearHead(dimension, labels, dropout, smoothing, class_weights)
            elif name == "crf":
                modules[name] = CrfHead(dimension, labels, dropout)
            elif name == "arcface":
                modules[name] = ArcFaceLoss(dimension, len(labels))
            elif name == "centre":
                modules[name] = CentreLoss(dimension, len(labels))
    return Objective(terms, modules, settings)
