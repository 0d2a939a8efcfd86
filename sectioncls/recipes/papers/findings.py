"""What a run says beyond its scores: published claims with a verdict, and which task hurts another.

Kept in ``run.json``: ``claims`` (those of report/published that this run's encoders can be asked about, and why the
others can't) and ``interference`` (encoders that learnt fewer tasks against one that learnt all of them).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sectioncls.recipes.paper_results import FORMATS
from sectioncls.recipes.papers.lessons import route_of_task
from sectioncls.recipes.papers.study.claims import Finding, Gap, judge
from sectioncls.recipes.papers.study.evidence import Evidence, evidence_of
from sectioncls.recipes.papers.study.schema import ClaimOptions, EncodersCheck
from sectioncls.records import Score
from sectioncls.report.published.claims import PAPERS_WITH_CLAIMS, Claim, Verdict, load_claims, verdict
from sectioncls.runs import Run

__all__ = ["finish_findings", "interference", "published_findings", "systems_named"]

_VERDICTS: dict[str, Verdict] = {"confirmed": "confirmed", "refuted": "refuted", "undecided here": "undecided"}
# Points within which two encoders count as equal.
_EQUAL = 1.0
_KINDS = ("rank", "topics", "search", "regress", "class", "label", "retrieve")


def finish_findings(run: Run, seed: int) -> None:
    """Put claims and interference into a run whose encoders are scored; nothing where it has none that learnt."""
    encoders = run.info.get("encoders") or {}
    if not any(facts.get("training") for facts in encoders.values()):
        return
    evidence = evidence_of(run, seed)
    run.update(claims=published_findings(run, evidence), interference=interference(run, evidence))


def published_findings(run: Run, evidence: Evidence) -> list[dict[str, Any]]:
    """Give every published claim with its verdict, its reason in one sentence, and the differences behind it."""
    encoders, main = run.info.get("encoders") or {}, run.info.get("main") or {}
    found = []
    for paper in PAPERS_WITH_CLAIMS:
        for claim in load_claims(paper):
            said = _diagonal(run) if claim.tasks == "cross-format" else _judged(claim, evidence, encoders, main)
            word = _VERDICTS.get(said.verdict, "not testable here") if said.gaps else "not testable here"
            kept = ("id", "claim", "source", "published", "verified")
            found.append({**{key: getattr(claim, key) for key in kept}, **asdict(said), "verdict": word})
    return found


def systems_named(word: str, encoders: Mapping[str, Mapping[str, Any]], main: Mapping[str, Any]) -> str | None:
    """Give the system of a run that a claim means by ``word``, None where the run has none (see Claim)."""
    if word == "base":
        return next((name for name, facts in encoders.items() if not facts.get("training") and name in main), None)
    if word in main and (word not in encoders or "," in word):
        return word  # a baseline, or a variant that has the claim's own name
    fitting = [name for name, facts in encoders.items() if name in main and name != "base" and _fits(word, facts)]
    fitting = [name for name in fitting if not name.endswith(", titles")]
    return word if word in fitting else next(iter(fitting), None)


def interference(run: Run, evidence: Evidence) -> list[dict[str, Any]]:
    """Give, for each encoder that learnt some of the tasks of another of its kind, what it got less that one, by task.

    Differences are fractions with their 95 % interval over queries or papers, above 0 where the others hurt.
    """
    encoders = {name: facts for name, facts in (run.info.get("encoders") or {}).items() if _tasks(facts)}
    encoders = {name: facts for name, facts in encoders.items() if name != "base" and not name.endswith(", titles")}
    found = []
    for name, facts in encoders.items():
        own = set(_tasks(facts))
        wider = [
            other
            for other, its in encoders.items()
            if own < set(_tasks(its)) and its.get("conditioning") == facts.get("conditioning")
        ]
        if not wider:
            continue
        together = max(wider, key=lambda other: len(_tasks(encoders[other])))
        said = _ask(evidence, (name,), (together,), "each")
        gaps = {gap.where: [gap.difference, gap.low, gap.high] for gap in said.gaps}
        if gaps:
            found.append({"alone": name, "together": together, "tasks": sorted(own), "gaps": gaps})
    return found


def _judged(
    claim: Claim, evidence: Evidence, encoders: Mapping[str, Mapping[str, Any]], main: Mapping[str, Any]
) -> Finding:
    """Judge a claim by the systems that the run has of those it names."""
    if not claim.worse:
        return Finding("", "not a claim about encoders: the studies of mining measure it")
    if claim.tasks not in ("all", "each", "held-out", *_KINDS):
        return Finding("", f"it is about {claim.tasks}, which is not here")
    sides = []
    for words in (claim.better, claim.worse):
        named = {word: systems_named(word, encoders, main) for word in words.split("|")}
        there = tuple(dict.fromkeys(name for name in named.values() if name is not None))
        if not there:
            return Finding("", f"the run has no {' or '.join(named)}")
        sides.append(there)
    better, worse = sides
    worse = tuple(name for name in worse if name not in better)
    if not worse:
        return Finding("", "the run has one encoder for both sides")
    full = _full(better[0], encoders) if claim.keeps is not None else None
    if claim.keeps is not None and full is None:
        return Finding("", "the run has no encoder that differs only by training all weights")
    tasks = claim.tasks if claim.tasks in ("all", "each", "held-out") else (claim.tasks,)
    return _ask(evidence, better, worse, tasks, equal=_EQUAL if claim.equal else None, keeps=claim.keeps, full=full)


def _ask(evidence: Evidence, better: Sequence[str], worse: Sequence[str], tasks: Any, **options: Any) -> Finding:
    check = EncodersCheck(kind="encoders", better=tuple(better), worse=tuple(worse), tasks=tasks, **options)
    return judge(ClaimOptions(id="asked", text="", source="", published="", check=check), evidence, {})


def _fits(word: str, facts: Mapping[str, Any]) -> bool:
    """Tell whether an encoder is what a claim calls ``word``."""
    training, tasks = facts.get("training") or {}, (facts.get("training") or {}).get("tasks") or ()
    if word in ("mean", "concat"):
        return training.get("ensemble") == word
    if not tasks:
        return False
    if word == "train:biases":
        return training.get("tune") == "bitfit"
    if word.startswith("mining:"):
        kind, _, rest = word.removeprefix("mining:").partition(", ")
        task = tasks[0]
        given = {"10 % of the triplets": task.get("cap") is not None, "bidirectional": _both_ways(task)}
        wanted = {name: name == rest for name in given}
        return len(tasks) == 1 and task["name"] == "links" and task.get("mining") == kind and given == wanted
    formats = {route_of_task(task["name"]) for task in tasks}
    return facts.get("conditioning") == word and len(formats) > 1 and training.get("tune", "all") == "all"


def _both_ways(task: Mapping[str, Any]) -> bool:
    return bool((task.get("options") or {}).get("bidirectional"))


def _full(name: str, encoders: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Give the encoder that was trained like ``name``, but with all weights."""
    own = {**encoders[name]["training"], "tune": "all"}
    return next((other for other, facts in encoders.items() if facts.get("training") == own), None)


def _tasks(facts: Mapping[str, Any]) -> list[str]:
    return [task["name"] for task in (facts.get("training") or {}).get("tasks") or ()]


def _diagonal(run: Run) -> Finding:
    """Judge whether each format's own vectors are best at it, by the cross-format rows of all encoders.

    The means' intervals are not paired, so the interval of a difference is too wide rather than too narrow.
    """
    cells: dict[str, dict[tuple[str, str], list[Score]]] = {}
    for score in run.scores():
        if score.task.startswith("cross:") and score.split == "test":
            route, _, asked = score.task.removeprefix("cross:").partition(">")
            cells.setdefault(score.encoder, {}).setdefault((route, asked), []).append(score)
    if not cells:
        return Finding("", "the run has no cross-format scores: evaluate.cross_formats makes them")
    gaps = []
    for encoder, scores in cells.items():
        values = {key: math.fsum(one.value for one in same) / len(same) for key, same in scores.items()}
        for asked in FORMATS:
            others = {route: value for (route, of), value in values.items() if of == asked and route != asked}
            if (asked, asked) not in values or not others:
                continue
            rival = max(others, key=lambda route: others[route])
            halves = [_half(scores[route, asked]) for route in (asked, rival)]
            difference = values[asked, asked] - others[rival]
            known = [half for half in halves if half is not None]
            low = high = None
            if len(known) == 2:
                low, high = difference - math.hypot(*known), difference + math.hypot(*known)
            said = verdict(low, high)
            gaps.append(Gap(asked, rival, f"{encoder}, {asked}", difference, low, high, 1, "format", said))
    said_all = {gap.verdict for gap in gaps}
    wins, losses = (sum(gap.verdict == word for gap in gaps) for word in ("confirmed", "refuted"))
    joined = "refuted" if losses else "confirmed" if said_all == {"confirmed"} else "undecided here"
    ahead = sum(gap.difference > 0 for gap in gaps)
    reason = f"the own format's vectors are ahead in {ahead} of {len(gaps)} cases, in {wins} beyond the intervals"
    return Finding(joined, f"{reason}, behind beyond them in {losses}", tuple(gaps))


def _half(scores: Sequence[Score]) -> float | None:
    """Give half the mean width of the scores' intervals; None where one has none."""
    widths = [(one.high - one.low) / 2 for one in scores if one.high is not None and one.low is not None]
    return math.fsum(widths) / len(widths) if len(widths) == len(scores) else None
