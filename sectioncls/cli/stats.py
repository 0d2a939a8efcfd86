"""``sectioncls stats``: what a corpus holds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sectioncls.cli.options import Json, Quiet
from sectioncls.cli.progress import progress

if TYPE_CHECKING:
    from sectioncls.audit.stats import CorpusStats, Lengths, SplitStats

__all__ = ["content_lines", "stats"]


def stats(
    corpus: Annotated[
        Path | None, typer.Argument(help="Corpus folder (default: the only one in corpora/).", show_default=False)
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Count what a corpus holds: labels, where they come from, unmapped titles, licences, languages, lengths.

    Of a paper set: papers, citations and judgements, and how they spread over fields, venues, years and topics.
    """
    from sectioncls.audit.paper_stats import is_paperset
    from sectioncls.audit.stats import corpus_stats
    from sectioncls.corpora import only_corpus, open_corpus

    folder = corpus or only_corpus()
    if is_paperset(folder):
        _papers(folder, as_json=as_json)
        return
    opened = open_corpus(folder)
    found = corpus_stats(opened, watch=lambda batches: _watched(batches, quiet=quiet))
    if as_json:
        print(json.dumps(asdict(found) | {"path": str(opened.path)}, indent=1, ensure_ascii=False))
        return
    print(f"{found.name}: {found.articles} articles, {found.sentences} sentences, scheme {found.scheme}\n")
    print("\n".join(_label_table(found)))
    print("\n" + "\n".join(_length_table(found)))
    print("\n" + "\n".join(content_lines(found)))


def _papers(folder: Path, *, as_json: bool) -> None:
    from sectioncls.audit.paper_stats import paper_stats
    from sectioncls.cli.paper_stats import paper_lines
    from sectioncls.papersets import open_paperset

    opened = open_paperset(folder)
    found = paper_stats(opened)
    if as_json:
        print(json.dumps(asdict(found) | {"path": str(opened.path)}, indent=1, ensure_ascii=False))
        return
    print("\n".join(paper_lines(found)))


def content_lines(found: CorpusStats, *, titles: int = 20, most: int = 12) -> list[str]:
    """Give lines on where labels come from, unmapped titles, licences, languages and what was left out."""
    lines = []
    if found.relevant is not None:
        lines.append(f"relevant (any label but other): {_percent(found.relevant)}")
    if found.label_sources:
        lines.append(f"labels come from: {_shares(found.label_sources, most)}")
    if found.unmapped:
        lines.append("commonest titles that no rule maps (sentences, articles):")
        rows = [[row.title[:60], str(row.sentences), str(row.articles)] for row in found.unmapped[:titles]]
        lines += [f"  {line}" for line in _aligned(rows)]
    if found.licences:
        lines.append(f"licences of articles: {_shares(found.licences, most)}")
    if found.languages:
        lines.append(f"languages of articles: {_shares(found.languages, most)}")
    if found.rejected:
        reasons = ", ".join(f"{reason} {count}" for reason, count in found.rejected.items())
        lines.append(f"left out: {reasons}")
    return lines


def _label_table(found: CorpusStats) -> list[str]:
    """Give a row for each label and a column for each split: sentences and their share."""
    columns = [*found.splits.items(), ("all", None)]
    rows = [["", *(name for name, _ in columns)]]
    articles = [part.articles if part else found.articles for _, part in columns]
    totals = [part.sentences if part else found.sentences for _, part in columns]
    rows.append(["articles", *map(str, articles)])
    rows.append(["sentences", *map(str, totals)])
    for label in found.labels:
        counts = [part.labels[label] if part else found.labels[label] for _, part in columns]
        rows.append([label, *(f"{count} ({_percent(count / n)})" for count, n in zip(counts, totals, strict=True))])
    return _aligned(rows)


def _length_table(found: CorpusStats) -> list[str]:
    rows = [["length: median, 95 %, longest", *found.splits]]
    for unit in ("words", "characters", "tokens"):
        cells = [_lengths(part, unit) for part in found.splits.values()]
        if all(cells):
            rows.append([f"{unit} (MiniLM)" if unit == "tokens" else unit, *cells])
    return _aligned(rows)


def _lengths(part: SplitStats, unit: str) -> str:
    lengths: Lengths | None = getattr(part, unit)
    if lengths is None:
        return ""
    sampled = "" if lengths.n == part.sentences else f" (of {lengths.n})"
    return f"{lengths.median}, {lengths.p95}, {lengths.longest}{sampled}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Give rows as lines, the first column to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join([row[0].ljust(widths[0]), *cells[1:]]))
    return lines


def _shares(counts: Mapping[str, int], most: int) -> str:
    """Give the largest counts with their shares, and how many others there are."""
    total = sum(counts.values())
    shown = list(counts.items())[:most]
    text = ", ".join(f"{name} {count} ({_percent(count / total)})" for name, count in shown)
    return text if len(counts) <= most else f"{text}, {len(counts) - most} more"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _watched(batches: Iterable[Any], *, quiet: bool) -> Iterator[Any]:
    return progress(batches, unit="batches", quiet=quiet)
