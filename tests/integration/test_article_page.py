"""The page of a labelled article in a real browser: it stands alone, filters by role, and speaks to a keyboard."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sectioncls.predict import article_page
from sectioncls.records import Sentence

LABELS = ("background", "method", "<b>result</b>")


@pytest.fixture(scope="module")
def browser(repository: Path) -> Iterator[Any]:
    import shutil

    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium here (apt-get install chromium)")
    place = repository / "tests" / "integration" / "test_report_browser.py"
    spec = importlib.util.spec_from_file_location("report_browser", place)
    assert spec and spec.loader
    others = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(others)
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=others.FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def sentence(place: int, text: str, label: str, prob: float, path: tuple[str, ...], paragraph: int) -> Sentence:
        return Sentence("a", place, paragraph, text, 0, len(text), path, label, prob=prob)

    sentences = [
        sentence(0, "Sheep are known.", "background", 0.93, ("Abstract",), 0),
        sentence(1, "We counted <script>alert(1)</script> them.", "method", 0.45, ("Abstract",), 0),
        sentence(2, "There were 12.", "<b>result</b>", 0.8, ("Results", "Counts & more"), 1),
        sentence(3, "Perhaps.", "", 0.2, ("Results", "Counts & more"), 2),
    ]
    file = tmp_path_factory.mktemp("page") / "a.html"
    html = article_page(sentences, LABELS, name="a<1>", title="On “sheep” & <i>goats</i>", model="m")
    file.write_text(html, encoding="utf-8")
    return file


@pytest.fixture
def page(browser: Any, page_file: Path) -> Iterator[Any]:
    opened = browser.new_page(viewport={"width": 400, "height": 800})
    troubles: list[str] = []
    opened.on("console", lambda message: troubles.append(message.text))
    opened.on("pageerror", lambda error: troubles.append(str(error)))
    opened.on("request", lambda request: troubles.append(request.url) if request.url != page_file.as_uri() else None)
    opened.goto(page_file.as_uri())
    yield opened
    assert troubles == []
    opened.close()


def test_it_opens_alone_and_fits_a_phone(page: Any) -> None:
    assert page.locator("h1").inner_text() == "On “sheep” & <i>goats</i>"
    assert page.locator("mark").count() == 4
    assert page.locator("h2").all_inner_texts() == ["Abstract", "Results"]
    assert page.locator("h3").all_inner_texts() == ["Counts & more"]
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    assert page.locator("article").inner_text().count("<script>") == 1


def test_a_role_is_hidden_by_its_box(page: Any) -> None:
    def faded(place: int) -> bool:
        return float(page.evaluate(f"getComputedStyle(document.querySelectorAll('mark')[{place}]).opacity")) < 1

    boxes = page.locator("input[type=checkbox]")
    assert boxes.count() == 4  # three labels, and what was not sure enough
    assert [faded(place) for place in range(4)] == [False] * 4
    page.get_by_label("method").click()
    assert [faded(place) for place in range(4)] == [False, True, False, False]
    page.get_by_label("not sure enough").click()
    assert [faded(place) for place in range(4)] == [False, True, False, True]
    page.get_by_label("method").click()
    assert [faded(place) for place in range(4)] == [False, False, False, True]


def test_the_keyboard_reaches_sentences_and_says_what_they_are(page: Any) -> None:
    for _ in range(1 + 4 + 2):  # the skip link, the boxes, two sentences
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "MARK"
    tag = page.locator("mark >> nth=1").locator(".tag")
    assert tag.inner_text() == "method, 45 %"
    assert float(tag.evaluate("node => getComputedStyle(node).opacity")) == 1
    assert page.evaluate("getComputedStyle(document.activeElement).borderBottomStyle") == "dotted"


def test_roles_are_coloured_alike_in_page_and_report(page: Any) -> None:
    from sectioncls.render import marks

    shown = page.evaluate("getComputedStyle(document.querySelectorAll('mark')[0]).borderBottomColor")
    red, green, blue = (int(marks(["background"])["background"].colour[i : i + 2], 16) for i in (1, 3, 5))
    assert shown == f"rgb({red}, {green}, {blue})"
