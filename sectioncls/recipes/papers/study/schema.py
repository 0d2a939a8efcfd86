"""What the table ``[study]`` of a paper recipe may say: a paper's claims, what decides them, what is measured."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = [
    "BoundCheck",
    "Check",
    "ClaimOptions",
    "EncodersCheck",
    "MeasureOptions",
    "Need",
    "QuickOptions",
    "RowsCheck",
    "StudyOptions",
    "TrendCheck",
    "WeightsCheck",
]

Need = Literal[
    "abstracts", "authors", "citations", "definitions", "fields", "queries", "rankings", "targets", "topics", "venues",
    "years",
]  # fmt: skip
"""What a study may need of a paper set."""

Place = dict[str, str | int | float]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EncodersCheck(_Strict):
    """Each of ``better`` against each of ``worse``, paired by query or paper, resampled.

    ``tasks`` is ``all``, ``each`` (the claim is of every task by itself), ``in-train``, ``held-out`` (by the first of
    ``better``), or names of tasks, of which each may be the part before the colon. ``least`` is how many points better
    is meant, ``equal`` within how many points of each other counts as no difference. With ``keeps`` the claim is that
    this share of the gain of ``full`` over each of ``worse`` stays.
    """

    kind: Literal["encoders"]
    better: tuple[str, ...] = Field(min_length=1)
    worse: tuple[str, ...] = Field(min_length=1)
    tasks: Literal["all", "each", "in-train", "held-out"] | tuple[str, ...] = "all"
    least: float = 0.0
    equal: float | None = Field(default=None, gt=0)
    keeps: float | None = Field(default=None, gt=0, lt=1)
    full: str | None = None

    @model_validator(mode="after")
    def _one_form(self) -> EncodersCheck:
        if (self.keeps is None) != (self.full is None):
            raise ValueError("keeps is a share of the gain of full: give both or neither")
        if self.equal is not None and (self.keeps is not None or self.least):
            raise ValueError("a claim of no difference has neither keeps nor least")
        return self


class RowsCheck(_Strict):
    """Rows of a measure against others, paired by the column ``over`` (seeds), by Student's t on the differences.

    ``better`` and ``worse`` name the values that a row has in some columns; rows of one ``over`` are averaged.
    """

    kind: Literal["rows"]
    measure: str
    column: str
    better: Place
    worse: Place
    over: str = "seed"
    equal: float | None = Field(default=None, gt=0)


class TrendCheck(_Strict):
    """How a column of a measure goes along another: it rises, falls, or is zero from ``start`` on.

    A trend is confirmed where Kendall's tau of column and ``along`` is at least 0.5 in that direction, refuted where it
    is that much in the other.
    """

    kind: Literal["trend"]
    measure: str
    column: str
    along: str
    expect: Literal["rises", "falls", "zero"]
    start: float | None = None
    where: Place = {}


class BoundCheck(_Strict):
    """A column of a measure, in the rows at ``where``, lies above or below a number in all of them."""

    kind: Literal["bound"]
    measure: str
    column: str
    where: Place = {}
    above: float | None = None
    below: float | None = None

    @model_validator(mode="after")
    def _one_bound(self) -> BoundCheck:
        if (self.above is None) == (self.below is None):
            raise ValueError("a bound is above or below")
        return self


class WeightsCheck(_Strict):
    """What can't be decided here: ``needs`` says which weights or data it takes."""

    kind: Literal["weights"]
    needs: str


Check = Annotated[EncodersCheck | RowsCheck | TrendCheck | BoundCheck | WeightsCheck, Field(discriminator="kind")]


class ClaimOptions(_Strict):
    """One claim in our words, where it stands, what was printed, and what decides it here."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    text: str
    source: str
    published: str
    check: Check


class MeasureOptions(_Strict):
    """A table that needs no training (or is made of the encoders that were trained); ``options`` go to its function."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    kind: str
    options: dict[str, Any] = {}


class QuickOptions(_Strict):
    """What ``--quick`` changes, besides budgets: other names of tasks, and options of measures by their names."""

    tasks: dict[str, str] = {}
    measures: dict[str, dict[str, Any]] = {}


class StudyOptions(_Strict):
    """One of a paper's studies: its title, its claims, what is measured without training, what it needs of a set."""

    paper: str
    title: str
    needs: tuple[Need, ...] = ()
    claim: tuple[ClaimOptions, ...] = ()
    measure: tuple[MeasureOptions, ...] = ()
    quick: QuickOptions = QuickOptions()

    @model_validator(mode="after")
    def _names_are_known(self) -> StudyOptions:
        ids, measures = [one.id for one in self.claim], [one.name for one in self.measure]
        for names, what in ((ids, "claims"), (measures, "measures")):
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise ValueError(f"two {what} are called {twice}")
        for claim in self.claim:
            measure = getattr(claim.check, "measure", None)
            if measure is not None and measure not in measures:
                raise ValueError(f"the claim {claim.id} reads {measure}, which is no measure of the study")
        return self
