"""A label scheme: which labels there are, in which order, what else they are called, and the rules that give them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sectioncls.errors import InputError, UsageError
from sectioncls.schemes.rules import HeadingRules, read_rules
from sectioncls.schemes.tables import read_table, table_path

__all__ = ["SCHEMES", "LabelScheme", "load_scheme"]

SCHEMES = {
    "csabstruct": "csabstruct.toml",
    "imrad": "imrad.toml",
    "nicta-piboso": "nicta-piboso.toml",
    "pmc-sents": "pmc-sents.toml",
    "pubmed-rct": "pubmed-rct.toml",
}
_KEYS = (
    *("name", "about", "labels", "aliases", "default", "boxed", "required", "parts", "order"),
    *("inside", "headings", "nlm", "words", "titles", "sec_types"),
)


@dataclass(frozen=True, slots=True, eq=False)
class LabelScheme:
    """An ordered set of labels; the position of a label is its class id.

    ``aliases`` maps other spellings (lower case) to labels; ``rules`` say how headings become labels, None where a
    scheme only names those of published sets. ``source`` is what load_scheme was given: a scheme travels to other
    processes by it.
    """

    name: str
    labels: tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    about: str = ""
    rules: HeadingRules | None = None
    source: str = ""

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

    def heading_rules(self) -> HeadingRules:
        """Give the rules; raise UsageError for a scheme without."""
        if self.rules is None:
            raise UsageError(f"the scheme {self.name} has no rules for headings", None, "choose another --scheme")
        return self.rules

    def __reduce__(self) -> tuple[Callable[[str], LabelScheme], tuple[str]]:
        return load_scheme, (self.source or self.name,)


@cache
def load_scheme(name: str) -> LabelScheme:
    """Give the label scheme called ``name``, or the one that a ``.toml`` file states.

    Raises UsageError when there is none of that name, InputError for a file that is missing or wrong.
    """
    if name in SCHEMES:
        return _scheme(read_table(SCHEMES[name]), table_path(SCHEMES[name]), name)
    if not name.endswith(".toml"):
        raise UsageError(
            f"there is no label scheme {name!r}", todo=f"choose one of {', '.join(SCHEMES)}, or give a .toml file"
        )
    scheme = _scheme(_read(Path(name)), Path(name), name)
    if scheme.name in SCHEMES:
        raise InputError(f"is called {scheme.name} as one of ours", name, "give it another name")
    return scheme


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError("is missing", path) from error
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", path) from error
    except ValueError as error:  # also wrong UTF-8
        raise InputError(f"is not TOML: {error}", path) from error


def _scheme(table: Mapping[str, Any], path: Path, source: str) -> LabelScheme:
    """Give the scheme of a table, or raise InputError for what is wrong in it."""
    for key in table:
        if key not in _KEYS:
            close = get_close_matches(key, _KEYS, n=1)
            todo = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(_KEYS)}"
            raise InputError(f"has an unknown key {key!r}", path, todo)
    name, about, labels = table.get("name"), table.get("about", ""), table.get("labels")
    if not isinstance(name, str) or not name.strip():
        raise InputError("has no name", path, 'as name = "mine"')
    if not isinstance(about, str):
        raise InputError("about is not text", path)
    if not isinstance(labels, list) or not all(isinstance(label, str) and label.strip() for label in labels):
        raise InputError("has no list of labels", path, 'as labels = ["method", "other"]')
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise InputError("labels must be two or more, each once", path)
    aliases = table.get("aliases", {})
    if not isinstance(aliases, dict) or any(label not in labels for label in aliases.values()):
        raise InputError("[aliases] must map words to labels", path, f'as [aliases] followed by word = "{labels[0]}"')
    return LabelScheme(
        name=name,
        labels=tuple(labels),
        aliases=MappingProxyType({str(word).lower(): label for word, label in aliases.items()}),
        about=about,
        rules=read_rules(table, tuple(labels), path),
        source=source,
    )
