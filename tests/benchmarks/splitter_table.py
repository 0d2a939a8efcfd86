"""Print, as Markdown, how well and how fast every splitter cuts science text.

Run from the repository: ``OMP_NUM_THREADS=1 python tests/benchmarks/splitter_table.py [--half dev] [SPLITTER …]``.
``--half dev`` (for tuning) shows nothing of the test halves; the default reports gold-dev and all test halves.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from annotated_sets import REAL, gold_passages, real_passages

from sectioncls.sentences import SPLITTERS, split_sentences
from sectioncls.sentences.boundaries import BoundaryScores, Passage, boundary_difference, boundary_scores
from sectioncls.sentences.pipelines import find_pipeline

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "sentences"
PIPELINE = "en_core_web_sm"
OURS, BASE = "scisplit", "sentencizer-plain"
TIMED_CHARACTERS, REPEATS = 500_000, 3

Ends = list[list[int]]


def main() -> None:
    parser = argparse.ArgumentParser(description="Boundary F1 and speed of sentence splitters.")
    parser.add_argument("splitters", nargs="*", metavar="SPLITTER", help="default: all that are installed")
    parser.add_argument("--half", choices=["dev", "test"], default="test")
    parser.add_argument("--sentences", type=Path, default=SHARED, help="folder with the published sets")
    arguments = parser.parse_args()
    names = arguments.splitters or [*sorted(SPLITTERS), *([PIPELINE] if find_pipeline(PIPELINE) else [])]
    sets = read_sets(arguments.sentences, arguments.half)
    ends: dict[str, dict[str, Ends]] = {}
    for name in names:
        print(f"{name} …", file=sys.stderr)
        ends[name] = {column: predict(name, passages) for column, passages in sets.items()}
    pool(sets, ends)
    print_scores(sets, ends, speeds(names, sets))
    print_differences(sets, ends)
    print_phenomena(arguments.half, names)


def read_sets(folder: Path, half: str) -> dict[str, list[Passage]]:
    """Give {column: passages}; says on stderr what was left out of the published sets."""
    halves = dict.fromkeys(["dev", half])
    sets = {f"gold-{each}": [row for rows in gold_passages(each).values() for row in rows] for each in halves}
    for name in REAL if folder.is_dir() else ():
        sets[name], counts = real_passages(folder, name, half)
        print(f"{name}, {half} half: {dict(counts)}", file=sys.stderr)
    return sets


def predict(name: str, passages: Sequence[Passage]) -> Ends:
    return [[end for _, end in split_sentences(passage.text, name)] for passage in passages]


def pool(sets: dict[str, list[Passage]], ends: dict[str, dict[str, Ends]]) -> None:
    """Add the column of all published sets together."""
    real = [name for name in REAL if name in sets]
    if real:
        sets["real, pooled"] = [passage for name in real for passage in sets[name]]
        for columns in ends.values():
            columns["real, pooled"] = [row for name in real for row in columns[name]]


def speeds(names: Sequence[str], sets: dict[str, list[Passage]]) -> dict[str, tuple[float, float]]:
    """Give {splitter: (MB of text a second, times the speed of spaCy's sentencizer)}: medians of turns, CPU time."""
    passages = sets.get("real, pooled", sets["gold-dev"])
    step = max(1, sum(len(passage.text) for passage in passages) // TIMED_CHARACTERS)
    texts = [passage.text for passage in passages[::step]]
    size = sum(len(text.encode()) for text in texts)
    work = {name: partial(_split_all, texts, name) for name in dict.fromkeys([BASE, *names])}
    turns = [{name: _seconds(function) for name, function in work.items()} for _ in range(REPEATS)]
    print(f"speed measured on {size / 1e6:.2f} MB in {len(texts)} texts, {REPEATS} turns", file=sys.stderr)
    return {
        name: (
            size / 1e6 / statistics.median(turn[name] for turn in turns),
            statistics.median(turn[BASE] / turn[name] for turn in turns),
        )
        for name in names
    }


def _split_all(texts: Sequence[str], name: str) -> None:
    for text in texts:
        split_sentences(text, name)


def _seconds(function: Callable[[], None]) -> float:
    began = time.process_time()
    function()
    return time.process_time() - began


def print_scores(sets: dict, ends: dict, speed: dict) -> None:
    print(f"| splitter | {' | '.join(sets)} | MB/s | × {BASE} |")
    print(f"|---|{'---|' * len(sets)}---|---|")
    for name, columns in sorted(ends.items(), key=lambda item: -speed[item[0]][1]):
        cells = [_cell(boundary_scores(sets[column], columns[column])) for column in sets]
        print(f"| {name} | {' | '.join(cells)} | {speed[name][0]:.2f} | {speed[name][1]:.2f} |")
    gold = [boundary_scores(passages, [passage.ends for passage in passages]) for passages in sets.values()]
    print(f"| *inner boundaries* | {' | '.join(f'{scores.gold:,}' for scores in gold)} | | |")
    print(f"| *documents* | {' | '.join(f'{scores.documents:,}' for scores in gold)} | | |\n")


def _cell(scores: BoundaryScores) -> str:
    return f"{100 * scores.f1:.1f} [{100 * scores.low:.1f}, {100 * scores.high:.1f}]"


def print_differences(sets: dict, ends: dict) -> None:
    """Print F1 of our splitter minus that of the best other one, on the same resampled documents."""
    others = [name for name in ends if name != OURS]
    if OURS not in ends or not others:
        return
    print(f"| set | best other | {OURS} minus it | precision, recall of {OURS} |\n|---|---|---|---|")
    for column, passages in sets.items():
        best = max(others, key=lambda name: boundary_scores(passages, ends[name][column]).f1)
        gap = boundary_difference(passages, ends[OURS][column], ends[best][column])
        ours = boundary_scores(passages, ends[OURS][column])
        interval = f"{100 * gap.f1:+.1f} [{100 * gap.low:+.1f}, {100 * gap.high:+.1f}]"
        print(f"| {column} | {best} | {interval} | {100 * ours.precision:.1f}, {100 * ours.recall:.1f} |")
    print()


def print_phenomena(half: str, names: Sequence[str]) -> None:
    print(f"| phenomenon (gold-{half}) | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
    for phenomenon, passages in gold_passages(half).items():
        scores = [boundary_scores(passages, predict(name, passages), resamples=1).f1 for name in names]
        print(f"| {phenomenon} | {' | '.join(f'{100 * score:.0f}' for score in scores)} |")


if __name__ == "__main__":
    main()
