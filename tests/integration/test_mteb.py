"""Section tasks under MTEB: one tiny model on a made-up corpus, no network, and our own scores where the way is one."""

from __future__ import annotations

import random
import socket

import numpy as np
import pytest
from sklearn.cluster import MiniBatchKMeans

from sectioncls.corpora import create_corpus
from sectioncls.downstream import PROTOCOLS, classification_scores, classify, clustering_scores
from sectioncls.errors import InputError
from sectioncls.records import Score, Sentence
from sectioncls.schemes import load_scheme

mteb = pytest.importorskip("mteb", reason="mteb is not installed")
pytest.importorskip("datasets", reason="datasets is not installed")

WORDS = {
    "background": "patients data the of",
    "objective": "aim to study propose",
    "method": "we method model in",
    "result": "results show that this",
}
ROWS = {"train": 80, "dev": 8, "test": 60}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Sentences of a few words, of which most belong to their label."""
    rng = np.random.default_rng(5)
    every = " ".join(WORDS.values()).split()
    folder = tmp_path_factory.mktemp("mteb") / "c"
    with create_corpus(folder, name="made-up", scheme=load_scheme("csabstruct"), command="x") as writer:
        for split, rows in ROWS.items():
            for row in range(rows):
                label = list(WORDS)[row % 4]
                own, others = rng.choice(WORDS[label].split(), 4), rng.choice(every, 4)
                text = " ".join(rng.permutation([*own, *others])) + f" {row}."
                writer.add(split, [Sentence(f"{split}{row // 4}", row % 4, -1, text, 0, len(text), label=label)])
    return folder


@pytest.fixture
def unplugged(monkeypatch):
    """No socket may connect."""

    def blocked(*arguments, **more):
        raise OSError("blocked")

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, blocked)
    for name in ("getaddrinfo", "create_connection"):
        monkeypatch.setattr(socket, name, blocked)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="module")
def model(tiny_bert):
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(tiny_bert), device="cpu")


def found(result, name):
    (row,) = next(one for one in result.task_results if one.task_name == name).scores["test"]
    return row


def test_the_tasks_of_a_corpus_score_any_model_offline(corpus, model, unplugged):
    from sectioncls.corpora import open_corpus
    from sectioncls.recipes.mteb import CSAbstructClassification, section_tasks

    tasks = section_tasks(corpus)
    assert [task.metadata.name for task in tasks] == ["CSAbstructClassification", "CSAbstructClustering"]
    assert tasks[0].metadata.dataset["revision"] == open_corpus(corpus).info.fingerprint
    tasks = [CSAbstructClassification(corpus, samples_per_label=None), tasks[1]]
    tasks[1].max_documents_per_cluster, tasks[1].n_clusters = 90, 3
    result = mteb.evaluate(model, tasks, cache=None, show_progress_bar=False, co2_tracker=False)

    train, test = (open_corpus(corpus).split(name) for name in ("train", "test"))
    vectors = {split.name: model.encode(list(split.texts), show_progress_bar=False) for split in (train, test)}
    like = Score("", 0.0)
    rules = PROTOCOLS["default"]
    ours = classify(vectors["train"], train.labels, vectors["test"], method="logistic-regression", protocol=rules)
    scores = {s.metric: s.value for s in classification_scores(test.labels, ours, test.label_names, like=like)
              if s.label is None}  # fmt: skip
    theirs = found(result, "CSAbstructClassification")
    assert theirs["accuracy"] == pytest.approx(scores["f1-micro"], abs=1e-9)
    assert theirs["f1"] == pytest.approx(scores["f1-macro"], abs=1e-9)
    assert theirs["main_score"] == theirs["accuracy"] > 0.3

    draws, values = random.Random(42), []
    for _ in range(3):
        rows = draws.choices(range(len(test)), k=90)
        means = MiniBatchKMeans(4, batch_size=512, n_init=1, random_state=42).fit_predict(vectors["test"][rows])
        rows_of = clustering_scores(vectors["test"][rows], test.labels[rows], means, like=like, more=True)
        values.append(next(s.value for s in rows_of if s.metric == "v-measure"))
    assert found(result, "CSAbstructClustering")["v_measure"] == pytest.approx(np.mean(values), abs=1e-9)


def test_mtebs_own_protocol_draws_eight_of_each_label(corpus, model, unplugged):
    from sectioncls.recipes.mteb import PubMedRCTClassification

    task = PubMedRCTClassification(corpus, n_experiments=2)
    result = mteb.evaluate(model, [task], cache=None, show_progress_bar=False, co2_tracker=False)
    assert len(found(result, "PubMedRCTClassification")["scores_per_experiment"]) == 2


def test_bad_corpora_are_one_line(tmp_path):
    from sectioncls.recipes.mteb import PMCSentsClustering, section_tasks

    with pytest.raises(InputError, match=r"no corpus|does not exist|no such"):
        PMCSentsClustering(tmp_path / "none")
    with create_corpus(tmp_path / "c", name="c", scheme=load_scheme("csabstruct"), command="x") as writer:
        writer.add("test", [Sentence("a", 0, -1, "We count.", 0, 9, label="method")])
    with pytest.raises(InputError, match="no sentence in train"):
        section_tasks(tmp_path / "c")
