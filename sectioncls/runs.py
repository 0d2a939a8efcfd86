"""The run folder as a file format: everything that one recipe produced, kept piece by piece.

A run takes minutes to hours and may be interrupted, so its folder exists from the start: ``run.json`` says
``"status": "running"`` until ``finish`` writes ``"done"``, and every piece is written whole (``history.jsonl``
grows by whole lines). What was there before an interruption stays there::

    run = create_run("reports/demo", {"name": "demo", "seeds": [1]})
    run.write_text("recipe.toml", recipe)
    run.append_history({"kind": "step", "step": 1, "loss": 4.9})
    run.add_scores([Score("f1-micro", 0.75, method="knn", encoder="tuned")])
    run.add_rows("predictions", {"article_id": ids, ...})
    run.finish(seconds={"train": 81.0})

From ``create_run`` or ``reopen_run`` until ``finish``, or until the process ends, the folder is this process's own: a
file ``.NAME.lock`` beside it is locked, and goes when the run is let go.
"""

from __future__ import annotations

import atexit
import dataclasses
import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sectioncls.errors import InputError, OutputError
from sectioncls.records import Score
from sectioncls.staging import check_output, disk_errors, folder_files, staged_file, write_json

if TYPE_CHECKING:
    import pyarrow
    from filelock import BaseFileLock

__all__ = ["FORMAT", "TABLES", "Run", "create_run", "open_run", "reopen_run"]

FORMAT = 1
MANIFEST = "run.json"

TABLES: dict[str, tuple[str, ...]] = {
    "predictions": ("article_id", "index", "label", "encoder", "method", "predicted"),
    "clusters": ("article_id", "index", "label", "encoder", "method", "cluster"),
    "projection": ("article_id", "index", "label", "encoder", "method", "x", "y"),
    "curves": ("encoder", "method", "curve", "series", "repeat", "x", "y", "n"),
    "descriptions": ("encoder", "method", "cluster", "size", "term", "weight"),
    "query_scores": ("task", "metric", "query", "encoder", "method", "seed", "split", "value"),
    "paper_predictions": ("task", "paper", "encoder", "method", "seed", "split", "truth", "prediction"),
}
"""The tables of a run, kept as ``NAME.parquet``, with the columns that each must have (ids, no text).

``descriptions`` holds the typical words of clusters, each of which stands in several sentences. A ``curve`` is
``learning``, ``few-shot``, ``k``, ``reliability`` or ``precision-recall``. Runs of paper encoders have
``query_scores``, the value of each query, and ``paper_predictions``, numbers of classes or values.
"""

# What a run may hold: an unfinished folder with nothing else in it is ours, whatever its manifest lists.
_OWN_FILES = {
    MANIFEST,
    "recipe.toml",
    "scores.json",
    "history.jsonl",
    "trials.jsonl",
    "report.html",
    *(f"{name}.parquet" for name in TABLES),
}
_OWN_FOLDERS = ("encoder", "embeddings", "checkpoint", "corpus")


class Run:
    """One run folder: ``path`` and ``info``, the content of its run.json (``update`` changes and saves it)."""

    __slots__ = ("info", "path")

    def __init__(self, path: Path, info: dict[str, Any]) -> None:
        self.path = path
        self.info = info

    @property
    def name(self) -> str:
        """The run's name: as run.json has it, else the folder's."""
        return str(self.info.get("name") or self.path.resolve().name)

    def update(self, **values: Any) -> None:
        """Set values of run.json and save it, with the list of the files that are in the folder now."""
        self.info = {**self.info, **values}
        files = set(folder_files(self.path)) - {MANIFEST}
        self.info["files"] = sorted(file for file in files if not file.endswith(".part"))
        write_json(self.path / MANIFEST, _plain(self.info))

    def note(self, text: str) -> None:
        """Add one line to the notes of run.json."""
        self.update(notes=[*self.info.get("notes", []), text])

    def finish(self, **values: Any) -> None:
        """Mark the run as done, list its files and let the folder go; ``values`` go into run.json."""
        self.update(**values, status="done")
        _let_go(self.path)

    def write_text(self, name: str, text: str) -> None:
        """Write one text file of the run, such as ``recipe.toml``, whole."""
        with staged_file(self.path / name) as aside:
            aside.write_text(text, encoding="utf-8")
        self.update()

    def read_text(self, name: str) -> str | None:
        """Give one text file of the run; None where the run has none."""
        try:
            return (self.path / name).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"can't be read: {error}", self.path / name) from error

    def add_scores(self, scores: Iterable[Score]) -> None:
        """Add scores to ``scores.json``, which is rewritten whole."""
        rows = [dataclasses.asdict(score) for score in [*self.scores(), *scores]]
        write_json(self.path / "scores.json", _plain(rows))
        self.update()

    def scores(self) -> list[Score]:
        """Give every score of the run, in the order in which they were added; none where none is there."""
        path = self.path / "scores.json"
        text = self.read_text("scores.json")
        if text is None:
            return []
        try:
            return [_score(row) for row in json.loads(text)]
        except (ValueError, TypeError) as error:
            raise InputError(f"is not a list of scores: {error}", path) from error

    def append_history(self, row: Mapping[str, Any]) -> None:
        """Add one line to ``history.jsonl``; ``kind`` is ``step``, ``dev`` or ``note``."""
        path = self.path / "history.jsonl"
        line = json.dumps(_plain(row), ensure_ascii=False) + "\n"
        try:
            with path.open("a", encoding="utf-8") as stream:
                stream.write(line)
        except OSError as error:
            raise OutputError(f"can't be written: {error.strerror}", path) from error

    def history(self) -> list[dict[str, Any]]:
        """Give the rows of ``history.jsonl``; none where the run trained nothing."""
        rows = []
        for number, line in enumerate((self.read_text("history.jsonl") or "").split("\n"), start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise InputError("is not JSON", f"{self.path / 'history.jsonl'}:{number}") from error
            if not isinstance(row, dict):
                raise InputError("is not a JSON object", f"{self.path / 'history.jsonl'}:{number}")
            rows.append(row)
        return rows

    def write_table(self, name: str, columns: Mapping[str, Any]) -> None:
        """Write one of TABLES as Parquet, replacing what was there; columns are arrays of one length."""
        self._save(name, _table(name, columns))

    def add_rows(self, name: str, columns: Mapping[str, Any]) -> None:
        """Add the rows of some encoders and methods (seeds, splits) to one of TABLES, in place of what these had there.

        The file is rewritten whole, so that an interruption loses nothing and a second try doubles nothing.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = _table(name, columns)
        if (self.path / f"{name}.parquet").exists():
            old, new = pq.read_table(self.path / f"{name}.parquet"), set(_owners(table))
            table = pa.concat_tables([old.filter(pa.array([owner not in new for owner in _owners(old)])), table])
        self._save(name, table)

    def read_table(self, name: str) -> dict[str, list[Any]]:
        """Give the columns of one of TABLES as lists; {} where the run has no such table."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self.path / f"{name}.parquet"
        if not path.exists():
            return {}
        try:
            table = pq.read_table(path)
        except (pa.ArrowException, OSError) as error:
            raise InputError("is not a Parquet file", path) from error
        missing = [column for column in TABLES[name] if column not in table.column_names]
        if missing:
            raise InputError(f"lacks the column {missing[0]}", path)
        return {column: table.column(column).to_pylist() for column in table.column_names}

    def folder(self, name: str) -> Path:
        """Give a folder inside the run (``encoder``, ``embeddings``, ``checkpoint``, ``corpus``); writers make it."""
        if name not in _OWN_FOLDERS:
            raise ValueError(f"a run has no folder {name!r}; it has {', '.join(_OWN_FOLDERS)}")
        return self.path / name

    def _save(self, name: str, table: pyarrow.Table) -> None:
        import pyarrow.parquet as pq

        with staged_file(self.path / f"{name}.parquet") as aside:
            pq.write_table(table, aside)
        self.update()


def create_run(path: str | Path, info: Mapping[str, Any] | None = None, *, overwrite: bool = False) -> Run:
    """Make a run folder and give the Run that fills it; ``info`` is what run.json says from the start.

    Raises OutputError when the folder exists, without ``overwrite``; with it, only a run of ours goes. Raises it as
    well when another process fills the folder.
    """
    path = Path(path)
    with _held(path):
        if overwrite:
            _claim_unfinished(path)
        check_output(path, overwrite=overwrite)
        if path.exists() and any(path.iterdir()):
            old = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".old", dir=path.resolve().parent))
            path.rename(old / path.name)
            shutil.rmtree(old)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"can't be made: {error.strerror}", path) from error
        run = Run(path, {"format": FORMAT, "name": path.resolve().name, "notes": [], **(info or {})})
        run.update(status="running")
    return run


def open_run(path: str | Path) -> Run:
    """Give a finished run for reading; InputError when the folder is missing, unfinished or not a run."""
    run = _read(Path(path))
    if run.info.get("status") != "done":
        raise InputError("is a run that did not finish", path, "run its recipe again")
    return run


def reopen_run(path: str | Path) -> Run:
    """Give a run for more writing, finished or not; half a last line of its history is cut off.

    Raises OutputError when another process fills the folder.
    """
    path = Path(path)
    _read(path)
    with _held(path):
        run = _read(path)
        text = run.read_text("history.jsonl")
        if text and not text.endswith("\n"):
            run.write_text("history.jsonl", text[: text.rfind("\n") + 1])
        run.update(status="running")
    return run


# The folders that this process fills, with its number: a forked child must not let go what its parent holds.
_HELD: dict[Path, tuple[BaseFileLock, int]] = {}


@contextmanager
def _held(path: Path) -> Iterator[None]:
    """Keep other processes off the folder from here on, unless the block fails. Raises OutputError when it is taken."""
    from filelock import FileLock, Timeout

    whole = path.resolve()
    new = whole not in _HELD
    if new:
        with disk_errors(path):
            whole.parent.mkdir(parents=True, exist_ok=True)
            lock = FileLock(whole.with_name(f".{whole.name}.lock"), timeout=0)
            try:
                lock.acquire()
            except Timeout:
                raise OutputError("is in use by another process", path, "wait for it, or choose another -o") from None
        if not _HELD:
            atexit.register(_let_all_go)
        _HELD[whole] = lock, os.getpid()
    try:
        yield
    except BaseException:
        if new:
            _let_go(path)
        raise


def _let_go(path: Path) -> None:
    """Let other processes have the folder."""
    lock, process = _HELD.pop(path.resolve(), (None, 0))
    if lock is not None and process == os.getpid():
        Path(lock.lock_file).unlink(missing_ok=True)  # before it is let go: nobody else has it yet
        lock.release()


def _let_all_go() -> None:
    for path in list(_HELD):
        _let_go(path)


def _read(path: Path) -> Run:
    """Give the Run of a folder whose manifest is in order."""
    manifest = path / MANIFEST
    if not path.exists():
        raise InputError("no such run", path)
    if not manifest.is_file():
        raise InputError("is not a run folder: it has no run.json", path)
    try:
        info = json.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError("is not JSON", manifest) from error
    if not isinstance(info, dict) or "format" not in info:
        raise InputError("is not the manifest of a run", manifest)
    if info["format"] != FORMAT:
        raise InputError(
            f"is a run of format {info['format']}; this version reads format {FORMAT}",
            path,
            "install the sectioncls that wrote it",
        )
    return Run(path, info)


def _claim_unfinished(path: Path) -> None:
    """List the files of a run that was cut off, so that it may be overwritten, if it holds only a run's own."""
    try:
        run = _read(path)
    except InputError:
        return
    if run.info.get("status") == "done":
        return
    names = [name for name in folder_files(path) if not (Path(name).name[:1] == "." and name.endswith(".part"))]
    if all(name in _OWN_FILES or name.split("/")[0] in _OWN_FOLDERS for name in names):
        for name in set(folder_files(path)) - set(names):
            (path / name).unlink()
        run.update()


def _table(name: str, columns: Mapping[str, Any]) -> pyarrow.Table:
    """Give the Arrow table of one of TABLES, its columns in the order of the format."""
    import pyarrow as pa

    if name not in TABLES:
        raise ValueError(f"a run has no table {name!r}; it has {', '.join(TABLES)}")
    missing = [column for column in TABLES[name] if column not in columns]
    if missing:
        raise ValueError(f"the table {name} needs the column {missing[0]}")
    order = [*TABLES[name], *sorted(set(columns) - set(TABLES[name]))]
    return pa.table({column: pa.array(columns[column], type=_arrow_type(column)) for column in order})


def _owners(table: pyarrow.Table) -> list[tuple[Any, ...]]:
    """Give the encoder and method of every row, and where the table has them its seed and split."""
    names = [name for name in ("encoder", "method", "seed", "split") if name in table.column_names]
    return list(zip(*(table.column(name).to_pylist() for name in names), strict=True))


def _arrow_type(column: str) -> Any:
    """Give a column's type: whole numbers, coordinates or words."""
    import pyarrow as pa

    if column in ("index", "cluster", "size", "repeat", "n", "seed"):
        return pa.int32()
    return pa.float32() if column in _REALS else (pa.string() if column in _WORDS else None)


_REALS = {"x", "y", "weight", "probability", "own_probability"}
_WORDS = {"article_id", "label", "encoder", "method", "predicted", "suggested", "curve", "series", "term"}


def _score(row: Any) -> Score:
    """Give the Score of one JSON object; an undefined value was kept as null."""
    if not isinstance(row, dict):
        raise TypeError("a row is not an object")
    known = {field.name for field in dataclasses.fields(Score)}
    unknown = sorted(set(row) - known)
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r}")
    value = row.get("value")
    return Score(**{**row, "value": math.nan if value is None else float(value)})


def _plain(value: Any) -> Any:
    """Give ``value`` as JSON can hold it: numbers of NumPy as Python's, undefined ones as null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value) if isinstance(value, set | frozenset) else value
        return [_plain(item) for item in items]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value
