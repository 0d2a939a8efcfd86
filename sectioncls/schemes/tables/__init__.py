"""The tables of the room: one TOML file per scheme, and lists of headings that several schemes share."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

__all__ = ["read_table", "table_path"]


def table_path(file: str) -> Path:
    """Give where a table lies."""
    return Path(__file__).with_name(file)


def read_table(file: str) -> dict[str, Any]:
    """Give the content of a table."""
    return tomllib.loads(table_path(file).read_text(encoding="utf-8"))
