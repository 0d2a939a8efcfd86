"""spaCy pipelines that mark sentence boundaries, loaded without importing or running what they bring along."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from sectioncls.errors import ModelError

__all__ = ["find_pipeline", "load_pipeline"]

_MARKERS = {"parser", "senter", "sentencizer"}
_KEPT = _MARKERS | {"tok2vec"}
_PLACES = {"@architectures", "@scorers", "@tokenizers", "@vectors"}  # none of these opens files or loads models


def find_pipeline(name: str) -> Path | None:
    """Give the data folder of a spaCy pipeline: an installed package's, or ``name`` itself if that is one.

    ``en_core_web_sm`` also finds a repackaged ``en_core_web_sm_…``, if there is just one. Nothing is imported: the
    folder is looked up in the installed files.
    """
    installed = list(entry_points(group="spacy_models"))
    points = [point for point in installed if point.name == name]
    points = points or [point for point in installed if point.name.startswith(f"{name}_")]
    if len(points) == 1 and points[0].dist is not None:
        for file in points[0].dist.files or ():
            if file.name == "config.cfg":
                return Path(str(points[0].dist.locate_file(file))).parent
    folder = Path(name)
    return folder if (folder / "config.cfg").is_file() else None


@cache
def load_pipeline(folder: Path) -> Any:
    """Give the spaCy pipeline reduced to what marks sentences: tok2vec, parser, senter, sentencizer.

    A package's own code is not run, and its settings may name functions of spaCy only (so no pipeline with a
    transformer, whose weights spaCy reads with pickle). Raises ModelError.
    """
    from spacy import util

    try:
        config = util.load_config(folder / "config.cfg", interpolate=True)
        kept = _kept(config, folder)
        others = [name for name in config["nlp"]["pipeline"] if name not in kept]
        nlp = util.load_model_from_path(folder, exclude=others)
    except ModelError:
        raise
    except Exception as error:  # a broken folder fails in many ways
        raise ModelError(f"spaCy can't load this pipeline: {error}", folder) from error
    return nlp


def _kept(config: Any, folder: Path) -> list[str]:
    """Give the names of the components to load. Raises ModelError for foreign functions and missing boundaries."""
    settings, disabled = config["nlp"], config["nlp"].get("disabled", [])
    factories = {name: config["components"][name].get("factory") for name in settings["pipeline"]}
    kept = [name for name, factory in factories.items() if factory in _KEPT and name not in disabled]
    if not any(factories[name] in _MARKERS for name in kept):
        raise ModelError("this pipeline marks no sentence boundaries", folder)
    for key, function in _functions([settings, *(config["components"][name] for name in kept)]):
        if not function.startswith(("spacy.", "spacy-legacy.")) or key not in _PLACES or "torch" in function.lower():
            raise ModelError(f"this pipeline calls {function}, which is not spaCy's own", folder)
    return kept


def _functions(block: Any) -> Iterator[tuple[str, str]]:
    """Give (kind, name) of each registered function that the settings call."""
    if isinstance(block, dict):
        for key, value in block.items():
            if key.startswith("@"):
                yield key, str(value)
            else:
                yield from _functions(value)
    elif isinstance(block, list):
        for value in block:
            yield from _functions(value)
