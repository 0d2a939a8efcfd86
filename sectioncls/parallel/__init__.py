"""Mapping a function over a stream of items."""

from sectioncls.parallel.local import map_ordered, worker_count
from sectioncls.parallel.workers import TIME_LIMIT, LostReason, map_surviving

__all__ = ["TIME_LIMIT", "LostReason", "map_ordered", "map_surviving", "worker_count"]
