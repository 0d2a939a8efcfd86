"""Score rows as a table for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sectioncls.records import UNSEEN, Score
from sectioncls.report.views import AGREED, COLLAPSED

__all__ = ["paper_table", "score_table"]

_SHOWN = ("f1-micro", "f1-macro", "ari", "ami", "silhouette")
_RANK = "effective-rank"
_TEXT = "(text)"


def score_table(scores: Sequence[Score]) -> str:
    """Give one line per encoder and method: values x100, the interval of the first metric, n and its unit.

    Of several seeds it gives the mean and how many there are. The effective rank stands beside a silhouette, and a
    silhouette that only a collapse gives is called one below. ``unseen`` is the first metric on those test sentences
    that no other split holds, where these are not all.
    """
    fallen: list[str] = []
    lines: dict[tuple[str, str], dict[str, list[Score]]] = {}
    unseen: dict[tuple[str, str], list[Score]] = {}
    for score in scores:
        if score.split == UNSEEN:
            if score.metric in ("f1-micro", "ari"):
                unseen.setdefault((score.encoder or _TEXT, score.method), []).append(score)
        elif score.label is None and score.metric in (*_SHOWN, _RANK):
            found = lines.setdefault((score.encoder or _TEXT, score.method), {})
            found.setdefault(score.metric, []).append(score)
    head = f"{'encoder':<24} {'method':<26} " + " ".join(f"{metric:>10}" for metric in _SHOWN)
    head += f" {'rank':>6}" + (f" {'unseen':>7}" if unseen else "") + "   95 % interval of"
    rows = [head]
    for (encoder, method), found in lines.items():
        cells = " ".join(f"{_mean(found[metric]):>10.2f}" if metric in found else " " * 10 for metric in _SHOWN)
        if not set(found) & set(_SHOWN):
            continue
        rank = _mean(found[_RANK]) / 100 if _RANK in found else None
        cells += " " * 7 if rank is None else f" {rank:>6.1f}"
        if unseen:
            rest = unseen.get((encoder, method))
            cells += f" {_mean(rest):>7.2f}" if rest else " " * 8
        tight = "silhouette" in found and _mean(found["silhouette"]) >= 100 * COLLAPSED
        right = "ari" in found and _mean(found["ari"]) >= 100 * AGREED
        if encoder != _TEXT and tight and not right:
            beside = "" if rank is None else f" at an effective rank of {rank:.1f}"
            fallen.append(
                f"collapse: {encoder}, {method}: a silhouette of {_mean(found['silhouette']):.1f}{beside} says that "
                "the vectors lie on few points, not that the clusters are good"
            )
        first = next(values for metric, values in found.items() if metric in _SHOWN)
        shown = _interval(first[0]) if len(first) == 1 else f"mean of {len(first)} seeds"
        rows.append(f"{encoder:<24} {method:<26} {cells}   {shown}")
    return "\n".join([*rows, *fallen])


def paper_table(scores: Sequence[Score], main: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    """Give one line per encoder (or way of counting words), seed and task: its main metric x100 with the interval.

    ``main`` names the metric and method that stand for a task of each. The mean over all tasks ends each block.
    """
    head = f"{'encoder':<18} {'seed':>5} {'task':<26} {'metric':<12} {'x100':>7}   95 % interval"
    rows = [head]
    for system, tasks in main.items():
        chosen = {(task, metric, method) for task, (metric, method) in tasks.items()}
        for score in scores:
            own = score.encoder == system or (not score.encoder and score.method.startswith(system))
            mean = score.encoder == system and score.task == "average:all"
            stands = own and score.label is None and (score.task, score.metric, score.method) in chosen
            if mean or stands:
                rows.append(_paper_row(system, score))
    return "\n".join(rows)


def _paper_row(system: str, score: Score) -> str:
    ends = "" if score.low is None or score.high is None else f"{100 * score.low:.1f}-{100 * score.high:.1f}"
    seed = "" if score.seed is None else str(score.seed)
    task = score.task if score.split == "test" else f"{score.task} ({score.split})"
    return f"{system:<18} {seed:>5} {task:<26} {score.metric:<12} {100 * score.value:>7.2f}   {ends}".rstrip()


def _mean(scores: Sequence[Score]) -> float:
    return 100 * sum(score.value for score in scores) / len(scores)


def _interval(score: Score) -> str:
    if score.low is None or score.high is None:
        return ""
    return f"{score.metric} {100 * score.low:.1f}-{100 * score.high:.1f} (n {score.n}, by {score.unit})"
