"""Recipes of paper encoders: a TOML file with a table ``[papers]`` becomes a run."""

from sectioncls.recipes.papers.material import Material, material_of
from sectioncls.recipes.papers.run import run_papers
from sectioncls.recipes.papers.schema import (
    ModelOptions,
    PaperEvaluateOptions,
    PaperRecipe,
    PapersOptions,
    StageOptions,
    TaskOptions,
    VariantOptions,
    is_paper_recipe,
    parse_paper_recipe,
    read_paper_recipe,
    with_paper_model,
)
from sectioncls.recipes.papers.train import Trained, join_variants, load_begin, train_papers

__all__ = [
    "Material",
    "ModelOptions",
    "PaperEvaluateOptions",
    "PaperRecipe",
    "PapersOptions",
    "StageOptions",
    "TaskOptions",
    "Trained",
    "VariantOptions",
    "is_paper_recipe",
    "join_variants",
    "load_begin",
    "material_of",
    "parse_paper_recipe",
    "read_paper_recipe",
    "run_papers",
    "train_papers",
    "with_paper_model",
]
