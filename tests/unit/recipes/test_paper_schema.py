"""Recipes of paper encoders: variants inherit, errors are one line with the nearest key."""

from __future__ import annotations

import pytest

from sectioncls.errors import InputError
from sectioncls.recipes.papers.schema import is_paper_recipe, parse_paper_recipe, read_paper_recipe

HEAD = 'name = "x"\n[papers]\npath = "p"\n'
TRAIN = HEAD + '[train]\ntasks = ["links", {name = "topics:terms", cap = 5}]\nbudget = 100\n'
VARIANTS = (
    TRAIN
    + """
[base]
budget = 50
[[variant]]
conditioning = "none"
[[variant]]
conditioning = "adapters"
learning_rate = 1e-3
seeds = [1, 2]
[[variant]]
name = "fused"
start = "adapters"
conditioning = "fusion"
tasks = ["links"]
[[variant]]
name = "both"
ensemble = "mean"
of = ["none", "adapters"]
"""
)


def test_one_training_is_one_variant():
    recipe = parse_paper_recipe(TRAIN.replace("budget", 'conditioning = "pals"\nbudget'), "x")
    (variant,) = recipe.variants
    assert variant.name == "pals" and variant.train == recipe.train and recipe.base is None
    assert [task.name for task in variant.train.tasks] == ["links", "topics:terms"]
    assert variant.train.tasks[1].cap == 5
    assert parse_paper_recipe(TRAIN, "x").variants[0].name == "tuned"


def test_variants_inherit_what_they_do_not_say():
    recipe = parse_paper_recipe(VARIANTS, "x")
    plain, adapters, fused, both = recipe.variants
    assert [variant.name for variant in recipe.variants] == ["none", "adapters", "fused", "both"]
    assert adapters.train == plain.train.model_copy(update={"conditioning": "adapters", "learning_rate": 1e-3})
    assert adapters.seeds == (1, 2) and plain.seeds is None
    assert [task.name for task in fused.train.tasks] == ["links"] and fused.train.budget == 100
    assert both.train is None and both.of == ("none", "adapters")
    assert recipe.base.budget == 50 and recipe.base.tasks == recipe.train.tasks


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TRAIN + "learning_rte = 1\n", "unknown key train.learning_rte .*learning_rate"),
        (TRAIN + '[[variant]]\nname = "a"\nlearnin_rate = 1\n', "unknown key variants.0.train.learnin_rate"),
        (TRAIN + '[[variant]]\nname = "a"\nstart = "b"\n', "names b, which is no variant above it"),
        (TRAIN + '[[variant]]\nname = "a"\n[[variant]]\nname = "a"\n', "two variants are called a"),
        (TRAIN + '[[variant]]\nname = "a"\nensemble = "mean"\n', "give ensemble and of"),
        (HEAD + "[train]\nbudget = 5\n", "names no tasks"),
        (HEAD + '[train]\ntasks = [{name = "links", mining = "bfs"}]\n', "train.tasks.0.mining"),
        ('name = "x"\n', "papers"),
        (TRAIN + "\n[", "is not TOML"),
    ],
)
def test_mistakes_are_one_line(text, words):
    with pytest.raises(InputError, match=words) as caught:
        parse_paper_recipe(text, "x.toml")
    assert "\n" not in str(caught.value) and str(caught.value).startswith("x.toml")


def test_which_recipes_are_of_papers(tmp_path, repository):
    (tmp_path / "a.toml").write_text(TRAIN)
    (tmp_path / "b.toml").write_text("[[")
    assert is_paper_recipe(tmp_path / "a.toml") and not is_paper_recipe(tmp_path / "b.toml")
    assert not is_paper_recipe(repository / "recipes" / "demo.toml")
    with pytest.raises(InputError, match="can't be read"):
        read_paper_recipe(tmp_path / "none.toml")


def test_every_recipe_that_comes_along_is_read(repository):
    files = sorted((repository / "recipes" / "papers").glob("*.toml"))
    assert len(files) >= 10
    for file in files:
        recipe = read_paper_recipe(file)
        assert recipe.name == file.stem and is_paper_recipe(file)
        assert recipe.variants or isinstance(recipe.evaluate.baselines, tuple)
