"""A model that knows more labels than a corpus is asked for those that the corpus knows."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sectioncls.corpora import Part, create_corpus, join_corpora, open_corpus
from sectioncls.errors import InputError
from sectioncls.recipes.transfer import transfer_scores
from sectioncls.records import Sentence
from sectioncls.schemes import LabelScheme

LABELS = ("background", "method", "result", "conclusion")


def corpus(folder: Path, labels: tuple[str, ...], given: list[tuple[str, str]], split: str = "test") -> Any:
    """Give a corpus of (text, label), one sentence an article."""
    with create_corpus(folder, name=folder.name, scheme=LabelScheme(folder.name, labels), command="") as writer:
        for number, (text, label) in enumerate(given):
            sentence = Sentence(str(number), 0, -1, text, 0, len(text), label=label, label_source="source")
            writer.add(split, [sentence])
    return open_corpus(folder)


def model(chances: dict[str, list[float]]) -> Any:
    """Give what transfer_scores needs of a SectionModel: probabilities by text."""
    return SimpleNamespace(
        labels=LABELS,
        facts={"name": "stub"},
        encoder=SimpleNamespace(context=None),
        probabilities=lambda texts, ids, index, paths: np.array([chances[text] for text in texts]),
    )


def values(scores: list[Any]) -> dict[str, float]:
    return {score.label or score.metric: score.value for score in scores}


def test_a_label_that_the_corpus_lacks_is_not_given(tmp_path: Path) -> None:
    data = corpus(tmp_path / "c", ("background", "result"), [("a", "background"), ("b", "result"), ("c", "result")])
    # The likeliest label of b, conclusion, is none of the corpus: among the others it is a result, by 0.3 / 0.4.
    stub = model({"a": [0.9, 0, 0.1, 0], "b": [0.1, 0, 0.3, 0.6], "c": [0.6, 0.2, 0.2, 0]})
    found = values(transfer_scores(stub, data))
    assert found["f1-micro"] == pytest.approx(2 / 3)
    assert found["background"] == pytest.approx(2 / 3)
    # |0.9 - 1|, |0.75 - 1| and |0.75 - 0|; the last two lie in one bin, whose mean gap is |0.75 - 0.5|.
    assert found["ece"] == pytest.approx((0.1 + 2 * 0.25) / 3)
    assert "ece-recalibrated" not in found


def test_any_label_that_a_sentence_may_bear_is_a_hit(tmp_path: Path) -> None:
    texts = corpus(
        tmp_path / "t", ("introduction", "method"), [("a", "introduction"), ("b", "introduction"), ("c", "method")]
    )
    part = Part("t", texts, {"introduction": ("background", "conclusion")})
    joined = join_corpora([part], tmp_path / "j", name="j", labels=LABELS, command="")
    stub = model({"a": [0.2, 0.1, 0.1, 0.6], "b": [0.2, 0.6, 0.1, 0.1], "c": [0.1, 0.8, 0.1, 0]})
    scores = transfer_scores(stub, joined)
    assert scores[0].corpus == "j/t"
    assert values(scores)["hit-rate"] == pytest.approx(2 / 3)
    assert values(scores)["f1-micro"] == 1.0  # of the one sentence that bears one label


def test_recalibration_mends_a_boastful_model(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    truth = random.choice(4, 600)
    said = np.where(random.random(600) < 0.6, truth, (truth + 1) % 4)
    chances = {str(row): np.full(4, 0.01).tolist() for row in range(600)}
    for row in range(600):
        chances[str(row)][int(said[row])] = 0.97
    data = corpus(tmp_path / "c", LABELS, [(str(row), LABELS[truth[row]]) for row in range(600)])
    found = values(transfer_scores(model(chances), data))
    assert found["ece"] > 0.3
    assert found["ece-recalibrated"] < 0.1


def test_a_label_that_the_model_does_not_give(tmp_path: Path) -> None:
    data = corpus(tmp_path / "c", ("background", "objective"), [("a", "background"), ("b", "objective")])
    with pytest.raises(InputError, match="'objective', which the model does not give"):
        transfer_scores(model({}), data)
