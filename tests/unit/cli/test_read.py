from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path

import pytest

from sectioncls.cli.read import read
from sectioncls.errors import InputError, UsageError

DATA = Path(__file__).resolve().parents[2] / "data" / "documents"


def rows(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def given(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_a_folder_of_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    read([DATA], json_lines=True, quiet=True)
    found = rows(capsys)
    assert [row.get("title", row.get("reason")) for row in found] == [
        "Kites over Ovis hills",
        "Kites and Ovis at 10^3 m.",
        "no-prose",
        "Kites: a trial",
        "Kites and the fear of sheep",
    ]
    assert [row["language"] for row in found if row["status"] == "ok"] == ["en"] * 4


def test_a_row_holds_all_that_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    read([DATA / "grobid.tei.xml"], json_lines=True, quiet=True)
    [row] = rows(capsys)
    paragraphs = row.pop("paragraphs")
    left_out = row.pop("left_out")
    assert row.pop("added") > 0
    assert row == {
        "id": "10.1234/kite.1",
        "doi": "10.1234/kite.1",
        "source": str(DATA / "grobid.tei.xml"),
        "status": "ok",
        "title": "Kites over Ovis hills",
        "year": 2021,
        "journal": "Journal of Kites",
        "authors": ["Ada B Lamb", "Ram"],
        "language": "en",
        "language_declared": "en",
        "licence": "CC BY 4.0",
        "references": ["doi:10.1234/a", "pmid:77"],
    }
    assert isinstance(paragraphs, list) and isinstance(left_out, dict)
    assert paragraphs[6] == {
        "node": 6,
        "kind": "list",
        "path": ["Methods", "Sheep"],
        "text": "one ewe;",
        "label": "method",
        "label_source": "title:Methods",
        "sentences": ["one ewe;"],
    }
    assert paragraphs[2]["sentences"][-1] == "They ran."
    assert left_out["table"] > 0


def test_schemes_and_splitters(capsys: pytest.CaptureFixture[str]) -> None:
    read([DATA / "pubmed.xml"], json_lines=True, scheme="pubmed-rct", quiet=True)
    row = rows(capsys)[0]
    assert isinstance(row["paragraphs"], list)
    assert [paragraph["label"] for paragraph in row["paragraphs"]][:2] == ["background", "method"]
    with pytest.raises(UsageError, match="label scheme"):
        read([DATA], scheme="none")
    with pytest.raises(UsageError, match="splitter"):
        read([DATA], json_lines=True, splitter="none-such")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("name", ["grobid.tei.xml", "trial.md", "trial.txt", "pubmed.xml"])
def test_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, pack: object
) -> None:
    assert callable(pack)
    read([DATA / name], json_lines=True, quiet=True)
    expected = rows(capsys)[0]
    given(monkeypatch, pack((DATA / name).read_bytes()))
    read([Path("-")], json_lines=True, quiet=True)
    found = rows(capsys)[0]
    assert found["paragraphs"] == expected["paragraphs"]
    assert str(found["source"]).startswith("-")


def test_the_outline_says_what_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    read([DATA / "trial.md"])
    printed = capsys.readouterr()
    assert "year 2020, language en, licence CC BY 4.0" in printed.out
    assert "left out (characters): citation" in printed.out
    assert "articles read: 1, documents rejected: 0" in printed.err


def test_a_pdf_needs_a_server(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "kite.pdf"
    path.write_bytes(b"%PDF-1.7")
    read([path], json_lines=True, quiet=True)
    assert rows(capsys)[0]["reason"] == "needs-grobid"
    with pytest.raises(UsageError):
        read([tmp_path / "none"], grobid_url="ftp://a")
    with pytest.raises(InputError, match="no GROBID server answers"):
        read([path], grobid_url="http://127.0.0.1:1")
