"""Scoring made-up embeddings of a small corpus: which rows and tables come out, and what is refused."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, f1_score

from sectioncls.corpora import open_corpus
from sectioncls.downstream import CLASSIFIERS, PROTOCOLS
from sectioncls.errors import InputError, UsageError
from sectioncls.recipes import EvaluateOptions, evaluate_encoder, evaluate_texts
from sectioncls.recipes.evaluate import uses_dev

QUICK = EvaluateOptions(classifiers=("knn", "logistic-regression"))
CENTRES = np.random.default_rng(9).normal(size=(5, 16))


def vectors(corpus, split, seed=0):
    """Embeddings with the structure of the labels."""
    labels = corpus.split(split).labels
    noise = np.random.default_rng((seed, len(labels))).normal(size=(len(labels), 16))
    return (CENTRES[labels] + 2 * noise).astype(np.float32)


@pytest.fixture(scope="module")
def corpus(small_corpus):
    return open_corpus(small_corpus)


def scored(corpus, options=QUICK, unseen=None, **other):
    given = {split: vectors(corpus, split) for split in corpus.splits}
    given.update(other)
    return evaluate_encoder(
        corpus,
        given["train"],
        given["test"],
        dev_vectors=given["dev"],
        name="made-up",
        options=options,
        unseen=unseen,
    )


def values(result, **where):
    return {
        score.metric: score.value
        for score in result.scores
        if score.label is None and all(getattr(score, key) == value for key, value in where.items())
    }


def test_the_protocols_own_methods_unless_others_are_named(corpus):
    assert {score.method for score in scored(corpus).scores} == {"kmeans", "knn", "logistic-regression"}
    paper = scored(corpus, EvaluateOptions(protocol="paper"), dev=None)
    assert {score.method for score in paper.scores} == {"kmeans", *PROTOCOLS["paper"].methods}
    assert {score.metric for score in paper.scores} == {
        *("f1-micro", "f1-macro", "f1"),
        *("ari", "ami", "silhouette", "effective-rank"),
    }
    assert not paper.curves and set(paper.predictions["probability"]) == {None}
    with pytest.raises(UsageError, match="in the protocol paper"):
        scored(corpus, EvaluateOptions(protocol="paper", classifiers=("linear-svm",)))


def test_probabilities_are_judged_and_kept(corpus):
    result = scored(corpus)
    found = values(result, method="logistic-regression")
    assert {"ece", "ece-tempered", "temperature", "average-precision"} <= set(found)
    assert {"ece", "average-precision"} <= set(values(scored(corpus, dev=None), method="knn"))
    assert "ece-tempered" not in values(scored(corpus, dev=None), method="knn")
    assert all(0 < chance <= 1 for chance in result.predictions["probability"])
    curves = set(zip(result.curves["method"], result.curves["curve"], result.curves["series"], strict=True))
    assert ("logistic-regression", "reliability", "after") in curves
    assert ("knn", "precision-recall", "method") in curves
    rows = [row for row in zip(*result.curves.values(), strict=True) if row[2:4] == ("reliability", "before")]
    assert sum(row[-1] for row in rows if row[1] == "knn") == 67


def test_doubts_are_confident_learning(corpus):
    """The rule written as a loop: another label is likeliest, and as likely as is usual for rows that bear it."""
    table = scored(corpus, EvaluateOptions(classifiers=("logistic-regression",))).predictions
    rows = list(
        zip(*(table[n] for n in ("label", "predicted", "probability", "own_probability", "suggested")), strict=True)
    )
    usual = {}
    for label in {row[0] for row in rows}:
        own = [row[3] for row in rows if row[0] == label]
        usual[label] = sum(own) / len(own)
    assert any(row[4] for row in rows)
    for label, predicted, top, own, suggested in rows:
        assert own == pytest.approx(top) if label == predicted else own <= top
        if label == predicted:
            assert suggested is None
        elif abs(top - usual.get(predicted, 2)) > 1e-9:
            assert (suggested == predicted) == (top > usual.get(predicted, 2))


def test_tuned_reads_dev(corpus):
    options = EvaluateOptions(protocol="tuned", classifiers=("nearest-centroid",))
    assert uses_dev(options) and not uses_dev(EvaluateOptions(protocol="paper"))
    result = scored(corpus, options)
    assert values(result, method="nearest-centroid")["f1-micro"] > 0.4
    assert set(result.settings["made-up"]["nearest-centroid"]) == {"scaled"}
    assert scored(corpus).settings == {}
    with pytest.raises(UsageError, match="chooses its settings on dev"):
        scored(corpus, options, dev=None)


def test_seeds_repeat_what_chance_touches(corpus):
    result = scored(corpus, EvaluateOptions(classifiers=("knn", "decision-tree"), seeds=3))
    seeds = {}
    for score in result.scores:
        if score.metric in ("f1-micro", "ari"):
            seeds.setdefault(score.method, []).append(score.seed)
    assert seeds == {"kmeans": [0, 1, 2], "knn": [0], "decision-tree": [0, 1, 2]}
    stability = next(score for score in result.scores if score.metric == "stability")
    assert stability.low <= stability.value <= stability.high and (stability.n, stability.unit) == (3, "seed")
    assert len(result.predictions["predicted"]) == 2 * 67 and len(result.clusters["cluster"]) == 67


def test_curves_are_kept_as_points(corpus):
    result = scored(corpus, EvaluateOptions(classifiers=("nearest-centroid",), curves=("learning", "few-shot", "k")))
    rows = list(zip(*(result.curves[name] for name in ("curve", "series", "repeat", "x", "n")), strict=True))
    assert ("learning", "f1-macro", 0, 287.0, 287) in rows
    assert {row[3] for row in rows if row[0] == "few-shot"} == {8.0, 16.0, 64.0}
    assert {row[1] for row in rows if row[0] == "k"} == {"silhouette", "gap"}
    found = values(result)
    assert {"f1-macro-8-shot", "f1-macro-64-shot", "k-by-gap", "k-by-silhouette"} <= set(found)
    assert found["f1-macro-8-shot"] < found["f1-macro-64-shot"] + 0.05


def test_clusters_are_described_by_words_of_several_sentences(corpus):
    result = scored(corpus)
    texts = [text.lower() for text in corpus.split("test").texts]
    for term in result.descriptions["term"]:
        assert sum(term.split()[0] in text for text in texts) >= 5
    assert set(result.descriptions["cluster"]) <= set(result.clusters["cluster"])


def test_permuted_rows_give_the_same_scores(corpus, tmp_path):
    """Every classifier and clustering, on a corpus whose rows were shuffled."""
    shutil.copytree(corpus.path, tmp_path / "mixed")
    given, orders = {}, {}
    for split in corpus.splits:
        table = pq.read_table(corpus.path / f"{split}.parquet")
        orders[split] = np.random.default_rng(5).permutation(len(table))
        pq.write_table(table.take(pa.array(orders[split])), tmp_path / "mixed" / f"{split}.parquet")
        given[split] = vectors(corpus, split)[orders[split]]
    mixed = open_corpus(tmp_path / "mixed")
    options = EvaluateOptions(
        classifiers=tuple(CLASSIFIERS),
        clusterings=("kmeans", "minibatch-kmeans", "spherical-kmeans", "agglomerative"),
        curves=("few-shot",),
    )
    one, other = scored(corpus, options), scored(mixed, options, **given)
    assert one.scores == other.scores
    assert one.predictions == other.predictions and one.clusters == other.clusters and one.curves == other.curves
    texts = [evaluate_texts(each, options=options) for each in (corpus, mixed)]
    assert texts[0].scores == texts[1].scores


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_embeddings_of_another_corpus_are_refused(corpus, split):
    with pytest.raises(InputError) as caught:
        scored(corpus, **{split: np.ones((12, 16), dtype=np.float32)})
    line = str(caught.value)
    assert "12 embeddings for the" in line and f"sentences of {split} in csabstruct" in line and "\n" not in line


def test_embeddings_that_are_not_finite_are_refused(corpus):
    broken = vectors(corpus, "test")
    broken[3] = np.nan
    with pytest.raises(InputError, match="1 of 67 rows hold NaN"):
        scored(corpus, test=broken)


def test_equal_embeddings_are_scored_without_a_word(corpus):
    same = {split: np.ones((len(corpus.split(split)), 16), dtype=np.float32) for split in corpus.splits}
    options = EvaluateOptions(
        classifiers=tuple(CLASSIFIERS),
        clusterings=("kmeans", "minibatch-kmeans", "spherical-kmeans", "agglomerative", "hdbscan"),
        curves=("learning", "few-shot", "k"),
    )
    found = values(scored(corpus, options, **same), method="kmeans")
    assert (found["ari"], found["clusters"], found["effective-rank"]) == (0, 1, 0)
    assert "silhouette" not in found
    tuned = EvaluateOptions(protocol="tuned", classifiers=("svm", "nearest-centroid"))
    assert values(scored(corpus, tuned, **same), method="svm")["f1-micro"] > 0


def altered(corpus, folder, change):
    """The corpus with its test rows changed by ``change(table)``."""
    shutil.copytree(corpus.path, folder)
    table = change(pq.read_table(folder / "test.parquet"))
    pq.write_table(table, folder / "test.parquet")
    return open_corpus(folder)


def test_a_test_split_without_a_label(corpus, tmp_path):
    first = corpus.labels[0]
    less = altered(corpus, tmp_path / "less", lambda table: table.filter(pa.compute.not_equal(table["label"], first)))
    result = scored(less)
    assert first not in {score.label for score in result.scores if score.metric == "average-precision"}
    assert values(result, method="kmeans")["clusters"] == len(corpus.labels) - 1


def test_one_article_has_no_interval(corpus, tmp_path):
    def one_article(table):
        names = pa.array(["only"] * len(table))
        table = table.set_column(table.column_names.index("article_id"), "article_id", names)
        return table.set_column(
            table.column_names.index("index"), "index", pa.array(np.arange(len(table)), table["index"].type)
        )

    single = altered(corpus, tmp_path / "single", one_article)
    assert single.info.has_articles
    assert {(score.low, score.unit) for score in scored(single).scores if score.metric == "f1-micro"} == {
        (None, "article")
    }


def test_fewer_sentences_than_clusters(corpus, tmp_path):
    few = altered(corpus, tmp_path / "few", lambda table: table.slice(0, 3))
    result = scored(few, EvaluateOptions(classifiers=("knn",), curves=("k",)))
    assert values(result, method="kmeans")["clusters"] <= 3


def test_the_engine_is_an_option(corpus, monkeypatch):
    from sectioncls.downstream import engines

    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="scikit-learn-intelex is not installed"):
        scored(corpus, QUICK.model_copy(update={"engine": "intelex"}))
    plain = scored(corpus, QUICK.model_copy(update={"engine": "scikit-learn"}))
    assert plain.scores == scored(corpus).scores


def test_a_head_is_judged_like_a_classifier(corpus):
    from sectioncls.encoders import LinearHead

    head = LinearHead(16, corpus.labels)
    given = {split: vectors(corpus, split) for split in corpus.splits}
    result = evaluate_encoder(
        corpus,
        given["train"],
        given["test"],
        dev_vectors=given["dev"],
        name="made-up",
        options=replace_classifiers(("nearest-centroid",)),
        head=head,
    )
    found = values(result, method="cls-head")
    assert {"f1-micro", "ece", "ece-tempered", "temperature"} <= set(found)
    rows = zip(result.predictions["method"], result.predictions["probability"], strict=True)
    assert all((chance is None) == (method == "nearest-centroid") for method, chance in rows)


def replace_classifiers(names):
    return QUICK.model_copy(update={"classifiers": names})


def test_seed_and_protocol_stand_in_every_score(corpus):
    rules = replace(PROTOCOLS["default"])
    for score in scored(corpus).scores:
        assert (score.protocol, score.seed, score.corpus) == (rules.name, rules.seed, "csabstruct")


def test_scores_without_what_other_splits_hold(corpus):
    test = corpus.split("test")
    unseen = np.random.default_rng(3).random(len(test)) < 0.6
    result = scored(corpus, unseen=unseen)
    rows = {(s.metric, s.method): s for s in result.scores if s.split == "test-unseen"}
    assert {metric for metric, _ in rows} == {"f1-micro", "f1-macro", "ari", "ami"}
    keys = list(zip(test.article_ids, test.index.tolist(), strict=True))
    new = {key for key, mine in zip(keys, unseen, strict=True) if mine}
    table = result.predictions
    for method in ("knn", "logistic-regression"):
        mine = [
            (label, predicted)
            for article, index, label, predicted, its in zip(
                *(table[name] for name in ("article_id", "index", "label", "predicted", "method")), strict=True
            )
            if its == method and (article, index) in new
        ]
        assert rows["f1-micro", method].n == len(mine) == unseen.sum()
        truth, predicted = zip(*mine, strict=True)
        assert rows["f1-micro", method].value == pytest.approx(f1_score(truth, predicted, average="micro"))
        assert rows["f1-macro", method].value == pytest.approx(f1_score(truth, predicted, average="macro"))
    clusters = result.clusters
    places = zip(clusters["article_id"], clusters["index"], strict=True)
    kept = [place for place, key in enumerate(places) if key in new and clusters["method"][place] == "kmeans"]
    truth, found = ([clusters[name][place] for place in kept] for name in ("label", "cluster"))
    assert rows["ari", "kmeans"].value == pytest.approx(adjusted_rand_score(truth, found))
    assert rows["ami", "kmeans"].value == pytest.approx(adjusted_mutual_info_score(truth, found))
    plain = [score for score in result.scores if score.split == "test"]
    assert plain == scored(corpus).scores


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_nothing_is_scored_twice_where_all_or_none_is_unseen(corpus, share):
    unseen = np.full(len(corpus.split("test")), bool(share))
    assert {score.split for score in scored(corpus, unseen=unseen).scores} == {"test"}
    assert {score.split for score in evaluate_texts(corpus, unseen=unseen).scores} == {"test"}
