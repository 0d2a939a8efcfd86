"""The presets say what the paper says."""

from __future__ import annotations

from sectioncls.recipes import FinetuneOptions, plan


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
