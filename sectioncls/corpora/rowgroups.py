"""Rows on their way into one Parquet file, in groups of a fixed size."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["ROWS_A_GROUP", "Rows"]

ROWS_A_GROUP = 20_000


class Rows:
    """Takes rows and writes them in groups; the next is filled while a thread packs and writes the last.

    So an error of the disk may show one group later; ``close`` waits for all.
    """

    def __init__(self, path: Path, fields: dict[str, pa.DataType]) -> None:
        self.path = path
        self.schema = pa.schema(list(fields.items()))
        self.columns: dict[str, list[Any]] = {name: [] for name in fields}
        self.lists = list(self.columns.values())
        self.writer: pq.ParquetWriter | None = None
        self.thread: ThreadPoolExecutor | None = None
        self.writing: Future[None] | None = None

    def append(self, row: Sequence[Any]) -> None:
        """Add one row."""
        for values, value in zip(self.lists, row, strict=True):
            values.append(value)
        self._write_full_groups()

    def extend(self, columns: Sequence[Sequence[Any]]) -> None:
        """Add rows that are given as columns."""
        for values, more in zip(self.lists, columns, strict=True):
            values.extend(more)
        self._write_full_groups()

    def flush(self) -> None:
        """Write the last group, which may be small, and wait until everything is written."""
        if self.lists[0]:
            self._write(len(self.lists[0]))
        self._wait()

    def abandon(self) -> None:
        """Close the file, whatever state it is in."""
        if self.thread is not None:
            self.thread.shutdown()
        if self.writer is not None:
            self.writer.close()
            self.writer = None

    def _write_full_groups(self) -> None:
        while len(self.lists[0]) >= ROWS_A_GROUP:
            self._write(ROWS_A_GROUP)

    def _write(self, rows: int) -> None:
        if self.writer is None or self.thread is None:
            self.thread = ThreadPoolExecutor(1)
            self.writer = pq.ParquetWriter(self.path, self.schema, compression="zstd")
        table = pa.table({name: values[:rows] for name, values in self.columns.items()}, schema=self.schema)
        for values in self.lists:
            del values[:rows]
        self._wait()
        self.writing = self.thread.submit(self.writer.write_table, table, row_group_size=ROWS_A_GROUP)

    def _wait(self) -> None:
        if self.writing is not None:
            writing, self.writing = self.writing, None
            writing.result()
