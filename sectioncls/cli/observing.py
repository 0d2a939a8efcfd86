"""The recipes' Observer at a terminal: bars with rate and ETA on stderr, notes as lines above them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sectioncls.recipes import Observer

__all__ = ["observer"]


def observer(*, quiet: bool) -> Observer:
    """Give what long work reports to; silent with ``quiet``, notes only where stderr is no terminal."""
    from sectioncls.recipes import SILENT, Observer

    return SILENT if quiet else Observer(stage=_stage, note=_note)


@contextmanager
def _stage(name: str, total: int, unit: str) -> Iterator[Callable[[int], None]]:
    from tqdm import tqdm

    with tqdm(
        desc=name, total=total, unit=f" {unit}", dynamic_ncols=True, leave=False, disable=not sys.stderr.isatty()
    ) as bar:

        def advance(count: int) -> None:
            bar.update(count)

        yield advance


def _note(text: str) -> None:
    from tqdm import tqdm

    tqdm.write(text, file=sys.stderr)
