"""Mapping a function over a stream of items."""

from sectioncls.parallel.local import TIME_LIMIT, LostReason, map_surviving, worker_count

__all__ = ["TIME_LIMIT", "LostReason", "map_surviving", "worker_count"]
