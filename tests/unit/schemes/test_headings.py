from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sectioncls.schemes import explain, heading_label, label_of, load_scheme


@pytest.mark.parametrize(
    ("title", "label"),
    [
        ("1. Introduction", "background"),
        ("III. RESULTS", "result"),
        ("4) Discussion", "other"),
        ("Methods/Principal Findings", "method"),
        ("Results and Discussion", "result"),
        ("Background and Objectives", "background"),
        ("Aims and Methods", "objective"),
        ("Conclusions and Results", "other"),
        ("Research  question", "objective"),
        ("Statistical analysis", "method"),
        ("Case report", "other"),
        ("Literature review", "background"),
        ("Settings", "method"),
        ("Hypotheses", "objective"),
    ],
)
def test_the_first_category_word_decides(title: str, label: str) -> None:
    assert heading_label(title) == label
    assert label_of([(title, None)]) == (label, f"title:{title}")


@pytest.mark.parametrize("title", ["Animals", "Resultados", "Methodisch", "", "Goalkeepers", "2016"])
def test_other_words_say_nothing(title: str) -> None:
    assert heading_label(title) is None
    assert label_of([(title, None)]) == ("other", "none")


def test_the_outermost_level_that_maps_decides() -> None:
    assert label_of([("Sheep", None), ("Methods", None), ("Results of the pilot", None)])[0] == "method"
    assert label_of([(None, None), (None, "results"), ("Methods", None)]) == ("result", "sec-type:results")


def test_an_objective_inside_a_background_is_an_objective() -> None:
    assert label_of([("Introduction", None), ("Aims", None)]) == ("objective", "title:Aims")
    assert label_of([("Methods", None), ("Aims", None)])[0] == "method"


def test_the_sec_type_speaks_where_the_title_does_not() -> None:
    assert label_of([("Tiere", "materials|methods")]) == ("method", "sec-type:materials")
    assert label_of([("Tiere", "x| Results |y")]) == ("result", "sec-type:Results")
    assert label_of([("Results", "methods")]) == ("result", "title:Results")
    assert label_of([("Tiere", "supplementary-material")]) == ("other", "none")
    assert label_of([(None, "discussion"), ("Methods", None)])[0] == "other"


def test_a_box_is_other() -> None:
    assert label_of([("Methods", None)], boxed=True) == ("other", "boxed")


@pytest.mark.parametrize(
    ("title", "label"),
    [
        ("1 Introduction", "introduction"),
        ("Aims", "introduction"),
        ("Related work", "introduction"),
        ("Materials and Methods", "method"),
        ("Data collection", "method"),
        ("Experimental results", "result"),
        ("Experimental", "method"),
        ("Results and Discussion", "result"),
        ("Discussion", "discussion"),
        ("Conclusions", "discussion"),
        ("Strengths and limitations", "discussion"),
        ("Funding", "other"),
        ("Sheep", "other"),
    ],
)
def test_imrad(title: str, label: str) -> None:
    assert label_of([(title, None)], load_scheme("imrad"))[0] == label


def test_pubmeds_own_category_counts_before_the_heading() -> None:
    scheme = load_scheme("pubmed-rct")
    assert label_of([("Flock and barn", "methods")], scheme) == ("method", "sec-type:methods")
    assert label_of([("Results", "conclusions")], scheme) == ("conclusion", "sec-type:conclusions")
    assert label_of([("Background & Aims", None)], scheme) == ("objective", "title:Background & Aims")
    assert label_of([("Background", None)], scheme)[0] == "background"
    assert label_of([("Flock and barn", "unassigned")], scheme) == ("", "none")


@pytest.mark.shared
def test_every_nlm_heading_has_its_category(shared: Path) -> None:
    scheme = load_scheme("pubmed-rct")
    file = shared / "sentences" / "nlm_structured_abstract_labels" / "Structured-Abstracts-Labels-110613.txt"
    rows = [line.split("|")[:2] for line in file.read_text(encoding="ascii").splitlines()]
    assert len(rows) == 2455
    wrong = [row for row in rows if label_of([(row[0], None)], scheme)[0] != scheme.label(row[1])]
    assert wrong == []


def test_letters_that_only_look_alike_are_others() -> None:
    # re.IGNORECASE would take the long s and the dotless i for s and i, and no list holds such words
    assert heading_label("Aimſ") is None
    assert heading_label("Lımıtatıons") is None
    assert label_of([("İ Methods", None)])[0] == "method"


TITLE_WORDS = ["Aims", "Introduction", "METHODS", "results", "sheep"]


def naive(levels: list[tuple[str | None, str | None]]) -> str:
    """The rules of pmc-sents once more, word by word."""
    words = {"aims": "objective", "introduction": "background", "methods": "method", "results": "result"}
    types = {"intro": "background", "methods": "method"}
    labels = []
    for title, sec_type in levels:
        named = [words[word] for word in (title or "").lower().split() if word in words]
        named += [types[part] for part in (sec_type or "").split("|") if part in types]
        labels += named[:1]
    if not labels:
        return "other"
    return "objective" if labels[0] == "background" and "objective" in labels else labels[0]


@given(
    st.lists(
        st.tuples(
            st.none() | st.lists(st.sampled_from(TITLE_WORDS)).map(" ".join),
            st.none() | st.lists(st.sampled_from(["intro", "methods", "x"])).map("|".join),
        ),
        max_size=4,
    )
)
def test_the_account_agrees_with_the_label(levels: list[tuple[str | None, str | None]]) -> None:
    account = explain(levels)
    assert (account.label, account.label_source) == label_of(levels)
    assert account.label == naive(levels)
    if account.decided is not None:
        assert account.levels[account.decided].hits[0].label == account.label
    for level in account.levels:
        for hit in level.hits:
            text = level.sec_type if hit.kind == "sec-type" else level.title
            assert text is not None
            assert text[hit.start :].startswith(hit.text)


@pytest.mark.parametrize(
    ("levels", "reason"),
    [
        ([("Sheep", None)], "nothing maps"),
        ([("Methods", None)], "nothing speaks against it"),
        ([("Results and Discussion", None)], "occurs first"),
        ([("Results", "methods")], "title speaks first"),
        ([("Tiere", "methods|results")], "first known part"),
        ([("Methods", None), ("Results", None)], "outermost"),
        ([("Introduction", None), ("Aims", None)], "objective inside background"),
    ],
)
def test_the_reason(levels: list[tuple[str | None, str | None]], reason: str) -> None:
    assert reason in explain(levels).reason


def test_the_reason_of_other_schemes() -> None:
    rct = load_scheme("pubmed-rct")
    assert "left out" in explain([("Sheep", None)], rct).reason
    assert "whole heading" in explain([("Background and aims", None)], rct).reason
    assert "sec-type speaks first" in explain([("Results", "methods")], rct).reason
