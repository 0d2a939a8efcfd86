"""The report in a real browser: it opens from disk, shows its pictures, and fits a phone."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sectioncls.report import write_report

pytestmark = pytest.mark.browser

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LABEL = "<img src=x onerror=alert(1)> a label that is longer than labels are"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium here (apt-get install chromium)")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield chromium
        chromium.close()


def load_module(place: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"of_{place.stem}", place)
    assert spec and spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def report(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = load_module(repository / "tests" / "unit" / "report" / "conftest.py")
    folder = tmp_path_factory.mktemp("report")
    labels = (*made.LABELS[:4], LABEL)
    evil = made.corpus_info(labels, dict.fromkeys(labels, 40), name="x" * 90, fingerprint="f" * 64)
    runs = [made.make_run(folder / "a").path, made.make_run(folder / "b", name="b" * 60, corpus=evil).path]
    return write_report(runs, folder / "report.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_opens_and_fits(browser: Any, report: Path, width: int, scheme: str) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("requestfailed", lambda request: troubles.append(f"failed {request.url[:80]}"))
    page.on("dialog", lambda dialog: (troubles.append("a dialog"), dialog.dismiss()))
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(report.as_uri())
    page.wait_for_load_state()
    assert troubles == []
    assert [url for url in requests if not url.startswith("data:")] == [report.as_uri()]
    images = page.evaluate(
        "[...document.images].map(i => [i.alt.length > 0, i.complete && i.naturalWidth > 0 && i.naturalHeight > 0])"
    )
    assert len(images) == 8
    assert all(alt and shown for alt, shown in images)
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    page.close()


def test_dark_pictures_are_dark(browser: Any, report: Path) -> None:
    """The ink inside the pictures follows the reader's scheme: axis numbers are light on dark."""
    shots = []
    for scheme in ("light", "dark"):
        page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme=scheme)
        page.goto(report.as_uri())
        shots.append(page.locator("#training img").first.screenshot())
        page.close()
    light, dark = (brightness(shot) for shot in shots)
    assert light > 200
    assert dark < 60


def brightness(png: bytes) -> float:
    """Mean brightness of a picture, 0 to 255."""
    import io

    from matplotlib.image import imread

    return float(imread(io.BytesIO(png))[..., :3].mean() * 255)


@pytest.fixture
def open_page(browser: Any, report: Path) -> Iterator[Any]:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto(report.as_uri())
    yield page
    page.close()
    assert troubles == []


def first_maps(page: Any) -> Any:
    """The first maps, which start when they are near."""
    maps = page.locator("[data-points]").first
    maps.scroll_into_view_if_needed()
    maps.locator("canvas").first.wait_for()
    return maps


def test_maps_answer_the_mouse_and_the_keyboard(open_page: Any) -> None:
    maps = first_maps(open_page)
    canvas, tip = maps.locator("canvas").first, maps.locator(".tip").first
    canvas.scroll_into_view_if_needed()
    assert tip.is_hidden()
    box = canvas.bounding_box()
    open_page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert tip.is_visible()
    assert "article a" in tip.inner_text() and "sentence " in tip.inner_text()
    open_page.mouse.move(5, 5)
    assert tip.is_hidden()
    canvas.focus()
    open_page.keyboard.press("ArrowRight")
    first = tip.inner_text()
    open_page.keyboard.press("ArrowRight")
    assert tip.inner_text() != first and maps.locator("[aria-live]").last.inner_text() == tip.inner_text()
    open_page.keyboard.press("+")
    assert tip.is_visible()
    open_page.keyboard.press("Escape")
    assert tip.is_hidden()


def test_the_legend_hides_labels_and_search_finds_an_article(open_page: Any) -> None:
    maps = first_maps(open_page)
    count = maps.locator(".controls .muted")
    assert count.inner_text() == "1,349 of 1,349 sentences"
    button = maps.get_by_role("button", name="background")
    button.focus()
    open_page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "false"
    assert count.inner_text() == "856 of 1,349 sentences"
    button.click()
    maps.get_by_role("searchbox").fill("a224")
    assert count.inner_text() == "5 of 1,349 sentences"


def test_maps_show_errors_or_one_article(open_page: Any) -> None:
    maps = first_maps(open_page)
    count = maps.locator(".controls .muted")
    maps.get_by_label("Predictions").select_option("errors")
    errors = int(count.inner_text().split(" of ")[0].replace(",", ""))
    maps.get_by_label("Predictions").select_option("right")
    right = int(count.inner_text().split(" of ")[0].replace(",", ""))
    assert 0 < errors < 1349 and 0 < right < 1349 and errors + right >= 1349  # two maps, each with its own errors
    maps.get_by_label("Predictions").select_option("all")
    maps.get_by_label("Article").select_option(label="a224")
    assert count.inner_text() == "5 of 1,349 sentences"


def test_points_are_selected_by_drawing(open_page: Any) -> None:
    maps = first_maps(open_page)
    canvas, told = maps.locator("canvas").first, maps.locator(".chosen")
    assert told.is_hidden()
    maps.get_by_role("button", name="Select by drawing").click()
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    corners = [(1, 1), (box["width"] / 2, 1), (box["width"] / 2, box["height"] - 2), (1, box["height"] - 2)]
    open_page.mouse.move(box["x"] + 1, box["y"] + 1)
    open_page.mouse.down()
    for x, y in corners:
        open_page.mouse.move(box["x"] + x, box["y"] + y, steps=4)
    open_page.mouse.up()
    half = int(told.locator("b").inner_text().split()[0].replace(",", ""))
    assert 200 < half < 1200 and told.locator("li").count() == 20
    assert "wrong" in told.inner_text() and "Labels" in told.inner_text()
    told.get_by_role("button", name="List 20 more").click()
    assert told.locator("li").count() == 40
    told.get_by_role("button", name="Clear").click()
    assert told.is_hidden()


def test_points_are_selected_by_keys(open_page: Any) -> None:
    maps = first_maps(open_page)
    canvas, told = maps.locator("canvas").first, maps.locator(".chosen")
    canvas.focus()
    for key in ("ArrowRight", " ", "ArrowRight", " "):
        open_page.keyboard.press(key)
    assert told.locator("b").inner_text() == "2 sentences selected"
    open_page.keyboard.press(" ")
    assert told.locator("b").inner_text() == "1 sentence selected"
    open_page.keyboard.press("v")
    assert told.locator("b").inner_text() == "1,349 sentences selected"
    open_page.keyboard.press("x")
    assert told.is_hidden()


def test_colours_change_the_picture(open_page: Any) -> None:
    maps = first_maps(open_page)
    before = maps.locator("canvas").first.screenshot()
    maps.get_by_label("Colour by").select_option("error")
    assert maps.locator("canvas").first.screenshot() != before


def test_papers_are_coloured_and_hidden_by_year(browser: Any, repository: Path, tmp_path: Path) -> None:
    made = load_module(repository / "tests" / "unit" / "report" / "test_facets.py")
    page = browser.new_page()
    page.goto(write_report([made.paper_run(tmp_path / "r").path], tmp_path / "p.html").as_uri())
    maps = first_maps(page)
    before = maps.locator("canvas").first.screenshot()
    maps.get_by_label("Colour by").select_option("year")
    assert maps.locator("canvas").first.screenshot() != before
    assert maps.locator(".legend:visible").count() == 1
    maps.get_by_role("button", name="1990–1994").click()
    assert maps.get_by_text("31 of 40 papers").is_visible()
    maps.get_by_label("Colour by").select_option("field")
    maps.get_by_role("button", name="ml").click()  # what is hidden by one facet stays hidden under another
    assert maps.get_by_text("23 of 40 papers").is_visible()
    page.close()


def test_errors_are_filtered_by_pair(open_page: Any) -> None:
    place = open_page.locator("[data-errors]").first
    place.get_by_label("True label").select_option("objective")
    place.get_by_label("Predicted").select_option("method")
    cells = place.locator("tbody tr").evaluate_all("rows => rows.map(r => [...r.cells].map(c => c.textContent))")
    assert cells and {tuple(row[:2]) for row in cells} == {("objective", "method")}
    pairs = open_page.locator("#errors table").first.locator("tbody tr")
    wanted = pairs.evaluate_all("rows => rows.map(r => [...r.cells].map(c => c.textContent))")
    (n,) = [int(row[2]) for row in wanted if row[:2] == ["objective", "method"]]
    assert place.locator(".count").inner_text().startswith(f"{min(n, 20)} shown of {n} that fit")


def test_errors_are_filtered_by_place_in_the_article(open_page: Any) -> None:
    place = open_page.locator("[data-errors]").first
    place.get_by_label("Part of the article").select_option("first third")
    cells = place.locator("tbody tr").evaluate_all("rows => rows.map(r => [...r.cells].map(c => c.textContent))")
    assert cells and {row[-1] for row in cells} <= {"0", "1"}  # articles of six sentences


def test_foreign_labels_stay_text_in_the_script(open_page: Any) -> None:
    place = open_page.locator("[data-errors]").last
    place.get_by_label("True label").select_option(LABEL)
    assert place.locator("tbody tr").first.locator("td").first.inner_text() == LABEL
    assert open_page.locator("#errors img").count() == 0


def test_paper_shows_pictures_in_place_of_canvases(open_page: Any) -> None:
    maps = first_maps(open_page)
    open_page.emulate_media(media="print")
    assert maps.locator("canvas").first.is_hidden() and maps.locator(".controls").is_hidden()
    assert maps.locator("img").first.is_visible()


def test_without_scripts_everything_still_stands_there(browser: Any, report: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    assert page.locator("#projection img").first.is_visible()
    assert page.locator("#errors [data-errors] tbody tr").count() > 20
    context.close()
