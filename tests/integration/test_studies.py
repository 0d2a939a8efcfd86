"""Every study of the papers by one command on the made-up papers, with a tiny network, and the page on all of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sectioncls.errors import InputError, UsageError
from sectioncls.papersets.build import build_papers
from sectioncls.recipes.papers import (
    PapersOptions,
    material_of,
    parse_paper_recipe,
    read_paper_recipe,
    run_papers,
    with_paper_model,
)
from sectioncls.recipes.papers.study.claims import CONFIRMED, NO_WEIGHTS, REFUTED, UNDECIDED
from sectioncls.recipes.papers.study.titles import titled_material
from sectioncls.report import write_report
from sectioncls.runs import open_run

FOLDER = Path(__file__).resolve().parents[2] / "recipes" / "papers" / "studies"
STUDIES = sorted(path.stem for path in FOLDER.glob("*.toml"))


def quick(name, tiny_bert, folder):
    file = FOLDER / f"{name}.toml"
    recipe = with_paper_model(read_paper_recipe(file), str(tiny_bert))
    return run_papers(recipe, file.read_text(encoding="utf-8"), folder, quick=True)


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_runs_quickly_and_judges_its_claims(name, tiny_bert, tmp_path):
    recipe = read_paper_recipe(FOLDER / f"{name}.toml")
    assert recipe.name == name  # the page names the command by it
    run = open_run(quick(name, tiny_bert, tmp_path / name).path)
    study = run.info["study"]
    assert study["quick"] and [claim["id"] for claim in study["claims"]] == [one.id for one in recipe.study.claim]
    assert [table["name"] for table in study["measures"]] == [one.name for one in recipe.study.measure]
    for claim in study["claims"]:
        assert claim["verdict"] in (CONFIRMED, REFUTED, UNDECIDED, NO_WEIGHTS) and claim["reason"], claim["id"]
    assert {variant.name for variant in recipe.variants} <= set(run.info.get("encoders", {}))
    page = (run.path / "report.html").read_text(encoding="utf-8")
    assert "Claims of the papers" in page and "their verdicts mean nothing" in page


@pytest.fixture(scope="module")
def runs(tiny_bert, tmp_path_factory):
    folder = tmp_path_factory.mktemp("studies")
    return [quick(name, tiny_bert, folder / name).path for name in ("scincl-bands", "scirepeval-titles")]


def test_one_page_on_several_studies(runs, tmp_path):
    page = write_report(runs, tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("<h3 id=") == 2 and "published claims in 2 studies" in page
    assert "sectioncls run papers/studies/scincl-bands" in page
    assert page.index("Claims of the papers") < page.index("Paper encoders</h2>")


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_the_page_opens_and_fits(runs, tmp_path, width, scheme):
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium here (apt-get install chromium)")
    page = write_report(runs, tmp_path / "page.html")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        troubles: list[str] = []
        tab.on("console", lambda message: troubles.append(message.text))
        tab.on("pageerror", lambda error: troubles.append(str(error)))
        tab.goto(page.as_uri())
        tab.wait_for_load_state()
        assert troubles == []
        assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
        assert tab.evaluate("[...document.images].every(i => i.alt && i.complete && i.naturalWidth > 0)")
        first = tab.locator("table").first.bounding_box()
        assert first is not None and first["y"] < 1000  # the claims are what is seen first
        browser.close()


def test_titles_alone_are_scored_beside(runs):
    run = open_run(runs[1])
    names = {score.encoder for score in run.scores()}
    assert {"whole-texts", "whole-texts, titles", "some-titles", "some-titles, titles", "tiny-bert, titles"} <= names


def test_a_set_of_titles(demo, tmp_path):
    papers = build_papers([demo / "papers"], tmp_path / "demo", command="build", name="demo")[0]
    material = material_of(papers, PapersOptions(), 1)
    titled = titled_material(material, tmp_path / "titles", 1)
    assert list(titled.texts) == [title.strip() for title in papers.papers().titles]
    assert list(titled.texts) != list(material.texts) and titled.papers.ranking_tasks() == papers.ranking_tasks()


def test_a_run_goes_on_with_other_claims(runs):
    """Claims may be reworded: nothing is trained again."""
    file = FOLDER / "scincl-bands.toml"
    text = file.read_text(encoding="utf-8").replace("The farther the band", "The further the band")
    recipe = parse_paper_recipe(text, "bands")
    tiny = open_run(runs[0]).info["recipe"]["model"]["name"]
    run = run_papers(with_paper_model(recipe, tiny), text, runs[0], resume=True, quick=True)
    assert run.info["study"]["claims"][0]["text"].startswith("The further")


NEEDS = {
    "scincl-mining": "citations and rankings",
    "scirepeval-tasks": "citations and topics and years and authors and rankings",
    "scimult-tuning": "queries and topics",
    "scirepeval-domains": "venues",
}


@pytest.mark.parametrize("name", NEEDS)
def test_what_a_set_lacks_is_one_line(name, tmp_path):
    source = tmp_path / "bare"
    source.mkdir()
    lines = ('{"id": "a%d", "title": "Peat and frost %d", "abstract": "We dig.", "split": "%s"}' for _ in range(1))
    form = next(lines)
    rows = [form % (n, n, ("train", "dev", "test")[n % 3]) for n in range(12)]
    (source / "papers.jsonl").write_text("\n".join(rows) + "\n")
    papers = build_papers([source], tmp_path / "papers", command="build", name="bare")[0]
    file = FOLDER / f"{name}.toml"
    with pytest.raises(InputError, match=f"the study {name} needs {NEEDS[name]}, which this paper set lacks") as caught:
        run_papers(read_paper_recipe(file), "", tmp_path / "out", papers=papers.path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[study.measure]]\nname = "m"\nkind = "hue"\n', "no measure 'hue'.*known: bands"),
        ('[[study.measure]]\nname = "m"\nkind = "bands"\noptions = { hue = 3 }\n', "no option 'hue'"),
    ],
)
def test_mistakes_of_measures(text, words, demo, tmp_path):
    head = 'name = "x"\n[papers]\nbuild = "edges"\nsource = "corpora/demo/papers"\n[evaluate]\nbaselines = false\n'
    head += 'untuned = false\n[study]\npaper = "arXiv 0"\ntitle = "t"\n'
    with pytest.raises(UsageError, match=words):
        run_papers(parse_paper_recipe(head + text, "x"), "", tmp_path / "out")


def test_by_command(tiny_bert, tmp_path):
    def command(*arguments, code=0):
        result = subprocess.run(
            [sys.executable, "-c", "from sectioncls.cli import main; main()", *map(str, arguments)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        )
        assert result.returncode == code, result.stderr
        return result

    done = command("run", "papers/studies/scincl-bands", "--quick", "--model", tiny_bert, "-q")
    assert "confirmed: The farther the band of hard negatives" in done.stdout
    assert (tmp_path / "reports" / "papers" / "studies" / "scincl-bands" / "report.html").is_file()
    refused = command("run", "papers/quick", "--quick", "-q", code=2)
    assert len(refused.stderr.strip().splitlines()) == 1 and "--quick is for studies" in refused.stderr
