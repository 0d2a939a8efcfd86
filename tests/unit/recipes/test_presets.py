"""The presets say what the paper says."""

from __future__ import annotations

from sectioncls.recipes import FinetuneOptions, plan, read_recipe


def test_paper_preset():
    settings = plan(FinetuneOptions(preset="paper"), "csabstruct")
    assert (settings.epochs, settings.learning_rate, settings.warmup) == (20, 2e-5, 0.1)
    assert (settings.batch_size, settings.margin, settings.patience) == (32, 5.0, 0)
    assert settings.pooling is None


def test_papers_batches():
    def batch(model, scheme, objective="triplet"):
        options = FinetuneOptions(model=model, preset="paper", objective=objective)
        return plan(options, scheme).batch_size

    assert batch("scibert", "csabstruct") == 32
    assert batch("scibert", "pubmed-rct") == 16
    assert batch("scibert", "pmc-sents") == 16
    assert batch("minilm", "pmc-sents") == 32
    assert batch("minilm", "csabstruct", "ce") == 16


def test_what_is_given_wins():
    settings = plan(FinetuneOptions(preset="paper", margin=0.25, epochs=3, pooling="mean"), "csabstruct")
    assert (settings.margin, settings.epochs, settings.pooling) == (0.25, 3, "mean")
    assert plan(FinetuneOptions(patience=0), "x").patience == 0


def test_a_classifier_reads_cls_unless_told_otherwise():
    assert plan(FinetuneOptions(objective="ce"), "x").pooling == "cls"
    assert plan(FinetuneOptions(objective="ce", pooling="mean"), "x").pooling == "mean"


def test_default_margin_can_be_met_on_unit_vectors():
    assert plan(FinetuneOptions(), "x").margin < 2


def test_the_preset_of_classifiers():
    settings = plan(FinetuneOptions(preset="cls"), "x")
    assert (settings.objective, settings.pooling, settings.class_weights) == ("ce", "cls", "balanced")
    assert settings.smoothing > 0 and settings.dropout > 0 and settings.patience > 0
    plain = plan(FinetuneOptions(objective="ce", smoothing=0.0, class_weights="none"), "x")
    assert (plain.smoothing, plain.class_weights) == (0.0, "none")
    assert plan(FinetuneOptions(preset="cls", pooling="mean", smoothing=0.2), "x").smoothing == 0.2


def test_recipes_of_the_paper_and_of_the_classifier(repository):
    folder = repository / "recipes" / "sentences"
    paper = read_recipe(folder / "csabstruct-minilm-paper.toml")
    settings = plan(paper.finetune, "csabstruct")
    assert (settings.margin, settings.batch_size, settings.learning_rate) == (5.0, 32, 2e-5)
    assert settings.epochs >= 10 and settings.patience == 0
    cls = read_recipe(folder / "csabstruct-minilm-cls.toml")
    assert plan(cls.finetune, "csabstruct").objective == "ce" and cls.search.sampler == "grid"
    assert set(cls.search.space) == {"learning_rate"}
