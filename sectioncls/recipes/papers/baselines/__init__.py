"""Baselines of paper encoders by name: words, models learnt here from the training papers, encoders of others."""

from __future__ import annotations

from sectioncls.recipes.papers.baselines.answers import Fitted, evaluate_baseline
from sectioncls.recipes.papers.baselines.fitting import FITTED, fit_baseline
from sectioncls.recipes.papers.baselines.names import Chosen, choose_baselines
from sectioncls.recipes.papers.baselines.published import PUBLISHED, PublishedEncoder, open_published

__all__ = [
    "FITTED",
    "PUBLISHED",
    "Chosen",
    "Fitted",
    "PublishedEncoder",
    "choose_baselines",
    "evaluate_baseline",
    "fit_baseline",
    "open_published",
]
