"""A fixed number of threads where their number would show in the result."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

__all__ = ["threads"]


def threads(number: int) -> AbstractContextManager[Any]:
    """A context in which numeric libraries use ``number`` threads, so that sums keep one order everywhere."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    limits: AbstractContextManager[Any] = threadpool_limits(number)
    return limits
