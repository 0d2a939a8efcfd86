"""A label scheme: which labels there are, in which order, and what else they are called."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from sectioncls.errors import InputError, UsageError

__all__ = ["SCHEMES", "LabelScheme", "load_scheme", "read_table"]

SCHEMES = {
    "csabstruct": "csabstruct.toml",
    "nicta-piboso": "nicta-piboso.toml",
    "pmc-sents": "pmc-sents.toml",
    "pubmed-rct": "pubmed-rct.toml",
}


@dataclass(frozen=True, slots=True)
class LabelScheme:
    """An ordered set of labels; the position of a label is its class id.

    ``aliases`` maps other spellings (lower case) to labels.
    """

    name: str
    labels: tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def label(self, word: str) -> str:
        """Give the label that ``word`` names, in any case and spelling; raise InputError when there is none."""
        key = word.strip().lower()
        found = key if key in self.labels else self.aliases.get(key)
        if found is None:
            raise InputError(
                f"label {word!r} is not in the scheme {self.name}", todo=f"it has {', '.join(self.labels)}"
            )
        return found

    def id(self, word: str) -> int:
        """Give the class id of the label that ``word`` names; raise InputError when there is none."""
        return self.labels.index(self.label(word))


@cache
def load_scheme(name: str) -> LabelScheme:
    """Give the label scheme called ``name``; raise UsageError when there is none."""
    if name not in SCHEMES:
        raise UsageError(f"there is no label scheme {name!r}", todo=f"choose one of {', '.join(SCHEMES)}")
    table = read_table(SCHEMES[name])
    return LabelScheme(
        name=table["name"],
        labels=tuple(table["labels"]),
        aliases=MappingProxyType(dict(table.get("aliases", {}))),
    )


def read_table(file: str) -> dict[str, Any]:
    """Give the content of one of the TOML tables of this room."""
    text = resources.files("sectioncls.schemes").joinpath("tables", file).read_text(encoding="utf-8")
    return tomllib.loads(text)
