"""The output of ``predict``: one row a sentence, as JSONL, CSV or Parquet, written in constant memory."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from sectioncls.corpora.corpus import spreadsheet_cell

__all__ = ["COLUMNS", "WRITERS", "Add"]

Row: TypeAlias = dict[str, Any]
Add: TypeAlias = Callable[[list[Row]], None]

COLUMNS = ("article_id", "index", "text", "label", "prob", "path", "paragraph", "start", "end", "source")
_GROUP = 20_000  # rows of a Parquet row group


@contextmanager
def _jsonl(path: Path) -> Iterator[Add]:
    with path.open("w", encoding="utf-8", newline="\n") as stream:

        def add(rows: list[Row]) -> None:
            stream.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)

        yield add


@contextmanager
def _csv(path: Path) -> Iterator[Add]:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)

        def add(rows: list[Row]) -> None:
            for row in rows:
                writer.writerow([spreadsheet_cell(value) for value in row.values()])

        yield add


@contextmanager
def _parquet(path: Path) -> Iterator[Add]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    whole = ("index", "paragraph", "start", "end")
    kinds = {"prob": pa.float64(), "path": pa.list_(pa.string())} | dict.fromkeys(whole, pa.int32())
    schema = pa.schema([(column, kinds.get(column, pa.string())) for column in COLUMNS])
    waiting: list[Row] = []
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:

        def flush() -> None:
            writer.write_table(pa.Table.from_pylist(waiting, schema=schema))
            waiting.clear()

        def add(rows: list[Row]) -> None:
            waiting.extend(rows)
            if len(waiting) >= _GROUP:
                flush()

        yield add
        flush()


WRITERS: dict[str, Callable[[Path], AbstractContextManager[Add]]] = {
    ".jsonl": _jsonl,
    ".csv": _csv,
    ".parquet": _parquet,
}
"""Writers by suffix."""
