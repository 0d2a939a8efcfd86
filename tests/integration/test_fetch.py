"""fetch and build-jsonl from the command line: a card, a server with faults, the corpus that comes out."""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from sectioncls.cli import build
from sectioncls.cli.build_jsonl import build_jsonl
from sectioncls.cli.fetch import fetch
from sectioncls.corpora import open_corpus
from sectioncls.errors import InputError, OutputError, UsageError
from sectioncls.fetch import card_names, find_card, next_command, read_card

verbs = typer.Typer()
for name, verb in (
    ("fetch", fetch),
    ("build-jsonl", build_jsonl),
    ("build-rct", build.build_rct),
    ("build-csabstruct", build.build_csabstruct),
    ("build-pmc-sents", build.build_pmc_sents),
    ("build-pmc", build.build_pmc),
):
    verbs.command(name)(verb)

RECORDS = [
    {"doc": f"sheep-{number}", "sentences": ["Sheep graze.", f"We count {number} sheep."], "labels": ["WHY", "HOW"]}
    for number in range(3)
]
BODY = "".join(f"{json.dumps(record)}\n" for record in RECORDS).encode()


class Handler(BaseHTTPRequestHandler):
    server: Any

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers.get("Range")))
        if self.path in self.server.busy:
            self.server.busy.remove(self.path)
            self.send_response(503)
            self.send_header("Retry-After", "0")
            self.end_headers()
            return
        body = self.server.files.get(self.path, self.server.files.get(self.path.partition("?")[0]))
        if body is None:
            self.send_error(404)
            return
        start = int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").partition("-")[0])
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body) - start))
        self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        self.send_header("ETag", '"1"')
        self.end_headers()
        if self.path in self.server.slow and not start:
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            self.server.over.wait(60)
            return
        self.wfile.write(body[start:])

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[Any]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.files, server.busy, server.slow, server.asked = {}, [], set(), []
    server.over = threading.Event()
    server.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01), daemon=True).start()
    yield server
    server.over.set()
    server.shutdown()
    server.server_close()


def card(folder: Path, site: Any, body: bytes = BODY, more: str = "") -> Path:
    path = folder / "sheep.toml"
    path.write_text(f"""
name = "sheep"
title = "Sheep roles"
about = "Sentences about sheep."
citation = "Ourselves."
licence = "CC0-1.0"
licence-url = "https://creativecommons.org/publicdomain/zero/1.0/"
builder = "jsonl"
{more}

[[files]]
name = "all.jsonl"
url = "{site.url}/all.jsonl"
bytes = {len(body)}
sha256 = "{hashlib.sha256(body).hexdigest()}"
split = "train"

[form]
article = "doc"

[labels]
WHY = "why"
HOW = "how"
""")
    return path


def run(*words: object) -> Any:
    return CliRunner().invoke(verbs, [str(word) for word in words])


def test_from_card_to_corpus(tmp_path: Path, site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    site.files["/all.jsonl"] = BODY
    site.busy.append("/all.jsonl")
    result = run("fetch", card(tmp_path, site))
    assert result.exit_code == 0, result.output
    assert "licence: CC0-1.0" in result.stderr
    assert "answers 503 Service Unavailable, trying again in 0 s" in result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == f"all.jsonl  {len(BODY):,} bytes  new, checked"
    assert lines[1] == f"next: sectioncls build-jsonl sources/sheep --card {tmp_path / 'sheep.toml'}"
    built = run(*shlex.split(lines[1])[2:])
    assert built.exit_code == 0, built.output
    corpus = open_corpus("corpora/sheep")
    assert corpus.info.counts == {"train": {"why": 3, "how": 3}}
    assert corpus.info.licence == "CC0-1.0"
    assert corpus.info.command == f"sectioncls build-jsonl sources/sheep --card {tmp_path / 'sheep.toml'}"
    assert "| `how` | 3 |" in (corpus.path / "README.md").read_text()
    again = run("fetch", tmp_path / "sheep.toml", "--json", "--quiet")
    assert again.stderr == ""
    said = json.loads(again.stdout)
    assert said["files"][0]["fetched"] is False
    assert said["next"].startswith("sectioncls build-jsonl sources/sheep")


def test_a_wrong_file_is_one_line_and_not_kept(tmp_path: Path, site: Any) -> None:
    site.files["/all.jsonl"] = BODY[:-2] + b"x\n"
    result = run("fetch", card(tmp_path, site), "-o", tmp_path / "out")
    assert isinstance(result.exception, InputError)
    assert "its sha256 is" in str(result.exception)
    assert "not kept" in str(result.exception)
    assert list((tmp_path / "out").iterdir()) == []


def test_kill_and_go_on(tmp_path: Path, site: Any) -> None:
    site.files["/all.jsonl"] = BODY
    site.slow.add("/all.jsonl")
    path = card(tmp_path, site)
    code = "import typer; from sectioncls.cli.fetch import fetch; typer.run(fetch)"
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path), "-o", str(tmp_path / "out")], stderr=subprocess.PIPE
    )
    part = tmp_path / "out" / "all.jsonl.part"
    deadline = time.monotonic() + 60
    while not (part.exists() and part.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.02)
    result = run("fetch", path, "-o", tmp_path / "out")
    assert isinstance(result.exception, OutputError)
    assert "another download into this folder is running" in str(result.exception)
    process.kill()
    process.communicate()
    assert part.read_bytes() == BODY[: len(BODY) // 2]
    site.slow.clear()
    assert run("fetch", path, "-o", tmp_path / "out").exit_code == 0
    assert site.asked[-1] == ("/all.jsonl", f"bytes={len(BODY) // 2}-")
    assert (tmp_path / "out" / "all.jsonl").read_bytes() == BODY
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["all.jsonl", "fetched.json"]


def test_articles_by_id(tmp_path: Path, site: Any, demo: Path) -> None:
    text = find_card("pmc-oa").read_text(encoding="utf-8")
    address = read_card(find_card("pmc-oa")).base_url
    (tmp_path / "mine.toml").write_text(text.replace(str(address), site.url), encoding="utf-8")
    keys = ""
    for number in (1, 2):
        body = (demo / "jats" / f"demo-0{number}.xml").read_bytes()
        md5 = hashlib.md5(body).hexdigest()
        facts = {"license_code": "CC0", "xml_url": f"s3://pmc-oa-opendata/x?md5={md5}"}
        site.files[f"/metadata/PMC{number}.1.json"] = json.dumps(facts).encode()
        site.files[f"/PMC{number}.1/PMC{number}.1.xml"] = body
        keys += f"<Contents><Key>metadata/PMC{number}.1.json</Key></Contents>"
    site.files["/"] = f"<ListBucketResult>{keys}</ListBucketResult>".encode()
    (tmp_path / "ids.txt").write_text("PMC1\n2\nPMC3\n")
    result = run("fetch", tmp_path / "mine.toml", "--ids", tmp_path / "ids.txt", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        f"2 articles fetched, 0 were there, in {tmp_path / 'out'}",
        f"missing: 1 no-such-article (see {tmp_path / 'out' / 'missing.jsonl'})",
        "licences: CC0 2",
        f"next: sectioncls build-pmc --xml {tmp_path / 'out'}",
    ]
    words = shlex.split(result.stdout.splitlines()[-1])[2:]
    built = run(*words, "-o", tmp_path / "corpus", "--require", "none", "--jobs", 1)
    assert built.exit_code == 0, built.output
    assert sum(open_corpus(tmp_path / "corpus").info.articles.values()) == 2
    (tmp_path / "ids.txt").write_text("PMC4\n")
    result = run("fetch", tmp_path / "mine.toml", "--ids", tmp_path / "ids.txt", "-o", tmp_path / "none")
    assert isinstance(result.exception, InputError)
    assert "none of its 1 articles could be fetched" in str(result.exception)


def test_lists() -> None:
    lines = run("fetch", "--list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == card_names()
    cards = json.loads(run("fetch", "--list", "--json").stdout)
    assert [card["name"] for card in cards] == card_names()
    shown = run("fetch", "pubmed-rct-20k", "--list").stdout
    assert "file:      train.txt" in shown
    assert "not stated" in shown


@pytest.mark.parametrize(
    ("words", "kind", "message"),
    [
        (["fetch"], UsageError, "which corpus?"),
        (["fetch", "csabstrct"], InputError, "did you mean csabstruct"),
        (["fetch", "none.toml"], InputError, "does not exist"),
        (["fetch", "pmc-oa"], UsageError, "--ids FILE"),
        (["fetch", "csabstruct", "--ids", "x"], UsageError, "leave --ids out"),
        (["fetch", "samd"], InputError, r"can't be fetched by machine .*github\.com/ljk1228"),
        (["build-jsonl", ".", "--card", "csabstruct"], UsageError, "sectioncls build-csabstruct"),
        (["build-jsonl", ".", "--card", "samd", "--labels-map", "x"], UsageError, "it has: roles"),
        (["build-jsonl", ".", "--labels-map", "x"], UsageError, "is no .toml or .json file"),
        (["build-jsonl", "all.jsonl", "--scheme", "x"], UsageError, "no label scheme 'x'"),
        (["build-jsonl", "all.jsonl", "--scheme", "pubmed-rct"], InputError, "all.jsonl:1: unknown label 'WHY'"),
        (["build-jsonl", "all.jsonl", "--article-field", "x"], InputError, "all.jsonl:1: has no article id"),
    ],
)
def test_what_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], kind: type[Exception], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "all.jsonl").write_bytes(BODY)
    result = run(*words)
    assert isinstance(result.exception, kind), result.output
    with pytest.raises(kind, match=message):
        raise result.exception
    assert [path.name for path in tmp_path.iterdir()] == ["all.jsonl"]


def test_build_jsonl_by_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"t": f"Sheep {n}.", "r": {"role": role}} for n, role in enumerate(["Why not", "HOW", "HOW"])]
    (tmp_path / "my train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["build-jsonl", "my train.jsonl", "--text-field", "t", "--label-field", "r.role"]
    assert run(*words, "--name", "mine").exit_code == 0
    info = open_corpus("corpora/mine").info
    assert info.counts == {"train": {"how": 2, "why-not": 1}}
    assert info.command == "sectioncls build-jsonl 'my train.jsonl' --text-field t --label-field r.role"
    (tmp_path / "map.json").write_text('{"Why not": "objective", "HOW": "method"}')
    assert run(*words, "-o", "two", "--labels-map", "map.json", "--scheme", "pubmed-rct").exit_code == 0
    info = open_corpus("two").info
    assert info.scheme == "pubmed-rct"
    assert info.counts["train"]["method"] == 2
    assert info.labels[0] == "background"


SHARED = {
    "csabstruct": ("csabstruct_official", 2_189, 14_708),
    "csabstruct-paper": ("paper_csabstruct", 14_623, 14_623),
    "pmc-sents-full-paper": ("paper_pmc_sents_full", 3_117, 34_619),
    "pubmed-rct-20k-clean-head": ("pubmed20k_clean_head1000", 1_000, 11_738),
    "nicta-piboso": ("nicta_piboso_clean", 1_000, 9_771),
    "nicta-piboso-multilabel": ("nicta_piboso_multilabel", 200, 2_372),
    "cs-abstracts": ("cs_abstracts_goncalves", 652, 4_730),
    "biorc800": ("biorc800", 799, 7_904),
    "samd": ("samd", 2_804, 18_539),
    "art-coresc": ("art_coresc", 225, 34_454),
    "consort-tm": ("consort_tm", 50, 9_558),
    "mulms-az": ("mulms_az", 50, 10_308),
    "pubmedqa-labelled": ("pubmedqa_pqal", 1_000, None),
    "uci-sentences": ("uci_sentence_corpus", 30, 1_039),
    "cs-abstracts-3class": ("cs_abstracts_3class", 450, 4_165),
    "cs-abstracts-3class-votes": ("cs_abstracts_3class", 299, 2_473),
    "nlm-headings": ("nlm_structured_abstract_labels", 2_455, 2_455),
}


@pytest.mark.shared
@pytest.mark.parametrize("name", SHARED)
def test_real_sets_by_their_cards(tmp_path: Path, shared: Path, name: str) -> None:
    folder, articles, sentences = SHARED[name]
    words = next_command(read_card(find_card(name)), shared / "sentences" / folder)[1:]
    result = run(*words, "-o", tmp_path / "c")
    assert result.exit_code == 0, result.exception
    info = open_corpus(tmp_path / "c").info
    assert sum(info.articles.values()) == articles
    if sentences is not None:
        assert info.sentences == sentences


@pytest.mark.shared
def test_the_labels_of_real_sets(tmp_path: Path, shared: Path) -> None:
    def totals(name: str, *more: str) -> dict[str, int]:
        words = next_command(read_card(find_card(name)), shared / "sentences" / SHARED[name][0])[1:]
        assert run(*words, *more, "-o", tmp_path / name, "--overwrite").exit_code == 0
        info = open_corpus(tmp_path / name).info
        return {label: sum(counts[label] for counts in info.counts.values()) for label in info.labels}

    assert totals("samd") == {
        **{"background": 3511, "gap": 2137, "purpose": 2870, "method": 5475},
        **{"result": 2225, "conclusion": 1587, "contribution": 606, "implication": 128},
    }
    assert totals("uci-sentences") == {"aim": 63, "own": 287, "contrast": 44, "basis": 19, "miscellaneous": 626}
    assert totals("art-coresc", "--labels-map", "roles") == {
        **{"background": 6656 + 466, "objective": 654 + 507 + 1022, "method": 3747 + 3455 + 2841},
        **{"result": 4659 + 7370, "conclusion": 3077},
    }
    assert totals("mulms-az")["none"] == 753 + 170 + 117
    several = open_corpus(tmp_path / "mulms-az").table("dev", ["labels"])["labels"].to_pylist()
    counts = {label: sum(label in labels for labels in several) for label in ("results", "qual-measurement")}
    assert counts == {"results": 438, "qual-measurement": 203}
    assert sum(totals("consort-tm").values()) - totals("consort-tm")["none"] == 9_558 - 4_762
    totals("nicta-piboso-multilabel")
    several = open_corpus(tmp_path / "nicta-piboso-multilabel").table("test", ["labels"])["labels"].to_pylist()
    assert sum(len(labels) > 1 for labels in several) == 99
    assert sum("outcome" in labels for labels in several) == 959
