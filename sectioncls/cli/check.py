"""``sectioncls check``."""

from __future__ import annotations

import json
import shlex
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sectioncls.cli.options import Json, Overwrite, Quiet
from sectioncls.cli.progress import note, progress
from sectioncls.errors import OutputError, UsageError

if TYPE_CHECKING:
    from sectioncls.audit import Finding, Place, Suspect
    from sectioncls.corpora import Corpus

__all__ = ["check"]

WIDTH = 118


def check(
    corpus: Annotated[
        Path | None,
        typer.Argument(help="A corpus folder; default: the only one in corpora/.", show_default=False),
    ] = None,
    near: Annotated[float, typer.Option(help="Share of word pairs that near copies have in common, 0.5 to 1.")] = 0.8,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 for warnings too.")] = False,
    write_clean: Annotated[
        Path | None,
        typer.Option(help="Write a twin without leaks, repeats and disagreeing labels.", show_default=False),
    ] = None,
    keep: Annotated[
        Literal["test", "train"],
        typer.Option(help="Split that the twin keeps as published; the others lose what they share with it."),
    ] = "test",
    expect: Annotated[
        str | None,
        typer.Option(help="Label shares that the corpus should have, as method=0.3,result=0.25.", show_default=False),
    ] = None,
    label_errors: Annotated[
        Path | None,
        typer.Option(help="Write sentences whose label is doubtful to this .jsonl file.", show_default=False),
    ] = None,
    with_text: Annotated[bool, typer.Option("--with-text", help="Quote the sentences, not their ids alone.")] = False,
    overwrite: Overwrite = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Look for leaks between splits, copies, disagreeing labels and odd sentences; exit 1 when scores can't be trusted.

    Example: sectioncls check corpora/csabstruct --write-clean corpora/csabstruct-clean
    """
    from sectioncls import audit
    from sectioncls.corpora import only_corpus, open_corpus
    from sectioncls.staging import check_output

    shares = None if expect is None else _shares(expect)
    opened = open_corpus(corpus or only_corpus())
    if write_clean is not None:
        check_output(write_clean, overwrite=overwrite)
    if label_errors is not None:
        _check_list(label_errors, overwrite=overwrite)
    survey = audit.survey_corpus(opened, near=near, watch=lambda batches: _watched(batches, opened, quiet=quiet))
    findings = audit.check_corpus(survey, expected=shares)
    if with_text:
        findings = audit.quoted(opened, findings)
    content: dict[str, Any] = {
        "corpus": opened.name,
        "path": str(opened.path),
        "fingerprint": opened.info.fingerprint,
        "near": near,
        "failed": audit.failed(findings, strict=strict),
        "findings": [_row(finding) for finding in findings],
    }
    if not as_json:
        _show(opened, findings, len(survey.rows.article_ids))
    if label_errors is not None:
        suspects = audit.find_label_errors(opened, with_text=with_text)
        _write_list(label_errors, suspects)
        content["label_errors"] = {"path": str(label_errors), "count": len(suspects)}
        if not as_json:
            _show_suspects(suspects, len(survey.rows), label_errors)
    if write_clean is not None:
        twin, removed = audit.write_clean(
            opened, survey, write_clean, command=_command(opened, near, keep), keep=keep, overwrite=overwrite
        )
        content["clean"] = {"path": str(twin.path), "fingerprint": twin.info.fingerprint, "removed": removed}
        if not as_json:
            _show_twin(opened, twin, removed)
    if as_json:
        print(json.dumps(content, indent=1, ensure_ascii=False))
    if content["failed"]:
        note("the corpus fails this check: exit 1", quiet=quiet or as_json)
        raise typer.Exit(1)


def _shares(text: str) -> dict[str, float]:
    """Give the shares that ``method=0.3,result=0.25`` names."""
    shares: dict[str, float] = {}
    for part in text.split(","):
        label, equals, value = part.partition("=")
        try:
            if not equals:
                raise ValueError
            shares[label.strip()] = float(value)
        except ValueError:
            raise UsageError(f"--expect {part!r} is no share", None, "as method=0.3,result=0.25") from None
    return shares


def _watched(batches: Iterable[Any], corpus: Corpus, *, quiet: bool) -> Iterator[Any]:
    from sectioncls.audit import ROWS_A_BATCH

    sizes = (sum(corpus.info.counts[split].values()) for split in corpus.splits)
    return progress(batches, unit="batches", total=sum(-(-size // ROWS_A_BATCH) for size in sizes), quiet=quiet)


def _show(corpus: Corpus, findings: Sequence[Finding], articles: int) -> None:
    """Print what was found, one line each with an example, then what was not, then what to do."""
    from sectioncls.audit import ARTICLE_CHECKS, CHECKS, many

    info = corpus.info
    sizes = ", ".join(f"{split} {sum(info.counts[split].values()):,}" for split in corpus.splits)
    known = f" of {many(articles, 'article')}" if info.has_articles else ""
    print(f"{corpus.name}: {info.sentences:,} sentences{known} ({sizes})")
    counts = max((len(f"{finding.count:,}") for finding in findings), default=0)
    wholes = max((len(f"{finding.of:,}") for finding in findings), default=0)
    for title, names in CHECKS.items():
        some = [finding for finding in findings if finding.check in names]
        if some:
            print(f"\n{title}")
        for finding in some:
            line = f"  {finding.severity:<8}{finding.count:>{counts},} of {finding.of:>{wholes},}  {finding.text}"
            example = _example(finding)
            print(line + example if len(line + example) <= WIDTH else line)
            for place in finding.examples[0] if finding.examples else ():
                if place.text is not None:
                    print(f"{'':>{counts + wholes + 18}}{_name(place)}: {_clipped(place.text)}")
    unseen = ARTICLE_CHECKS if not info.has_articles else ()
    found = {finding.check for finding in findings}
    clear = [name for names in CHECKS.values() for name in names if name not in found and name not in unseen]
    for title, checks in (("nothing found", tuple(clear)), ("not looked for, as the articles are not known", unseen)):
        if checks:
            print()
            print(textwrap.fill(f"{title}: {', '.join(checks)}", WIDTH, subsequent_indent="  ", break_on_hyphens=False))
    todos = list(dict.fromkeys(finding.todo for finding in findings if finding.todo))
    if todos:
        print("\nwhat to do")
    for todo in todos:
        print(f"  {todo.replace('CORPUS', shlex.quote(str(corpus.path)))}")
    tally = Counter(finding.severity for finding in findings)
    verdict = "scores on it are partly memory" if tally["error"] else "no leak that would show in scores"
    print(f"\n{', '.join(many(tally[kind], kind) for kind in ('error', 'warning', 'note'))}: {verdict}")


def _example(finding: Finding) -> str:
    """Give ``  (test-00003 = train-00028)``: the first example, two of its places."""
    if not finding.examples:
        return ""
    places = finding.examples[0]
    names = list(dict.fromkeys(map(_name, places)))[:2]
    return f"  ({' = '.join(names)}{' = …' if len(places) > 2 else ''})"


def _name(place: Place) -> str:
    return place.article_id if place.index is None else f"{place.article_id}:{place.index}"


def _clipped(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 90 else f"{text[:89]}…"


def _row(finding: Finding) -> dict[str, Any]:
    """Give a finding as JSON, places without the keys that say nothing."""
    row = asdict(finding)
    row["examples"] = [
        [{key: value for key, value in asdict(place).items() if value is not None} for place in example]
        for example in finding.examples
    ]
    return row


def _check_list(path: Path, *, overwrite: bool) -> None:
    if path.suffix != ".jsonl":
        raise UsageError(f"--label-errors {path} is not a .jsonl file")
    if path.exists() and not (overwrite and path.is_file()):
        raise OutputError("exists already", path, "choose another --label-errors, or --overwrite")


def _write_list(path: Path, suspects: Sequence[Suspect]) -> None:
    from sectioncls.staging import staged_file

    with staged_file(path) as aside, aside.open("w", encoding="utf-8", newline="\n") as stream:
        for suspect in suspects:
            row = {key: value for key, value in asdict(suspect).items() if value is not None}
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def _show_suspects(suspects: Sequence[Suspect], rows: int, path: Path) -> None:
    """Print how many labels are doubtful and which changes are the most frequent."""
    print(
        f"\ndoubtful labels: {len(suspects):,} of {rows:,}, the surest first in {path}; a model of words alone says so"
    )
    changes = Counter((suspect.label, suspect.suggested) for suspect in suspects)
    width = max((len(label) for label, _ in changes), default=0)
    for (label, suggested), count in changes.most_common(5):
        print(f"  {count:>6,}  {label:<{width}} is more likely {suggested}")


def _show_twin(corpus: Corpus, twin: Corpus, removed: dict[str, dict[str, int]]) -> None:
    """Print what the twin lacks, by split and reason."""
    print(f"\nclean twin: {twin.info.sentences:,} sentences in {twin.path}")
    for split, counts in removed.items():
        before = sum(corpus.info.counts[split].values())
        each = ", ".join(f"{count:,} {reason}" for reason, count in counts.items()) or "as it was"
        left = before - sum(counts.values())
        print(f"  {split:<6}{before:>9,} → {left:>9,}  {each}")
        if left < before / 2:
            print(f"{'':>29}little is left: `sectioncls split` by article loses nothing")


def _command(corpus: Corpus, near: float, keep: str) -> str:
    """Give the call as corpus.json keeps it: what decides the rows."""
    words = ["sectioncls check", shlex.quote(str(corpus.path)), "--write-clean"]
    words += [f"--keep {keep}"] * (keep != "test") + [f"--near {near:g}"] * (near != 0.8)
    return " ".join(words)
