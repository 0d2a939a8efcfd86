"""A made-up paper set with every kind of task, scored with an embedding that is a bag of words."""

from __future__ import annotations

import json
import zlib

import numpy as np
import pytest

from sectioncls.downstream.rank import QueryValues
from sectioncls.errors import InputError, UsageError
from sectioncls.papersets import open_paperset
from sectioncls.papersets.build import build_papers
from sectioncls.recipes.paper_evaluate import evaluate_papers
from sectioncls.recipes.paper_plan import plan_tasks, ranking_data
from sectioncls.recipes.paper_results import (
    PaperEvaluation,
    format_of_task,
    main_scores,
    standing_scores,
    system_of,
    task_means,
)
from sectioncls.recipes.paper_words import evaluate_words
from sectioncls.records import Score

FIELDS = {
    "gardens": ("roses", "soil", "hedges", "pruning", "bulbs", "compost"),
    "ships": ("harbour", "sails", "keel", "anchor", "rigging", "tide"),
    "bread": ("flour", "yeast", "oven", "dough", "crust", "salt"),
}
TERMS = [f"word{number}" for number in range(60)]
PAPERS = 90


def papers(rng):
    for number in range(PAPERS):
        field = list(FIELDS)[number % 3]
        words = rng.choice(FIELDS[field], 4).tolist()
        terms = rng.choice(TERMS, 3, replace=False).tolist()
        split = "train" if number < 54 else "dev" if number < 66 else "test"
        yield {
            "id": f"p{number:02d}",
            "title": f"On {words[0]} and {words[1]}",
            "abstract": "" if number == 60 else f"We grow {words[2]} with {words[3]}; {terms[0]} and {terms[1]} help.",
            "year": 1990 + int(words.count(FIELDS[field][0])) + number % 3,
            "track": field,
            "labels_side": [field, "even" if number % 2 else "odd"],
            "terms": terms,
            "split": split,
        }


@pytest.fixture(scope="module")
def paper_set(tmp_path_factory):
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("source") / "madeup"
    folder.mkdir()
    rows = list(papers(rng))
    (folder / "papers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "labels_track.jsonl").write_text(
        "".join(json.dumps({"name": name, "definition": " ".join(words[:2])}) + "\n" for name, words in FIELDS.items())
    )
    (folder / "terms.tsv").write_text("term\tcount\n" + "".join(f"{term}\t3\n" for term in TERMS))
    test = [row for row in rows if row["split"] == "test"]
    like = {row["id"]: [r["id"] for r in rows if r["track"] == row["track"] and r is not row] for row in test}
    other = {row["id"]: [r["id"] for r in rows if r["track"] != row["track"]] for row in test}
    head = "query-id\tcorpus-id\tscore\n"
    rerank = "".join(
        f"{name}\t{paper}\t{gain}\n"
        for name in like
        for gain, group in ((1, like[name][:4]), (0, other[name][:8]))
        for paper in group
    )
    for file, text in (
        ("rerank_cite/test.tsv", rerank),
        ("retrieval_cite/test.tsv", "".join(f"{name}\t{paper}\t1\n" for name in like for paper in like[name][:9])),
        (
            "qrels.tsv",
            "".join(
                f"{field}\t{row['id']}\t{1 + (number % 3)}\n"
                for field in FIELDS
                for number, row in enumerate(rows)
                if row["track"] == field and number < 60
            ),
        ),
    ):
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text(head + text)
    (folder / "queries.jsonl").write_text(
        "".join(
            json.dumps({"_id": name, "text": " ".join(words), "split": "test"}) + "\n" for name, words in FIELDS.items()
        )
    )
    profiles = [{"reviewer": f"r{n}", "papers": [f"p{n + 3 * k:02d}" for k in range(4)]} for n in range(3)]
    (folder / "profiles.jsonl").write_text("".join(json.dumps(row) + "\n" for row in profiles))
    ratings = "".join(f"r{n}\tp{60 + m}\t{5.0 if n == m % 3 else 1.5}\n" for n in range(3) for m in range(6))
    (folder / "expertise.tsv").write_text("reviewer\tpaper\texpertise\n" + ratings)
    out = tmp_path_factory.mktemp("sets") / "madeup"
    build_papers([folder], out, command="test")
    return open_paperset(out)


class Bag:
    """A vector a text: the sum of a random direction for each word; remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, texts, task, side):
        self.asked.append((task, side, len(texts)))
        return np.stack([self.vector(text) for text in texts])

    def vector(self, text):
        words = [word.strip(".;,").lower() for word in text.split()] or ["nothing"]
        return sum(np.random.default_rng(zlib.crc32(word.encode())).normal(size=48) for word in words)


@pytest.fixture(scope="module")
def evaluated(paper_set):
    bag = Bag()
    return evaluate_papers(paper_set, bag, name="none", least=1), bag


TASKS = {
    "rank:cite",
    "retrieve:cite",
    "search",
    "reviewers:expertise",
    "class:track",
    "label:track",
    "class:labels_side",
    "label:labels_side",
    "topics:terms",
    "regress:year",
}


def test_a_set_is_asked_for_what_it_has(paper_set):
    planned = {one.name: one for one in plan_tasks(paper_set)}
    assert set(planned) == TASKS
    assert planned["retrieve:cite"].whole
    assert not planned["rank:cite"].whole
    assert {one.name for one in plan_tasks(paper_set, whole=["cite"])} >= {"retrieve:cite"}
    assert {one.name for one in plan_tasks(paper_set, split="dev")} == {
        "class:track",
        "label:track",
        "class:labels_side",
        "label:labels_side",
        "topics:terms",
        "regress:year",
    }


def test_every_task_has_rows_that_say_all(evaluated, paper_set):
    result, _ = evaluated
    assert {row.task for row in result.scores} == TASKS
    for row in result.scores:
        assert (row.corpus, row.fingerprint) == ("madeup", paper_set.info.fingerprint)
        assert (row.encoder, row.protocol, row.split, row.seed) == ("none", "default", "test", 42)
        assert row.n > 0
        assert row.low <= row.value <= row.high
    units = {(row.task, row.unit) for row in result.scores}
    assert units >= {("rank:cite", "query"), ("class:track", "paper"), ("reviewers:expertise", "reviewer")}
    values = {(row.task, row.method, row.metric): row.value for row in result.scores}
    assert values["rank:cite", "dot", "map"] > 0.7
    assert values["class:track", "linear-svm", "f1-macro"] > 0.9
    assert values["topics:terms", "name+match", "recall@20"] > values["topics:terms", "name", "recall@20"]
    assert ("label:track", "name+definition", "f1-macro") in values
    assert ("label:labels_side", "name", "p@1") in values


def test_formats_and_sides_reach_the_encoder(evaluated):
    _, bag = evaluated
    assert {(task, side) for task, side, _ in bag.asked} == {
        ("proximity", "query"),
        ("proximity", "document"),
        ("search", "query"),
        ("search", "document"),
        ("classification", "query"),
        ("classification", "document"),
        ("regression", "document"),
    }
    assert sum(n for task, side, n in bag.asked if (task, side) == ("proximity", "document")) <= PAPERS


def test_one_vector_for_all_formats_encodes_each_paper_once(paper_set, evaluated):
    bag = Bag()
    result = evaluate_papers(paper_set, bag, name="none", least=1, shared=True)
    assert result.scores == evaluated[0].scores
    papers_seen = [n for task, _, n in bag.asked if task == "proximity"]
    assert sum(n for *_, n in bag.asked) <= PAPERS + 3 + 2 * 3 + 5 + len(TERMS) + 5
    assert sum(papers_seen) == PAPERS


def test_search_documents_may_read_otherwise(paper_set):
    bag = Bag()
    texts = [f"paper {number}" for number in range(PAPERS)]
    worse = evaluate_papers(paper_set, bag, name="none", tasks=["search"], search_texts=texts, shared=True)
    assert main_scores(worse.scores)["search"].value < 0.8
    with pytest.raises(InputError, match="90 papers but 1 texts for search"):
        evaluate_papers(paper_set, bag, name="none", search_texts=["a"])


def test_query_rows_have_the_means_of_the_score_rows(evaluated):
    result, _ = evaluated
    columns = result.query_scores
    assert len({len(rows) for rows in columns.values()}) == 1
    values = {}
    for task, metric, method, encoder, value in zip(
        *(columns[name] for name in ("task", "metric", "method", "encoder", "value")), strict=True
    ):
        assert encoder == "none"
        values.setdefault((task, metric, method), []).append(value)
    for row in result.scores:
        if row.task.startswith(("rank", "retrieve", "search", "topics", "reviewers")):
            mine = values[row.task, row.metric, row.method]
            assert (np.mean(mine), len(mine)) == (pytest.approx(row.value), row.n)


def test_predictions_stand_beside_the_truth(evaluated):
    result, _ = evaluated
    columns = result.predictions
    assert set(columns) == {"task", "paper", "encoder", "method", "truth", "predicted"}
    assert set(columns["task"]) == {"class:track", "label:track", "regress:year"}
    hits = [
        truth == found
        for task, truth, found in zip(columns["task"], columns["truth"], columns["predicted"], strict=True)
        if task == "class:track"
    ]
    micro = next(row for row in result.scores if (row.task, row.metric) == ("class:track", "f1-micro"))
    assert np.mean(hits) == pytest.approx(micro.value)


def test_a_paper_judged_for_itself_is_left_out_and_counted(paper_set, tmp_path):
    folder = tmp_path / "selfish"
    folder.mkdir()
    rows = [{"id": f"p{n}", "title": f"On {n}", "abstract": "roses", "split": "test"} for n in range(6)]
    (folder / "papers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "qrels_facet.tsv").write_text(
        "query-id\tcorpus-id\tscore\n"
        + "".join(f"p{q}\tp{d}\t{3 if d == q + 1 else d % 2}\n" for q in (0, 2) for d in range(6))
    )
    papers = build_papers([folder], tmp_path / "out", command="test")
    opened = papers[0] if isinstance(papers, tuple) else papers
    (planned,) = (one for one in plan_tasks(opened) if one.name == "rank:facet")
    removed, kept = (ranking_data(opened, opened.papers(), planned, "test", None, own=own) for own in (False, True))
    assert removed.relevant_from == 2  # grades above 2 occur
    assert len(removed.judged) == len(kept.judged) - removed.own
    assert not (removed.query_rows[removed.judged.query] == removed.judged.document).any()


def test_words_answer_the_same_tasks(paper_set):
    result = evaluate_words(paper_set, least=1)
    assert {row.task for row in result.scores} == TASKS - {"label:track", "label:labels_side"}
    assert {system_of(row) for row in result.scores} == {"bm25", "tfidf", "popularity"}
    assert {row.encoder for row in result.scores} == {""}
    methods = {row.method for row in result.scores if row.task == "topics:terms"}
    assert methods == {f"{name}{end}" for name in ("bm25", "tfidf", "popularity") for end in ("", "+match")}


def test_protocols_change_what_they_say(paper_set):
    kept = evaluate_papers(paper_set, Bag(), name="none", protocol="scimult", tasks=["retrieve:cite"])
    removed = evaluate_papers(paper_set, Bag(), name="none", tasks=["retrieve:cite"])
    of = {row.metric: row.value for row in kept.scores}
    assert of["recall@20"] < next(row.value for row in removed.scores if row.metric == "recall@20")
    search = evaluate_papers(paper_set, Bag(), name="none", protocol="scirepeval", tasks=["search", "rank:cite"])
    assert {(row.task, row.metric) for row in search.scores} == {
        ("search", "ndcg"),
        ("rank:cite", "map"),
        ("rank:cite", "ndcg"),
    }
    assert {row.method for row in search.scores} == {"euclidean"}


def test_what_is_left_out_is_said(paper_set):
    result = evaluate_papers(paper_set, Bag(), name="none", tasks=["topics:terms", "rank:cite"], least=1000)
    assert {row.task for row in result.scores} == {"rank:cite"}
    assert result.notes == ["topics:terms is left out: no paper of test has a topic of terms that 1000 papers bear"]


def test_refusals(paper_set):
    with pytest.raises(UsageError, match="no task 'rank:cocite' in test"):
        evaluate_papers(paper_set, Bag(), name="none", tasks=["rank:cocite"])
    with pytest.raises(UsageError, match="no protocol 'beir' of papers: default, scidocs, scirepeval, scimult"):
        evaluate_papers(paper_set, Bag(), name="none", protocol="beir")
    with pytest.raises(UsageError, match="no ranking task 'couple'"):
        plan_tasks(paper_set, whole=["couple"])
    short = evaluate_papers(paper_set, lambda texts, task, side: np.ones((1, 4)), name="none", tasks=["rank:cite"])
    assert short.notes[0].startswith("rank:cite is left out")


def row(task, metric, value, method="dot", encoder="none", half=0.1):
    return Score(metric, value, value - half, value + half, n=9, task=task, method=method, encoder=encoder)


def test_one_score_stands_for_a_task():
    rows = [
        row("rank:cite", "ndcg", 0.9),
        row("rank:cite", "map", 0.5),
        row("topics:terms", "recall@20", 0.4, "name"),
        row("topics:terms", "recall@20", 0.3, "name+match"),
        row("topics:terms", "recall@50", 0.9, "name+match"),
        row("class:odd", "f1-macro", 0.7, "linear-svm"),
        row("class:odd", "f1-binary", 0.6, "linear-svm"),
        row("scirepeval:scidocs-cite", "map", 0.8),
        row("scirepeval:scidocs-cite", "ndcg", 0.9),
        row("scirepeval:citation-prediction", "accuracy", 0.9),
        row("average:all", "mean", 0.9),
    ]
    found = {task: [score.value for score in mine] for task, mine in standing_scores(rows).items()}
    assert found == {
        "rank:cite": [0.5],
        "topics:terms": [0.3],
        "class:odd": [0.6],
        "scirepeval:scidocs-cite": [0.8, 0.9],
    }
    assert main_scores(rows)["topics:terms"].method == "name+match"


def test_means_over_formats_and_what_was_trained_on():
    rows = [row("rank:cite", "map", 0.5), row("rank:cocite", "map", 0.7), row("search", "ndcg@10", 0.2)]
    means = {score.task: score for score in task_means(rows, trained={"rank:cite"})}
    assert {name: (round(score.value, 6), score.n) for name, score in means.items()} == {
        "average:proximity": (0.6, 2),
        "average:search": (0.2, 1),
        "average:in-train": (0.5, 1),
        "average:held-out": (0.45, 2),
        "average:all": (round(1.4 / 3, 6), 3),
    }
    assert means["average:proximity"].high - means["average:proximity"].value == pytest.approx(0.1 / 2**0.5)
    assert "average:in-train" not in {score.task for score in task_means(rows)}
    benchmark = [row("scirepeval:search", "ndcg", 0.5), row("scirepeval:relish", "ndcg", 0.7)]
    assert {score.task: score.value for score in task_means(benchmark)}["average:held-out"] == 0.7
    assert task_means([]) == []


def test_formats_of_names():
    assert format_of_task("class:track") == "classification"
    assert format_of_task("scirepeval:s2and") == "proximity"
    assert format_of_task("average:all") == ""


def test_evaluations_add_up():
    first, second = PaperEvaluation(), PaperEvaluation()
    for number, one in enumerate((first, second)):
        one.add_queries(QueryValues((f"q{number}", "q9"), {"map": np.array([0.5, np.nan])}), row("rank:cite", "", 0.0))
        one.note("the same")
    first.add(second)
    assert first.query_scores["query"] == ["q0", "q1"]
    assert first.query_scores["metric"] == ["map", "map"]
    assert (len(first.scores), first.notes) == (2, ["the same"])
