"""How long work tells the person who waits: stages with progress, and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

__all__ = ["SILENT", "Advance", "Observer"]

Advance = Callable[[int], None]


@contextmanager
def _no_stage(name: str, total: int, unit: str) -> Iterator[Advance]:
    yield lambda count: None


@dataclass(frozen=True, slots=True)
class Observer:
    """``stage(name, total, unit)`` opens a stage and gives what advances it; ``note(text)`` says a line."""

    stage: Callable[[str, int, str], AbstractContextManager[Advance]] = _no_stage
    note: Callable[[str], None] = lambda text: None


SILENT = Observer()
