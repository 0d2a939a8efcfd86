"""Lines on what a paper set holds, for ``sectioncls stats``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sectioncls.audit.paper_stats import PaperStats

__all__ = ["paper_lines"]

_SHOWN = 40


def paper_lines(found: PaperStats, *, most: int = 12) -> list[str]:
    """Give lines: sizes, lengths, years, then the spread over fields, venues, decades and topics (``most`` of each)."""
    splits = list(found.splits)
    lines = [f"{found.name}: {found.papers} papers", ""]
    rows = [["", *splits, "all"]]
    for what in next(iter(found.splits.values())):
        counts = [found.splits[split][what] for split in splits]
        rows.append([what, *map(str, counts), str(sum(counts))])
    linked = [found.linked[split] for split in splits]
    rows.append(["with a citation in the set", *map(str, linked), str(sum(linked))])
    rows.append(["words: median, 95 %", *(", ".join(map(str, found.words[split])) for split in splits), ""])
    lines += _aligned(rows)
    if found.years:
        lines += ["", "years {} to {}".format(*found.years)]
    for title, counts_of in (("fields", found.fields), ("venues", found.venues), ("decades", found.decades)):
        lines += _spread(title, counts_of, most, {split: found.splits[split]["papers"] for split in splits})
    for name, collection in found.collections.items():
        about = f"{len(collection.topics)} topics, {collection.defined} with a definition"
        title = f"{name} ({about}; papers that bear any: {sum(collection.papers.values())})"
        lines += _spread(title, collection.topics, most, collection.papers)
    none = dict.fromkeys(splits, 0)
    lines += _spread("rankings (queries)", found.tasks, len(found.tasks), none)
    lines += _spread("numbers (papers)", found.targets, len(found.targets), none)
    return lines


def _spread(title: str, counts: Mapping[str, Mapping[str, int]], most: int, papers: Mapping[str, int]) -> list[str]:
    """Give a table of the commonest values by split, with shares of ``papers`` (0: none); nothing without values."""
    if not counts:
        return []
    rows = [[title, *papers, "all"]]
    for value, mine in list(counts.items())[:most]:
        cells = [_cell(mine[split], whole) for split, whole in papers.items()]
        rows.append([f"  {value[:_SHOWN]}", *cells, _cell(sum(mine.values()), sum(papers.values()))])
    lines = ["", *_aligned(rows)]
    return lines if len(counts) <= most else [*lines, f"  {len(counts) - most} more"]


def _cell(count: int, whole: int) -> str:
    return f"{count} ({100 * count / whole:.1f} %)" if whole else str(count)


def _aligned(rows: list[list[str]]) -> list[str]:
    """Give rows as lines, the first column to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(1, len(rows[0]))]
    first = max(len(row[0]) for row in rows[1:])
    lines = []
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths, strict=True)]
        head = [row[0]] if len(row[0]) > first else []  # a long title stands on a line of its own
        lines += [*head, "  ".join([("" if head else row[0]).ljust(first), *cells]).rstrip()]
    return lines
