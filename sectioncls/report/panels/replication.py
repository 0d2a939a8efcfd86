"""The paper's questions, its tables 5 to 7 and its claims, ours beside the published numbers."""

from __future__ import annotations

from typing import Any

from sectioncls.report.questions import answers, claims_table
from sectioncls.report.replication import replication_tables
from sectioncls.report.reproduced import reproduced
from sectioncls.report.views import Summary

__all__ = ["build"]


def build(summary: Summary) -> dict[str, Any] | None:
    """Give what came out to the digit, answers and tables; None where no run embeds and judges as the paper does."""
    stated = claims_table(summary)
    tables = [*replication_tables(summary), *([stated] if stated else [])]
    if not tables:
        return None
    notes = dict.fromkeys(note for table in tables for note in table.notes)
    return {"reproduced": reproduced(summary), "answers": answers(summary), "tables": tables, "notes": list(notes)}
