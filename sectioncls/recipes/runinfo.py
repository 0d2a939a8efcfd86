"""What run.json says of any recipe's run: how it began, what it was made from, how long its stages took."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sectioncls.recipes.versions import versions
from sectioncls.runs import Run

__all__ = ["info_at_start", "source_facts", "timed"]


def info_at_start(name: str, *, protocol: str, seeds: Sequence[int]) -> dict[str, Any]:
    """Give what run.json says from the start."""
    import torch

    return {
        "name": name,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "protocol": protocol,
        "seeds": list(seeds),
        "seconds": {},
        "threads": torch.get_num_threads(),
        "versions": versions(),
        "encoders": {},
    }


def source_facts(info: Any, path: Path) -> dict[str, Any]:
    """Give corpus.json (``info`` is its record) as a run keeps it, with the folder that it was read from."""
    facts = dataclasses.asdict(info)
    del facts["files"]
    return {**facts, "path": str(path)}


@contextmanager
def timed(run: Run, stage: str) -> Iterator[None]:
    """Write how many seconds the block took under ``stage``, once it has ended well."""
    began = time.perf_counter()
    yield
    spent = round(time.perf_counter() - began, 2)
    run.update(seconds={**run.info.get("seconds", {}), stage: spent})
