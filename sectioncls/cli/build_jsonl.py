"""The verb build-jsonl: sets that bring their own labels, by a card or by options."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sectioncls.cli.build import build_command, show_corpus
from sectioncls.cli.options import Json, Output, Overwrite, Quiet, Seed
from sectioncls.errors import UsageError

if TYPE_CHECKING:
    from sectioncls.corpora.forms import Form, LabelMap
    from sectioncls.fetch import Card

__all__ = ["build_jsonl"]

FIELDS = {
    "text": "--text-field",
    "label": "--label-field",
    "article": "--article-field",
    "split": "--split-field",
    "confidence": "--confidence-field",
    "votes": "--votes-field",
    "position": "--position-field",
    "path": "--path-field",
    "unlabelled": "--unlabelled",
}


def _field(option: str, text: str) -> Any:
    return typer.Option(option, help=text, show_default=False)


def build_jsonl(
    src: Annotated[Path, typer.Argument(metavar="SRC", help="Folder or file to read.", show_default=False)],
    output: Output = None,
    card: Annotated[
        str | None, typer.Option(help="Card that says how the set is read: a name or FILE.toml.", show_default=False)
    ] = None,
    labels_map: Annotated[
        str | None,
        typer.Option(
            help="Labels as they are to be called: FILE.toml, FILE.json, or a map of the card.", show_default=False
        ),
    ] = None,
    scheme: Annotated[
        str | None, typer.Option(help="Label scheme of ours that knows the labels.", show_default=False)
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the corpus (default: the card's, or SRC's).", show_default=False)
    ] = None,
    text_field: Annotated[
        str | None, _field("--text-field", "Where the text is, or an article's texts (default: sentences).")
    ] = None,
    label_field: Annotated[
        str | None, _field("--label-field", "Where the label is, or the labels (default: labels).")
    ] = None,
    article_field: Annotated[str | None, _field("--article-field", "Where the article's id is.")] = None,
    split_field: Annotated[
        str | None, _field("--split-field", "Where the split is (default: files' names, else a hash).")
    ] = None,
    confidence_field: Annotated[str | None, _field("--confidence-field", "Where the confidence (0 to 1) is.")] = None,
    votes_field: Annotated[str | None, _field("--votes-field", "Where the labels of several annotators are.")] = None,
    position_field: Annotated[str | None, _field("--position-field", "A number that rises within an article.")] = None,
    path_field: Annotated[str | None, _field("--path-field", "Where the headings above a sentence are.")] = None,
    several: Annotated[bool, typer.Option("--several", help="Sentences may have several labels: keep all.")] = False,
    unlabelled: Annotated[
        str | None, _field("--unlabelled", "Label of sentences without one; '' leaves them out.")
    ] = None,
    drop_conflicts: Annotated[
        Literal["keep", "paper"],
        typer.Option("--drop-conflicts", help="paper: remove every copy of a text with two labels in one split."),
    ] = "keep",
    seed: Seed = 0,
    overwrite: Overwrite = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build a corpus from JSON lines, JSON, CSV, TSV or Parquet with labels of their own (default: corpora/NAME).

    A record is a sentence, or an article with lists of sentences and labels. Fields may lie inside others:
    meta.id, sentences.text. A card holds all of this for a published set: `sectioncls fetch --list`.
    """
    from sectioncls.corpora.jsonl import build_jsonl as build
    from sectioncls.corpora.jsonl import find_files

    given = {
        "text": text_field,
        "label": label_field,
        "article": article_field,
        "split": split_field,
        "confidence": confidence_field,
        "votes": votes_field,
        "position": position_field,
        "path": path_field,
        "unlabelled": unlabelled,
    }
    known = None if card is None else _card(card, src)
    form = _form(known, {key: value for key, value in given.items() if value is not None}, several=several)
    files = find_files(src, None if known is None else {file.name: file.split for file in known.files if file.read})
    name = name or (known.name if known else _stem(src))
    labels = _labels(known, labels_map, scheme, form, files, name)
    options: dict[str, object] = {"--card": card, "--labels-map": labels_map, "--scheme": scheme}
    options |= {FIELDS[key]: value for key, value in given.items()}
    options |= {"--several": several, "--drop-conflicts": drop_conflicts, "--seed": seed}
    defaults: dict[str, object] = {"--several": False, "--drop-conflicts": "keep", "--seed": 0}
    corpus = build(
        files,
        Path("corpora") / name if output is None else output,
        name=name,
        form=form,
        labels=labels,
        command=build_command("build-jsonl", src, options, defaults),
        conflicts=drop_conflicts,
        overwrite=overwrite,
        licence=known.licence if known else "",
        language=known.language if known else None,
        notes=known.notes if known else (),
        seed=seed,
    )
    show_corpus(corpus, as_json=as_json, quiet=quiet)


def _card(name: str, src: Path) -> Card:
    """Give a card that this verb can build by. Raises UsageError naming the verb for another one."""
    import shlex

    from sectioncls.fetch import find_card, next_command, read_card

    card = read_card(find_card(name))
    if card.builder != "jsonl":
        raise UsageError(f"the card {card.name} has a verb of its own", None, shlex.join(next_command(card, src)))
    return card


def _form(card: Card | None, given: dict[str, Any], *, several: bool) -> Form:
    """Give the card's form, or the default one, with what the options say otherwise."""
    from sectioncls.corpora.forms import Form
    from sectioncls.fetch import read_form

    form = Form() if card is None else read_form(card)[0]
    if card is None and "votes" in given and "label" not in given:
        given["label"] = None
    return dataclasses.replace(form, **given, several=several or form.several)


def _labels(
    card: Card | None, labels_map: str | None, scheme: str | None, form: Form, files: list[Any], name: str
) -> LabelMap:
    """Give the labels by a map file, a map of the card, a scheme, the card, or as they occur."""
    from sectioncls.corpora.jsonl import own_labels
    from sectioncls.fetch import LabelTable, label_map, read_form, read_label_table

    if labels_map is not None and labels_map.endswith((".toml", ".json")):
        table = read_label_table(Path(labels_map))
        if scheme is not None:
            table = table.model_copy(update={"scheme": scheme})
        return label_map(table, name, form, labels_map)
    if labels_map is not None and card is None:
        raise UsageError(f"--labels-map {labels_map!r} is no .toml or .json file, and there is no --card", None)
    if scheme is not None:
        return label_map(LabelTable(scheme=scheme), name, form, scheme)
    if card is not None:
        return read_form(card, labels_map)[1]
    return own_labels(files, form, name)


def _stem(src: Path) -> str:
    """Give the name of a folder, or of a file without its suffixes."""
    name = src.resolve().name
    return name if src.is_dir() else name.split(".")[0] or name
