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


@pytest.fixture(scope="module")
def report(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = repository / "tests" / "unit" / "report" / "conftest.py"
    spec = importlib.util.spec_from_file_location("made_run", place)
    assert spec and spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
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
