"""Data that travels with the package: recipes, cards and the demo corpus."""

from __future__ import annotations

from pathlib import Path

import sectioncls

__all__ = ["data_roots"]


def data_roots() -> list[Path]:
    """Give the folders to look in: a wheel carries its data in ``_data``; a checkout has it beside the package."""
    package = Path(sectioncls.__file__).parent
    return [package / "_data", package.parent]
