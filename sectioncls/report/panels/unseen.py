"""What is left of each score on test sentences that no other split holds."""

from __future__ import annotations

from typing import Any

from sectioncls.report.tables import unseen_table
from sectioncls.report.views import Summary

__all__ = ["build"]


def build(summary: Summary) -> dict[str, Any] | None:
    """Give one table per corpus with leaks; None when no run was judged without them."""
    tables = [table for corpus in summary.corpora if (table := unseen_table(corpus)) is not None]
    return {"tables": tables} if tables else None
