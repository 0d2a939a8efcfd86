"""What a recipe of paper encoders may say: TOML with a table ``[papers]``, checked by pydantic."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sectioncls.recipes.papers.study.schema import EncodersCheck, StudyOptions
from sectioncls.recipes.schema import checked, recipe_content, recipe_text

__all__ = [
    "MODEL",
    "UNTRAINED",
    "ModelOptions",
    "PaperEvaluateOptions",
    "PaperRecipe",
    "PapersOptions",
    "StageOptions",
    "TaskOptions",
    "VariantOptions",
    "VariantPapers",
    "is_paper_recipe",
    "parse_paper_recipe",
    "read_paper_recipe",
    "with_paper_model",
]

MODEL = "model"
"""What a variant's ``start`` says to begin from the model itself, whatever the first stage is."""

UNTRAINED = ("untuned", "bm25", "tfidf", "popularity")
"""What claims may name beside variants: the model as it is, and what needs no encoder."""

_TAKEN = ("base", MODEL, *UNTRAINED)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PapersOptions(_Strict):
    """Which papers (``path``, or ``build`` from ``source`` inside the run folder), and how they are read as text.

    ``topics`` and ``targets`` name more fields of the source's papers to be read as topics and numbers.
    ``separator`` stands between title and abstract, and between a topic's name and its definition. ``titles_alone`` is
    the share of papers that training reads without their abstract. ``search_fields`` follow the title where a paper is
    a document of the search task. ``transductive`` also learns from the papers and citations of dev and test, whose
    scores are then partly memory: the twin that shows how much a leak is worth.
    """

    path: str | None = None
    build: Literal["edges", "beir", "scirepeval", "specter", "jats"] | None = None
    source: str | None = None
    topics: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    separator: str = ". "
    definitions: bool = True
    titles_alone: float = Field(default=0.0, ge=0, lt=1)
    search_fields: tuple[Literal["venue", "year"], ...] = ()
    transductive: bool = False


class ModelOptions(_Strict):
    """The encoder that everything starts from; a folder of an earlier run as well.

    ``pooling`` None keeps the model's own. ``normalise`` false drops the step to unit vectors where the model ends in
    one (all-MiniLM does; giving a pooling drops it too).
    """

    name: str = "minilm"
    revision: str | None = None
    pooling: Literal["mean", "cls"] | None = None
    normalise: bool = True
    max_length: int = Field(default=160, ge=8)


class TaskOptions(_Strict):
    """One task of a training, by name (see tasks.py), and what differs from the stage's settings.

    ``mining`` says how citations become triples, ``options`` go to the miner as they are. ``cap`` is the most triples
    or papers that are used, drawn once. ``weight`` multiplies the task's loss. ``log_q`` corrects InfoNCE for how often
    a document occurs, so that frequent topics keep their lead (see losses/infonce.py). ``route`` groups the task with
    others than those of its format, in training and where it is scored.
    """

    name: str
    mining: Literal["specter", "scincl", "scimult"] = "scimult"
    options: dict[str, Any] = {}
    objective: Literal["infonce", "margin"] | None = None
    temperature: float | None = Field(default=None, gt=0)
    margin: float | None = Field(default=None, ge=0)
    batch_size: int | None = Field(default=None, ge=1)
    cap: int | None = Field(default=None, ge=1)
    weight: float = Field(default=1.0, gt=0)
    log_q: bool = False
    route: Literal["classification", "regression", "proximity", "search"] | None = None


class StageOptions(_Strict):
    """One training: which conditioning (None: as the encoder has it), on which tasks, how, and for how long.

    ``options`` go to the conditioning. ``temperature`` None is 0.05 on unit vectors, else 1, as published; ``margin``
    None is 0.35 on unit vectors, else 1. ``budget`` counts papers that are encoded forward and backward, whatever
    ``epochs`` says; queries of a search and topics do not count. Dev is scored ``checks`` times; with ``choose`` the
    best state on dev is kept, else the last. ``layer_decay`` lowers the rate block by block towards the embeddings.
    """

    conditioning: str | None = None
    options: dict[str, Any] = {}
    trains: Literal["all", "own"] | None = None
    tasks: tuple[TaskOptions, ...] = ()
    sharing: Literal["together", "draining", "alternating"] = "alternating"
    power: float = Field(default=1.0, ge=0)
    objective: Literal["infonce", "margin"] = "infonce"
    temperature: float | None = Field(default=None, gt=0)
    margin: float | None = Field(default=None, ge=0)
    budget: int | None = Field(default=None, ge=1)
    epochs: float = Field(default=1.0, gt=0)
    batch_size: int = Field(default=16, ge=1)
    chunk: int = Field(default=0, ge=0)
    learning_rate: float = Field(default=5e-5, gt=0)
    schedule: Literal["linear", "inverse-sqrt"] = "linear"
    warmup: float = Field(default=0.1, ge=0, le=1)
    weight_decay: float = Field(default=0.0, ge=0)
    clip: float = Field(default=1.0, gt=0)
    layer_decay: float = Field(default=1.0, gt=0, le=1)
    precision: Literal["float32", "bf16"] = "float32"
    max_length: int | None = Field(default=None, ge=8)
    tune: Literal["all", "bitfit"] = "all"
    checks: int = Field(default=2, ge=1)
    choose: bool = False
    dev_queries: int = Field(default=40, ge=2)

    @model_validator(mode="before")
    @classmethod
    def _names_are_tasks(cls, content: Any) -> Any:
        """A task may be given by its name alone."""
        if isinstance(content, dict) and isinstance(content.get("tasks"), list | tuple):
            tasks = [{"name": task} if isinstance(task, str) else task for task in content["tasks"]]
            return {**content, "tasks": tasks}
        return content


class VariantPapers(_Strict):
    """What one variant reads otherwise than ``[papers]`` says; None leaves it as it is there."""

    definitions: bool | None = None
    titles_alone: float | None = Field(default=None, ge=0, lt=1)
    transductive: bool | None = None


class VariantOptions(_Strict):
    """One encoder of a comparison: the recipe's ``[train]`` with this table's own keys in their place.

    ``start`` names a variant above whose encoder this one begins from, in place of the base's, or ``model``: the model
    without the first stage. ``papers`` are other texts and rows to learn from. ``ensemble`` makes an encoder of the two
    variants ``of`` without training, ``wordings`` one of ``start`` that is told its tasks in other words, by route.
    ``seeds`` None is the recipe's seed.
    """

    name: str
    train: StageOptions | None = None
    start: str | None = None
    papers: VariantPapers = VariantPapers()
    wordings: dict[str, str] = {}
    seeds: tuple[int, ...] | None = None
    ensemble: Literal["mean", "concat"] | None = None
    of: tuple[str, ...] = ()


class PaperEvaluateOptions(_Strict):
    """What is scored: ``tasks`` of the set (default: all that it has), ``baselines``, ``untuned``.

    ``baselines`` are rows beside the encoders: true gives BM25, TF-IDF and popularity, else names (baselines/names.py).
    ``fields`` scores rankings for the papers of each topic of a collection too (``fields``: of each field of study).

    ``similarity`` replaces the protocol's: vectors learnt by distance margins are compared by distance unless they have
    unit length. ``whole`` names rankings over all papers, ``least`` is how many papers must bear a topic that is
    ranked. ``base`` scores the encoder after the first stage as well, ``titles`` every encoder on titles alone (called
    NAME, titles). ``precision`` is that of encoding. ``cross_formats`` scores the tasks of each
    format by the vectors of every other as well, which reads each paper along every route. ``projections`` are
    pictures of the test papers by each encoder, of ``points`` papers at most.
    """

    tasks: tuple[str, ...] = ()
    similarity: Literal["dot", "cosine", "euclidean"] | None = None
    whole: tuple[str, ...] = ()
    least: int = Field(default=10, ge=1)
    precision: Literal["float32", "bf16"] = "float32"
    protocol: str = "default"
    splits: tuple[Literal["dev", "test"], ...] = ("test",)
    baselines: bool | tuple[str, ...] = True
    fields: str | None = None
    untuned: bool = True
    base: bool = False
    titles: bool = False
    cross_formats: bool = False
    projections: tuple[Literal["tsne", "opentsne", "umap", "pca"], ...] = ()
    points: int = Field(default=2000, ge=5)


class PaperRecipe(_Strict):
    """One experiment with paper encoders: an optional first stage ``base``, then one training for each variant.

    With ``study`` it decides claims of a paper (study/schema.py).
    """

    name: str
    seed: int = Field(default=0, ge=0)
    papers: PapersOptions
    model: ModelOptions = ModelOptions()
    base: StageOptions | None = None
    train: StageOptions | None = None
    variants: tuple[VariantOptions, ...] = ()
    evaluate: PaperEvaluateOptions = PaperEvaluateOptions()
    study: StudyOptions | None = None

    @model_validator(mode="after")
    def _variants_know_each_other(self) -> PaperRecipe:
        above: set[str] = set()
        for variant in self.variants:
            if variant.name in (*above, *_TAKEN):
                raise ValueError(f"two variants are called {variant.name}")
            for name in (*variant.of, *([variant.start] if variant.start not in (None, MODEL) else [])):
                if name not in above:
                    raise ValueError(f"variant {variant.name} names {name}, which is no variant above it")
            ways = [variant.ensemble is not None, bool(variant.wordings), variant.train is not None]
            if sum(ways) != 1 or (variant.ensemble is None) != (not variant.of):
                raise ValueError(f"variant {variant.name}: give ensemble and of, or wordings and start, or a training")
            if variant.wordings and variant.start in (None, MODEL):
                raise ValueError(f"variant {variant.name}: wordings need the start that they are given to")
            above.add(variant.name)
        if self.train is not None and not self.train.tasks:
            raise ValueError("[train] names no tasks")
        return self

    @model_validator(mode="after")
    def _claims_know_the_variants(self) -> PaperRecipe:
        known = {*(variant.name for variant in self.variants), *UNTRAINED, "base"}
        if self.evaluate.titles:
            known |= {f"{name}, titles" for name in known}
        for claim in self.study.claim if self.study else ():
            if isinstance(claim.check, EncodersCheck):
                named = (*claim.check.better, *claim.check.worse, *([claim.check.full] if claim.check.full else []))
                unknown = next((name for name in named if name not in known), None)
                if unknown is not None:
                    raise ValueError(f"the claim {claim.id} names {unknown}, which is no variant")
        return self


def is_paper_recipe(path: Path) -> bool:
    """Tell whether a TOML file is a recipe of paper encoders: one with a table ``[papers]``."""
    try:
        return "papers" in tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return False  # whoever reads it says what is wrong


def read_paper_recipe(path: Path) -> PaperRecipe:
    """Give the recipe in a TOML file. Raises InputError with the key that is wrong."""
    return parse_paper_recipe(recipe_text(path), str(path))


def parse_paper_recipe(text: str, where: str) -> PaperRecipe:
    """Give the recipe that ``text`` holds; ``where`` names it in errors.

    A table ``[[variant]]`` holds a variant's own keys and, beside them, keys of ``[train]`` that it has otherwise;
    tables inside one another are not merged. Without such a table there is one variant, ``[train]`` itself.
    """
    content = recipe_content(text, where)
    train = content.get("train")
    if isinstance(train, dict):
        given = content.pop("variant", None) or [{"name": train.get("conditioning") or "tuned"}]
        content["variants"] = [_variant(own, train) for own in given] if isinstance(given, list) else given
        base = content.get("base")
        if isinstance(base, dict) and "tasks" not in base:
            base["tasks"] = train.get("tasks", ())
    recipe: PaperRecipe = checked(PaperRecipe, content, where)
    return recipe


def with_paper_model(recipe: PaperRecipe, model: str | None) -> PaperRecipe:
    """Give the recipe with another model to start from; None leaves it as it is."""
    if model is None:
        return recipe
    return recipe.model_copy(update={"model": recipe.model.model_copy(update={"name": model})})


def _variant(own: Any, train: dict[str, Any]) -> Any:
    """Give a variant's table with its whole training inside."""
    if not isinstance(own, dict):
        return own
    kept = {key: value for key, value in own.items() if key in VariantOptions.model_fields and key != "train"}
    changes = {key: value for key, value in own.items() if key not in kept}
    if "name" not in kept and isinstance(changes.get("conditioning"), str):
        kept["name"] = changes["conditioning"]
    return kept if "ensemble" in kept or "wordings" in kept else {**kept, "train": {**train, **changes}}
