"""A map over a list of rows by Ray Data, on this machine or a cluster."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from typing import Any

from sectioncls.errors import SectionclsError, UsageError

__all__ = ["flat_map_on_ray"]

Row = dict[str, Any]

_BLOCK = 4 << 20  # bytes of results that are given on together
_STORE = 1 << 30  # bytes of Ray's object store on this machine


def flat_map_on_ray(
    function: Callable[[Row], Iterator[Row]], rows: list[Row], *, address: str | None = None, jobs: int = 0
) -> Iterator[Row]:
    """Give what ``function`` gives for each row, in any order; each row is one task for one core.

    ``address`` is a running cluster's (``auto``, ``ray://host:port``, ``host:port``); without one, Ray is started on
    this machine with ``jobs`` cores (0: all) and stopped at the end. Rows hold what Arrow holds: numbers, strings,
    bytes and lists of them. Nothing is reported to Ray's makers and no dashboard opens. Raises UsageError where Ray
    is not installed, SectionclsError for a cluster that does not answer.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise UsageError("--engine ray needs Ray", None, "pip install 'sectioncls[ray]'") from error
    if not rows:
        return
    try:
        if address:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        else:
            ray.init(
                address="local",
                num_cpus=jobs or None,
                object_store_memory=_STORE,
                include_dashboard=False,
                log_to_driver=False,
                logging_level="ERROR",
                _node_ip_address="127.0.0.1",
            )
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise SectionclsError(f"Ray can't be reached: {error}", address, "ray start --head, or no --address") from error
    try:
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        context.target_max_block_size = _BLOCK
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        options: dict[str, Any] = {"concurrency": jobs} if jobs and address else {}
        yield from ray.data.from_items(rows, override_num_blocks=len(rows)).flat_map(function, **options).iter_rows()
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        while cause is not None and not isinstance(cause, SectionclsError):
            cause = getattr(cause, "cause", None) or cause.__cause__
        raise cause or SectionclsError(f"a task on Ray failed: {error}") from error
    except ray.exceptions.RayError as error:
        raise SectionclsError(f"Ray failed: {error}", address, "--resume goes on") from error
    finally:
        ray.shutdown()
