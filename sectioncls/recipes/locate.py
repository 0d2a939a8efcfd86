"""Finding recipes and the demo corpus: in the working folder, else among the data that the package carries."""

from __future__ import annotations

from pathlib import Path

from sectioncls.carried import data_roots
from sectioncls.errors import InputError

__all__ = ["find_data", "find_recipe", "recipe_names"]


def find_data(name: str) -> Path:
    """Give the path called ``name``: in the working folder, else inside the package's data. Raises InputError."""
    for root in (Path(), *data_roots()):
        if (root / name).exists():
            return root / name
    raise InputError("no such file or folder", name)


def find_recipe(name: str) -> Path:
    """Give a recipe's file: a path, or the name of one that we carry (``demo``, ``sentences/csabstruct-minilm``)."""
    if Path(name).is_file():
        return Path(name)
    for root in data_roots():
        for candidate in (root / name, root / "recipes" / f"{name}.toml"):
            if candidate.is_file():
                return candidate
    raise InputError("no such recipe", name, f"a TOML file, or one of {', '.join(recipe_names())}")


def recipe_names() -> list[str]:
    """Give the names of the recipes that we carry."""
    for root in data_roots():
        folder = root / "recipes"
        if folder.is_dir():
            return sorted(p.relative_to(folder).with_suffix("").as_posix() for p in folder.rglob("*.toml"))
    return []
