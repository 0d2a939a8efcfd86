"""A study: a paper recipe that decides claims. What it needs, its quick form, its measures, its verdicts.

A run keeps all of it in ``run.json`` under ``study``: paper, title, whether it was quick, measures (tables.py)
and claims with their verdicts (claims.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from sectioncls.errors import InputError, UsageError
from sectioncls.papersets import PaperSet
from sectioncls.recipes.facts import model_facts
from sectioncls.recipes.papers.material import Material
from sectioncls.recipes.papers.schema import (
    PaperRecipe,
    StageOptions,
    TaskOptions,
    VariantOptions,
)
from sectioncls.recipes.papers.study.claims import judge
from sectioncls.recipes.papers.study.evidence import evidence_of
from sectioncls.recipes.papers.study.measures import MEASURES, measured
from sectioncls.recipes.papers.study.outcomes import OUTCOMES, outcome
from sectioncls.recipes.papers.study.schema import EncodersCheck, MeasureOptions, Need, StudyOptions
from sectioncls.recipes.papers.study.tables import MeasuredTable, table_of
from sectioncls.runs import Run

__all__ = ["check_study", "finish_study", "measure_study", "quick_recipe"]

# What --quick makes of any training: some papers, short texts, one look at dev.
_QUICK_BUDGET, _QUICK_BATCH, _QUICK_LENGTH, _QUICK_QUERIES, _QUICK_CAP = 36, 6, 32, 2, 60
_QUICK_SOURCE = "corpora/demo/papers"
# Options of miners that belong to larger graphs and collections.
_OF_LARGE = ("k_plus", "k_minus", "width", "hard_width", "least")
# What the made-up papers are scored on; a study names its own where its tasks are others.
_QUICK_TASKS = ("rank:cite", "label:area", "regress:year")


def quick_recipe(recipe: PaperRecipe, *, renamed: bool = True) -> PaperRecipe:
    """Give a study as ``--quick`` runs it: on the made-up papers that come along, with a handful of papers a training.

    Every variant has one seed; with ``renamed`` tasks are called as the made-up papers call them
    (``study.quick.tasks``). Raises UsageError for a recipe without a study.
    """
    if recipe.study is None:
        raise UsageError("--quick is for studies", recipe.name, "leave it out, or take a recipe with a table [study]")
    names = recipe.study.quick.tasks if renamed else {}
    papers = recipe.papers.model_copy(update={"path": None, "build": "edges", "source": _QUICK_SOURCE})
    model = recipe.model.model_copy(update={"max_length": min(recipe.model.max_length, _QUICK_LENGTH)})
    stages = {name: _quick_stage(getattr(recipe, name), names) for name in ("base", "train")}
    variants = tuple(_quick_variant(variant, names) for variant in recipe.variants)
    scored = tuple(dict.fromkeys(names.get(task, task) for task in recipe.evaluate.tasks))
    scored = scored or (_QUICK_TASKS if renamed else ())
    evaluate = recipe.evaluate.model_copy(
        update={"tasks": scored, "whole": (), "least": 3, "splits": ("test",), "precision": "float32"}
    )
    study = recipe.study.model_copy(
        update={
            "measure": tuple(_quick_measure(one, recipe.study) for one in recipe.study.measure),
            "claim": tuple(_quick_claim(one, names) for one in recipe.study.claim),
        }
    )
    update = {"papers": papers, "model": model, **stages, "variants": variants, "evaluate": evaluate, "study": study}
    return recipe.model_copy(update=update)


def check_study(recipe: PaperRecipe, papers: PaperSet) -> None:
    """Find what a study lacks before hours of work.

    Raises InputError naming all that the paper set lacks, UsageError for a measure that is not known.
    """
    study = recipe.study
    if study is None:
        return
    for one in study.measure:
        if one.kind not in (*MEASURES, *OUTCOMES):
            known = ", ".join((*MEASURES, *OUTCOMES))
            raise UsageError(f"no measure {one.kind!r}", f"measure {one.name}", f"known: {known}")
    lacking = [need for need in study.needs if not _HAS[need](papers)]
    if lacking:
        what = f"the study {recipe.name} needs {' and '.join(lacking)}, which this paper set lacks"
        raise InputError(what, papers.path, "take another set: --corpus")


def measure_study(run: Run, recipe: PaperRecipe, material: Material, *, quick: bool) -> None:
    """Put what a study measures without training into the run."""
    study = recipe.study
    if study is None:
        return
    tables = [measured(one, material, recipe.seed).plain() for one in study.measure if one.kind in MEASURES]
    run.update(study={"paper": study.paper, "title": study.title, "quick": quick, "measures": tables, "claims": []})


def finish_study(run: Run, recipe: PaperRecipe, material: Material) -> None:
    """Put what the trained encoders cost and the verdicts of all claims into the run."""
    study = recipe.study
    if study is None:
        return
    before = run.info["study"]
    after = [outcome(one, run, material) for one in study.measure if one.kind in OUTCOMES]
    tables: dict[str, MeasuredTable] = {one["name"]: table_of(one) for one in before["measures"]}
    tables |= {table.name: table for table in after}
    evidence = evidence_of(run, recipe.seed)
    names = {"untuned": str(model_facts(recipe.model.name)["name"])} if study.claim else {}
    claims = []
    for claim in study.claim:
        found = asdict(judge(claim, evidence, tables, names))
        claims.append({**claim.model_dump(include={"id", "text", "source", "published"}), **found})
    order = [tables[one.name].plain() for one in study.measure if one.name in tables]
    run.update(study={**before, "measures": order, "claims": claims})


def _quick_stage(stage: StageOptions | None, names: Mapping[str, str]) -> StageOptions | None:
    """Give a stage with little to do."""
    if stage is None:
        return None
    tasks: dict[str, TaskOptions] = {}
    for task in stage.tasks:
        name = names.get(task.name, task.name)
        if name:  # '' leaves a task out
            cap = min(task.cap or _QUICK_CAP, _QUICK_CAP)
            tasks[name] = task.model_copy(update={"name": name, "cap": cap, "options": _quick_options(task, names)})
    return stage.model_copy(
        update={
            "tasks": tuple(tasks.values()),
            "budget": min(stage.budget or _QUICK_BUDGET, _QUICK_BUDGET),
            "batch_size": min(stage.batch_size, _QUICK_BATCH),
            "chunk": 0,
            "checks": 1,
            "dev_queries": _QUICK_QUERIES,
            "precision": "float32",
            "choose": False,
        }
    )


def _quick_options(task: TaskOptions, names: Mapping[str, str]) -> dict[str, Any]:
    """Give a task's options without ranks and thresholds that belong to a larger graph."""
    options = {key: value for key, value in task.options.items() if key not in _OF_LARGE}
    if "collections" in options:
        options["collections"] = [names.get(name, name) for name in options["collections"]]
    return options


def _quick_variant(variant: VariantOptions, names: Mapping[str, str]) -> VariantOptions:
    seeds = variant.seeds and variant.seeds[:1]
    return variant.model_copy(update={"train": _quick_stage(variant.train, names), "seeds": seeds})


def _quick_measure(measure: MeasureOptions, study: StudyOptions) -> MeasureOptions:
    options = {**measure.options, **study.quick.measures.get(measure.name, {})}
    return measure.model_copy(update={"options": options})


def _quick_claim(claim: Any, names: Mapping[str, str]) -> Any:
    check = claim.check
    if not isinstance(check, EncodersCheck) or not isinstance(check.tasks, tuple):
        return claim
    tasks = tuple(names.get(task, task) for task in check.tasks)
    return claim.model_copy(update={"check": check.model_copy(update={"tasks": tasks})})


_HAS: Mapping[Need, Callable[[PaperSet], bool]] = {
    "abstracts": lambda papers: any(papers.papers().abstracts),
    "authors": lambda papers: any(papers.papers().authors),
    "citations": lambda papers: len(papers.citations("train")) > 0,
    "definitions": lambda papers: any(any(papers.topics(name).definitions) for name in papers.collections()),
    "fields": lambda papers: any(papers.papers().fields or ()),
    "queries": lambda papers: "search" in papers.ranking_tasks(),
    "rankings": lambda papers: any(
        papers.qrels(task, "test").query_rows is not None for task in papers.ranking_tasks()
    ),
    "targets": lambda papers: bool(papers.target_names()),
    "topics": lambda papers: bool(papers.collections()),
    "venues": lambda papers: any(papers.papers().venues),
    "years": lambda papers: bool((papers.papers().years >= 0).any()),
}
