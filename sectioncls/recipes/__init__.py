"""Recipes: a TOML file becomes a run; its parts (fine-tuning, evaluation) are functions of their own."""

from sectioncls.recipes.evaluate import Evaluation, embed, evaluate_encoder, evaluate_texts
from sectioncls.recipes.finetune import Finetuned, finetune, load_start
from sectioncls.recipes.hpo import Searched, Trial, check_search, search_options
from sectioncls.recipes.locate import find_data, find_recipe, recipe_names
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.recipes.presets import Plan, plan
from sectioncls.recipes.run import evaluate_models, run_recipe
from sectioncls.recipes.schema import (
    CorpusOptions,
    EvaluateOptions,
    FinetuneOptions,
    Recipe,
    SearchOptions,
    parse_recipe,
    read_recipe,
    with_model,
)
from sectioncls.recipes.seeds_run import finetune_seeds

__all__ = [
    "SILENT",
    "CorpusOptions",
    "EvaluateOptions",
    "Evaluation",
    "FinetuneOptions",
    "Finetuned",
    "Observer",
    "Plan",
    "Recipe",
    "SearchOptions",
    "Searched",
    "Trial",
    "check_search",
    "embed",
    "evaluate_encoder",
    "evaluate_models",
    "evaluate_texts",
    "find_data",
    "find_recipe",
    "finetune",
    "finetune_seeds",
    "load_start",
    "parse_recipe",
    "plan",
    "read_recipe",
    "recipe_names",
    "run_recipe",
    "search_options",
    "with_model",
]
