"""Reading on Ray: the driver lists files, workers open and read them, the results go into the driver's spill."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

from sectioncls.corpora.labelling import Reader, label_articles
from sectioncls.corpora.reading import ContainerOf, Maker, Results, Task, map_tasks
from sectioncls.corpora.sources import Item, Source, key_of, unfold
from sectioncls.corpora.spill import Packed, Spill
from sectioncls.errors import UsageError
from sectioncls.parallel.ray import flat_map_on_ray
from sectioncls.records import Rejected

__all__ = ["read_on_ray"]

Row = dict[str, Any]
_FILES = 256  # plain files that are read by one task
_BYTES = 32 << 20


def read_on_ray(
    items: Iterable[Item],
    read: Reader,
    rules: Any,
    spill: Spill,
    *,
    container_of: ContainerOf,
    jobs: int,
    address: str | None,
    make: Maker = label_articles,
) -> Iterator[str]:
    """Set aside what the files hold and give the container of each document that is done, as ``read_locally`` does.

    Every worker must see the files under the same paths. An archive is one task, plain files go by the hundred.
    """
    rows: list[Row] = []
    for item in _grouped(items, spill, container_of):
        if isinstance(item, Rejected):
            spill.add(container_of(item), key_of(item), [item])
            yield container_of(item)
        else:
            rows.append(item)
    function = partial(_read_row, read=read, rules=rules, container_of=container_of, make=make)
    for row in flat_map_on_ray(function, rows, address=address, jobs=jobs):
        if row["known"]:
            spill.seen_before(row["container"], row["key"])
        else:
            spill.add(row["container"], row["key"], _from_row(row))
            yield row["container"]


def _grouped(items: Iterable[Item], spill: Spill, container_of: ContainerOf) -> Iterator[Row | Rejected]:
    """Give a row for each task, without what the spill holds; rejections as they come."""
    group: list[Source] = []
    for item in items:
        if isinstance(item, Source) and item.is_bulk:
            yield _row([item], spill.keys_of(item.name))
        elif spill.seen_before(container_of(item), key_of(item)):
            continue
        elif isinstance(item, Source):
            group.append(item)
            if len(group) >= _FILES or sum(source.size for source in group) >= _BYTES:
                yield _row(group, [])
                group = []
        elif isinstance(item, Rejected):
            yield item
        else:
            raise UsageError("Ray reads files, not documents that are read already", item.name, "--engine local")
    if group:
        yield _row(group, [])


def _row(sources: list[Source], known: list[bytes]) -> Row:
    return {
        "names": [source.name for source in sources],
        "sizes": [source.size for source in sources],
        "changed": [source.changed for source in sources],
        "known": b"".join(known),
    }


def _read_row(row: Row, *, read: Reader, rules: Any, container_of: ContainerOf, make: Maker) -> Iterator[Row]:
    """Give one row for each document of a task's files; runs on Ray, with a process that may die for its own."""
    sources = [Source(*about) for about in zip(row["names"], row["sizes"], row["changed"], strict=True)]
    size = len(key_of(sources[0]))
    known = Counter(row["known"][start : start + size] for start in range(0, len(row["known"]), size))
    again: list[Task] = []

    def tasks() -> Iterator[Task]:
        for item in unfold(sources):
            task = Task(item, container_of(item), key_of(item))
            if known[task.key]:
                known[task.key] -= 1
                again.append(task)
            else:
                yield task

    for task, results in map_tasks(tasks(), read, rules, workers=1, make=make):
        yield _to_row(task, results)
    for task in again:
        yield _to_row(task, None)


def _to_row(task: Task, results: Results | None) -> Row:
    """Give results as a row that Arrow can hold; None for those that are known."""
    heads, data = [], []
    for result in results or ():
        if isinstance(result, Rejected):
            heads.append({"rejected": asdict(result)})
            data.append(b"")
        else:
            head = {name: getattr(result, name) for name in ("article_id", "source", "place", "lacks", "doi")}
            heads.append(head | {"counts": dict(result.counts), "text": result.text.hex(), "near": result.near.hex()})
            data.append(result.data)
    return {
        "container": task.container,
        "key": task.key,
        "known": results is None,
        "heads": json.dumps(heads, ensure_ascii=True),
        "data": data,
    }


def _from_row(row: Row) -> Results:
    results: Results = []
    for head, data in zip(json.loads(row["heads"]), row["data"], strict=True):
        if "rejected" in head:
            results.append(Rejected(**head["rejected"]))
        else:
            text, near = (bytes.fromhex(head.pop(name)) for name in ("text", "near"))
            results.append(Packed(**head, text=text, near=near, data=data))
    return results
