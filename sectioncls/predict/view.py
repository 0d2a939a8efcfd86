"""A labelled article as a page: every sentence underlined in the colour of its role, roles to be hidden and shown."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import sectioncls
from sectioncls.errors import OutputError
from sectioncls.predict.sources import Given
from sectioncls.records import Article, Sentence
from sectioncls.render import environment, marks, render_page
from sectioncls.staging import staged_file

__all__ = ["article_page", "page_name", "write_page"]

_TEMPLATES = Path(__file__).parent / "templates"
_UNSURE = 0.5  # below it the underline is dotted
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_NONE = "not sure enough"


def article_page(sentences: Sequence[Sentence], labels: Sequence[str], *, name: str, title: str, model: str) -> str:
    """Give the HTML page of one article; ``labels`` are the model's, in the order of the legend."""
    counts = Counter(sentence.label for sentence in sentences)
    shown = [*labels, *([""] if counts[""] else [])]
    looks = marks([label or _NONE for label in shown])
    roles = [{"name": label or _NONE, "mark": looks[label or _NONE], "count": counts[label]} for label in shown]
    return render_page(
        environment(_TEMPLATES),
        "article.html",
        version=sectioncls.__version__,
        name=name,
        title=title,
        model=model,
        sentences=len(sentences),
        roles=roles,
        blocks=_blocks(sentences, {label: place for place, label in enumerate(shown)}),
    )


def write_page(
    folder: Path, item: Given, sentences: Sequence[Sentence], labels: Sequence[str], *, model: str, overwrite: bool
) -> Path:
    """Write the page of one article into a folder and give its path. Raises OutputError when it is there already."""
    path = folder / f"{page_name(item.id)}.html"
    if path.exists() and not overwrite:
        raise OutputError("exists already", path, "choose another --html folder, or --overwrite")
    title = item.content.title if isinstance(item.content, Article) else ""
    page = article_page(sentences, labels, name=item.id, title=title, model=model)
    with staged_file(path) as aside:
        aside.write_text(page, encoding="utf-8")
    return path


def page_name(name: str) -> str:
    """Give a file name for an article's id: safe anywhere, another for every id."""
    safe = _UNSAFE.sub("-", name).strip("-.")[:80]
    return safe if safe == name else f"{safe or 'article'}-{zlib.crc32(name.encode('utf-8', 'surrogatepass')):08x}"


def _blocks(sentences: Sequence[Sentence], places: dict[str, int]) -> list[dict[str, Any]]:
    """Give the paragraphs with the headings that are new before each."""
    blocks: list[dict[str, Any]] = []
    above: tuple[str, ...] = ()
    for _, rows in groupby(sentences, key=lambda sentence: (sentence.paragraph, sentence.path)):
        group = list(rows)
        path = group[0].path
        known = 0
        while known < min(len(path), len(above)) and path[known] == above[known]:
            known += 1
        headings = [{"level": min(2 + depth, 4), "text": path[depth]} for depth in range(known, len(path))]
        above = path
        pieces: list[dict[str, Any]] = []
        for sentence in group:
            if pieces:
                pieces.append({"text": " ", "role": None})
            prob = 1.0 if sentence.prob is None else sentence.prob
            says = f"{sentence.label or _NONE}, {100 * prob:.0f} %"
            pieces.append(
                {"text": sentence.text, "role": places[sentence.label], "unsure": prob < _UNSURE, "says": says}
            )
        blocks.append({"headings": headings, "pieces": pieces})
    return blocks
