"""JATS articles → a corpus by other label schemes, and only of some languages and licences."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from sectioncls.cli import app
from sectioncls.corpora import build_pmc, open_corpus
from sectioncls.errors import InputError, UsageError

ENGLISH = "The sheep were counted every morning before they left the barn, and the herd grew over the summer."
SPANISH = "Las ovejas se contaron cada mañana antes de que salieran del establo, y el rebaño creció en verano."


def jats(number: int, text: str = ENGLISH, declared: str = "", licence: str = "", abstract: str = "") -> str:
    permissions = f"<permissions><license><license-p>{licence}</license-p></license></permissions>" if licence else ""
    lang = f' xml:lang="{declared}"' if declared else ""
    sections = "".join(
        f"<sec><title>{title}</title><p>{text[:-1]} {number}.</p></sec>"
        for title in ("Introduction", "Data collection", "Results", "Discussion", "Flock")
    )
    response = (
        f"<response><front-stub><article-id pub-id-type='doi'>10.9999/r{number}</article-id></front-stub>"
        f"<body><p>{text[:-1]} to {number}.</p></body></response>"
    )
    return (
        f'<article{lang}><front><article-meta><article-id pub-id-type="pmc">{number}</article-id>'
        f"<title-group><article-title>Flock {number}</article-title></title-group>{permissions}"
        f"<abstract>{abstract}</abstract></article-meta></front><body>{sections}</body>{response}</article>"
    )


@pytest.fixture
def src(tmp_path: Path) -> Path:
    folder = tmp_path / "src"
    folder.mkdir()
    parts = "".join(
        f"<sec><title>{title}</title><p>{ENGLISH}</p></sec>"
        for title in ("Background and aims", "Flock", "Setting", "Results", "What this study adds")
    )
    articles = {
        1: jats(1, declared="en", licence="CC BY 4.0", abstract=parts),
        2: jats(2, licence="CC BY-NC 4.0", abstract=f"<p>{ENGLISH}</p>"),
        3: jats(3, SPANISH, declared="es", licence="CC BY 3.0"),
        4: jats(4, SPANISH, declared="en", licence="CC0 1.0"),
        5: jats(5, "Nine.", declared="pt-BR"),
    }
    for number, text in articles.items():
        (folder / f"a{number}.xml").write_text(text, encoding="utf-8")
    return folder


def frame(path: Path) -> pd.DataFrame:
    corpus = open_corpus(path)
    return pd.concat([corpus.to_pandas(split) for split in corpus.splits]).sort_values(["article_id", "index"])


def left_out(path: Path) -> dict[str, tuple[str, str]]:
    rows = [json.loads(line) for line in (path / "rejected.jsonl").read_text(encoding="utf-8").splitlines()]
    return {row["article_id"]: (row["reason"], row["detail"]) for row in rows}


def test_imrad(src: Path, tmp_path: Path) -> None:
    corpus, _ = build_pmc([src], tmp_path / "c", command="x", scheme="imrad")
    assert corpus.info.scheme == "imrad"
    rows = frame(tmp_path / "c")
    body = rows[(rows["article_id"] == "PMC2") & (rows["path"].str[0] != "Abstract")]
    assert body["label"].tolist() == ["introduction", "method", "result", "discussion", "other"]
    assert body["label_source"].tolist()[1] == "title:Data collection"


def test_structured_abstracts(src: Path, tmp_path: Path) -> None:
    _, counts = build_pmc([src], tmp_path / "c", command="x", scheme="pubmed-rct")
    rows = frame(tmp_path / "c")
    assert rows["label"].tolist() == ["objective", "method", "result", "conclusion"]
    assert set(rows["article_id"]) == {"PMC1"}
    assert counts.kept == 1
    assert left_out(tmp_path / "c")["PMC2"] == ("lacks-labels", "nothing in it has a label")
    [note] = [note for note in open_corpus(tmp_path / "c").info.notes if "heading" in note]
    assert note == "paragraphs that no heading of the scheme names (left out): 1"


def test_a_scheme_of_ones_own_with_workers(src: Path, tmp_path: Path) -> None:
    file = tmp_path / "barn.toml"
    file.write_text('name = "barn"\nlabels = ["flock", "rest"]\ndefault = "rest"\n[words]\nflock = ["flock(s)"]\n')
    for jobs in (1, 2):
        build_pmc([src], tmp_path / f"c{jobs}", command="x", name="c", scheme=str(file), jobs=jobs)
    rows = frame(tmp_path / "c1")
    assert set(rows[rows["label"] == "flock"]["path"].str[-1]) == {"Flock"}
    for name in ("train.parquet", "corpus.json"):
        if (tmp_path / "c1" / name).exists():
            assert (tmp_path / "c1" / name).read_bytes() == (tmp_path / "c2" / name).read_bytes()


def test_languages_are_recognised_and_kept_apart(src: Path, tmp_path: Path) -> None:
    corpus, counts = build_pmc([src], tmp_path / "all", command="x", require="none")
    languages = frame(tmp_path / "all").drop_duplicates("article_id").set_index("article_id")["language"]
    assert languages.to_dict() == {"PMC1": "en", "PMC2": "en", "PMC3": "es", "PMC4": "es", "PMC5": "pt"}
    [note] = [note for note in corpus.info.notes if "another language" in note]
    assert note.endswith(": 1")
    _, counts = build_pmc([src], tmp_path / "en", command="x", require="none", languages=["EN"])
    assert (counts.articles, counts.kept, counts.rejected) == (5, 2, {"language": 3})
    out = left_out(tmp_path / "en")
    assert out["PMC5"] == ("language", "none recognised, declared pt")
    assert out["PMC4"][1].startswith("found es (")
    assert out["PMC4"][1].endswith("declared en")
    with pytest.raises(UsageError, match="two letters"):
        build_pmc([src], tmp_path / "x", command="x", languages=["english"])


@pytest.mark.parametrize(
    ("wanted", "kept"),
    [
        (["cc-by"], {"PMC1", "PMC3"}),
        (["CC BY 4.0"], {"PMC1"}),
        (["cc-by-nc"], {"PMC2"}),
        (["cc-by-3.0", "cc0"], {"PMC3", "PMC4"}),
    ],
)
def test_licences(src: Path, tmp_path: Path, wanted: list[str], kept: set[str]) -> None:
    _, counts = build_pmc([src], tmp_path / "c", command="x", require="none", licences=wanted)
    assert set(frame(tmp_path / "c")["article_id"]) == kept
    assert counts.articles == 5
    out = left_out(tmp_path / "c")
    assert out["PMC5"] == ("licence", "states none that is known")
    assert {reason for reason, _ in out.values()} == {"licence"}


def test_what_is_not_known_is_refused(src: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cc-by-nc"):
        build_pmc([src], tmp_path / "c", command="x", licences=["mit"])
    with pytest.raises(UsageError, match="no rules"):
        build_pmc([src], tmp_path / "c", command="x", scheme="nicta-piboso")
    with pytest.raises(InputError, match="missing"):
        build_pmc([src], tmp_path / "c", command="x", scheme="nowhere.toml")
    with pytest.raises(UsageError, match="introduction"):
        build_pmc([src], tmp_path / "c", command="x", scheme="imrad", require="labels=background")


def test_sub_articles(src: Path, tmp_path: Path) -> None:
    _, counts = build_pmc([src], tmp_path / "c", command="x", require="none", sub_articles=True)
    assert counts.articles == 10
    assert len(set(frame(tmp_path / "c")["article_id"])) == 10


def test_the_verb(src: Path, tmp_path: Path) -> None:
    out = tmp_path / "c"
    call = ["build-pmc", "--xml", str(src), "-o", str(out), "--require", "none", "--jobs", "1"]
    call += ["--lang", "en,es", "--lang", "pt", "--licence", "cc-by,cc0"]
    result = CliRunner().invoke(app, call)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert "left out: licence 2" in lines
    assert "languages of articles: es 2 (66.7 %), en 1 (33.3 %)" in lines
    assert "licences of articles: CC BY 3.0 1 (33.3 %), CC BY 4.0 1 (33.3 %), CC0 1 (33.3 %)" in lines
    assert any(line.split() == ["flock", "4", "3"] for line in lines)
    info = json.loads((out / "corpus.json").read_text())
    assert info["command"] == (f"sectioncls build-pmc --xml {src} --require none --lang en,es,pt --licence cc-by,cc0")
    result = CliRunner().invoke(app, [*call, "--sub-articles", "--scheme", "imrad", "--overwrite", "--json"])
    content = json.loads(result.stdout)
    assert content["scheme"] == "imrad"
    assert content["content"]["licences"]["CC0"] == 2
    assert content["command"].endswith("--licence cc-by,cc0 --sub-articles")
