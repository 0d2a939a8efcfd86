from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sectioncls.documents.pdf import grobid_address, read_pdf_each
from sectioncls.errors import InputError, UsageError
from sectioncls.records import Article, Rejected

TEI = (Path(__file__).resolve().parents[2] / "data" / "documents" / "grobid.tei.xml").read_bytes()
PDF = b"%PDF-1.4\n\x00\xff kite"


class Grobid(ThreadingHTTPServer):
    """A server that answers as it is told: (status, body, length that it declares, body then stalls)."""

    daemon_threads = True
    answers: list[tuple[int, bytes, int | None, bool]]
    asked: list[tuple[str, dict[str, str], bytes]]
    done: threading.Event


class Handler(BaseHTTPRequestHandler):
    server: Grobid

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, dict(self.headers), body))
        status, answer, length, stalls = self.server.answers.pop(0)
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", str(len(answer) if length is None else length))
        self.end_headers()
        self.wfile.write(answer)
        if stalls:
            self.wfile.flush()
            self.server.done.wait(20)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def grobid(monkeypatch: pytest.MonkeyPatch) -> Iterator[Grobid]:
    monkeypatch.setattr("sectioncls.documents.pdf._WAITS", (0.0, 0.01))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    server = Grobid(("127.0.0.1", 0), Handler)
    server.answers, server.asked, server.done = [], [], threading.Event()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.done.set()
    server.shutdown()
    thread.join()
    server.server_close()


def address(server: Grobid) -> str:
    return f"http://127.0.0.1:{server.server_port}"


def read(server: Grobid, *answers: tuple[int, bytes, int | None, bool], path: str = "") -> Article | Rejected:
    server.answers.extend(answers)
    [item] = read_pdf_each(PDF, "kites.pdf", address(server) + path)
    return item


@pytest.mark.parametrize("path", ["", "/", "/api", "/api/"])
def test_the_answer_is_read_as_tei(grobid: Grobid, path: str) -> None:
    item = read(grobid, (200, TEI, None, False), path=path)
    assert isinstance(item, Article)
    assert (item.title, item.source) == ("Kites over Ovis hills", "kites.pdf")
    [(asked, headers, body)] = grobid.asked
    assert asked == "/api/processFulltextDocument"
    boundary = headers["Content-Type"].partition("boundary=")[2].encode()
    parts = body.split(b"--" + boundary)
    assert [part.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n") for part in parts[1:-1]] == [b"0", b"0", PDF]
    assert [name in body for name in (b'name="input"', b'name="consolidateHeader"')] == [True, True]


def test_a_busy_server_is_asked_again(grobid: Grobid) -> None:
    assert isinstance(read(grobid, (503, b"", None, False), (503, b"", None, False), (200, TEI, None, False)), Article)
    assert len(grobid.asked) == 3
    item = read(grobid, *[(503, b"", None, False)] * 3)
    assert isinstance(item, Rejected)
    assert (item.reason, item.detail) == ("grobid-failed", "GROBID answered 503: busy after 3 tries")


@pytest.mark.parametrize(
    ("answer", "reason", "detail"),
    [
        ((500, b"[GENERAL]\n An exception", None, False), "grobid-failed", "500: [GENERAL] An exception"),
        ((204, b"", None, False), "grobid-failed", "204: it found no text"),
        ((302, b"", None, False), "grobid-failed", "302"),
        ((200, TEI[:900], len(TEI), False), "grobid-failed", "broke off"),
        ((200, TEI[:900], None, False), "malformed", ""),
        ((200, b"", None, False), "empty", ""),
        ((200, b"<html/>", None, False), "not-jats", ""),
    ],
)
def test_answers_that_are_no_article(
    grobid: Grobid, answer: tuple[int, bytes, int | None, bool], reason: str, detail: str
) -> None:
    item = read(grobid, answer)
    assert isinstance(item, Rejected)
    assert item.reason == reason and detail in item.detail
    assert len(grobid.asked) == 1


def test_a_server_that_stalls_is_left(grobid: Grobid, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sectioncls.documents.pdf._ANSWER", 0.2)
    item = read(grobid, (200, TEI[:900], len(TEI), True))
    assert isinstance(item, Rejected)
    assert item.reason == "grobid-failed" and "no whole answer" in item.detail


def test_an_answer_may_not_be_too_large(grobid: Grobid, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sectioncls.documents.pdf.MAX_BYTES", 1000)
    item = read(grobid, (200, TEI, None, False))
    assert isinstance(item, Rejected) and item.reason == "too-large"


def test_no_server_is_one_line() -> None:
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(InputError, match=r"^http://127\.0\.0\.1:\d+: no GROBID server answers: .*--grobid-url\)$"):
            list(read_pdf_each(PDF, "kites.pdf", url))


def test_without_an_address_nothing_is_sent() -> None:
    [item] = read_pdf_each(PDF, "kites.pdf")
    assert isinstance(item, Rejected)
    assert item.reason == "needs-grobid" and "--grobid-url" in item.detail


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8070",
        "ftp://a",
        "file:///etc",
        "http://",
        "http://a:b",
        "http://a:99999",
        "http://u:p@a",
        "http://a?b",
    ],
)
def test_what_is_no_address_is_told(url: str) -> None:
    with pytest.raises(UsageError, match="--grobid-url"):
        grobid_address(url)
