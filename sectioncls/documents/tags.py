"""What each JATS element is to a reader of prose: a table from tags to kinds, in any namespace.

Kinds are plain numbers in an order that the walk (``prose.py``) uses: from ``LIST`` on come the blocks that cut
a surrounding ``p`` in two.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "ALTERNATIVES",
    "BOX",
    "BREAK",
    "EMPHASIS",
    "FLOAT",
    "FORMULA",
    "INLINE",
    "KINDS",
    "LIST",
    "NOTE",
    "QUOTE",
    "REASONS",
    "SEC",
    "STATEMENT",
    "SUP",
    "TITLE",
    "XREF",
    "P",
    "local_name",
]

INLINE: Final = 0  # adds and removes nothing; also everything unknown
EMPHASIS: Final = 1  # as INLINE, but may be a run-in head
XREF: Final = 2
SUP: Final = 3
FORMULA: Final = 4
ALTERNATIVES: Final = 5
BREAK: Final = 6
FLOAT: Final = 7  # never prose; leaves one space
NOTE: Final = 8  # never prose; leaves nothing
P: Final = 9
LIST: Final = 10
QUOTE: Final = 11
STATEMENT: Final = 12
BOX: Final = 13
SEC: Final = 14
TITLE: Final = 15  # titles, labels: no prose, read where wanted

_NAMES = {
    EMPHASIS: "bold italic underline sc",
    XREF: "xref",
    SUP: "sup",
    FORMULA: "inline-formula disp-formula disp-formula-group math tex-math chem-struct",
    ALTERNATIVES: "alternatives",
    BREAK: "break",
    FLOAT: (
        "fig fig-group table-wrap table-wrap-group table supplementary-material media inline-media graphic "
        "inline-graphic array preformat code verse-group def-list chem-struct-wrap include sec-meta sub-article "
        "response"
    ),
    NOTE: "fn fn-group def object-id",
    P: "p",
    LIST: "list",
    QUOTE: "disp-quote speech",
    STATEMENT: "statement",
    BOX: "boxed-text",
    SEC: "sec",
    TITLE: "title label attrib speaker",
}
_REASONS = {
    "figure": "fig fig-group graphic inline-graphic chem-struct-wrap floats-group floats-wrap",
    "table": "table-wrap table-wrap-group table array",
    "supplement": "supplementary-material media inline-media",
    "code": "preformat code",
    "verse": "verse-group",
    "definitions": "def-list def",
    "formula": _NAMES[FORMULA],
    "footnote": "fn fn-group",
    "heading": "title",
    "label": "label attrib speaker object-id",
    "front": "sec-meta front front-stub processing-meta",
    "back": "back",
    "sub-article": "sub-article response",
}
_BY_NAME = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_MOST = 10_000

REASONS = {name: reason for reason, names in _REASONS.items() for name in names.split()}
"""Reason in the account (``account.py``) by name of an element that is no prose."""


class _Names(dict[str, str]):
    """Names without namespace by full tag, filled as tags come; a hostile file can't make it grow without end."""

    def __missing__(self, tag: str) -> str:
        name = tag.rpartition("}")[2]
        if len(self) < _MOST:
            self[tag] = name
        return name


class _Kinds(dict[str, int]):
    """Kinds by full tag, filled in the same way."""

    def __missing__(self, tag: str) -> int:
        kind = _BY_NAME.get(local_name(tag), INLINE)
        if len(self) < _MOST:
            self[tag] = kind
        return kind


local_name = _Names().__getitem__
"""Give a tag without its namespace."""

KINDS = _Kinds(_BY_NAME)
"""Kind by tag as lxml gives it (``p`` or ``{namespace}p``)."""
