"""The page: well-formed, self-contained, escaped, accessible, the same bytes every time."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from lxml import html as parser

from sectioncls.errors import OutputError
from sectioncls.report import formats, summarize, write_report
from sectioncls.runs import Run, create_run

Maker = Callable[..., Run]
Info = Callable[..., dict[str, Any]]
EVIL = "<script>alert(1)</script>\"'&{{ 7 * 7 }}"


@pytest.fixture(scope="module")
def page(maker: Maker, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    return write_report([maker(folder / "r").path], folder / "page.html").read_text()


def test_it_is_well_formed(page: str) -> None:
    body = re.sub(r"<(meta|img)\b([^>]*)>", r"<\1\2/>", page.removeprefix("<!doctype html>"))
    body = body.replace("&#8239;", " ").replace("&ensp;", " ")
    body = re.sub(r"<script\b[^>]*>.*?</script>", "", body, flags=re.DOTALL)
    etree.fromstring(body)  # as strict as XML: every element closed, every attribute quoted once
    ids = parser.fromstring(page).xpath("//@id")
    assert len(ids) == len(set(ids))


def test_it_loads_nothing_and_runs_one_script(page: str) -> None:
    tree = parser.fromstring(page)
    assert not tree.xpath("//link | //iframe | //object | //embed | //base | //form | //@onclick | //@onload")
    assert {script.get("type") for script in tree.xpath("//script")} == {"application/json", None}
    assert not tree.xpath("//script/@src")
    (script,) = tree.xpath("//script[not(@type)]/text()")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert all(address.startswith(("data:image/svg+xml;base64,", "#")) for address in tree.xpath("//@src | //@href"))
    assert "://" not in page
    assert "url(" not in page and "@import" not in page
    policy = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy == [f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"]
    assert not re.search(r"\b(fetch|XMLHttpRequest|eval|innerHTML|import)\b", script)


def test_pictures_load_nothing_either(page: str) -> None:
    pictures = parser.fromstring(page).xpath("//img/@src")
    assert len(pictures) == 4
    for picture in pictures:
        svg = base64.b64decode(picture.partition(",")[2])
        tree = etree.fromstring(svg)
        addresses = tree.xpath("//@*[local-name() = 'href']")
        assert all(address.startswith(("#", "data:")) for address in addresses)
        assert b"<script" not in svg and b"<metadata" not in svg


def test_it_can_be_heard(page: str) -> None:
    tree = parser.fromstring(page)
    assert tree.get("lang") == "en"
    assert all(len(alt) > 20 for alt in tree.xpath("//img/@alt")) and not tree.xpath("//img[not(@alt)]")
    assert not tree.xpath("//table[not(caption)]")
    assert not tree.xpath("//th[not(@scope)]")
    levels = [int(heading.tag[1]) for heading in tree.xpath("//h1 | //h2 | //h3")]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all(
        not link.startswith("#") or tree.get_element_by_id(link[1:]) is not None for link in tree.xpath("//@href")
    )


def test_every_row_has_as_many_cells_as_its_head(page: str) -> None:
    for table in parser.fromstring(page).xpath("//table"):
        spans = [sum(int(cell.get("colspan", 1)) for cell in row) for row in table.xpath("./tbody/tr")]
        first = table.xpath("./thead/tr[1]")[0]
        assert set(spans) == {sum(int(cell.get("colspan", 1)) for cell in first)}, table.xpath("string(caption)")


def test_ours_stands_beside_the_published_value(page: str) -> None:
    tree = parser.fromstring(page)
    rows = [
        [" ".join(cell.text_content().split()) for cell in row]
        for row in tree.xpath("//section[@id='classification']//tbody[3]/tr[th[text()='Random forest']]")
    ]
    assert rows == [["Random forest", "77.10 (best)", "74.8 – 79.4", "", "75.02", "+2.08", "73.10 (best)"]]


def test_other_data_has_no_published_column(maker: Maker, info: Info, tmp_path: Path) -> None:
    test = {"background": 493, "objective": 155, "method": 421, "result": 219, "other": 60}
    page = write_report([maker(tmp_path / "r", corpus=info(test=test)).path], tmp_path / "p.html").read_text()
    tree = parser.fromstring(page)
    assert not tree.xpath("//th[contains(text(), 'ublished')]")
    assert "other data: test has 1,348 sentences, the published CSAbstruct 1,349" in tree.text_content()
    assert "75.02" not in page


def test_foreign_text_is_only_text(maker: Maker, info: Info, tmp_path: Path) -> None:
    labels = (EVIL, "objective", "method")
    corpus = info(labels, {EVIL: 30, "objective": 20, "method": 10}, name=EVIL, scheme=EVIL, notes=[EVIL], command=EVIL)
    corpus["counts"] = {"test": corpus["counts"]["test"]}
    run = maker(tmp_path / "r", name=EVIL, corpus=corpus, note=f"collapsed {EVIL}")
    run.append_history({"kind": "note", "step": 1, "text": EVIL})
    page = write_report([run.path], tmp_path / "p.html").read_text()
    tree = parser.fromstring(page)
    scripts = tree.xpath("//script")
    assert page.count("<script") == len(scripts) and not any(
        "alert" in one.text for one in scripts if not one.get("type")
    )
    data = [json.loads(one.text) for one in scripts if one.get("type")]
    assert len(data) == 2 and all(EVIL in one["labels"] for one in data)
    assert EVIL in json.loads(formats.summary_json(summarize([run.path])))["runs"][0]["name"]
    assert "49" not in tree.xpath("string(//title)")
    assert EVIL in tree.xpath("string(//h1)")
    assert EVIL in tree.xpath("//section[@id='projection']//img/@alt")[0]


def test_the_same_runs_give_the_same_bytes(maker: Maker, tmp_path: Path) -> None:
    paths = [maker(tmp_path / name, name=name).path for name in ("a", "b")]
    first = write_report(paths, tmp_path / "1.html").read_bytes()
    assert write_report(paths, tmp_path / "2.html").read_bytes() == first
    again = [maker(tmp_path / "again" / name, name=name).path for name in ("a", "b")]
    assert write_report(again, tmp_path / "3.html").read_bytes() == first


def test_a_bare_run_has_a_page(tmp_path: Path) -> None:
    run = create_run(tmp_path / "r")
    run.finish()
    page = write_report([run.path], tmp_path / "p.html").read_text()
    assert "no classification scores" in page


def test_collapse_is_said_beside_the_silhouette(page: str) -> None:
    section = parser.fromstring(page).get_element_by_id("clustering").text_content()
    assert "Embeddings collapsed: effective rank 1.9 of 384." in section
    assert "A high silhouette says here" in section


def test_a_page_in_the_run_folder_belongs_to_the_run(maker: Maker, tmp_path: Path) -> None:
    run = maker(tmp_path / "r")
    before = write_report([run.path], run.path / "report.html").read_bytes()
    assert write_report([run.path], run.path / "report.html", overwrite=True).read_bytes() == before
    create_run(run.path, overwrite=True)


def test_only_a_page_of_ours_is_overwritten(maker: Maker, tmp_path: Path) -> None:
    run, page = maker(tmp_path / "r"), tmp_path / "p.html"
    page.write_text("<p>mine</p>")
    with pytest.raises(OutputError, match="exists already"):
        write_report([run.path], page)
    with pytest.raises(OutputError, match="not a page that sectioncls made"):
        write_report([run.path], page, overwrite=True)
    assert page.read_text() == "<p>mine</p>"


def test_text_is_shown_only_on_demand(maker: Maker, info: Info, tmp_path: Path) -> None:
    corpora = pytest.importorskip("sectioncls.corpora")
    pytest.importorskip("sectioncls.schemes")
    folder, secret = small_corpus(corpora, tmp_path)
    opened = corpora.open_corpus(folder)
    corpus = info(path=str(folder), fingerprint=opened.info.fingerprint)
    run = maker(tmp_path / "r", corpus=corpus)
    rows = run.read_table("predictions")
    places = range(len(rows["encoder"]))
    wrong = next(i for i in places if rows["encoder"][i] == "tuned" and rows["label"][i] != rows["predicted"][i])
    rows["article_id"][wrong], rows["index"][wrong] = "doc", 0
    run.write_table("predictions", rows)
    run.finish()
    without = write_report([run.path], tmp_path / "1.html").read_text()
    assert "of the corpus." not in without
    assert "holds no corpus text" in without
    page = write_report([run.path], tmp_path / "2.html", with_text=True).read_text()
    errors = json.loads(parser.fromstring(page).get_element_by_id("errors-0").text)
    assert [row[7] for row in errors["rows"] if row[0] == "doc"] == [secret]
    assert errors["sections"] == ["Methods"] and "Methods" not in without
    assert "<script>alert" not in page
    run.update(corpus={**corpus, "fingerprint": "other"})
    run.finish()
    stale = write_report([run.path], tmp_path / "3.html", with_text=True).read_text()
    assert "is not the corpus of this run" in stale and secret not in parser.fromstring(stale).text_content()


def small_corpus(corpora: Any, tmp_path: Path) -> tuple[Path, str]:
    """A corpus with one test sentence, which no page may show unasked."""
    from sectioncls.records import Sentence
    from sectioncls.schemes import load_scheme

    secret = f"A sentence {EVIL} of the corpus."
    with corpora.create_corpus(tmp_path / "c", name="c", scheme=load_scheme("csabstruct"), command="x") as writer:
        for split, text in (("train", "One."), ("dev", "Two."), ("test", secret)):
            writer.add(split, [Sentence("doc", 0, -1, text, 0, len(text), path=("2. Methods",), label="method")])
    return tmp_path / "c", secret


def test_settings_are_said_as_words() -> None:
    from sectioncls.report.panels.facts import _setting

    links = {"name": "links", "mining": "specter", "options": {"bidirectional": True}, "cap": None, "weight": 1.0}
    assert _setting([links, {"name": "year", "options": {}, "weight": 2.0}]) == (
        "links (mining specter, options bidirectional True) + year (weight 2.0)"
    )
    assert _setting(5e-5) == "5e-05" and _setting(["a", "b"]) == "a + b"
