"""Verdicts on claims against cases worked by hand, and the same intervals as the house's paired comparisons."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.stats import kendalltau, norm, ttest_1samp
from sklearn.metrics import f1_score

from sectioncls.downstream import compare_query_values
from sectioncls.recipes.papers.study import claims
from sectioncls.recipes.papers.study.claims import CONFIRMED, NO_WEIGHTS, REFUTED, UNDECIDED, judge
from sectioncls.recipes.papers.study.evidence import DRAWS, evidence_of
from sectioncls.recipes.papers.study.schema import ClaimOptions, StudyOptions
from sectioncls.recipes.papers.study.tables import Line, MeasuredTable, table_of
from sectioncls.runs import create_run

QUERIES = [f"q{n:02}" for n in range(40)]


def claim(**check):
    return ClaimOptions(id="c", text="t", source="s", published="p", check=check)


@pytest.fixture
def made(tmp_path):
    """A run of three encoders: good is 0.2 above bad on each query of one task, mixed on another; class predictions."""
    run = create_run(tmp_path / "run")
    random = np.random.default_rng(0)
    low = 0.3 + 0.2 * random.random(40)
    noise = random.normal(0, 0.2, 40)
    values = {
        ("bad", "rank:a"): low,
        ("good", "rank:a"): low + 0.2,
        ("half", "rank:a"): low + 0.12,
        ("bad", "rank:b"): low,
        ("good", "rank:b"): low + noise - noise.mean(),
        ("half", "rank:b"): low,
    }
    columns = {name: [] for name in ("task", "metric", "query", "encoder", "method", "seed", "split", "value")}
    for (encoder, task), numbers in values.items():
        # Two seeds whose mean is the value; a dev row that must not count.
        for seed, shift, split in ((1, 0.01, "test"), (2, -0.01, "test"), (1, 5.0, "dev")):
            rows = zip(QUERIES, numbers, strict=True)
            for query, value in rows:
                row = (task, "map", query, encoder, "cosine", seed, split, float(value + shift))
                for name, cell in zip(columns, row, strict=True):
                    columns[name].append(cell)
    run.add_rows("query_scores", columns)
    truth = np.arange(60) % 3
    said = {"good": truth.copy(), "bad": (truth + (np.arange(60) % 2)) % 3, "half": truth.copy()}
    said["half"][:9] = 0
    table = {name: [] for name in ("task", "paper", "encoder", "method", "seed", "split", "truth", "prediction")}
    for encoder, labels in said.items():
        for task, answers in (("class:x", truth), ("regress:y", truth * 1.0)):
            for n, (one, label) in enumerate(zip(answers, labels, strict=True)):
                row = (task, f"p{n}", encoder, "linear", 1, "test", float(one), float(label))
                for name, cell in zip(table, row, strict=True):
                    table[name].append(cell)
    run.add_rows("paper_predictions", table)
    main = {"rank:a": ["map", "cosine"], "rank:b": ["map", "cosine"]}
    main |= {"class:x": ["f1-macro", "linear"], "regress:y": ["tau", "linear"]}
    facts = {"training": {"tasks": [{"name": "class:x"}]}}
    run.update(main=dict.fromkeys(said, main), encoders=dict.fromkeys(said, facts))
    return run, said, truth


def test_one_task_is_the_house_s_comparison(made):
    run, _, _ = made
    evidence = evidence_of(run, 0)
    said = judge(claim(kind="encoders", better=["good"], worse=["bad"], tasks=["rank:b"]), evidence, {})
    assert said.verdict == UNDECIDED and len(said.gaps) == 1
    gap = said.gaps[0]
    sampled = [evidence.sampled(name, "rank:b") for name in ("bad", "good")]
    columns = run.read_table("query_scores")
    found: dict[tuple[str, str], list[float]] = {}
    for encoder, task, query, split, value in zip(
        *(columns[name] for name in ("encoder", "task", "query", "split", "value")), strict=True
    ):
        if (task, split) == ("rank:b", "test"):
            found.setdefault((encoder, query), []).append(value)
    by = [[np.mean(found[name, query]) for query in QUERIES] for name in ("bad", "good")]
    theirs = compare_query_values("map", *by, resamples=20_000)
    assert gap.difference == pytest.approx(theirs.difference, abs=1e-12) and gap.n == 40
    assert gap.low == pytest.approx(theirs.low, abs=0.005) and gap.high == pytest.approx(theirs.high, abs=0.005)
    assert gap.detectable == pytest.approx(theirs.detectable, rel=0.1)
    assert len(sampled[0].moved) == DRAWS and sampled[0].ids == tuple(QUERIES)


def test_statistics_of_predictions(made):
    run, said, truth = made
    evidence = evidence_of(run, 0)
    for name, labels in said.items():
        assert evidence.sampled(name, "class:x").value == pytest.approx(f1_score(truth, labels, average="macro"))
        assert evidence.sampled(name, "regress:y").value == pytest.approx(kendalltau(truth, labels)[0])
    assert evidence.sampled("good", "rank:none") is None and evidence.tasks("nobody") == ()


@pytest.mark.parametrize(
    ("check", "wanted"),
    [
        ({"better": ["good"], "worse": ["bad"], "tasks": ["rank:a"]}, CONFIRMED),
        ({"better": ["bad"], "worse": ["good"], "tasks": ["rank:a"]}, REFUTED),
        ({"better": ["good"], "worse": ["bad"], "tasks": ["rank:a"], "least": 15}, CONFIRMED),
        ({"better": ["good"], "worse": ["bad"], "tasks": ["rank:a"], "least": 25}, REFUTED),
        ({"better": ["good"], "worse": ["bad"], "tasks": "each"}, UNDECIDED),
        ({"better": ["good", "half"], "worse": ["bad"], "tasks": ["rank:a"]}, CONFIRMED),
        ({"better": ["good"], "worse": ["bad", "half"], "tasks": ["rank"]}, CONFIRMED),
        ({"better": ["half"], "worse": ["bad", "good"], "tasks": ["rank:a"]}, REFUTED),
        ({"better": ["half"], "worse": ["bad"], "tasks": ["rank:b"], "equal": 1.0}, CONFIRMED),
        ({"better": ["good"], "worse": ["bad"], "tasks": ["rank:b"], "equal": 1.0}, UNDECIDED),
        ({"better": ["good"], "worse": ["bad"], "tasks": ["rank:a"], "equal": 1.0}, REFUTED),
        ({"better": ["half"], "worse": ["bad"], "tasks": ["rank:a"], "keeps": 0.5, "full": "good"}, CONFIRMED),
        ({"better": ["half"], "worse": ["bad"], "tasks": ["rank:a"], "keeps": 0.7, "full": "good"}, REFUTED),
        ({"better": ["good"], "worse": ["bad"], "tasks": "in-train"}, CONFIRMED),
        ({"better": ["good"], "worse": ["bad"], "tasks": ["search"]}, UNDECIDED),
        ({"better": ["good"], "worse": ["nobody"]}, UNDECIDED),
    ],
)
def test_verdicts_of_encoders(made, check, wanted):
    assert judge(claim(kind="encoders", **check), evidence_of(made[0]), {}).verdict == wanted


def test_in_train_and_held_out_part_the_tasks(made):
    evidence = evidence_of(made[0])
    where = {}
    for tasks in ("in-train", "held-out", "all"):
        found = judge(claim(kind="encoders", better=["good"], worse=["bad"], tasks=tasks), evidence, {})
        where[tasks] = found.gaps[0].where, found.gaps[0].n
    assert where == {
        "in-train": ("class:x", 60),
        "held-out": ("mean of 3 tasks", 140),
        "all": ("mean of 4 tasks", 200),
    }


def test_tasks_count_once_in_a_mean(made):
    evidence = evidence_of(made[0])
    found = judge(claim(kind="encoders", better=["good"], worse=["half"]), evidence, {})
    tasks = ("rank:a", "rank:b", "class:x", "regress:y")
    gaps = [evidence.sampled("good", t).value - evidence.sampled("half", t).value for t in tasks]
    assert found.gaps[0].difference == pytest.approx(np.mean(gaps))


def test_other_names_of_systems(made):
    check = claim(kind="encoders", better=["good"], worse=["untuned"], tasks=["rank:a"])
    assert judge(check, evidence_of(made[0]), {}, {"untuned": "bad"}).verdict == CONFIRMED


ROWS = [(way, seed, collided, float(k)) for way, start in (("a", 5), ("b", 3)) for seed in (1, 2, 3)
        for k, collided in ((10, start + seed), (20, start - 3), (40, 0))]  # fmt: skip
TABLE = MeasuredTable(
    "m", "bands", "t", "c", ("way", "seed", "collisions", "k"), tuple(ROWS), (Line("k", "collisions"),)
)


def test_rows_are_paired_by_seed():
    check = claim(kind="rows", measure="m", column="collisions", better={"way": "a"}, worse={"way": "b"})
    found = judge(check, None, {"m": TABLE})  # (2 + 2 + 0) / 3 more in every seed
    gap = found.gaps[0]
    assert found.verdict == CONFIRMED and gap.difference == pytest.approx(4 / 3) and gap.n == 3
    assert gap.low == pytest.approx(4 / 3) == gap.high and gap.unit == "seeds"
    same = claim(kind="rows", measure="m", column="collisions", better={"way": "a"}, worse={"way": "b"}, equal=2.0)
    assert judge(same, None, {"m": TABLE}).verdict == CONFIRMED
    alone = claim(kind="rows", measure="m", column="k", better={"way": "a"}, worse={"way": "b"}, over="method")
    assert judge(alone, None, {"m": TABLE}).verdict == UNDECIDED  # one pair: no interval
    none = claim(kind="rows", measure="m", column="k", better={"way": "z"}, worse={"way": "b"})
    assert judge(none, None, {"m": TABLE}).verdict == UNDECIDED


def test_rows_by_student_s_t():
    values = {"a": (0.5, 0.7, 0.9, 0.4), "b": (0.4, 0.65, 0.7, 0.42)}
    rows = tuple((way, seed, value) for way, some in values.items() for seed, value in enumerate(some))
    table = MeasuredTable("m", "k", "t", "c", ("way", "seed", "x"), rows)
    check = claim(kind="rows", measure="m", column="x", better={"way": "a"}, worse={"way": "b"})
    gap = judge(check, None, {"m": table}).gaps[0]
    wanted = ttest_1samp(np.subtract(*values.values()), 0).confidence_interval(0.95)
    assert (gap.low, gap.high) == pytest.approx((wanted.low, wanted.high)) and gap.verdict == UNDECIDED


@pytest.mark.parametrize(
    ("check", "wanted"),
    [
        ({"kind": "trend", "column": "collisions", "along": "k", "expect": "falls"}, CONFIRMED),
        ({"kind": "trend", "column": "collisions", "along": "k", "expect": "rises"}, REFUTED),
        ({"kind": "trend", "column": "collisions", "along": "seed", "expect": "rises"}, UNDECIDED),
        ({"kind": "trend", "column": "collisions", "along": "k", "expect": "zero"}, REFUTED),
        ({"kind": "trend", "column": "collisions", "along": "k", "expect": "zero", "start": 30}, CONFIRMED),
        ({"kind": "trend", "column": "collisions", "along": "k", "expect": "falls", "where": {"way": "b"}}, CONFIRMED),
        ({"kind": "trend", "column": "collisions", "along": "k", "expect": "falls", "where": {"way": "z"}}, UNDECIDED),
        ({"kind": "bound", "column": "collisions", "where": {"k": 40}, "below": 0.5}, CONFIRMED),
        ({"kind": "bound", "column": "collisions", "where": {"k": 10}, "below": 0.5}, REFUTED),
        ({"kind": "bound", "column": "collisions", "where": {"k": 20}, "above": 1}, UNDECIDED),
        ({"kind": "bound", "column": "collisions", "where": {"k": 99}, "above": 1}, UNDECIDED),
    ],
)  # fmt: skip
def test_verdicts_of_measures(check, wanted):
    assert judge(claim(measure="m", **check), None, {"m": TABLE}).verdict == wanted
    assert judge(claim(measure="m", **check), None, {}).verdict == UNDECIDED


def test_what_needs_weights():
    found = judge(claim(kind="weights", needs="weights of SciBERT"), None, {})
    assert found.verdict == NO_WEIGHTS and found.reason == "weights of SciBERT" and found.gaps == ()


def test_tables_come_back():
    assert table_of(TABLE.plain()) == TABLE


@pytest.mark.parametrize(
    "study",
    [
        {"claim": [{"id": "a", "text": "t", "source": "s", "published": "p",
                    "check": {"kind": "bound", "measure": "m", "column": "x", "above": 1}}]},
        {"measure": [{"name": "a", "kind": "bands"}, {"name": "a", "kind": "easy"}]},
        {"needs": ["luck"]},
        {"claim": [{"id": "a", "text": "t", "source": "s", "published": "p",
                    "check": {"kind": "encoders", "better": ["x"], "worse": ["y"], "keeps": 0.5}}]},
    ],
)  # fmt: skip
def test_studies_that_contradict_themselves(study):
    with pytest.raises(ValidationError):
        StudyOptions(paper="p", title="t", **study)


def _several(shifts, deviation=1.0):
    """Findings of comparisons whose resamples are normal: one of each difference, in deviations."""
    moved = np.random.default_rng(0).normal(size=20_000) * deviation
    moved -= moved.mean()
    check = ClaimOptions.model_validate(
        {"id": "c", "text": "t", "source": "s", "published": "p",
         "check": {"kind": "encoders", "better": ["a"], "worse": ["b"], "tasks": "each"}}
    ).check  # fmt: skip
    gaps = [claims._gap(check, "a", "b", f"t{n}", claims._Contrast(z, moved + z, 50), 1) for n, z in enumerate(shifts)]
    return claims._joined(gaps, points=True)


def test_one_of_many_must_fail_after_holms_correction():
    assert _several([-2.2]).verdict == REFUTED  # alone: p 0.028
    assert _several([-2.2, 3, 3]).verdict == REFUTED  # the smallest two are 3's, so it is tested at 5 %
    many = _several([-2.2, 0.1, 0.2, 1.0, 1.1])
    assert many.verdict == UNDECIDED and "Holm" in many.reason
    assert _several([-3.5, 0.1, 0.2, 1.0, 1.1]).verdict == REFUTED  # p 0.0005, five times that
    assert _several([2.2, 2.3, 2.4]).verdict == CONFIRMED  # all must hold: none is corrected
    assert many.gaps[0].p == pytest.approx(2 * norm.sf(2.2), rel=0.05)
