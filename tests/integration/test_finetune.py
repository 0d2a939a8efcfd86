"""Fine-tuning end to end on a small BERT: the folder, the choice on dev, resuming, what is refused."""

from __future__ import annotations

import importlib
import json
import signal

import numpy as np
import pytest
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer

from sectioncls.corpora import create_corpus, open_corpus
from sectioncls.encoders import load_encoder, load_head, read_facts, read_history
from sectioncls.errors import InputError, OutputError, UsageError
from sectioncls.recipes import FinetuneOptions, Observer, finetune
from sectioncls.recipes import course as module_of_course
from sectioncls.records import Sentence
from sectioncls.schemes import load_scheme
from sectioncls.training import peek_checkpoint


@pytest.fixture
def corpus(small_corpus):
    return open_corpus(small_corpus)


# Where the loop runs.
module = importlib.import_module("sectioncls.recipes.course")


def options(tiny_bert, **values):
    return FinetuneOptions(**{"model": str(tiny_bert), "epochs": 2, "learning_rate": 1e-3, "margin": 1.0, **values})


def test_it_writes_an_encoder_that_loads_anywhere(corpus, tiny_bert, tmp_path):
    said = []
    done = finetune(corpus, options(tiny_bert), tmp_path / "e", seed=1, observer=Observer(note=said.append))
    assert SentenceTransformer(str(done.folder)).encode(["We aim to show."]).shape == (1, 32)
    facts = read_facts(done.folder)
    assert facts["state"] == "tuned"
    assert facts["corpus"]["fingerprint"] == corpus.info.fingerprint
    assert facts["training"]["margin"] == 1.0
    assert facts["dev"] == done.dev
    assert not (tmp_path / "e.training").exists()
    assert read_history(done.folder) == list(done.history)
    kinds = [row["kind"] for row in done.history]
    assert kinds.count("step") == 18
    assert kinds.count("dev") == 5  # before the first step, then twice an epoch
    assert any("dev" in line for line in said)


def test_the_best_state_on_dev_is_kept(corpus, tiny_bert, tmp_path):
    done = finetune(corpus, options(tiny_bert, patience=9), tmp_path / "e", seed=1)
    checks = [row["f1-micro"] for row in done.history if row["kind"] == "dev"][1:]
    assert done.dev["f1-micro"] == max(checks)
    from sectioncls.recipes.devscore import dev_scorer

    encoder = load_encoder(done.folder)
    scores, _ = dev_scorer(encoder, corpus, margin=1.0, seed=1)(encoder, None)
    assert scores["f1-micro"] == pytest.approx(max(checks))


def test_patience_stops(corpus, tiny_bert, tmp_path):
    done = finetune(corpus, options(tiny_bert, epochs=50, learning_rate=1e-9, patience=2), tmp_path / "e", seed=1)
    assert sum(row["kind"] == "dev" for row in done.history) == 4  # start, best, two not better


def test_without_patience_the_last_state_is_kept(corpus, tiny_bert, tmp_path):
    done = finetune(corpus, options(tiny_bert, patience=0), tmp_path / "e", seed=1)
    assert done.dev == {k: v for k, v in done.history[-1].items() if k not in ("kind", "step", "epoch")}


def test_classifier(corpus, tiny_bert, tmp_path):
    done = finetune(corpus, options(tiny_bert, objective="ce", epochs=3), tmp_path / "e", seed=1)
    head, encoder = load_head(done.folder), load_encoder(done.folder)
    assert head.labels == corpus.labels
    assert encoder.model[1].pooling_mode == "cls"
    assert read_facts(done.folder)["state"] == "cls"
    dev = corpus.split("dev")
    from sectioncls.encoders import encode

    accuracy = (head.predict(encode(encoder, dev.texts)) == dev.labels).mean()
    assert accuracy == pytest.approx(done.dev["f1-micro"])


def test_same_seed_same_bytes(corpus, tiny_bert, tmp_path):
    for name in ("a", "b"):
        finetune(corpus, options(tiny_bert, epochs=1), tmp_path / name, seed=4)
    assert (tmp_path / "a" / "model.safetensors").read_bytes() == (tmp_path / "b" / "model.safetensors").read_bytes()


@pytest.mark.parametrize("after", [3, 9, 14])
def test_an_interrupted_training_goes_on_as_if_nothing_had_been(corpus, tiny_bert, tmp_path, monkeypatch, after):
    whole = finetune(corpus, options(tiny_bert, patience=9), tmp_path / "whole", seed=2)
    real = module.fit

    def interrupted(*arguments):
        for step in real(*arguments):
            yield step
            if step.number == after:
                signal.raise_signal(signal.SIGINT)  # as Ctrl-C comes: somewhere inside the next step

    monkeypatch.setattr(module, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        finetune(corpus, options(tiny_bert, patience=9), tmp_path / "cut", seed=2)
    assert not (tmp_path / "cut").exists()
    monkeypatch.setattr(module, "fit", real)
    with pytest.raises(OutputError, match="--resume"):
        finetune(corpus, options(tiny_bert, patience=9), tmp_path / "cut", seed=2)
    with pytest.raises(InputError, match=r"was started with margin 1\.0, not 2\.0"):
        finetune(corpus, options(tiny_bert, margin=2.0, patience=9), tmp_path / "cut", seed=2, resume=True)
    done = finetune(corpus, options(tiny_bert, patience=9), tmp_path / "cut", seed=2, resume=True)
    first, second = (load_file(tmp_path / name / "model.safetensors") for name in ("whole", "cut"))
    assert all((first[key] == second[key]).all() for key in first)

    def losses(result):
        return [row["loss"] for row in result.history if row["kind"] == "step"]

    assert losses(done) == losses(whole)


def test_an_impossible_margin_and_the_collapse_are_said(corpus, tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr(module, "collapse_note", lambda *args, **other: "collapse: all in one point")
    few = FinetuneOptions(model="minilm", margin=5, epochs=0.3, patience=0)
    done = finetune(corpus, few, tmp_path / "e", observer=Observer(note=said.append))
    assert any("never met" in note for note in done.notes)
    assert any("collapse" in line for line in said)
    assert "never met" in json.dumps(read_facts(done.folder)["notes"])


def test_a_taken_folder_is_refused_before_anything_is_loaded(corpus, tiny_bert, tmp_path):
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "thesis").write_text("x")
    with pytest.raises(OutputError):
        finetune(corpus, options("/nowhere"), tmp_path / "e")


def test_validation_triplets_are_scored(corpus, tiny_bert, tmp_path):
    done = finetune(corpus, options(tiny_bert, epochs=1), tmp_path / "e", seed=1)
    last = [row for row in done.history if row["kind"] == "dev"][-1]
    assert 0 <= last["triplet-accuracy"] <= 1
    assert np.isfinite(last["triplet-loss"])


@pytest.mark.parametrize(
    "extra",
    [
        {"objective": "ce+0.5*supcon", "chunk": 4},
        {"tune": "bitfit"},
        {"tune": "lora", "rank": 2, "delta": True},
        {"freeze": 1},
        {"context": "window", "objective": "supcon"},
        {"context": "window", "objective": "crf", "window": 40, "overlap": 8},
        {"context": "window", "objective": "ce+supcon", "titles": True, "place": True},
        {"context": "window", "objective": "crf+triplet", "tune": "lora", "delta": True},
    ],
    ids=str,
)
def test_ways_of_training_give_what_dev_scored(corpus, tiny_bert, tmp_path, extra):
    given = options(tiny_bert, **{"patience": 9, "epochs": 1, **extra})
    done = finetune(corpus, given, tmp_path / "e", seed=1)
    from sectioncls.recipes.devscore import dev_scorer

    encoder, head = load_encoder(done.folder), load_head(done.folder)
    assert (encoder.context is not None) == ("context" in extra)
    assert (head is not None) == ("ce" in extra.get("objective", "") or "crf" in extra.get("objective", ""))
    neighbours = extra.get("objective") != "crf"
    scores, _ = dev_scorer(encoder, corpus, margin=1.0, seed=1, neighbours=neighbours)(encoder, head)
    # Folding LoRA's products rounds, and a neighbour may change.
    assert scores["f1-micro"] == pytest.approx(done.dev["f1-micro"], abs=0.03)
    assert (done.folder / "model.safetensors").exists() != extra.get("delta", False)


def test_titles_need_windows_and_what_they_tell_is_said(corpus, tiny_bert, tmp_path):
    with pytest.raises(UsageError, match="only windows read titles"):
        finetune(corpus, options(tiny_bert, titles=True), tmp_path / "e")
    told = corpus.table("train", ["label_source"])["label_source"].to_pylist()
    share = sum(source.startswith("title:") for source in told) / len(told)
    given = options(tiny_bert, context="window", objective="ce", epochs=1, titles=True)
    notes = json.loads((finetune(corpus, given, tmp_path / "e").folder / "sectioncls.json").read_text())["notes"]
    said = f"{share:.0%} of the labels were read off the titles that the encoder reads"
    assert (said in notes) == (share > 0)


def test_labels_that_titles_told_are_counted(tmp_path):
    scheme = load_scheme("csabstruct")
    rows = [
        Sentence("a", n, n, f"Sentence {n}.", 0, 11, ("Aims",), "method", label_source=source)
        for n, source in enumerate(["title:Aims", "title:Aims", "title:Aims", "given"])
    ]
    with create_corpus(tmp_path / "c", name="c", scheme=scheme, command="x") as writer:
        writer.add("train", rows)
    assert module_of_course._told_by_titles(open_corpus(tmp_path / "c")) == 0.75


def test_resuming_in_windows_is_exact(corpus, tiny_bert, tmp_path, monkeypatch):
    given = options(tiny_bert, context="window", objective="crf", window=40, epochs=2, patience=0)
    whole = finetune(corpus, given, tmp_path / "whole", seed=1)
    steps = sum(row["kind"] == "step" for row in whole.history)
    fit = module.fit

    def cut(*arguments):
        for step in fit(*arguments):
            yield step
            if step.number == steps // 2 + 1:
                raise RuntimeError("cut")

    monkeypatch.setattr(module, "fit", cut)
    with pytest.raises(RuntimeError, match="cut"):
        finetune(corpus, given, tmp_path / "parts", seed=1)
    monkeypatch.setattr(module, "fit", fit)
    parts = finetune(corpus, given, tmp_path / "parts", seed=1, resume=True)
    for file in ("model.safetensors", "head.safetensors"):
        one, two = load_file(whole.folder / file), load_file(parts.folder / file)
        assert all(np.array_equal(one[name].numpy(), two[name].numpy()) for name in one)


def test_the_preset_of_classifiers(corpus, tiny_bert, tmp_path, monkeypatch):
    made = []
    real = module.build_objective
    monkeypatch.setattr(module, "build_objective", lambda *a, **k: made.append(real(*a, **k)) or made[-1])
    given = FinetuneOptions(model=str(tiny_bert), preset="cls", epochs=1, dropout=0.3)
    done = finetune(corpus, given, tmp_path / "e", seed=1)
    training = read_facts(done.folder)["training"]
    assert (training["objective"], training["pooling"], training["smoothing"]) == ("ce", "cls", 0.1)
    labels = corpus.split("train").labels
    counts = np.bincount(labels)
    np.testing.assert_allclose(made[0].head.class_weights, len(labels) / (len(counts) * counts), rtol=1e-6)
    assert made[0].head.dropout.p == 0.3
    assert load_head(done.folder).labels == corpus.labels


def test_a_loss_that_is_no_number_names_its_sentences_and_keeps_the_checkpoint(
    corpus, tiny_bert, tmp_path, monkeypatch
):
    steps = []
    real = module.Objective.forward

    def broken(self, *columns):
        steps.append(1)
        return real(self, *columns) * (float("nan") if len(steps) == 7 else 1.0)

    monkeypatch.setattr(module.Objective, "forward", broken)
    with pytest.raises(
        UsageError, match=r"the loss of role is nan at step 7, on the sentences .* and 27 more"
    ) as caught:
        finetune(corpus, options(tiny_bert, patience=9), tmp_path / "e", seed=2)
    assert "the checkpoint before it is kept" in str(caught.value)
    work = tmp_path / "e.training"
    assert peek_checkpoint(work / "checkpoint.safetensors")["step"] == 5
    told = json.loads((work / "diverged.json").read_text())
    train = corpus.split("train")
    known = {f"{a}:{i}" for a, i in zip(train.article_ids, train.index, strict=True)}
    assert told["step"] == 7 and len(told["sentences"]) == 32 and set(told["sentences"]) <= known
    monkeypatch.setattr(module.Objective, "forward", real)
    whole = finetune(corpus, options(tiny_bert, patience=9), tmp_path / "whole", seed=2)
    done = finetune(corpus, options(tiny_bert, patience=9), tmp_path / "e", seed=2, resume=True)
    assert done.dev == whole.dev


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda kept: kept.update(corpus="other"), "was started on another corpus"),
        (lambda kept: kept.update(weights="other"), "was started from other weights"),
        (lambda kept: kept.pop("dropout"), "was started by another version of sectioncls, which knew no dropout"),
        (lambda kept: kept.update(margin=9), "was started with margin 9, not 1"),
    ],
)
def test_checkpoints_of_something_else(corpus, tiny_bert, tmp_path, monkeypatch, change, words):
    def cut(*arguments):
        raise RuntimeError("cut")

    monkeypatch.setattr(module, "fit", cut)
    with pytest.raises(RuntimeError, match="cut"):
        finetune(corpus, options(tiny_bert), tmp_path / "e")
    settings = tmp_path / "e.training" / "training.json"
    kept = json.loads(settings.read_text())
    change(kept)
    settings.write_text(json.dumps(kept))
    (tmp_path / "e.training" / "checkpoint.safetensors").touch()
    with pytest.raises(InputError, match=words):
        finetune(corpus, options(tiny_bert), tmp_path / "e", resume=True)


def test_a_delta_of_everything_is_refused(corpus, tiny_bert, tmp_path):
    with pytest.raises(UsageError, match="whole model"):
        finetune(corpus, options(tiny_bert, delta=True), tmp_path / "e")


def test_what_tells_a_collapse_is_measured_on_dev(corpus, tiny_bert, tmp_path):
    from sectioncls.recipes.devscore import dev_scorer
    from sectioncls.vectors import label_spread, mean_distance

    encoder = load_encoder(tiny_bert)
    scorer = dev_scorer(encoder, corpus, margin=0.3, seed=1)
    scores, vectors = scorer(encoder, None)
    active = [
        np.linalg.norm(vectors[a] - vectors[p]) + 0.3 > np.linalg.norm(vectors[a] - vectors[n])
        for a, p, n in scorer.triplets
    ]
    assert scores["active-triplets"] == pytest.approx(np.mean(active))
    assert scores["mean-distance"] == pytest.approx(mean_distance(vectors))
    assert scores["label-spread"] == pytest.approx(label_spread(vectors, scorer.dev_labels).ratio)
