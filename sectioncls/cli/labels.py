"""``sectioncls labels``: which label a heading gets and why, and which schemes there are."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sectioncls.cli.options import Json
from sectioncls.errors import UsageError

if TYPE_CHECKING:
    from sectioncls.schemes import Explanation, Hit, LabelScheme

__all__ = ["labels"]

labels = typer.Typer(help="Label schemes: what a heading is labelled and why.", no_args_is_help=True)
Scheme = Annotated[str, typer.Option(help="Label scheme: a name or a .toml file.")]


@labels.command("explain")
def explain_titles(
    titles: Annotated[
        list[str] | None, typer.Argument(metavar="TITLE…", help="Headings as written.", show_default=False)
    ] = None,
    path: Annotated[bool, typer.Option("--path", help="The titles are one path, outermost first.")] = False,
    sec_type: Annotated[
        list[str] | None,
        typer.Option("--sec-type", help="sec-type of the first, second … title; repeat it.", show_default=False),
    ] = None,
    scheme: Scheme = "pmc-sents",
    as_json: Json = False,
) -> None:
    """Say which label a heading gets, which word gave it, and why that one."""
    from sectioncls.schemes import explain, load_scheme

    levels = list(zip_longest((title or None for title in titles or ()), sec_type or ()))
    if not levels:
        raise UsageError("there is nothing to explain", None, 'give a title, as "Patients and methods"')
    loaded = load_scheme(scheme)
    found = [explain(one, loaded) for one in ([levels] if path else [[level] for level in levels])]
    if as_json:
        print(json.dumps([asdict(one) for one in found], indent=1, ensure_ascii=False))
    else:
        print("\n\n".join(_account(one) for one in found))


@labels.command("list")
def list_schemes(
    scheme: Annotated[
        str | None, typer.Option(help="Show this scheme in full: a name or a .toml file.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the schemes, or one with its labels, words and rules."""
    from sectioncls.schemes import SCHEMES, load_scheme

    if scheme is not None:
        row = _content(load_scheme(scheme))
        print(json.dumps(row, indent=1, ensure_ascii=False) if as_json else _page(row))
        return
    found = [load_scheme(name) for name in SCHEMES]
    if as_json:
        rows = [{"name": one.name, "about": one.about, "labels": one.labels} for one in found]
        print(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    for one in found:
        rules = "" if one.rules is not None else " (no rules for headings)"
        print(f"{one.name}: {', '.join(one.labels)}{rules}\n  {one.about}")


def _account(found: Explanation) -> str:
    """Give an explanation as text: the label, what stood in each level, and the rule."""
    names = [level.title or f"({level.sec_type})" for level in found.levels]
    lines = [
        f"{' › '.join(names)}",
        f"  {found.label or 'no label'}   {found.label_source}, scheme {found.scheme}",
    ]
    for place, level in enumerate(found.levels):
        prefix = f"{names[place]}: " if len(names) > 1 else ""
        mark = "  ← decides" if place == found.decided and len(names) > 1 else ""
        if not level.hits:
            lines.append(f"  {prefix}names no label{_unknown(level.sec_type)}")
            continue
        first, *others = level.hits
        rest = f"; also {', '.join(_hit(hit) for hit in others)}" if others else ""
        lines.append(f"  {prefix}{_hit(first)}{rest}{mark}")
    return "\n".join([*lines, f"  {found.reason}"])


def _hit(hit: Hit) -> str:
    """Give what was found as ``the word “Methods” at 13 (method)``."""
    if hit.kind == "heading":
        return f"the whole heading ({hit.label})"
    place = f" at {hit.start + 1}" if hit.start else ""
    return f"the {hit.kind} “{hit.text}”{place} ({hit.label})"


def _unknown(sec_type: str | None) -> str:
    return f", nor does the sec-type “{sec_type}”" if sec_type else ""


def _content(scheme: LabelScheme) -> dict[str, Any]:
    """Give a scheme with its rules, words by label."""
    row: dict[str, Any] = {"name": scheme.name, "about": scheme.about, "labels": scheme.labels}
    rules = scheme.rules
    if rules is None:
        return row
    return row | {
        "default": rules.default,
        "boxed": rules.boxed,
        "required": sorted(rules.required),
        "parts": rules.parts,
        "order": rules.order,
        "inside": {label: sorted(kept) for label, kept in rules.inside.items()},
        "words": {label: sorted(word for word, to in rules.words.items() if to == label) for label in scheme.labels},
        "sec_types": {
            label: sorted(word for word, to in rules.sec_types.items() if to == label) for label in scheme.labels
        },
        "titles": {label: sorted(word for word, to in rules.titles.items() if to == label) for label in scheme.labels},
    }


def _page(row: dict[str, Any]) -> str:
    lines = [f"{row['name']}: {row['about']}", ""]
    for label in row["labels"]:
        lines.append(label)
        if row.get("words", {}).get(label):
            lines.append(f"  words: {', '.join(row['words'][label])}")
        if row.get("sec_types", {}).get(label):
            lines.append(f"  sec-type: {', '.join(row['sec_types'][label])}")
        if row.get("titles", {}).get(label):
            lines.append(f"  whole headings: {len(row['titles'][label])} (--json lists them)")
    if "words" not in row:
        return "\n".join([*lines, "", "no rules for headings"])
    kept = "; ".join(f"{', '.join(inner)} inside {label}" for label, inner in row["inside"].items())
    first = f"in one level: {' before '.join(row['order'])}; in a path the outermost level that maps"
    lines += [
        "",
        f"{first}, save {kept}" if kept else first,
        f"nothing maps: {row['default'] or 'no label, left out'}; boxes: {row['boxed'] or 'as their headings say'}",
        f"labels {' and '.join(row['parts'])}; --require four asks for {', '.join(row['required']) or 'nothing'}",
    ]
    return "\n".join(lines)
