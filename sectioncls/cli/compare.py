"""``sectioncls compare`` and ``sectioncls leaderboard``: finished runs against each other."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sectioncls.cli.options import Json, Quiet, Seed

if TYPE_CHECKING:
    from sectioncls.recipes.compare import Compared, Comparison
    from sectioncls.recipes.leaderboard import Board

__all__ = ["compare", "leaderboard"]

Metric = Annotated[
    str | None, typer.Option(help="Compare by this metric. [default: f1-micro, else ari]", show_default=False)
]
Method = Annotated[str | None, typer.Option(help="Compare this method alone, as svm or kmeans.", show_default=False)]
Protocol = Annotated[
    Literal["default", "scirepeval"],
    typer.Option(help="scirepeval: analysis of variance and Tukey's test over seeds, as arXiv 2211.13308."),
]


def compare(
    first: Annotated[Path, typer.Argument(metavar="RUN_A", help="A finished run, or a folder of runs (seeds).")],
    second: Annotated[Path, typer.Argument(metavar="RUN_B", help="Another one on the same test set.")],
    encoder_a: Annotated[
        str | None, typer.Option(help="The encoder of RUN_A. [default: its last]", show_default=False)
    ] = None,
    encoder_b: Annotated[
        str | None, typer.Option(help="The encoder of RUN_B. [default: its last]", show_default=False)
    ] = None,
    method: Method = None,
    metric: Metric = None,
    protocol: Protocol = "default",
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say in one sentence which of two runs is better and how sure that is; a run and itself: before and after.

    Example: sectioncls compare reports/minilm reports/scibert
    """
    from sectioncls.recipes.compare import compare_runs

    found = compare_runs(
        first, second, encoders=(encoder_a, encoder_b), method=method, metric=metric, protocol=protocol, seed=seed
    )
    if as_json:
        facts = {
            "sentence": found.sentence,
            "better": found.better,
            "first": found.first,
            "second": found.second,
            "corpus": found.corpus,
            "rows": [_facts(row) for row in found.rows],
            "headline": _facts(found.headline),
            "notes": list(found.notes),
            "seeds": found.seeds and asdict(found.seeds),
        }
        print(json.dumps(facts, ensure_ascii=False))
        return
    print(found.sentence)
    if len(found.rows) > 1:
        print("\n" + "\n".join(_comparison_lines(found)))
    if not quiet:
        for note in found.notes:
            print(f"note: {note}", file=sys.stderr)


def leaderboard(
    folder: Annotated[Path, typer.Argument(metavar="RUNS_DIR", help="A folder with runs inside.")] = Path("reports"),
    method: Method = None,
    metric: Metric = None,
    protocol: Protocol = "default",
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Put all finished runs of a folder into one table for each corpus, best first, with intervals.

    Example: sectioncls leaderboard reports --metric ari
    """
    from sectioncls.recipes.leaderboard import leaderboard as boards_of

    found = boards_of(folder, metric=metric, method=method, protocol=protocol, seed=seed)
    if as_json:
        print(json.dumps(asdict(found), ensure_ascii=False))
        return
    print("\n\n".join("\n".join(_board_lines(board)) for board in found.boards))
    if not quiet:
        for reason in found.left_out:
            print(f"left out: {reason}", file=sys.stderr)


def _facts(row: Compared) -> dict[str, Any]:
    """Give one comparison flat; ``p_corrected`` is Holm's."""
    more = {"difference": row.found.difference, "detectable": row.found.detectable}
    own = {"method": row.method, "task": row.task, "p_corrected": row.p, "tests": row.tests}
    return {**own, **asdict(row.found), **more}


def _comparison_lines(found: Comparison) -> list[str]:
    """Give one line for each method and metric."""
    tasks = {row.task for row in found.rows}
    rows = [["method", "metric", found.first, found.second, "difference", "95 % interval", "p (Holm)"]]
    for row in found.rows:
        one = row.found
        method = f"{row.task}: {row.method}" if len(tasks) > 1 else row.method
        values = [f"{100 * value:.2f}" for value in (one.first, one.second)]
        difference = f"{100 * one.difference:+.2f}"
        rows.append([method, one.metric, *values, difference, _ends(one.low, one.high, "+"), _p(row.p)])
    return _aligned(rows)


def _board_lines(board: Board) -> list[str]:
    """Give a heading, one line for each system, and what the marks mean."""
    others = [name for name in ("f1-micro", "f1-macro", "ari", "ami") if name != board.metric]
    others = [name for name in others if any(name in place.others for place in board.places)]
    head = ["", "run", "encoder", "method", board.metric, "95 % interval", "seeds", *others, "p to best"]
    rows = [head]
    for number, place in enumerate(board.places, start=1):
        score = place.score
        sd = "" if place.seeds is None else f"{place.seeds.n}, sd {100 * (place.seeds.deviation or 0):.2f}"
        rows.append(
            [
                f"{number}{'=' if place.tied else ''}",
                place.run,
                place.encoder or "(text)",
                place.method,
                f"{100 * score.value:.2f}",
                _ends(score.low, score.high, ""),
                sd,
                *(f"{100 * place.others[name]:.2f}" if name in place.others else "" for name in others),
                _p(place.p),
            ]
        )
    n, unit = board.places[0].score.n, board.places[0].score.unit
    task = "" if board.task == "sentence" else f", {board.task}"
    lines = [f"{board.corpus}{task} (n {n:,}, intervals by {unit})", "", *_aligned(rows)]
    if any(place.tied for place in board.places):
        lines.append("= can't be told from the best (paired bootstrap, p corrected by Holm)")
    if board.note is not None:
        lines.append(f"no test over seeds: {board.note}")
    if board.seeds is not None:
        lines.append(f"over seeds: analysis of variance F {board.seeds.f:.2f}, p {_p(board.seeds.p)}")
        for pair in board.seeds.pairs:
            ends = _ends(pair.low, pair.high, "+")
            lines.append(f"  {pair.second} - {pair.first}: {100 * pair.difference:+.2f} ({ends}), p {_p(pair.p)}")
    return lines


def _ends(low: float | None, high: float | None, sign: str) -> str:
    return "" if low is None or high is None else f"{100 * low:{sign}.1f} to {100 * high:{sign}.1f}"


def _p(value: float | None) -> str:
    return "" if value is None else "<.001" if value < 0.001 else f"{value:.3f}"


def _aligned(rows: list[list[Any]]) -> list[str]:
    """Give rows as lines: words to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    cells = [[row[column] for row in rows[1:] if row[column]] for column in range(len(widths))]
    left = [not any(cell[0] in "0123456789+-<" for cell in column) for column in cells]
    return [
        "  ".join(
            cell.ljust(width) if to_left else cell.rjust(width)
            for cell, width, to_left in zip(row, widths, left, strict=True)
        ).rstrip()
        for row in rows
    ]
