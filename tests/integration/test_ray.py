"""On Ray the same files give the same bytes, and so do a build that goes on there and documents that kill."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest

from sectioncls.corpora.build import build_from_articles
from sectioncls.corpora.labelling import ArticleRules
from sectioncls.corpora.sources import container_of, list_sources
from sectioncls.errors import UsageError
from sectioncls.schemes import load_scheme
from tests.integration.test_resume import assert_same, build, jats, killed, read, src

__all__ = ["src"]


def build_on_ray(folder: Path, out: Path, **options: object) -> None:
    build_from_articles(
        list_sources([folder]),
        partial(read, slow=False),
        out,
        rules=ArticleRules(load_scheme("pmc-sents")),
        name="c",
        command="x",
        container_of=container_of,
        engine="ray",
        jobs=2,
        **options,  # type: ignore[arg-type]
    )


def test_the_same_bytes_as_here(src: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    # Ray's workers read the functions of this module from the root of the repository.
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    (src / "kill.xml").write_text(jats(2000))
    build(src, tmp_path / "here" / "c", jobs=2)
    out = tmp_path / "there" / "c"
    out.parent.mkdir()
    killed(src, out, 2, "begin", 30)
    build_on_ray(src, out, resume=True)
    assert_same(tmp_path / "here" / "c", out)


def test_without_ray(src: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"--engine ray needs Ray \(pip install"):
        build_on_ray(src, tmp_path / "c")
    assert [path.name for path in tmp_path.iterdir()] == ["src"]


def test_an_address_needs_ray(src: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--address"):
        build_from_articles(
            list_sources([src]),
            read,
            tmp_path / "c",
            rules=ArticleRules(load_scheme("pmc-sents")),
            name="c",
            command="x",
            container_of=container_of,
            address="auto",
        )
