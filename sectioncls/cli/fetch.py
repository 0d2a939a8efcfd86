"""The verb fetch: published corpora from where their makers keep them."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sectioncls.cli.options import Json, Output, Quiet
from sectioncls.cli.progress import note, progress
from sectioncls.errors import InputError, UsageError

if TYPE_CHECKING:
    from sectioncls.fetch import Card, CardFile, Patience

__all__ = ["fetch"]


def fetch(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Card to fetch by: a name or FILE.toml.", show_default=False)
    ] = None,
    output: Output = None,
    listed: Annotated[
        bool, typer.Option("--list", help="Show all cards, or all that one card says, and fetch nothing.")
    ] = False,
    ids: Annotated[
        Path | None, typer.Option(help="File with one PMC id a line, for pmc-oa.", show_default=False)
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", help="Articles under way at a time.", min=1, max=16)] = 4,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that have other bytes.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fetch a published corpus: shows its licence, checks every file, goes on after a break (default: sources/NAME)."""
    from sectioncls.fetch import find_card, read_card

    if name is None:
        if not listed:
            raise UsageError("which corpus?", None, "`sectioncls fetch --list` shows them")
        _show_cards(as_json=as_json)
        return
    card = read_card(find_card(name))
    if listed:
        _show_card(card, as_json=as_json)
        return
    folder = Path("sources") / card.name if output is None else output
    note(f"{card.title}\nlicence: {card.licence}", quiet=quiet)
    if card.licence_url:
        note(f"         {card.licence_url}", quiet=quiet)
    if card.base_url:
        if ids is None:
            raise UsageError(f"{card.name} is fetched article by article", None, "--ids FILE, one PMC id a line")
        result = _fetch_articles(card, folder, ids, jobs, quiet=quiet)
    else:
        if ids is not None:
            raise UsageError(f"{card.name} is fetched as a whole", None, "leave --ids out")
        result = _fetch_files(card, folder, overwrite=overwrite, quiet=quiet)
    from sectioncls.fetch import next_command

    then = shlex.join(next_command(card, folder, name))
    if as_json:
        print(json.dumps({"card": card.name, "licence": card.licence, **result, "next": then}, indent=1))
        return
    for line in _lines(result):
        print(line)
    print(f"next: {then}")


def _fetch_files(card: Card, folder: Path, *, overwrite: bool, quiet: bool) -> dict[str, Any]:
    """Fetch the files of a card and give what is in the folder."""
    from sectioncls.fetch import fetch_set, missing_by_hand

    size = f"{card.size:,} bytes" if card.size else "size not known"
    note(f"fetching {sum(1 for file in card.files if file.url)} files ({size}) into {folder}", quiet=quiet)
    with _bytes_shown(quiet=quiet) as watch:
        found = fetch_set(card, folder, overwrite=overwrite, patience=_patience(quiet), watch=watch)
    missing = missing_by_hand(card, folder)
    if missing:
        note(f"to be got by hand: {', '.join(missing)} ({card.by_hand})", quiet=quiet)
    return {"folder": str(folder), "files": [asdict(file) for file in found], "by_hand": missing}


def _fetch_articles(card: Card, folder: Path, ids: Path, jobs: int, *, quiet: bool) -> dict[str, Any]:
    """Fetch articles by id and give how many are in the folder. Raises InputError when none is."""
    from sectioncls.fetch import fetch_articles, read_ids

    names = read_ids(ids)
    note(f"fetching {len(names)} articles into {folder}", quiet=quiet)
    status: Counter[str] = Counter()
    licences: Counter[str] = Counter()
    results = fetch_articles(names, folder, base_url=card.base_url or "", jobs=jobs, patience=_patience(quiet))
    for result in progress(results, unit="articles", total=len(names), quiet=quiet):
        status[result.status] += 1
        if result.status == "new":
            licences[result.licence or "not stated"] += 1
    if not status["new"] + status["there"]:
        raise InputError(f"none of its {len(names)} articles could be fetched", ids, f"see {folder / 'missing.jsonl'}")
    return {"folder": str(folder), "articles": dict(sorted(status.items())), "licences": dict(sorted(licences.items()))}


def _lines(result: dict[str, Any]) -> Iterator[str]:
    """Give what was fetched, one line a file, or a line for the articles and one for their licences."""
    for file in result.get("files", ()):
        state = "new" if file["fetched"] else "was there"
        check = "checked" if file["checked"] else f"no checksum known, sha256 {file['sha256']}"
        yield f"{file['name']}  {file['bytes']:,} bytes  {state}, {check}"
    if "articles" in result:
        counts = result["articles"]
        yield f"{counts.get('new', 0)} articles fetched, {counts.get('there', 0)} were there, in {result['folder']}"
        missing = {key: count for key, count in counts.items() if key not in ("new", "there")}
        if missing:
            why = ", ".join(f"{count} {key}" for key, count in missing.items())
            yield f"missing: {why} (see {Path(result['folder']) / 'missing.jsonl'})"
        if result["licences"]:
            yield f"licences: {', '.join(f'{key} {count}' for key, count in result['licences'].items())}"


def _show_cards(*, as_json: bool) -> None:
    """Print one line a card."""
    from sectioncls.fetch import card_names, find_card, read_card

    cards = [read_card(find_card(name)) for name in card_names()]
    if as_json:
        print(json.dumps([card.model_dump(by_alias=True, exclude_none=True) for card in cards], indent=1))
        return
    for card in cards:
        fetched = "by id" if card.base_url else "by hand" if not any(file.url for file in card.files) else ""
        size = f"{card.size / 2**20:.1f} MiB" if card.size and not fetched else fetched or "-"
        licence = re.split(r"[:;,(]", card.licence)[0].strip()
        print(f"{card.name:<28} {size:>9}  {licence:<28.28}  {card.title}")


def _show_card(card: Card, *, as_json: bool) -> None:
    """Print all that matters of a card."""
    if as_json:
        print(json.dumps(card.model_dump(by_alias=True, exclude_none=True), indent=1, ensure_ascii=False))
        return
    print(f"{card.title}\n{card.about}\n")
    said = {
        "citation": card.citation,
        "licence": card.licence,
        "": card.licence_url,
        "homepage": card.homepage,
        "source": card.source,
        "by hand": card.by_hand,
    }
    for key, value in said.items():
        if value:
            print(f"{key + ':' if key else '':<10} {value}")
    for file in card.files:
        size = f"{file.bytes:,} bytes" if file.bytes else "size not known"
        print(f"file:      {file.name}  {size}  {file.url or 'by hand'}")
    for text in card.notes:
        print(f"note:      {text}")


def _patience(quiet: bool) -> Patience:
    from sectioncls.fetch import Patience

    return Patience(tell=lambda text: note(text, quiet=quiet))


@contextmanager
def _bytes_shown(*, quiet: bool) -> Iterator[Callable[[CardFile, int], None]]:
    """Give a function that shows how far a file is, with rate and ETA, when stderr is a terminal."""
    import sys

    from tqdm import tqdm

    bars: dict[str, Any] = {}
    silent = quiet or not sys.stderr.isatty()

    def watch(file: CardFile, here: int) -> None:
        bar = bars.get(file.name)
        if bar is None:
            bar = bars[file.name] = tqdm(
                desc=file.name,
                total=file.bytes,
                initial=here,
                unit="B",
                unit_scale=True,
                dynamic_ncols=True,
                disable=silent,
            )
        bar.update(here - bar.n)

    try:
        yield watch
    finally:
        for bar in bars.values():
            bar.close()
