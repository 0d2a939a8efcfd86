"""Cards: TOML files that say what a corpus is, where it comes from, under which licence, and how it is read.

::

    name = "sheep-roles"                    [[files]]
    title = "Sheep Roles"                   name = "train.jsonl"
    about = "What it is, in a sentence."    url = "https://…"
    citation = "Who, where, when."          bytes = 1234
    licence = "CC-BY-4.0"                   sha256 = "…"        # or git-blob = "…"
    licence-url = "https://…"               split = "train"
    builder = "jsonl"
    notes = ["What to know before using it."]

    [form]                                  [labels]
    article = "doc_id"                      METHODS = "method"
    label = "labels"                        FUNDING = ""        # left out

A card whose files have no address says under ``by-hand`` where to get them.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sectioncls.carried import data_roots
from sectioncls.errors import InputError, UsageError

if TYPE_CHECKING:
    from sectioncls.corpora.forms import Form, LabelMap

__all__ = [
    "Card",
    "CardFile",
    "FormTable",
    "LabelTable",
    "card_names",
    "find_card",
    "label_map",
    "next_command",
    "read_card",
    "read_form",
    "read_label_table",
]

_VERBS = {
    "csabstruct": "build-csabstruct",
    "rct": "build-rct",
    "pmc-sents": "build-pmc-sents",
    "pmc": "build-pmc",
    "jsonl": "build-jsonl",
}
_OURS = ("fetched.json", "missing.jsonl")
_LARGEST = 2**20

Address = Annotated[str, Field(pattern=r"^https?://[^\s/]+(/\S*)?$")]
PlainName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=120)]


class _Strict(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        alias_generator=lambda name: name.replace("_", "-"),
    )


class CardFile(_Strict):
    """One file of a corpus; ``read`` is false for those beside the data (a licence)."""

    name: PlainName
    url: Address | None = None
    bytes: int | None = Field(default=None, gt=0)
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    git_blob: str | None = Field(default=None, pattern=r"^[0-9a-f]{40}$")
    split: Literal["train", "dev", "test"] | None = None
    read: bool = True


class FormTable(_Strict):
    """How the files of the builder ``jsonl`` are written down: see corpora.forms.Form, where each key is explained.

    A set that has only votes names them under ``votes`` and ``label`` alike.
    """

    text: str = "sentences"
    label: str | None = "labels"
    article: str | None = None
    split: str | None = None
    confidence: str | None = None
    votes: str | None = None
    path: str | None = None
    licence: str | None = None
    position: str | None = None
    several: bool = False
    paragraphs: bool = False
    headings: bool = False
    unlabelled: str | None = None
    also: dict[str, str] = {}
    columns: tuple[str, ...] = ()
    delimiter: str | None = Field(default=None, min_length=1, max_length=1)


class LabelTable(_Strict):
    """A set's labels in ours; without ``scheme`` they make a scheme of their own, in the order written."""

    scheme: str | None = None
    labels: dict[str, str] = {}


class Card(_Strict):
    """What a card says.

    ``base_url`` is where single articles are fetched from by id (builder ``pmc``); ``options`` are words that the
    build verb needs for this corpus; ``maps`` are other ways to name its labels.
    """

    name: PlainName
    title: str
    about: str
    citation: str
    licence: str
    licence_url: Address | None = None
    homepage: Address | None = None
    source: str = ""
    language: str = "en"
    builder: Literal["csabstruct", "rct", "pmc-sents", "pmc", "jsonl"]
    options: tuple[str, ...] = ()
    by_hand: str = ""
    base_url: Address | None = None
    notes: tuple[str, ...] = ()
    files: tuple[CardFile, ...] = ()
    form: FormTable = FormTable()
    scheme: str | None = None
    labels: dict[str, str] = {}
    maps: dict[str, LabelTable] = {}

    @model_validator(mode="after")
    def _sound(self) -> Card:
        names = [file.name for file in self.files]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two files are called {twice[0]}")
        ours = sorted(name for name in names if name in _OURS or name.endswith(".part"))
        if ours:
            raise ValueError(f"a file can't be called {ours[0]}: that name is ours")
        if not self.by_hand and not self.base_url and not all(file.url for file in self.files):
            raise ValueError("a file has no url: by-hand must say where to get it")
        if not self.files and not self.base_url:
            raise ValueError("no [[files]] and no base-url: there is nothing to fetch")
        if self.builder == "jsonl" and not (self.scheme or self.labels):
            raise ValueError("the builder jsonl needs a scheme or [labels]")
        return self

    @property
    def size(self) -> int | None:
        """The bytes of all files, None when one is not known."""
        sizes = [file.bytes for file in self.files]
        return sum(size for size in sizes if size) if sizes and None not in sizes else None


def card_names() -> list[str]:
    """Give the names of the cards that we carry."""
    folder = _folder()
    return sorted(path.stem for path in folder.glob("*.toml")) if folder else []


def find_card(name: str) -> Path:
    """Give a card's file: a path that ends in .toml, or the name of one that we carry. Raises InputError."""
    if name.endswith(".toml"):
        return Path(name)
    folder = _folder()
    if folder and name in card_names():
        return folder / f"{name}.toml"
    near = difflib.get_close_matches(name, card_names(), n=1, cutoff=0.5)
    todo = (
        f"did you mean {near[0]}?" if near else "`sectioncls fetch --list` shows all; a file of your own ends in .toml"
    )
    raise InputError("no such card", name, todo)


def read_card(path: Path) -> Card:
    """Give the card in a TOML file. Raises InputError with the key that is wrong."""
    try:
        with path.open("rb") as handle:
            data = handle.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise InputError("is beyond 1 MiB, too long for a card", path)
        content = tomllib.loads(data.decode("utf-8"))
    except FileNotFoundError as error:
        raise InputError("does not exist", path) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("can't be read as text", path) from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"is not TOML: {error}", path) from error
    try:
        return Card.model_validate(content)
    except ValidationError as error:
        raise _wrong(error, path) from error


def read_form(card: Card, map_name: str | None = None) -> tuple[Form, LabelMap]:
    """Give how a card's files are read and what their labels are called here, by one of its ``maps`` if named.

    Raises UsageError for an unknown map, InputError for a label that its scheme lacks.
    """
    from sectioncls.corpora.forms import Form

    values = card.form.model_dump()
    if values["label"] == values["votes"]:
        values["label"] = None
    form = Form(**{**values, "also": tuple(values["also"].items())})
    table = LabelTable(scheme=card.scheme, labels=card.labels)
    if map_name is not None:
        if map_name not in card.maps:
            there = ", ".join(card.maps) or "none"
            raise UsageError(f"the card {card.name} has no label map {map_name!r}", None, f"it has: {there}")
        table = card.maps[map_name]
    return form, label_map(table, card.name if map_name is None else f"{card.name}/{map_name}", form, card.name)


def read_label_table(path: Path) -> LabelTable:
    """Give the label table in a TOML or JSON file: ``scheme`` and ``labels``, or the labels alone.

    Raises InputError with the key that is wrong.
    """
    try:
        with path.open("rb") as handle:
            text = handle.read(_LARGEST).decode("utf-8")
        content = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except FileNotFoundError as error:
        raise InputError("does not exist", path) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("can't be read as text", path) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"is neither TOML nor JSON (.json): {error}", path) from error
    if isinstance(content, dict) and "labels" not in content and "scheme" not in content:
        content = {"labels": content}
    try:
        return LabelTable.model_validate(content)
    except ValidationError as error:
        raise _wrong(error, path) from error


def label_map(table: LabelTable, name: str, form: Form, where: object) -> LabelMap:
    """Give a label table with its scheme, ours or its own. Raises InputError for a label that the scheme lacks."""
    from sectioncls.corpora.forms import LabelMap
    from sectioncls.schemes import LabelScheme, load_scheme

    # A table may also say what becomes of sentences without a label.
    unlabelled = table.labels.get(form.unlabelled or "", form.unlabelled)
    if table.scheme is not None:
        scheme = load_scheme(table.scheme)
    else:
        own = dict.fromkeys(label for label in (*table.labels.values(), unlabelled) if label)
        scheme = LabelScheme(name=name, labels=tuple(own))
    for label in (*table.labels.values(), unlabelled):
        if label and label not in scheme.labels:
            todo = f"it has {', '.join(scheme.labels)}"
            raise InputError(f"label {label!r} is not in the scheme {scheme.name}", where, todo)
    names = {word.casefold(): label for word, label in table.labels.items()} | table.labels
    return LabelMap(scheme, names)


def next_command(card: Card, folder: Path, named: str | None = None) -> list[str]:
    """Give the words of the command that builds a fetched corpus; ``named`` is how the card was called."""
    words = ["sectioncls", _VERBS[card.builder]]
    if card.builder == "pmc":
        words.append("--xml")
    words.append(str(folder))
    if card.builder == "jsonl":
        words += ["--card", named or card.name]
    return [*words, *card.options]


def _folder() -> Path | None:
    """Give the folder of the cards that we carry."""
    for root in data_roots():
        if (root / "corpora" / "cards").is_dir():
            return root / "corpora" / "cards"
    return None


def _wrong(error: ValidationError, path: Path) -> InputError:
    """Give one line: the key, what is wrong, the nearest known key."""
    errors = error.errors()
    first = next((one for one in errors if one["type"] == "extra_forbidden"), errors[0])
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(first["loc"][-1]), _keys(), n=1, cutoff=0.4)
        return InputError(f"unknown key {key}", path, f"did you mean {near[0]}?" if near else None)
    what = re.sub(r"^Value error, ", "", first["msg"])
    return InputError(f"{key}: {what}" if key else what, path)


def _keys() -> list[str]:
    models: list[type[BaseModel]] = [Card, CardFile, FormTable, LabelTable]
    return [name.replace("_", "-") for model in models for name in model.model_fields]
