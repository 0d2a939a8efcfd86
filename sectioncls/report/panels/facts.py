"""What it takes to remake a run: recipe, corpus, seeds, versions, times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sectioncls.report.views import RunView, Summary

__all__ = ["build"]


def build(summary: Summary) -> dict[str, Any]:
    """Give the facts of each run as (what, value) pairs, with its recipe."""
    return {"entries": [_entry(run) for run in summary.runs], "several": len(summary.runs) > 1}


def _entry(run: RunView) -> dict[str, Any]:
    info, corpus = run.info, run.corpus.info
    seconds = _mapping(info.get("seconds"))
    facts = [
        ("Made", info.get("created")),
        ("Command", info.get("command")),
        ("Protocol", info.get("protocol")),
        ("Seeds", _listed(info.get("seeds"))),
        ("Threads", info.get("threads")),
        ("Time", _times(seconds)),
        ("Corpus", corpus.get("name")),
        ("Corpus command", corpus.get("command")),
        ("Corpus fingerprint", corpus.get("fingerprint")),
        ("Corpus licence", corpus.get("licence")),
        ("Versions", _pairs(_mapping(info.get("versions")))),
    ]
    encoders = [
        {
            "encoder": encoder,
            "training": {
                key.replace("_", " "): _setting(value)
                for key, value in encoder.training.items()
                if value or (value == 0 and value is not False)
            },
        }
        for encoder in run.encoders.values()
    ]
    return {
        "run": run,
        "facts": [(what, str(value)) for what, value in facts if value not in (None, "", [])],
        "encoders": encoders,
        "notes": [str(note) for note in info.get("notes") or () if note not in (corpus.get("notes") or ())],
        "recipe": run.run.read_text("recipe.toml"),
        "source": run.corpus.comparison.published if run.corpus.comparison.corpus else None,
    }


def _setting(value: Any) -> str:
    """Give a setting as a reader says it: tasks by name, each with what is not its default."""
    if isinstance(value, list | tuple):
        return " + ".join(_setting(one) for one in value)
    if not isinstance(value, Mapping):
        return str(value)
    told = {key: one for key, one in value.items() if key != "name" and one and (one is True or one != 1)}
    rest = [f"{key.replace('_', ' ')} {_setting(one)}" for key, one in told.items()]
    if "name" not in value:
        return ", ".join(rest)
    return f"{value['name']} ({', '.join(rest)})" if rest else str(value["name"])


def _times(seconds: Mapping[str, Any]) -> str:
    """Give each stage's seconds and their sum."""
    stages = [(name, float(value)) for name, value in seconds.items() if isinstance(value, int | float)]
    if not stages:
        return ""
    parts = ", ".join(f"{name} {_clock(value)}" for name, value in stages)
    return f"{_clock(sum(value for _, value in stages))} in all ({parts})"


def _clock(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _listed(values: Any) -> str:
    return ", ".join(str(value) for value in values) if isinstance(values, list | tuple) else str(values or "")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
