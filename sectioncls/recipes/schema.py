"""What a recipe may say: TOML checked by pydantic, unknown keys refused with the nearest known one."""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sectioncls.errors import InputError, UsageError

__all__ = [
    "CorpusOptions",
    "EvaluateOptions",
    "FinetuneOptions",
    "RangeOptions",
    "Recipe",
    "SearchOptions",
    "parse_recipe",
    "read_recipe",
    "read_search",
    "with_model",
]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class JoinOptions(_Strict):
    """One corpus of a joined one; see corpora/joined.py."""

    path: str
    name: str | None = None
    labels: dict[str, tuple[str, ...]] = {}
    articles: int = Field(default=0, ge=0)


class CorpusOptions(_Strict):
    """Where the corpus is: ``path``, or built in the run folder (``build`` from ``source``, or ``join`` of several).

    ``labels`` are those of a joined corpus in order; ``clean`` takes from train and dev what test holds too.
    """

    path: str | None = None
    build: Literal["csabstruct", "rct", "pmc", "pmc-sents"] | None = None
    source: str | None = None
    drop_conflicts: Literal["keep", "paper"] = "keep"
    abstracts: str | None = None
    sizes: tuple[int, int, int] | None = None
    roles: dict[str, str] | None = None
    require: str = "four"
    split: Literal["article", "sentence"] = "article"
    join: tuple[JoinOptions, ...] = ()
    labels: tuple[str, ...] = ()
    clean: bool = False


class FinetuneOptions(_Strict):
    """How to fine-tune. What is None comes from the preset (see presets.py)."""

    model: str = "minilm"
    revision: str | None = None
    preset: Literal["default", "paper", "cls"] = "default"
    objective: str | None = None
    context: Literal["none", "window"] = "none"
    window: int = Field(default=512, ge=16)
    overlap: int = Field(default=64, ge=0)
    titles: bool = False
    place: bool = False
    pooling: Literal["mean", "cls"] | None = None
    tune: Literal["all", "bitfit", "lora"] = "all"
    rank: int = Field(default=16, ge=1)
    freeze: int = Field(default=0, ge=0)
    delta: bool = False
    margin: float | None = Field(default=None, ge=0)
    distance: Literal["euclidean", "cosine"] = "euclidean"
    temperature: float = Field(default=0.1, gt=0)
    smoothing: float | None = Field(default=None, ge=0, lt=1)
    dropout: float | None = Field(default=None, ge=0, lt=1)
    class_weights: Literal["none", "balanced"] | None = None
    weigh_rows: bool = False
    epochs: float | None = Field(default=None, gt=0)
    learning_rate: float | None = Field(default=None, gt=0)
    batch_size: int | None = Field(default=None, ge=4)
    chunk: int = Field(default=0, ge=0)
    warmup: float | None = Field(default=None, ge=0, le=1)
    precision: Literal["float32", "bf16"] = "float32"
    patience: int | None = Field(default=None, ge=0)


class EvaluateOptions(_Strict):
    """How to score: which protocol, which methods, which curves, which pictures (``projections``; ``points`` rows).

    ``classifiers`` are the protocol's own where none is named. ``seeds`` runs what depends on chance as often, with
    seeds that follow the protocol's. ``engine`` computes SVM and k nearest neighbours; ``auto`` leaves it to the
    protocol.
    """

    protocol: Literal["default", "paper", "tuned"] = "default"
    clusterings: tuple[Literal["kmeans", "minibatch-kmeans", "spherical-kmeans", "agglomerative", "hdbscan"], ...] = (
        "kmeans",
    )
    classifiers: tuple[
        Literal[
            "decision-tree",
            "knn",
            "random-forest",
            "mlp",
            "svm",
            "logistic-regression",
            "linear-svm",
            "nearest-centroid",
            "gradient-boosting",
        ],
        ...,
    ] = ()
    curves: tuple[Literal["learning", "few-shot", "k"], ...] = ()
    seeds: int = Field(default=1, ge=1)
    engine: Literal["auto", "scikit-learn", "intelex"] = "auto"
    projections: tuple[Literal["tsne", "opentsne", "umap", "pca"], ...] = ("tsne",)
    points: int = Field(default=2000, ge=5)


class RangeOptions(_Strict):
    """A number between two, evenly by size or with ``log`` by magnitude; ``step`` keeps to multiples from ``low``."""

    low: float
    high: float
    log: bool = False
    step: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _ordered(self) -> RangeOptions:
        if self.high < self.low or (self.log and (self.low <= 0 or self.step is not None)):
            raise ValueError("low must not be above high; log wants low above 0 and no step")
        return self


Choices: TypeAlias = tuple[bool | int | float | str, ...]


class SearchOptions(_Strict):
    """How to search the settings of fine-tuning on dev: ``space`` gives the values of an option, or their range.

    ``tpe`` proposes by what earlier trials gave and gives up those that fall behind (``prune``); ``grid`` tries every
    combination of listed values. No trial begins after ``trials`` of them or after ``minutes``.
    """

    sampler: Literal["tpe", "grid"] = "tpe"
    trials: int = Field(default=20, ge=1)
    minutes: float | None = Field(default=None, gt=0)
    prune: bool = True
    space: dict[str, RangeOptions | Choices] = {}

    @model_validator(mode="after")
    def _known(self) -> SearchOptions:
        for name, values in self.space.items():
            if name not in FinetuneOptions.model_fields or name in ("model", "revision", "delta"):
                near = difflib.get_close_matches(name, FinetuneOptions.model_fields, n=1, cutoff=0.4)
                raise ValueError(f"{name} is not searched" + (f"; did you mean {near[0]}?" if near else ""))
            if isinstance(values, RangeOptions) and self.sampler == "grid":
                raise ValueError(f"a grid wants a list of values for {name}")
            if isinstance(values, tuple) and not values:
                raise ValueError(f"{name} has no value to try")
        if self.sampler == "grid" and not self.space:
            raise ValueError("a grid needs a space")
        return self


class Recipe(_Strict):
    """One experiment: a corpus, the untuned encoder, the fine-tuned one (unless ``finetune`` is absent), the scores.

    With ``seeds`` the fine-tuning is done once for each; with ``search`` its settings are first searched on dev.
    ``track`` tells a tracker of the steps.
    """

    name: str
    seed: int = 0
    seeds: tuple[int, ...] = ()
    track: Literal["tensorboard", "wandb", "trackio"] | None = None
    corpus: CorpusOptions
    model: str | None = None
    finetune: FinetuneOptions | None = None
    search: SearchOptions | None = None
    evaluate: EvaluateOptions = EvaluateOptions()

    @model_validator(mode="after")
    def _fits(self) -> Recipe:
        if (self.seeds or self.search) and self.finetune is None:
            raise ValueError("seeds and search are for recipes with a table finetune")
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError("seeds has one twice")
        if len(self.seeds) > 1 and self.evaluate.seeds > 1:
            raise ValueError("seeds of training and evaluate.seeds can't be told apart in scores: give one of them")
        return self

    @property
    def training_seeds(self) -> tuple[int, ...]:
        """The seeds to fine-tune with."""
        return self.seeds or (self.seed,)

    @property
    def base(self) -> str:
        """The encoder before fine-tuning."""
        return self.model or (self.finetune.model if self.finetune else "minilm")


def with_model(recipe: Recipe, model: str) -> Recipe:
    """Give the recipe with another model to start from."""
    tuned = recipe.finetune and recipe.finetune.model_copy(update={"model": model})
    return recipe.model_copy(update={"model": model, "finetune": tuned})


def read_recipe(path: Path) -> Recipe:
    """Give the recipe in a TOML file. Raises InputError with the key that is wrong."""
    return parse_recipe(recipe_text(path), str(path))


def read_search(path: Path) -> SearchOptions:
    """Give the table ``search`` of a TOML file, which may be a whole recipe. Raises InputError where it has none."""
    content = recipe_content(recipe_text(path), str(path))
    if not isinstance(content.get("search"), dict):
        raise InputError("has no table [search]", path)
    options: SearchOptions = checked(SearchOptions, content["search"], str(path))
    return options


def recipe_text(path: Path) -> str:
    """Give a file's text. Raises InputError where it is none."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("can't be read as text", path) from error


def recipe_content(text: str, where: str) -> dict[str, Any]:
    """Give what TOML says. Raises InputError where it is none."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"is not TOML: {error}", where) from error


def parse_recipe(text: str, where: str) -> Recipe:
    """Give the recipe that ``text`` holds; ``where`` names it in errors."""
    recipe: Recipe = checked(Recipe, recipe_content(text, where), where)
    return recipe


def checked(model: type[Any], content: dict[str, Any], where: str, *, usage: bool = False) -> Any:
    """Give ``content`` as ``model``, or raise one line: the key, what is wrong, the nearest known key."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        what, todo = f"{key}: {said}" if key else said, None
        if first["type"] == "extra_forbidden":
            near = difflib.get_close_matches(str(first["loc"][-1]), _keys(model), n=1, cutoff=0.4)
            what, todo = f"unknown key {key}", f"did you mean {near[0]}?" if near else None
        raise (UsageError if usage else InputError)(what, where, todo) from error


def _keys(model: type[BaseModel]) -> list[str]:
    """Give every key that a model and the models inside it know."""
    names = list(model.model_fields)
    for field in model.model_fields.values():
        for part in _models(field.annotation):
            names.extend(_keys(part))
    return names


def _models(annotation: Any) -> list[type[BaseModel]]:
    """Give the models that a field may hold."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]
