"""Every task of SciRepEval on a made-up sample in the form of its evaluation files."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from sectioncls.downstream.papertasks import paper_task, paper_tasks
from sectioncls.errors import InputError, UsageError
from sectioncls.recipes.paper_results import task_means
from sectioncls.recipes.scirepeval import evaluate_scirepeval

WORDS = ("roses", "harbour", "flour", "thunder")


def embed(texts, task, side):
    """Counts of four words and a little noise that depends on the text alone."""
    rows = [[text.lower().count(word) for word in WORDS] for text in texts]
    noise = [np.random.default_rng(len(text)).normal(size=4) * 0.05 for text in texts]
    return np.array(rows, dtype=np.float32) + np.array(noise)


def paper(number, kind):
    times = 1 + number % 6
    return {
        "doc_id": f"d{number}",
        "title": f"On {WORDS[kind]}",
        "abstract": " ".join([WORDS[kind]] * times) + "." * (number % 11),
        "venue": "Letters",
        "year": 2001,
    }


def lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def sample(folder, task):
    """Write the files of one task."""
    here = folder / task.test
    kinds = [number % 3 for number in range(60)]
    papers = [paper(number, kind) for number, kind in enumerate(kinds)]
    if task.shape in ("labels", "numbers"):
        labels = {
            "one": lambda n: WORDS[kinds[n]],
            "several": lambda n: [int(kinds[n] == 0), int(kinds[n] != 2)],
            "yes-no": lambda n: int(kinds[n] == 1),
            None: lambda n: 1 + n % 6,
        }[task.labels]
        lines(here / "metadata.jsonl", papers)
        for part, rows in (("train", range(40)), ("test", range(40, 60))):
            lines(here / f"{part}.jsonl", [{"paper_id": f"d{n}", "label": labels(n)} for n in rows])
    elif task.shape == "candidates":
        query = (lambda n: WORDS[kinds[n]]) if task.format == "search" else (lambda n: papers[n])
        rows = [
            {"doc_id": f"q{n}", "query": query(n), "candidates": [papers[c] for c in range(10, 40)]} for n in range(5)
        ]
        lines(here / "metadata.jsonl", rows)
        pairs = [
            {"query_id": f"q{n}", "cand_id": f"d{c}", "score": 2 * int(kinds[c] == kinds[n])}
            for n in range(5)
            for c in range(10, 40)
        ]
        lines(here / "test_qrel.jsonl", pairs)
    elif task.shape == "triplets":
        lines(
            here / "triplets.jsonl",
            [{"query": papers[n], "pos": papers[n + 3], "neg": papers[n + 1]} for n in range(12)],
        )
    elif task.shape == "blocks":
        lines(here / "metadata.jsonl", papers)
        signatures = {f"s{n}": {"paper_id": f"d{n}", "author_info": {"block": f"a smith {n % 4}"}} for n in range(60)}
        clusters: dict[str, list[str]] = {}
        for n in range(60):
            clusters.setdefault(f"person {n % 4} {kinds[n]}", []).append(f"s{n}")
        (here / "signatures.json").write_text(json.dumps(signatures))
        (here / "clusters.json").write_text(
            json.dumps({name: {"signature_ids": mine} for name, mine in clusters.items()})
        )
    else:
        lines(here / "metadata.jsonl", papers)
        profiles = [
            {"r_id": f"r{r}", "papers": [f"d{n}" for n in range(30, 60) if kinds[n] == r % 3]} for r in range(6)
        ]
        lines(here / "reviewer_metadata.jsonl", profiles)
        pairs = [
            {"query_id": f"d{n}", "cand_id": f"r{r}", "score": 3 if kinds[n] == r % 3 else 0}
            for n in range(9)
            for r in range(6)
        ]
        lines(here / "test_qrel.jsonl", pairs)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("scirepeval")
    for task in paper_tasks():
        sample(root, task)
    return root


@pytest.fixture(scope="module")
def evaluated(folder):
    return evaluate_scirepeval(folder, embed, name="none")


@pytest.mark.parametrize("task", paper_tasks(), ids=lambda task: task.name)
def test_each_task_is_scored(evaluated, task):
    rows = [row for row in evaluated.scores if row.task == f"scirepeval:{task.name}"]
    assert sorted(row.metric for row in rows) == sorted(task.metrics)
    for row in rows:
        assert row.value > (0.15 if row.metric.startswith("p@") else 0.7)
        assert (row.encoder, row.protocol, row.corpus) == ("none", "scirepeval", "scirepeval")


def test_nothing_is_left_out(evaluated):
    assert evaluated.notes == []


def test_means_are_those_of_the_table(evaluated):
    means = {row.task: row for row in task_means(evaluated.scores)}
    assert means["average:in-train"].n == 7  # citation prediction has no published number
    assert means["average:held-out"].n == 16
    assert means["average:all"].n == 23
    assert {name for name in means if name.split(":")[1] in ("classification", "regression", "proximity", "search")}


def test_search_reads_venue_and_year(folder):
    seen = []

    def asked(texts, task, side):
        seen.extend((task, side, text) for text in texts)
        return embed(texts, task, side)

    evaluate_scirepeval(folder, asked, name="none", tasks=["search", "relish"])
    documents = [text for task, side, text in seen if (task, side) == ("search", "document")]
    assert all(text.endswith("[SEP] Letters [SEP] 2001") for text in documents)
    assert {text for task, side, text in seen if (task, side) == ("search", "query")} <= set(WORDS)
    assert not any("Letters" in text for task, _, text in seen if task == "proximity")


def test_texts_may_be_shared_and_packed(folder, tmp_path):
    task = paper_task("scidocs-mag")
    sample(tmp_path, task)
    texts = (tmp_path / task.test / "metadata.jsonl").read_bytes()
    (tmp_path / task.test / "metadata.jsonl").unlink()
    (tmp_path / task.texts).mkdir(exist_ok=True)
    (tmp_path / task.texts / "metadata.jsonl.gz").write_bytes(gzip.compress(texts))
    result = evaluate_scirepeval(tmp_path, embed, name="none", tasks=["scidocs-mag"])
    assert [row.metric for row in result.scores] == ["f1-macro"]


def test_papers_without_text_are_left_out_and_counted(tmp_path):
    task = paper_task("drsm")
    sample(tmp_path, task)
    path = tmp_path / task.test / "metadata.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[3] |= {"title": "", "abstract": None}
    lines(path, rows[:-1])
    result = evaluate_scirepeval(tmp_path, embed, name="none", tasks=["drsm"])
    assert result.notes == ["scirepeval:drsm: 2 papers without text are left out"]
    assert result.scores[0].n == 19


def test_refusals(folder, tmp_path):
    with pytest.raises(UsageError, match="no task 'feeds' of SciRepEval"):
        evaluate_scirepeval(folder, embed, name="none", tasks=["feeds"])
    with pytest.raises(InputError, match="holds no task of SciRepEval"):
        evaluate_scirepeval(tmp_path, embed, name="none")
    task = paper_task("biomimicry")
    sample(tmp_path, task)
    lines(tmp_path / task.test / "test.jsonl", [{"paper_id": "d41", "label": "perhaps"}])
    with pytest.raises(InputError, match="0 and 1 were expected"):
        evaluate_scirepeval(tmp_path, embed, name="none", tasks=["biomimicry"])
    lines(tmp_path / task.test / "test.jsonl", [{"label": 1}])
    with pytest.raises(InputError, match="has no paper_id"):
        evaluate_scirepeval(tmp_path, embed, name="none", tasks=["biomimicry"])
