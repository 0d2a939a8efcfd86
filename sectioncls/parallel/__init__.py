"""Mapping a function over a stream of items."""

from sectioncls.parallel.local import map_ordered, worker_count

__all__ = ["map_ordered", "worker_count"]
