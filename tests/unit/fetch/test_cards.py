"""Cards: ours are sound, bad ones are refused in one line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sectioncls.errors import InputError, UsageError
from sectioncls.fetch import card_names, find_card, next_command, read_card, read_form, read_label_table

GOOD = """
name = "sheep"
title = "Sheep"
about = "Sentences about sheep."
citation = "Ourselves."
licence = "CC0-1.0"
builder = "jsonl"
scheme = "pubmed-rct"

[[files]]
name = "train.jsonl"
url = "https://example.org/train.jsonl"

[form]
article = "doc"
also = { end = "CONCLUSIONS" }

[labels]
HOW = "method"
LEGAL = ""

[maps.own.labels]
HOW = "how"
WHY = "why"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "card.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", card_names())
def test_our_cards(name: str) -> None:
    card = read_card(find_card(name))
    assert card.name == name
    assert card.notes
    assert card.homepage
    for file in card.files:
        assert file.url is None or re.match(r"https://raw\.githubusercontent\.com/[^/]+/[^/]+/[0-9a-f]{40}/", file.url)
    if card.builder == "jsonl":
        form, labels = read_form(card)
        assert form.label or form.votes
        assert labels.scheme.labels
        for other in card.maps:
            assert set(card.maps[other].labels) - {form.unlabelled} == set(card.labels)
            read_form(card, other)
    command = next_command(card, Path("sources") / name)
    assert command[:2] == ["sectioncls", f"build-{card.builder}"]


def test_the_sets_that_everyone_uses_are_there() -> None:
    assert {"csabstruct", "pubmed-rct-20k", "pubmed-rct-200k", "pmc-oa", "nicta-piboso"} <= set(card_names())


def test_a_card_of_ones_own(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    card = read_card(find_card(str(path)))
    form, labels = read_form(card)
    assert form.article == "doc"
    assert form.also == (("end", "CONCLUSIONS"),)
    assert [labels.label(word, "x") for word in ("HOW", "how", "RESULTS", "LEGAL")] == [
        "method",
        "method",
        "result",
        "",
    ]
    _, own = read_form(card, "own")
    assert own.scheme.labels == ("how", "why")
    with pytest.raises(UsageError, match="has no label map 'x'"):
        read_form(card, "x")
    assert next_command(card, tmp_path, str(path)) == [
        *("sectioncls", "build-jsonl", str(tmp_path), "--card", str(path)),
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("licence =", "license ="), "unknown key license .*did you mean licence"),
        (("article =", "artikel ="), "unknown key form.artikel .*did you mean article"),
        (('title = "Sheep"', ""), "title: Field required"),
        (("https://", "file://"), r"files\.0\.url"),
        (("https://", "https:// "), r"files\.0\.url"),
        (('"train.jsonl"', '"../x"'), r"files\.0\.name"),
        (('"train.jsonl"', '".hidden"'), r"files\.0\.name"),
        (('"train.jsonl"', '"a/b"'), r"files\.0\.name"),
        (('"train.jsonl"', '"fetched.json"'), "can't be called fetched.json"),
        (("url =", 'sha256 = "abc"\nurl ='), r"files\.0\.sha256"),
        (("url =", "bytes = 0\nurl ="), r"files\.0\.bytes"),
        (('url = "https://example.org/train.jsonl"', ""), "by-hand must say where"),
        (
            ("[form]", '[[files]]\nname = "train.jsonl"\nurl = "https://x.y/z"\n[form]'),
            "two files are called train.jsonl",
        ),
        (('builder = "jsonl"', 'builder = "magic"'), "builder: Input should be"),
        (("[[files]]", "[[files"), "is not TOML"),
    ],
)
def test_bad_cards(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    assert change[0] in GOOD
    with pytest.raises(InputError, match=message) as caught:
        read_card(written(tmp_path, GOOD.replace(*change)))
    assert str(caught.value).startswith(str(tmp_path / "card.toml"))
    assert "\n" not in str(caught.value)


def test_bad_places(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_card(tmp_path / "none.toml")
    with pytest.raises(InputError, match=r"no such card \(did you mean csabstruct"):
        find_card("csabstrct")
    (tmp_path / "card.toml").write_bytes(b"\xff")
    with pytest.raises(InputError, match="can't be read as text"):
        read_card(tmp_path / "card.toml")
    (tmp_path / "card.toml").write_bytes(b"#" * 2**21)
    with pytest.raises(InputError, match="too long for a card"):
        read_card(tmp_path / "card.toml")
    card = read_card(written(tmp_path, GOOD.replace('"method"', '"poem"')))
    with pytest.raises(InputError, match="label 'poem' is not in the scheme pubmed-rct"):
        read_form(card)


def test_label_tables(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"HOW": "method"}')
    (tmp_path / "b.toml").write_text('scheme = "pubmed-rct"\n[labels]\nHOW = "method"\n')
    assert (
        read_label_table(tmp_path / "a.json").labels
        == read_label_table(tmp_path / "b.toml").labels
        == {"HOW": "method"}
    )
    (tmp_path / "c.json").write_text('{"HOW": 3}')
    with pytest.raises(InputError, match=r"labels\.HOW"):
        read_label_table(tmp_path / "c.json")
    (tmp_path / "d.json").write_text("[")
    with pytest.raises(InputError, match="is neither TOML nor JSON"):
        read_label_table(tmp_path / "d.json")


def test_a_map_says_what_becomes_of_sentences_without_a_label() -> None:
    card = read_card(find_card("consort-tm"))
    _, roles = read_form(card, "roles")
    assert roles.names["none"] == ""
    assert roles.scheme.labels == ("background", "objective", "method", "result", "conclusion")
