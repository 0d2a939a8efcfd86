"""The model that the package carries."""

from __future__ import annotations

import json

import sectioncls
from sectioncls.predict import load_model
from sectioncls.predict.label import BOX

ABSTRACT = [
    "Sheep are kept on mountain pastures all over the world.",
    "However, little is known about how they choose where to graze.",
    "The aim of this study was to find out whether they prefer clover.",
    "Twenty-four ewes were fitted with collars, and their positions were recorded every minute for ten days.",
    "The ewes spent 71 % of the time on clover (p < 0.001).",
    "We conclude that clover should be sown where sheep are to stay.",
]


def test_it_labels_an_abstract_right_after_the_installation() -> None:
    found = sectioncls.load_model(device="cpu").predict(ABSTRACT)
    wanted = ["background", "background", "objective", "method", "result", "conclusion"]
    assert [sentence.label for sentence in found] == wanted
    assert all(0 < (sentence.prob or 0) <= 1 for sentence in found)


def test_it_is_small_and_says_what_it_was_made_of() -> None:
    assert sum(file.stat().st_size for file in BOX.iterdir()) < 5_000_000
    facts = json.loads((BOX / "sectioncls.json").read_text(encoding="utf-8"))
    assert facts["name"] == "sections"
    for licence in ("Apache-2.0", "CC-BY-4.0", "MIT"):
        assert licence in facts["corpus"]["licence"]
    card = (BOX / "README.md").read_text(encoding="utf-8")
    assert "## Data" in card and "## Limits" in card


def test_spacy_needs_no_folder() -> None:
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sectioncls")
    assert [sent._.role for sent in nlp(" ".join(ABSTRACT)).sents][3:5] == ["method", "result"]


def test_one_by_one_and_together_give_the_same() -> None:
    model = load_model(device="cpu")
    together = list(model.predict_each([ABSTRACT, ABSTRACT[3:], ABSTRACT[:1]]))
    alone = [model.predict(part) for part in (ABSTRACT, ABSTRACT[3:], ABSTRACT[:1])]
    for one, other in zip(together, alone, strict=True):
        assert [s.label for s in one] == [s.label for s in other]
        assert all(abs((a.prob or 0) - (b.prob or 0)) < 1e-5 for a, b in zip(one, other, strict=True))
