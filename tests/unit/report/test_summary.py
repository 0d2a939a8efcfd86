"""Scores become tables: grouped, compared, marked; several seeds and several runs together."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sectioncls.errors import InputError, UsageError
from sectioncls.records import UNSEEN, Score
from sectioncls.report import summarize
from sectioncls.report.panels.overview import cautions, headline
from sectioncls.report.panels.per_label import confusion
from sectioncls.report.tables import report_tables, unseen_table
from sectioncls.report.views import Measured, interval_words, on_points
from sectioncls.runs import Run, create_run

Maker = Callable[..., Run]
Info = Callable[..., dict[str, Any]]


def small_run(path: Path, scores: list[Score], **info: Any) -> Path:
    """A run with nothing but scores."""
    encoders = {"tuned": {"backbone": "minilm", "state": "tuned", "model": "m"}}
    run = create_run(path, {"encoders": encoders, **info})
    run.add_scores(scores)
    run.finish()
    return path


def test_baselines_come_first_and_published_values_stand_beside(maker: Maker, tmp_path: Path) -> None:
    summary = summarize([maker(tmp_path / "r").path])
    groups = summary.corpora[0].classification
    assert [group.encoder and group.encoder.key for group in groups] == [None, "base", "tuned"]
    assert [row.method for row in groups[0].rows] == ["majority", "tfidf-logistic-regression"]
    svm = next(row for row in groups[1].rows if row.method == "svm").scores["f1-micro"]
    assert svm.published == pytest.approx(0.6123)
    assert svm.difference == pytest.approx(0)
    assert svm.published_inside is True
    assert groups[0].rows[0].scores["f1-micro"].published is None


def test_the_best_value_is_marked_once_and_a_silhouette_never(maker: Maker, tmp_path: Path) -> None:
    corpus = summarize([maker(tmp_path / "r").path]).corpora[0]
    best = [(group.encoder and group.encoder.key, row.method, row.best) for group in corpus.classification
            for row in group.rows if row.best]  # fmt: skip
    assert best == [("tuned", "random-forest", {"f1-micro", "f1-macro"})]
    marked = [row.best for group in corpus.clustering for row in group.rows]
    assert frozenset({"ari", "ami"}) in marked
    assert not any("silhouette" in metrics for metrics in marked)


def test_a_baseline_may_be_the_best_value_but_not_the_best_classifier(tmp_path: Path, info: Info) -> None:
    scores = [
        Score("f1-micro", 0.9, n=10, method="tfidf-logistic-regression"),
        Score("f1-micro", 0.8, n=10, method="knn", encoder="tuned"),
    ]
    summary = summarize([small_run(tmp_path / "r", scores, corpus=info())])
    assert summary.corpora[0].classification[0].rows[0].best == {"f1-micro"}
    run = summary.runs[0]
    assert run.best and run.best[1].method == "knn"
    assert "10.00 points below TF" in headline(run)[0]


@pytest.mark.parametrize(
    ("units", "words"),
    [
        (["article", "article"], "95 % intervals resampled by article"),
        (["article", "seed"], "95 % intervals resampled by article; of several seeds their range"),
        (["seed", "article"], "95 % intervals resampled by article; of several seeds their range"),
        (["seed"], "the range over seeds"),
        ([], ""),
    ],
)
def test_ranges_of_seeds_are_not_called_intervals(units: list[str], words: str) -> None:
    none = Measured(0.5, None, None, 9, "article", (0,))
    assert interval_words([none, *(Measured(0.5, 0.4, 0.6, 9, unit, (0,)) for unit in units)]) == words


def test_several_seeds_become_mean_and_range(tmp_path: Path, info: Info) -> None:
    scores = [Score("ari", value, n=9, method="kmeans", encoder="tuned", seed=seed)
              for seed, value in enumerate((0.2, 0.3, 0.7))]  # fmt: skip
    summary = summarize([small_run(tmp_path / "r", scores, corpus=info())])
    ari = summary.corpora[0].clustering[0].rows[0].scores["ari"]
    assert (ari.value, ari.low, ari.high, ari.unit) == (pytest.approx(0.4), 0.2, 0.7, "seed")
    assert any("3 seeds" in text for text, _ in cautions(summary.runs[0]))


def test_only_the_test_split_is_shown(tmp_path: Path, info: Info) -> None:
    path = small_run(
        tmp_path / "r", [Score("f1-micro", 0.9, split="dev", method="knn", encoder="tuned")], corpus=info()
    )
    assert summarize([path]).corpora[0].classification == ()


def test_an_undefined_value_is_never_the_best(tmp_path: Path, info: Info) -> None:
    scores = [Score("f1-micro", value, n=5, method=method, encoder="tuned")
              for value, method in ((math.nan, "knn"), (0.5, "svm"))]  # fmt: skip
    run = summarize([small_run(tmp_path / "r", scores, corpus=info())]).runs[0]
    assert run.best and run.best[1].method == "svm"


def test_runs_on_one_corpus_share_a_table_and_equal_groups_are_shown_once(maker: Maker, tmp_path: Path) -> None:
    paths = [maker(tmp_path / name, name=name, shift=shift).path for name, shift in (("a", 0.0), ("b", 0.01))]
    summary = summarize(paths)
    assert len(summary.corpora) == 1
    shown = [(group.encoder and group.encoder.key, group.runs) for group in summary.corpora[0].classification]
    assert shown == [(None, ("a", "b")), ("base", ("a", "b")), ("tuned", ("a",)), ("tuned", ("b",))]


def test_runs_of_one_name_are_told_apart(maker: Maker, tmp_path: Path) -> None:
    paths = [maker(tmp_path / name, name="same").path for name in ("a", "b")]
    assert [run.name for run in summarize(paths).runs] == ["same", "same (2)"]


def test_cautions_name_what_weakens_the_result(maker: Maker, info: Info, tmp_path: Path) -> None:
    run = maker(tmp_path / "r", corpus=info(has_articles=False))
    said = dict(cautions(summarize([run.path]).runs[0]))
    assert said["MiniLM, fine-tuned: Embeddings collapsed: effective rank 1.9 of 384."] is True
    text = " ".join(said)
    for part in ("One seed (31415)", "no article ids", "best of 10", "26 of 226 test abstracts", "single runs"):
        assert part in text


def test_confusions_count_every_sentence_once(maker: Maker, tmp_path: Path) -> None:
    run = summarize([maker(tmp_path / "r").path]).runs[0]
    counts = confusion(run)
    for label, n in run.corpus.info["counts"]["test"].items():
        assert sum(k for (true, _), k in counts.items() if true == label) == n


def test_no_run_and_wrong_manifests_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        summarize([])
    with pytest.raises(InputError, match="no such run"):
        summarize([tmp_path / "nothing"])
    path = small_run(tmp_path / "r", [], corpus=["csabstruct"])
    with pytest.raises(InputError, match="corpus is not an object"):
        summarize([path])


def test_a_run_without_scores_still_has_a_summary(tmp_path: Path) -> None:
    run = summarize([small_run(tmp_path / "r", [])]).runs[0]
    assert headline(run) == ["This run holds no classification scores of an encoder."]


@pytest.mark.parametrize(
    ("note", "collapsed"),
    [
        ("collapse: effective rank 1.3 of 384 for 5 labels", True),
        ("The embeddings collapsed at step 200.", True),
        ("margin 5 is never met: embeddings are pulled into one point (collapse)", False),
    ],
)
def test_a_warning_of_collapse_is_no_collapse(maker: Maker, tmp_path: Path, note: str, collapsed: bool) -> None:
    run = summarize([maker(tmp_path / "r", note=note).path]).runs[0]
    assert run.encoders["tuned"].collapsed is collapsed
    assert dict(cautions(run))[f"MiniLM, fine-tuned: {note}"] is collapsed


def test_another_model_goes_by_its_own_name(tmp_path: Path, info: Info) -> None:
    encoders = {"x": {"backbone": "other", "state": "base", "model": "some-bert"}}
    path = small_run(tmp_path / "r", [Score("f1-micro", 0.5, method="knn", encoder="x")], corpus=info())
    run = create_run(tmp_path / "s", {"encoders": encoders})
    run.finish()
    assert summarize([path, run.path]).runs[1].encoders["x"].title == "some-bert, as released"


def test_a_head_is_a_cls_classifier_only_on_cls_states(tmp_path: Path, info: Info) -> None:
    scores = [Score("f1-micro", 0.8, n=10, method="cls-head", encoder="tuned")]
    assert summarize([small_run(tmp_path / "r", scores, corpus=info())]).runs[0].groups[0].rows[0].title == (
        "The encoder's own classifier"
    )


def test_scores_on_unseen_sentences_stand_beside_those_on_all(tmp_path: Path, info: Info) -> None:
    def row(value: float, n: int, metric: str = "f1-micro", method: str = "knn", **other: Any) -> Score:
        return Score(metric, value, value - 0.01, value + 0.01, n, "article", method=method, encoder="tuned", **other)

    scores = [row(0.8, 100), row(0.7, 60, split=UNSEEN), row(0.5, 100, "ari", "kmeans")]
    scores += [row(0.55, 60, "ari", "kmeans", split=UNSEEN), row(0.9, 100, method="svm")]
    summary = summarize([small_run(tmp_path / "r", scores, corpus=info())])
    rows = {one.method: one for one in summary.corpora[0].groups[0].rows}
    assert rows["knn"].scores["f1-micro"].value == 0.8 and rows["knn"].unseen["f1-micro"].value == 0.7
    assert not rows["svm"].unseen
    best = summary.corpora[0].classification[0].rows
    assert {one.method: bool(one.unseen) for one in best} == {"knn": True, "svm": False}  # marking keeps them
    table = unseen_table(summary.corpora[0])
    assert table is not None and "100 sentences of test and the 60" in table.caption
    cells = {line[1].text: [cell.text for cell in line[2:]] for line in table.rows}
    assert cells["k nearest neighbours"][:3] == ["80.00", "70.00", "\N{MINUS SIGN}10.00"]
    assert cells["k-means"][3:6] == ["50.00", "55.00", "+5.00"]
    assert table in report_tables(summary)


def test_without_leaks_there_is_no_table_of_unseen_sentences(maker: Maker, tmp_path: Path) -> None:
    assert unseen_table(summarize([maker(tmp_path / "r").path]).corpora[0]) is None


@pytest.mark.parametrize(("ari", "named"), [(0.29, True), (0.74, True), (0.82, False)])
def test_points_that_are_the_labels_are_no_collapse(tmp_path: Path, info: Info, ari: float, named: bool) -> None:
    values = {"ari": ari, "silhouette": 0.9, "effective-rank": 3.0}
    scores = [Score(metric, value, n=10, method="kmeans", encoder="tuned") for metric, value in values.items()]
    row = summarize([small_run(tmp_path / "r", scores, corpus=info())]).runs[0].groups[0].rows[0]
    assert on_points(row, 5) is named
