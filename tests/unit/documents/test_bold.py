from __future__ import annotations

import pytest
from lxml import etree

from sectioncls.documents import labelled_paragraphs, read_jats
from sectioncls.documents.bold import bold_heading


def heading(inside: str, after: str = "<p>Bees fly.</p>", *, abstract: bool = False) -> tuple[str, int] | None:
    found = bold_heading(etree.fromstring(f"<sec><p>{inside}</p>{after}</sec>")[0], abstract=abstract)
    return found and found[:2]


@pytest.mark.parametrize(
    ("inside", "found"),
    [
        ("<bold>Hives</bold>", ("Hives", 1)),
        ("<italic>Hives</italic>", ("Hives", 2)),
        ("<italic><bold>Hives</bold></italic>", ("Hives", 1)),
        (" <bold>Study</bold> <italic>sites</italic>: ", ("Study sites", 1)),
        ("<bold>Methods.</bold>", ("Methods", 1)),
        ("<bold>Who pays?</bold>", ("Who pays?", 1)),
        ("<bold>CO<sub>2</sub></bold>", ("CO2", 1)),
        ("<bold>Value</bold><list><list-item><p>a</p></list-item></list>", ("Value", 1)),
        ("<bold>Value</bold> of<list><list-item><p>a</p></list-item></list>", None),
        ("<bold>Table</bold>: <table-wrap/>", ("Table", 1)),
        ("<fig/><bold>Table</bold>", None),
        ("<bold>Value</bold><list/><italic>more</italic>", None),
        ("<bold>Bees fly.</bold>", None),
        ("<bold>The methods were all quite good.</bold>", None),
        ("<bold>one,</bold>", None),
        ("<bold>12</bold>", None),
        ("<bold>Hives</bold> stand", None),
        ("In <bold>Hives</bold>", None),
        ("<bold>Hives <xref>1</xref></bold>", None),
        ("<bold>" + "Hives " * 20 + "</bold>", None),
        ("Hives", None),
        ("", None),
    ],
)
def test_a_short_emphasised_line_before_prose_is_a_heading(inside: str, found: tuple[str, int] | None) -> None:
    assert heading(inside) == found


@pytest.mark.parametrize(
    ("after", "is_one"),
    [
        ("", False),
        ("<sec/>", False),
        ("<p><bold>Next</bold></p>", False),
        ("<p><italic>Below</italic></p>", True),
        ("<fig/><p>Bees.</p>", True),
        ("<fig/>", False),
        ("<list/>", True),
    ],
)
def test_prose_has_to_follow_unless_it_names_a_category(after: str, is_one: bool) -> None:
    assert (heading("<bold>Hives</bold>", after) is not None) == is_one
    assert heading("<bold>Results</bold>", after) == ("Results", 1)


def test_in_an_abstract_only_categories_are_headings() -> None:
    assert heading("<bold>Hives</bold>", abstract=True) is None
    assert heading("<bold>Results</bold>", abstract=True) == ("Results", 1)
    assert heading("<bold>Setting: a hive</bold>", abstract=True) is None


def rows(body: str, abstract: str = "") -> list[tuple[str, tuple[str, ...], str, str]]:
    front = f"<front><article-meta><abstract>{abstract}</abstract></article-meta></front>"
    [article] = read_jats(f"<article>{front}<body>{body}</body></article>".encode(), "x")
    return [(part.text, part.path, label, source) for part, label, source in labelled_paragraphs(article)]


def test_a_heading_holds_until_the_next_of_its_level_or_the_next_section() -> None:
    body = (
        "<p>a</p><p><bold>Methods</bold></p><p>b</p><p><italic>Hives</italic></p><p>c</p><p>d</p>"
        "<p><italic>Bees</italic></p><p>e</p><p><bold>Results</bold></p><p>f</p>"
        "<sec><title>Wax</title><p>g</p></sec><p>h</p>"
    )
    assert rows(body) == [
        ("a", (), "other", "none"),
        ("b", ("Methods",), "method", "title:Methods"),
        ("c", ("Methods", "Hives"), "method", "title:Methods"),
        ("d", ("Methods", "Hives"), "method", "title:Methods"),
        ("e", ("Methods", "Bees"), "method", "title:Methods"),
        ("f", ("Results",), "result", "title:Results"),
        ("g", ("Wax",), "other", "none"),
        ("h", (), "other", "none"),
    ]


def test_below_a_title_it_joins_the_path_and_the_title_gives_the_label() -> None:
    body = "<sec><title>Results</title><p>a</p><p><bold>Methods we used</bold></p><p>b</p></sec>"
    assert rows(body)[1] == ("b", ("Results", "Methods we used"), "result", "title:Results")


def test_run_in_heads_stay_what_they_are() -> None:
    assert rows("<p><bold>Aim.</bold> a</p><p>b</p>") == [
        ("a", ("Aim",), "objective", "run-in:Aim"),
        ("b", (), "other", "none"),
    ]


def test_in_an_abstract_and_in_boxes() -> None:
    found = rows(
        "<boxed-text><p><bold>Key points</bold></p><p>b</p></boxed-text><p>c</p>",
        "<p><bold>Results</bold></p><p>a</p>",
    )
    assert found == [
        ("a", ("Abstract", "Results"), "result", "title:Results"),
        ("b", ("Key points",), "other", "boxed"),
        ("c", (), "other", "none"),
    ]


def test_lists_and_floats_in_the_line_stand_below_it() -> None:
    found = rows(
        "<p><bold>Value of the data</bold>:<list><list-item><p>a</p></list-item></list><fig><p>no</p></fig></p><p>b</p>"
    )
    assert [(text, path) for text, path, *_ in found] == [("a", ("Value of the data",)), ("b", ("Value of the data",))]


def test_bold_items_of_a_list_are_items() -> None:
    found = rows("<list><list-item><p><bold>Wax</bold></p><p>a</p></list-item></list>")
    assert [text for text, *_ in found] == ["Wax", "a"]
