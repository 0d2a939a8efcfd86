"""How training went: the loss, the scores on dev, how far seeds agree, and what mends a collapse."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from sectioncls.render import Picture, number, whole
from sectioncls.report.figures import curves
from sectioncls.report.views import METHODS, Encoder, RunView, Summary

__all__ = ["build", "mended", "pictures", "spreads"]

_Draw = Callable[[str], Picture]

_PLAIN = {"kind", "step", "epoch", "seconds", "sentences", "learning_rate", "task", "seed"}
# What tells how far embeddings spread; a collapse brings all of them down.
_SHAPE = ("effective-rank", "mean-distance", "label-spread")
_SPREAD = ("f1-micro", "f1-macro", "ari", "ami")
_TELLING = (
    ("silhouette", "Silhouette", 100.0),
    ("effective-rank", "Effective rank", 1.0),
    ("ari", "ARI", 100.0),
    ("ami", "AMI", 100.0),
)
# Clusters as tight as this leave less than a twentieth of the variance outside them: see training/monitor.py.
_TIGHT = 0.75
_TITLES = {
    "f1-micro": "F1-micro",
    "f1-macro": "F1-macro",
    "ari": "ARI",
    "ami": "AMI",
    "silhouette": "silhouette",
    "effective-rank": "effective rank",
    "label-spread": "within / between labels",
}


def build(summary: Summary) -> dict[str, Any] | None:
    """Give each run's curves and dev scores, and what mended a collapse; None when no run trained."""
    entries = [entry for run in summary.runs if (entry := _entry(run))]
    found = {"entries": entries, "several": len(summary.runs) > 1, "mended": mended(summary)}
    return found if entries or found["mended"] else None


def _entry(run: RunView, drawn: bool = True) -> dict[str, Any] | None:
    history = run.run.history()
    if len({row.get("encoder") for row in history}) > 1:
        return None  # curves of many encoders hide each other
    seeds = list(dict.fromkeys(row.get("seed") for row in history if "seed" in row))
    steps = [row for row in history if row.get("kind") == "step" and _is_number(row.get("loss"))]
    dev = [row for row in history if row.get("kind") == "dev"]
    notes = [str(row.get("text", "")) for row in history if row.get("kind") == "note"]
    if not steps and not dev:
        return None
    metrics = list(dict.fromkeys(name for row in dev for name in row if name not in _PLAIN))
    metrics = [name for name in metrics if all(_is_number(row.get(name)) for row in dev if name in row)]
    found = [one for one in (_loss(steps), _scores(dev, metrics), _spread(dev)) if one]
    return {
        "run": run,
        "drawn": found,
        "pictures": [{"title": title, "picture": draw("page")} for title, draw in found] if drawn else [],
        "dev": dev,
        "metrics": [(name, _title(name), _scale(dev, name)) for name in metrics],
        "notes": list(dict.fromkeys(notes)),
        "seeds": seeds if len(seeds) > 1 else [],
        "spreads": spreads(run) if len(seeds) > 1 else [],
        "last": steps[-1].get("step") if steps else None,
    }


def pictures(run: RunView) -> list[tuple[str, _Draw]]:
    """Give the file name of each curve of a run and what draws it in a form; [] where it trained nothing."""
    entry = _entry(run, drawn=False)
    return [("-".join(title.lower().split()), draw) for title, draw in entry["drawn"]] if entry else []


def _loss(steps: list[dict[str, Any]]) -> tuple[str, _Draw] | None:
    """Give the curve of the loss, one per task and seed."""
    if len(steps) < 2:
        return None
    lines: dict[str, tuple[list[float], list[float]]] = {}
    for row in steps:
        xs, ys = lines.setdefault(_of_seed(str(row.get("task", "loss")), row), ([], []))
        xs.append(row["step"])
        ys.append(row["loss"])
    parts = [
        f"{name}: from {number(ys[0], 3)} at step {whole(xs[0])} to {number(ys[-1], 3)} at step {whole(xs[-1])}"
        for name, (xs, ys) in lines.items()
    ]
    alt = f"Training loss over the steps. {'; '.join(parts)}."
    return "Training loss", lambda form: curves(lines, y_label="loss", alt=alt, form=form)


def _scores(dev: list[dict[str, Any]], metrics: list[str]) -> tuple[str, _Draw] | None:
    """Give the curves of those dev scores that share the scale of fractions; of several seeds, of the first score."""
    names = [name for name in metrics if _scale(dev, name) == 100 and "loss" not in name and name not in _SHAPE]
    if len(names) == 2 and "mean" in names:
        names.remove("mean")  # of one task
    lines: dict[str, tuple[list[float], list[float]]] = {}
    several = len({row.get("seed") for row in dev}) > 1
    for name in names[:1] if several else names:
        for row in dev:
            if name in row:
                xs, ys = lines.setdefault(_of_seed(_title(name), row), ([], []))
                xs.append(row["step"])
                ys.append(100 * row[name])
    if not lines or max(len(xs) for xs, _ in lines.values()) < 2:
        return None
    last = "; ".join(f"{name} {number(ys[-1], 1)}" for name, (_, ys) in lines.items())
    y_label = f"{next(iter(lines))} × 100" if len(lines) == 1 else "× 100"
    alt = f"Scores on the dev split over the training steps. At the end: {last}."
    return "Scores on the dev split", lambda form: curves(lines, y_label=y_label, alt=alt, points=True, form=form)


def _spread(dev: list[dict[str, Any]]) -> tuple[str, _Draw] | None:
    """Give how the embeddings' spread changes, each measure as per cent of its first value; of one seed only."""
    if len({row.get("seed") for row in dev}) > 1:
        return None
    lines = {}
    for name in _SHAPE:
        rows = [row for row in dev if _is_number(row.get(name))]
        if len(rows) > 1 and rows[0][name]:
            lines[_title(name)] = ([row["step"] for row in rows], [100 * row[name] / rows[0][name] for row in rows])
    if len(lines) < 2:
        return None
    last = "; ".join(f"{name} {number(ys[-1], 0)}" for name, (_, ys) in lines.items())
    alt = f"Spread of the dev embeddings over the training steps, in per cent of the first check. At the end: {last}."
    return (
        "Spread of the embeddings",
        lambda form: curves(lines, y_label="% of the start", alt=alt, points=True, form=form),
    )


def _of_seed(name: str, row: dict[str, Any]) -> str:
    return f"{name}, seed {row['seed']}" if "seed" in row else name


def spreads(run: RunView) -> list[tuple[str, str, str, Any]]:
    """Give (encoder, method, metric, Spread) of the test scores of a run that trained several seeds, in per cent."""
    from sectioncls.downstream import spread

    found: dict[tuple[str, str, str], list[float]] = {}
    trained = {key for key, entry in (run.info.get("encoders") or {}).items() if entry.get("seeds")}
    for score in run.run.scores():
        if score.encoder in trained and score.split == "test" and score.label is None and score.metric in _SPREAD:
            found.setdefault((score.encoder, score.method, score.metric), []).append(100 * score.value)
    return [
        (run.encoders[encoder].title, METHODS.get(method, method), _title(metric), spread(values))
        for (encoder, method, metric), values in found.items()
        if len(values) > 1 and not any(map(math.isnan, values))
    ]


def mended(summary: Summary) -> list[dict[str, Any]]:
    """Give, for each collapsed encoder, one of the same backbone and corpus that is not, and where the two differ.

    Of several the one with the highest ARI stands for all.
    """
    entries = []
    for corpus in summary.corpora:
        found = [(run, encoder) for run in summary.runs if run.corpus is corpus for encoder in run.encoders.values()]
        tuned = [(run, encoder, _measures(run, encoder)) for run, encoder in found if encoder.training]
        for run, encoder, values in tuned:
            if not _collapsed(encoder, values):
                continue
            others = [
                (with_run, other, its)
                for with_run, other, its in tuned
                if other.backbone == encoder.backbone and not _collapsed(other, its)
            ]
            if not others:
                continue
            with_run, other, its = max(others, key=lambda found: found[2].get("ARI", -1.0))
            entries.append(
                {
                    "corpus": corpus.name,
                    "collapsed": f"{encoder.title} ({run.name})",
                    "other": f"{other.title} ({with_run.name})",
                    "settings": _differing(encoder.training, other.training),
                    "scores": [(name, values[name], its[name]) for name in values if name in its],
                }
            )
    return entries


def _collapsed(encoder: Encoder, values: Mapping[str, float]) -> bool:
    """True where the training said so, or where the clusters are as tight as a collapse makes them."""
    return encoder.collapsed or values.get("Silhouette", 0.0) >= 100 * _TIGHT


def _measures(run: RunView, encoder: Encoder) -> dict[str, float]:
    """Give what tells a collapse, in per cent (the rank as it is), and the best F1-micro."""
    rows = [row for group in run.groups if group.encoder == encoder for row in group.rows]
    values: dict[str, float] = {}
    for row in rows:
        for metric, name, factor in _TELLING:
            if row.method == "kmeans" and metric in row.scores:
                values[name] = factor * row.scores[metric].value
    best = [row.scores["f1-micro"].value for row in rows if "f1-micro" in row.scores]
    if best:
        values["Best F1-micro"] = 100 * max(best)
    return values


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Give the settings that differ, as words."""
    names = [name for name in one if name in other and one[name] != other[name] and name not in ("preset", "seed")]
    return [(name.replace("_", " "), str(one[name]), str(other[name])) for name in names]


def _scale(dev: list[dict[str, Any]], name: str) -> int:
    """Give 100 for a metric that is a fraction, 1 for one with a scale of its own."""
    own = "loss" in name or "rank" in name or "distance" in name or name == "label-spread"
    return 1 if own or any(abs(row[name]) > 1 for row in dev if name in row) else 100


def _title(name: str) -> str:
    method, _, metric = name.rpartition("/")
    title = _TITLES.get(metric, re.sub("[-_]", " ", metric))
    return f"{METHODS.get(method, method)} {title}" if method else title


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
