"""Fixtures that every test may use."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of this repository."""
    return ROOT


@pytest.fixture(scope="session")
def demo() -> Path:
    """The embedded demo corpus folder."""
    return ROOT / "corpora" / "demo"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real corpora beside the repository; a test that asks for it skips where it is absent."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real corpora (../shared/data) are not here")
    return folder
