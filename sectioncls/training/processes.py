"""Several processes that train one encoder (torchrun, accelerate): the first alone writes, all wait for each other."""

from __future__ import annotations

import os
from typing import Any

__all__ = ["first_process", "process_count", "wait_for_all"]


def process_count() -> int:
    """Give how many processes the training was started with; 1 without torchrun or accelerate."""
    return int(_accelerator().num_processes) if _several() else 1


def first_process() -> bool:
    """Tell whether this is the process that writes."""
    return bool(_accelerator().is_main_process) if _several() else True


def wait_for_all() -> None:
    """Come back when every process has come here."""
    if _several():
        _accelerator().wait_for_everyone()


def _accelerator() -> Any:
    from accelerate import Accelerator  # made as fit.py makes it: all share one state

    return Accelerator()


def _several() -> bool:
    # What torchrun and accelerate tell the processes that they start; alone, nothing needs to be set up.
    return int(os.environ.get("WORLD_SIZE", "1")) > 1
