"""Recipes are checked: unknown keys are refused with the nearest known one, values with their key."""

from __future__ import annotations

import pytest

from sectioncls.errors import InputError
from sectioncls.recipes import find_recipe, parse_recipe, read_recipe, recipe_names, with_model

MINIMAL = 'name = "x"\n[corpus]\npath = "c"\n'


def test_minimal_recipe():
    recipe = parse_recipe(MINIMAL, "x.toml")
    assert recipe.base == "minilm"
    assert recipe.finetune is None
    assert recipe.evaluate.protocol == "default"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (MINIMAL + "[finetune]\nmargn = 1\n", ["x.toml", "margn", "did you mean margin"]),
        (MINIMAL + "[finetune]\nmargin = -1\n", ["finetune.margin", "greater than or equal to 0"]),
        (MINIMAL + '[evaluate]\nprotocol = "papr"\n', ["evaluate.protocol", "'paper'"]),
        ("[corpus]\n", ["name"]),
        ("name = \n", ["is not TOML"]),
    ],
)
def test_wrong_recipes_are_one_line(text, words):
    with pytest.raises(InputError) as caught:
        parse_recipe(text, "x.toml")
    line = str(caught.value)
    assert "\n" not in line
    for word in words:
        assert word in line


def test_every_recipe_that_comes_along_is_valid():
    names = recipe_names()
    assert "demo" in names
    pairs = [
        f"sentences/{c}-{m}" for c in ("csabstruct", "pubmed-rct", "pmc-sents-full") for m in ("minilm", "scibert")
    ]
    assert set(pairs) <= set(names)
    for name in names:
        if name.startswith("papers/"):  # see test_paper_schema.py
            continue
        recipe = read_recipe(find_recipe(name))
        assert name.endswith(recipe.name)


def test_unknown_recipe_names_the_known():
    with pytest.raises(InputError, match="demo"):
        find_recipe("nothing")


def test_another_model():
    recipe = with_model(parse_recipe(MINIMAL + '[finetune]\nmodel = "scibert"\n', "x"), "folder")
    assert recipe.base == "folder"
    assert recipe.finetune.model == "folder"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name = 'x'\nseeds = [1, 2]\n[corpus]\n", "are for recipes with a table finetune"),
        ("name = 'x'\nseeds = [1, 1]\n[corpus]\n[finetune]\n", "has one twice"),
        ("name = 'x'\nseeds = [1, 2]\n[corpus]\n[finetune]\n[evaluate]\nseeds = 3\n", "can't be told apart"),
        ("name = 'x'\ntrack = 'mlflow'\n[corpus]\n", "track"),
        ("name = 'x'\n[corpus]\n[finetune]\nmargin = inf\n", "finetune.margin"),
        ("name = 'x'\n[corpus]\n[finetune]\ndropout = 1.0\n", "finetune.dropout"),
    ],
)
def test_what_does_not_go_together(text, words):
    with pytest.raises(InputError, match=words):
        parse_recipe(text, "r")


def test_seeds_of_a_recipe():
    assert parse_recipe("name = 'x'\nseed = 4\n[corpus]\n", "r").training_seeds == (4,)
    assert parse_recipe("name = 'x'\nseed = 4\nseeds = [1, 2]\n[corpus]\n[finetune]\n", "r").training_seeds == (1, 2)
