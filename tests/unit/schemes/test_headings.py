from __future__ import annotations

import pytest

from sectioncls.schemes import heading_label, label_of


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
