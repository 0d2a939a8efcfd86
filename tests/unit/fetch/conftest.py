"""A web server on this machine that answers as it is told, faults included."""

from __future__ import annotations

import hashlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from sectioncls.fetch import Download, Patience

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Any

    def do_GET(self) -> None:
        site = self.server.site
        with site.lock:
            site.asked.append((self.path, dict(self.headers)))
            left = site.answers.get(self.path) or site.answers.get(self.path.partition("?")[0])
            answer = not_found if not left else left.pop(0) if len(left) > 1 else left[0]
        self.close_connection = True
        answer(self)

    def log_message(self, *args: object) -> None:
        pass


@dataclass
class Site:
    """``answers[path]`` are given one after the other, the last one for ever; ``asked`` keeps every request."""

    url: str
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    lock: Any = field(default_factory=threading.Lock)

    def put(self, path: str, *answers: Answer) -> str:
        self.answers[path] = list(answers)
        return self.url + path

    def ranges(self) -> list[str | None]:
        return [headers.get("Range") for _, headers in self.asked]


@pytest.fixture
def site() -> Iterator[Site]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.site = Site(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01), daemon=True)
    thread.start()
    yield server.site
    server.shutdown()
    server.server_close()


@pytest.fixture
def pauses() -> list[float]:
    """What a Patience of the fixture ``patience`` was told to wait."""
    return []


@pytest.fixture
def patience(pauses: list[float]) -> Patience:
    return Patience(tries=4, timeout=5.0, sleep=pauses.append)


def known(url: str, body: bytes) -> Download:
    """The download of a body with everything known of it."""
    blob = hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()
    return Download(url, len(body), hashlib.sha256(body).hexdigest(), blob, hashlib.md5(body).hexdigest())


def whole(body: bytes, *, etag: str = '"v1"', kind: str = "application/octet-stream") -> Answer:
    """Send a file as a sound server does, parts of it included."""

    def answer(handler: Handler) -> None:
        start = 0
        wanted, tag = handler.headers.get("Range"), handler.headers.get("If-Range")
        if wanted and (tag is None or tag == etag):
            start = int(wanted.removeprefix("bytes=").partition("-")[0])
            if start >= len(body):
                handler.send_response(416)
                handler.send_header("Content-Length", "0")
                handler.end_headers()
                return
        handler.send_response(206 if start else 200)
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        handler.send_header("Content-Length", str(len(body) - start))
        handler.send_header("Content-Type", kind)
        if etag:
            handler.send_header("ETag", etag)
        handler.end_headers()
        handler.wfile.write(body[start:])

    return answer


def half(body: bytes, count: int, *, etag: str = '"v1"', announce: bool = True) -> Answer:
    """Send the first bytes of a file and break off."""

    def answer(handler: Handler) -> None:
        handler.send_response(200)
        if announce:
            handler.send_header("Content-Length", str(len(body)))
        if etag:
            handler.send_header("ETag", etag)
        handler.end_headers()
        handler.wfile.write(body[:count])

    return answer


def status(code: int, **headers: str) -> Answer:
    """Answer with a code and nothing else."""

    def answer(handler: Handler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def reset(handler: Handler) -> None:
    """Break the connection off without a word."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def silent(seconds: float) -> Answer:
    """Say nothing for a while."""

    def answer(handler: Handler) -> None:
        time.sleep(seconds)

    return answer


def endless(handler: Handler) -> None:
    """Send bytes until the other side hangs up."""
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b"x" * 65536)
    except OSError:
        pass


not_found = status(404)
