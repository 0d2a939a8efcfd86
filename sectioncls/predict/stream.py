"""Labelling a stream of articles into a file: bounded memory, nothing done is lost, broken documents are recorded.

While it runs, ``NAME.labelling/`` beside the output holds what is done, one line an article; the output is made from
it at the end. So an interrupted call goes on where it stopped, whatever the output's format.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from sectioncls.errors import InputError, OutputError, UsageError
from sectioncls.predict.label import SectionModel
from sectioncls.predict.sources import Given
from sectioncls.predict.writers import COLUMNS, WRITERS
from sectioncls.records import Rejected, Sentence
from sectioncls.staging import disk_errors, staged_file, write_json

__all__ = ["Labelled", "label_stream", "labelled_lines", "line_of", "open_labelling", "rows_of", "write_labelled"]

_FORMAT = 1
# Articles read ahead of the model; it encodes sentences of many articles together.
_AHEAD = 64


@dataclass(frozen=True, slots=True)
class Labelled:
    """What was done: articles, sentences, those below the bar, sentences per label, rejections by reason."""

    articles: int
    sentences: int
    abstained: int
    labels: dict[str, int]
    rejected: dict[str, int]


def label_stream(
    model: SectionModel,
    given: Iterable[Given | Rejected],
    out: Path,
    *,
    min_prob: float = 0.0,
    splitter: str = "scisplit",
    settings: dict[str, Any],
    overwrite: bool = False,
    resume: bool = False,
    done: Callable[[Given, list[Sentence]], None] = lambda item, sentences: None,
    advance: Callable[[int], None] = lambda count: None,
) -> Labelled:
    """Label every article of ``given`` into ``out`` (.jsonl, .csv or .parquet, one row a sentence).

    Documents that could not be read go to ``NAME.rejected.jsonl``. ``settings`` says what decides the output (model,
    paths); ``resume`` refuses other ones. ``done`` gets each article and its sentences, ``advance`` their number.
    Raises UsageError for an unknown suffix, OutputError when ``out`` is there already.
    """
    work = out.with_name(f"{out.name}.labelling")
    kept = {"min_prob": min_prob, "splitter": splitter, **settings}
    open_labelling(work, out, kept, resume=resume, overwrite=overwrite)
    log = work / "done.jsonl"
    finished = _repair(log)
    with disk_errors(work), log.open("a", encoding="utf-8", newline="\n") as stream:
        rest = islice(given, finished, None)
        for line, count in labelled_lines(model, rest, min_prob=min_prob, splitter=splitter, done=done):
            stream.write(line)
            stream.flush()
            advance(count)
    result = write_labelled(work, out, [log])
    shutil.rmtree(work)
    return result


def labelled_lines(
    model: SectionModel,
    given: Iterable[Given | Rejected],
    *,
    min_prob: float = 0.0,
    splitter: str = "scisplit",
    done: Callable[[Given, list[Sentence]], None] = lambda item, sentences: None,
) -> Iterator[tuple[str, int]]:
    """Give the work folder's line of each item of ``given``, in order, and how many sentences it holds."""
    for item, sentences in _labelled(model, given, min_prob, splitter):
        if isinstance(item, Given):
            done(item, sentences)
        yield line_of(item, sentences), len(sentences)


def line_of(item: Given | Rejected, sentences: Sequence[Sentence] = ()) -> str:
    """Give the work folder's line of one article with its sentences, or of a document that was left out."""
    if isinstance(item, Rejected):
        value: dict[str, Any] = {"rejected": asdict(item)}
    else:
        value = {"id": item.id, "source": item.source, "rows": [_packed(sentence) for sentence in sentences]}
    return json.dumps(value, ensure_ascii=False) + "\n"


def rows_of(name: str, source: str, sentences: Iterable[Sentence]) -> Iterator[dict[str, Any]]:
    """Give the output's rows of one article."""
    for sentence in sentences:
        row = asdict(replace(sentence, article_id=name)) | {"source": source}
        yield {column: list(row[column]) if column == "path" else row[column] for column in COLUMNS}


def _labelled(
    model: SectionModel, given: Iterable[Given | Rejected], min_prob: float, splitter: str
) -> Iterator[tuple[Given | Rejected, list[Sentence]]]:
    """Give everything in order, with its sentences; some articles are read ahead and encoded together."""
    stream = iter(given)
    while block := list(islice(stream, _AHEAD)):
        contents = [item.content for item in block if isinstance(item, Given)]
        sentences = model.predict_each(contents, min_prob=min_prob, splitter=splitter)
        for item in block:
            yield item, [] if isinstance(item, Rejected) else next(sentences)


def open_labelling(work: Path, out: Path, settings: dict[str, Any], *, resume: bool, overwrite: bool) -> None:
    """Make or continue the work folder beside ``out``.

    Raises UsageError for an unknown suffix, OutputError when ``out`` or the folder is there already, InputError where
    the folder was started with other ``settings``.
    """
    if out.suffix not in WRITERS:
        raise UsageError(f"can't write {out.suffix or 'a file without suffix'}", out, f"one of {', '.join(WRITERS)}")
    if out.exists() and not overwrite:
        raise OutputError("exists already", out, "choose another -o, or --overwrite")
    started = work / "settings.json"
    settings = {"format": _FORMAT, **settings}
    if started.is_file() and resume:
        kept = json.loads(started.read_text(encoding="utf-8"))
        changed = [key for key in {**kept, **settings} if kept.get(key) != settings.get(key)]
        if changed:
            what = f"was started with {changed[0]} {kept.get(changed[0])}, not {settings.get(changed[0])}"
            raise InputError(what, work, "give the same options, or start again without --resume")
        return
    if started.is_file() and not overwrite:
        raise OutputError("holds an interrupted call", work, "--resume goes on, --overwrite starts again")
    if work.exists() and not started.is_file() and any(work.iterdir()):
        raise OutputError("is not a folder that sectioncls made", work, "choose another -o")
    shutil.rmtree(work, ignore_errors=True)
    write_json(started, settings)


def _repair(log: Path) -> int:
    """Cut off a line that was not finished and give the number of whole ones."""
    if not log.is_file():
        return 0
    count = whole = 0
    with log.open("rb+") as stream:
        for line in stream:
            if not line.endswith(b"\n"):
                break
            count += 1
            whole += len(line)
        stream.truncate(whole)
    return count


def _packed(sentence: Sentence) -> list[Any]:
    s = sentence
    return [s.index, s.paragraph, s.start, s.end, list(s.path), s.text, s.label, s.prob, s.label_source]


def _unpacked(name: str, row: list[Any]) -> Sentence:
    index, paragraph, start, end, path, text, label, prob, source = row
    return Sentence(name, index, paragraph, text, start, end, tuple(path), label, prob=prob, label_source=source)


def write_labelled(work: Path, out: Path, logs: Sequence[Path]) -> Labelled:
    """Make the output from the lines of the work folder's ``logs``, in their order."""
    labels: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    articles = 0
    rejects = out.with_name(f"{out.stem}.rejected.jsonl")
    with (
        staged_file(out) as aside,
        staged_file(rejects) as refused,
        WRITERS[out.suffix](aside) as add,
        refused.open("w", encoding="utf-8") as rejected,
    ):
        for item in _items(logs):
            if "rejected" in item:
                reasons[item["rejected"]["reason"]] += 1
                rejected.write(json.dumps(item["rejected"], ensure_ascii=False) + "\n")
                continue
            articles += 1
            sentences = [_unpacked(item["id"], row) for row in item["rows"]]
            labels.update(sentence.label for sentence in sentences)
            add(list(rows_of(item["id"], item["source"], sentences)))
    if not reasons:
        rejects.unlink()
    abstained = labels.pop("", 0)
    return Labelled(articles, sum(labels.values()) + abstained, abstained, dict(sorted(labels.items())), dict(reasons))


def _items(logs: Iterable[Path]) -> Iterator[dict[str, Any]]:
    for log in logs:
        with log.open(encoding="utf-8") as stream:
            yield from map(json.loads, stream)
