"""Rows of a foreign Parquet file, in constant memory, with file and row in every error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sectioncls.corpora.openers import source_path
from sectioncls.errors import InputError

__all__ = ["read_rows"]


def read_rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Give (``file:row N``, values of the columns) for each row, N from 0.

    Raises InputError when the file is missing, no Parquet, empty, or lacks a column.
    """
    source_path(path)
    try:
        with pq.ParquetFile(path) as file:
            missing = [column for column in columns if column not in file.schema_arrow.names]
            if missing:
                there = ", ".join(file.schema_arrow.names)
                raise InputError(f"lacks the column {', '.join(missing)} (columns: {there})", path)
            if file.metadata.num_rows == 0:
                raise InputError("is empty", path)
            row = 0
            for batch in file.iter_batches(columns=list(columns)):
                for values in zip(*(batch.column(name).to_pylist() for name in columns), strict=True):
                    yield f"{path}:row {row}", values
                    row += 1
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"can't be read as Parquet: {error}", path, "fetch it again") from error
