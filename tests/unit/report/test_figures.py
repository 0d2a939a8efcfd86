"""Figures: the same bytes, the reader's colours, pixels for many points."""

from __future__ import annotations

import numpy as np
import pytest

from sectioncls.render import marks
from sectioncls.report.figures import VECTOR_POINTS, curves, embedding_map, reliability


def cloud(n: int) -> tuple[np.ndarray, np.ndarray, list[str]]:
    chance = np.random.default_rng(1)
    return chance.normal(size=n), chance.normal(size=n), ["method" if i % 3 else "result" for i in range(n)]


def test_the_same_points_give_the_same_bytes() -> None:
    looks = marks(["method", "result"])
    one, two = (embedding_map(*cloud(300), looks, "a map").data for _ in range(2))
    assert one == two


def test_every_point_is_drawn() -> None:
    svg = embedding_map(*cloud(300), marks(["method", "result"]), "a map").data.decode()
    assert svg.count("<use ") == 300


def test_many_points_become_pixels() -> None:
    svg = embedding_map(*cloud(VECTOR_POINTS + 1), marks(["method", "result"]), "a map").data
    assert b"<image " in svg and b"<use " not in svg
    assert len(svg) < 1_500_000


@pytest.mark.parametrize("n", [1, 2])
def test_few_points_are_enough(n: int) -> None:
    assert embedding_map(*cloud(n), marks(["method", "result"]), "a map").data.startswith(b"<svg")


@pytest.mark.parametrize(("form", "start"), [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_a_file_has_ink_of_its_own_and_the_same_bytes(form: str, start: bytes) -> None:
    draws = [
        lambda: embedding_map(*cloud(300), marks(["method", "result"]), "a map", form),
        lambda: curves({"loss": ([1, 2, 3], [3.0, 2.0, 1.0])}, y_label="loss", alt="falls", form=form),
        lambda: reliability([(0.55, 0.4, 10), (0.95, 0.9, 90)], "a diagram", form),
    ]
    for draw in draws:
        data = draw().data
        assert data.startswith(start) and draw().data == data
        assert b"var(--" not in data and b"010203" not in data


def test_a_figure_follows_the_colour_scheme() -> None:
    picture = curves({"loss": ([1, 2, 3], [3.0, 2.0, 1.0])}, y_label="loss", alt="falls")
    svg = picture.data.decode()
    assert "prefers-color-scheme: dark" in svg and "var(--muted)" in svg
    assert not any(stand_in in svg for stand_in in ("#010203", "#040506", "#070809"))
    assert picture.alt == "falls" and picture.width > picture.height > 0


def test_curves_that_end_together_have_names_apart() -> None:
    lines = {name: ([1, 2], [0.0, 50.0]) for name in ("one", "two", "three")}
    svg = curves(lines, y_label="y", alt="alt").data.decode()
    assert all(f">{name}</text>" in svg for name in lines)
