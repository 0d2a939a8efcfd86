"""Numbers as they are written, and a page that escapes and loads nothing."""

from __future__ import annotations

import base64
import math
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from sectioncls.render import Picture, environment, number, render_page, signed, whole


@pytest.mark.parametrize(
    ("value", "written"),
    [(1.005, "1.00"), (-0.001, "0.00"), (-2.5, "−2.50"), (None, "–"), (math.nan, "–"), (12.0, "12.00")],
)
def test_number(value: float | None, written: str) -> None:
    assert number(value) == written


@pytest.mark.parametrize(("value", "written"), [(0.891, "+0.89"), (-1.2, "−1.20"), (0.001, "0.00"), (None, "–")])
def test_signed(value: float | None, written: str) -> None:
    assert signed(value) == written


def test_whole() -> None:
    assert [whole(1349), whole(0), whole(-1000), whole(None)] == ["1,349", "0", "−1,000", "–"]


def test_a_picture_is_a_data_address() -> None:
    uri = Picture(b"<svg/>", "nothing", 1, 1).uri
    head, _, data = uri.partition(",")
    assert head == "data:image/svg+xml;base64"
    assert base64.b64decode(data) == b"<svg/>"


def test_a_page_escapes_what_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "p.html").write_text(
        '{% extends "page.html" %}{% block title %}{{ t }}{% endblock %}{% block body %}<p>{{ t }}</p>{% endblock %}'
    )
    page = render_page(environment(tmp_path), "p.html", version="1", t="</style><script>x</script>")
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 2


def test_an_unknown_name_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "p.html").write_text("{{ forgotten }}")
    with pytest.raises(UndefinedError):
        environment(tmp_path).get_template("p.html").render()
