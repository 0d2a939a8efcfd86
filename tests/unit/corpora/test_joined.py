"""Corpora with other label sets become one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sectioncls.corpora import Corpus, Part, create_corpus, join_corpora, open_corpus
from sectioncls.errors import InputError
from sectioncls.records import Sentence
from sectioncls.schemes import LabelScheme

LABELS = ("background", "objective", "method", "conclusion")


def made(folder: Path, labels: tuple[str, ...], rows: dict[str, list[tuple[str, str, str]]]) -> Corpus:
    """Give a corpus of (article, label, label source) rows by split."""
    with create_corpus(
        folder, name=folder.name, scheme=LabelScheme(folder.name, labels), command="", licence="CC0"
    ) as w:
        for split, given in rows.items():
            places: dict[str, int] = {}
            for article, label, source in given:
                index = places[article] = places.get(article, -1) + 1
                text = f"{article} says {label} {index}"
                w.add(split, [Sentence(article, index, -1, text, 0, len(text), label=label, label_source=source)])
    return open_corpus(folder)


@pytest.fixture
def parts(tmp_path: Path) -> list[Part]:
    abstracts = made(
        tmp_path / "abstracts",
        ("background", "objective", "method"),
        {
            "train": [("1", "background", "source"), ("1", "objective", "source"), ("2", "method", "source")],
            "test": [("3", "method", "source")],
        },
    )
    texts = made(
        tmp_path / "texts",
        ("introduction", "method", "discussion", "other"),
        {
            "train": [
                ("1", "introduction", "title"),
                ("1", "method", "title"),
                ("9", "other", "none"),
                ("9", "method", "title"),
            ],
            "dev": [("4", "discussion", "title"), ("4", "other", "title")],
        },
    )
    found = {"introduction": ("background", "objective"), "discussion": ("conclusion",), "other": ()}
    return [Part("a", abstracts), Part("t", texts, found)]


def test_articles_of_two_parts_with_one_id_stay_apart(parts: list[Part], tmp_path: Path) -> None:
    joined = join_corpora(parts, tmp_path / "j", name="j", labels=LABELS, command="")
    train = joined.split("train")
    assert train.article_ids == ("a/1", "a/1", "a/2", "t/1", "t/1", "t/9")
    assert train.parts == ("a", "a", "a", "t", "t", "t")
    assert joined.info.counts["train"] == {"background": 2, "objective": 1, "method": 3, "conclusion": 0}
    assert joined.info.dropped == {"t:no-heading": 1, "t:label-other": 1}


def test_what_a_part_knows_and_what_a_sentence_may_bear(parts: list[Part], tmp_path: Path) -> None:
    train = join_corpora(parts, tmp_path / "j", name="j", labels=LABELS, command="").split("train")
    assert train.allowed is not None and train.possible is not None
    # Abstracts know no conclusion; texts know all four, objectives under the introduction.
    assert train.allowed[:3].tolist() == [[True, True, True, False]] * 3
    assert train.allowed[3:].all()
    assert train.possible[3].tolist() == [True, True, False, False]
    assert train.possible[0].tolist() == [True, False, False, False]
    assert (train.possible <= train.allowed).all()


def test_other_corpora_know_nothing_of_it(parts: list[Part]) -> None:
    split = parts[0].corpus.split("train")
    assert split.parts is None and split.allowed is None and split.possible is None


def test_articles_are_bounded_by_hash_whatever_their_order(parts: list[Part], tmp_path: Path) -> None:
    some = [Part("a", parts[0].corpus, articles=1)]
    joined = join_corpora(some, tmp_path / "j", name="j", labels=LABELS, command="")
    assert joined.info.articles == {"train": 1, "test": 1}
    assert joined.info.dropped["a:articles-beyond"] in (1, 2)


@pytest.mark.parametrize(
    ("labels", "message"),
    [({"introduction": ("preface",)}, "becomes 'preface'"), ({"intro": ("background",)}, "has no label 'intro'")],
)
def test_labels_that_are_not_there(parts: list[Part], tmp_path: Path, labels: dict, message: str) -> None:
    texts = Part("t", parts[1].corpus, {**parts[1].labels, **labels})
    with pytest.raises(InputError, match=message):
        join_corpora([texts], tmp_path / "j", name="j", labels=LABELS, command="")


def test_two_parts_of_one_name(parts: list[Part], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="names of their own"):
        join_corpora([parts[0], parts[0]], tmp_path / "j", name="j", labels=LABELS, command="")


def test_the_loss_of_partial_labels_is_minus_log_of_their_sum() -> None:
    import torch

    from sectioncls.encoders import LinearHead

    head = LinearHead(3, LABELS, dropout=0.0)
    with torch.no_grad():
        head.linear.weight.copy_(torch.randn(4, 3))
    vectors, random = torch.randn(5, 3), np.random.default_rng(0)
    possible = np.eye(4, dtype=bool)[[0, 1, 2, 3, 0]]
    possible[0, 1] = True
    allowed = possible | (random.random((5, 4)) < 0.5)
    loss = head(vectors, torch.zeros(5, dtype=torch.long), None, torch.from_numpy(allowed), torch.from_numpy(possible))
    total = 0.0
    for row in range(5):
        logits = (vectors[row] @ head.linear.weight.T + head.linear.bias).double().exp().detach().numpy()
        total -= np.log(logits[possible[row]].sum() / logits[allowed[row]].sum())
    assert loss.item() == pytest.approx(total / 5, abs=1e-6)


def test_with_all_allowed_and_one_possible_it_is_cross_entropy() -> None:
    import torch

    from sectioncls.encoders import LinearHead

    head = LinearHead(3, LABELS, dropout=0.0, smoothing=0.1)
    vectors, targets = torch.randn(6, 3), torch.tensor([0, 1, 2, 3, 3, 0])
    every, one = torch.ones(6, 4, dtype=torch.bool), torch.eye(4, dtype=torch.bool)[targets]
    assert head(vectors, targets, None, every, one).item() == pytest.approx(head(vectors, targets).item(), abs=1e-6)


def test_a_clean_twin_still_knows_its_parts(parts: list[Part], tmp_path: Path) -> None:
    from sectioncls.audit import survey_corpus, write_clean

    joined = join_corpora(parts, tmp_path / "j", name="j", labels=LABELS, command="")
    twin, _ = write_clean(joined, survey_corpus(joined), tmp_path / "twin", command="")
    assert twin.info.label_sets == joined.info.label_sets
    assert twin.split("train").possible is not None
