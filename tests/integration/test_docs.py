"""What the papers say exists: verbs, options, recipes, files, and Python that runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from sectioncls.recipes import find_recipe


@pytest.fixture(scope="module")
def readme(repository: Path) -> str:
    return (repository / "README.md").read_text(encoding="utf-8")


def verbs() -> dict[str, str]:
    import typer.main

    from sectioncls.cli import app

    commands = typer.main.get_command(app).commands
    return {name: command.help or "" for name, command in commands.items()}


def test_every_verb_has_help_and_stands_in_the_readme(readme):
    for name, text in verbs().items():
        assert text.strip(), name
        assert f"`{name}`" in readme, name


def test_every_command_of_the_readme_exists(readme):
    calls = re.findall(r"\$ sectioncls (\S+)(.*)", readme)
    assert len(calls) >= 6
    for verb, rest in calls:
        assert verb in verbs(), verb
        result = subprocess.run(
            [sys.executable, "-c", "from sectioncls.cli import main; main()", verb, "--help"],
            capture_output=True,
            text=True,
            check=True,
        )
        for option in re.findall(r"(?<=\s)--?[a-z][a-z-]*", rest.split("#")[0]):
            assert option in result.stdout, f"{verb} {option}"


def test_recipes_named_in_the_readme_exist(readme):
    for name in re.findall(r"sectioncls run (\S+?)[`\s]", readme):
        assert find_recipe(name).is_file()


def test_links_lead_somewhere(repository):
    for page in [*repository.glob("*.md"), *(repository / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_house_is_drawn_as_it_stands(repository):
    drawn = (repository / "docs" / "architecture.md").read_text(encoding="utf-8")
    for room in (repository / "sectioncls").iterdir():
        if room.is_dir() and (room / "__init__.py").is_file():
            assert f"  {room.name}/" in drawn, room.name


def test_nothing_that_must_not_be_here(repository):
    listed = subprocess.run(["git", "ls-files"], cwd=repository, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    for name in listed.stdout.split():
        path = repository / name
        assert path.stat().st_size < 3_000_000, name
        if path.suffix in (".py", ".md", ".toml", ".txt", ".json", ".yml", "") and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            assert not re.search(r"(?:pypi|pythonhosted|npmjs)\.(?:org|com)", text), name
