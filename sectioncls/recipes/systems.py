"""Finished runs as systems that can be compared: one encoder, one seed or several, its predictions by test sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError
from sectioncls.runs import Run, open_run

__all__ = ["System", "Tested", "find_runs", "one_test_set", "open_system", "run_groups", "tested"]

Words = npt.NDArray[np.str_]


@dataclass(frozen=True, slots=True)
class System:
    """An encoder (``""``: text baselines) in the runs that measured it, one run for each seed.

    ``name`` is that of the folder, which says more than the run's own where several are of one corpus.
    """

    name: str
    encoder: str
    runs: tuple[Run, ...]

    @property
    def corpus(self) -> str:
        """The corpus, with the start of its fingerprint, as an error names it."""
        info = self.runs[0].info.get("corpus") or {}
        return f"{info.get('name', 'a corpus')} ({str(info.get('fingerprint', ''))[:8] or 'unknown'})"


@dataclass(frozen=True, slots=True, eq=False)
class Tested:
    """What one method said of every test sentence: sorted by article and place; ``said`` is (runs, sentences)."""

    articles: Words
    places: npt.NDArray[np.int64]
    labels: Words
    said: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.articles)


def find_runs(folder: Path) -> list[Path]:
    """Give the run folders inside a folder, three levels deep at most, sorted; hidden ones are left out."""
    found = [path.parent for depth in range(1, 4) for path in folder.glob("*/" * depth + "run.json")]
    return sorted(path for path in found if not any(part[:1] == "." for part in path.relative_to(folder).parts))


def open_system(path: Path, encoder: str | None = None, *, first: bool = False) -> System:
    """Give the system in a run folder, or in a folder of runs that differ in their seed.

    Without ``encoder`` the last one that the run measured, which is the fine-tuned one, or the ``first``. Raises
    InputError for a folder without a run, for an unknown encoder, and for runs that don't share the encoder.
    """
    runs = [open_run(path)] if (path / "run.json").is_file() or not path.is_dir() else []
    runs = runs or [open_run(folder) for folder in find_runs(path)]
    if not runs:
        raise InputError("holds no run", path, "name a run folder, or one with runs inside")
    names = _encoders(runs[0])
    if encoder is None:
        encoder = names[0 if first else -1] if names else ""
    for run in runs:
        if encoder not in ("", *_encoders(run)):
            known = ", ".join(_encoders(run)) or "none"
            raise InputError(f"has no encoder {encoder!r}, only: {known}", run.path)
    name = path.resolve().name
    return System(name if len(runs) == 1 else f"{name} ({len(runs)} runs)", encoder, tuple(runs))


def run_groups(runs: Sequence[Run]) -> list[list[Run]]:
    """Give the runs in groups: those of one recipe that differ in nothing but name and seed are together."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        recipe = run.info.get("recipe")
        key = str(run.path)
        if isinstance(recipe, Mapping):
            same = {name: value for name, value in recipe.items() if name not in ("name", "seed")}
            fingerprint = (run.info.get("corpus") or {}).get("fingerprint")
            key = repr((fingerprint, sorted(same.items(), key=lambda item: item[0])))
        groups.setdefault(key, []).append(run)
    return list(groups.values())


def tested(system: System, table: str, column: str) -> dict[str, Tested]:
    """Give what each method of a system said, from one table of its runs; only methods that all its runs have.

    Raises InputError for runs with different test sets.
    """
    read = [_methods(run, table, column, system.encoder) for run in system.runs]
    found = {}
    for method in [name for name in read[0] if all(name in other for other in read)]:
        parts = [other[method] for other in read]
        for part in parts[1:]:
            if not _same_sentences(parts[0], part):
                raise InputError(f"its runs were tested on different sentences ({table}, {method})", system.name)
        said = np.concatenate([part.said for part in parts])
        found[method] = Tested(parts[0].articles, parts[0].places, parts[0].labels, said)
    return found


def one_test_set(first: System, second: System, one: Tested, other: Tested) -> None:
    """Raise InputError unless two systems were tested on the same sentences with the same labels."""
    if _same_sentences(one, other):
        return
    what = f"were tested on different sentences: {len(one):,} of {first.corpus} and {len(other):,} of {second.corpus}"
    if len(one) == len(other) and (one.articles == other.articles).all() and (one.places == other.places).all():
        what = f"were tested on sentences with different labels, {first.corpus} and {second.corpus}"
    raise InputError(what, f"{first.name} and {second.name}", "evaluate both on one corpus")


def _same_sentences(one: Tested, other: Tested) -> bool:
    return (
        len(one) == len(other)
        and bool((one.articles == other.articles).all())
        and bool((one.places == other.places).all())
        and bool((one.labels == other.labels).all())
    )


def _encoders(run: Run) -> list[str]:
    known = run.info.get("encoders") or {}
    return [str(name) for name in known] if isinstance(known, Mapping) else []


def _methods(run: Run, table: str, column: str, encoder: str) -> dict[str, Tested]:
    """Give the rows of each method of an encoder in one run."""
    columns = run.read_table(table)
    if not columns:
        return {}
    mine = np.array([name == encoder for name in columns["encoder"]], dtype=bool)
    methods = np.array(columns["method"], dtype=str)
    found = {}
    for method in dict.fromkeys(methods[mine].tolist()):
        rows = np.flatnonzero(mine & (methods == method))
        articles = np.array([columns["article_id"][row] for row in rows], dtype=str)
        places = np.array([columns["index"][row] for row in rows], dtype=np.int64)
        labels = np.array([columns["label"][row] for row in rows], dtype=str)
        # A set that was split by sentence and joined again counts places of each part, so that one may stand twice: of
        # equal ones the first is paired with the first, as every run keeps the corpus's order.
        order = np.lexsort((labels, places, articles))
        articles, places, labels, rows = articles[order], places[order], labels[order], rows[order]
        said = np.array([columns[column][row] for row in rows])
        found[method] = Tested(articles, places, labels, said[None])
    return found
