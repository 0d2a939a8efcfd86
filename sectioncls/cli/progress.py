"""Progress and notes on stderr: rate and ETA on a terminal, silence elsewhere and with --quiet."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

__all__ = ["note", "progress"]

Item = TypeVar("Item")


def progress(
    items: Iterable[Item],
    *,
    unit: str,
    total: int | None = None,
    expected: Callable[[], int | None] | None = None,
    quiet: bool = False,
) -> Iterator[Item]:
    """Give the items on, showing their rate and the time left on stderr when it is a terminal.

    ``expected`` is asked for the total again and again, where nobody knows it before.
    """
    from tqdm import tqdm

    bar = tqdm(
        items,
        total=total,
        unit=f" {unit}",
        unit_scale=True,
        dynamic_ncols=True,
        disable=quiet or not sys.stderr.isatty(),
    )
    for item in bar:
        if expected is not None:
            bar.total = expected()
        yield item


def note(text: str, *, quiet: bool = False) -> None:
    """Print one line for the person at the terminal, on stderr."""
    if not quiet:
        print(text, file=sys.stderr)
