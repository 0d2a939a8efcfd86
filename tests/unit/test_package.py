"""The public surface: light to import, typed, and equal to what it names."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import sectioncls

HEAVY = ("torch", "sklearn", "spacy", "lxml", "pyarrow", "pandas", "transformers", "matplotlib", "numpy")
MODULES = sorted(m.name for m in pkgutil.walk_packages(sectioncls.__path__, "sectioncls."))


def test_import_loads_nothing_heavy():
    code = f"import sectioncls, sectioncls.cli, sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert result.stdout.strip() == "[]"


def test_building_and_reporting_need_no_torch():
    code = "import sectioncls.corpora.pmc, sectioncls.report, sys; print('torch' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert result.stdout.strip() == "False"


@pytest.mark.parametrize("name", MODULES)
def test_all_names_exist(name):
    if name == "sectioncls.recipes.mteb":
        pytest.importorskip("mteb", reason="mteb is not installed")
    module = importlib.import_module(name)
    assert module.__doc__, name
    for public in getattr(module, "__all__", ()):
        assert getattr(module, public, None) is not None, f"{name}.{public}"


def test_lazy_names_resolve():
    for name in sectioncls.__all__:
        assert getattr(sectioncls, name)
    with pytest.raises(AttributeError):
        sectioncls.nothing  # noqa: B018


def test_modules_are_read_in_one_sitting(repository: Path):
    long = {
        path.name: lines
        for path in (repository / "sectioncls").rglob("*.py")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert long == {}


def test_it_is_typed():
    assert (Path(sectioncls.__file__).parent / "py.typed").is_file()
