"""PDF → Article, by a GROBID server that runs already: nothing is sent anywhere unless its address is given."""

from __future__ import annotations

import hashlib
import http.client
import time
from collections.abc import Iterator
from urllib.parse import SplitResult, urlsplit

from sectioncls.documents.tei import read_tei_each
from sectioncls.documents.xml import MAX_BYTES
from sectioncls.errors import DocumentRejected, InputError, UsageError
from sectioncls.records import Article, Rejected

__all__ = ["grobid_address", "read_pdf_each"]

_SERVICE = "/api/processFulltextDocument"
# Looking works up elsewhere is GROBID's default; what is in the PDF is enough here.
_FIELDS = {"consolidateHeader": "0", "consolidateCitations": "0"}
_CONNECT = 10.0  # seconds
_ANSWER = 300.0  # seconds that one document may take
_WAITS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # seconds before each new try of a busy server
_PIECE = 1 << 16


def read_pdf_each(data: bytes, source: str, grobid_url: str | None = None) -> Iterator[Article | Rejected]:
    """Give the article of a PDF as GROBID reads it, or why it was left out.

    Raises InputError when no server answers at ``grobid_url``, UsageError when that is no http address.
    """
    if grobid_url is None:
        yield Rejected(source, "needs-grobid", "give --grobid-url with the address of a GROBID server to read PDF")
        return
    try:
        tei = _asked(data, grobid_address(grobid_url))
    except DocumentRejected as error:
        yield Rejected(source, error.reason, error.detail)
        return
    yield from read_tei_each(tei, source)


def grobid_address(url: str) -> SplitResult:
    """Give the parts of a server's address. Raises UsageError for anything but http and https."""
    try:
        address = urlsplit(url)
        sound = address.scheme in ("http", "https") and address.hostname and address.port != 0
    except ValueError:
        sound = None
    if not sound or address.query or address.fragment or address.username is not None:
        raise UsageError(f"--grobid-url {url!r} is no address of a server", None, "as http://localhost:8070")
    return address


def _asked(data: bytes, address: SplitResult) -> bytes:
    """Give GROBID's answer; a busy server is asked again. Raises DocumentRejected and InputError."""
    for wait in (*_WAITS, None):
        status, answer = _post(data, address)
        if status == 200:
            return answer
        if status == 503 and wait is not None:
            time.sleep(wait)
            continue
        words = " ".join(answer[:200].decode("utf-8", "replace").split())
        meaning = {204: "it found no text", 503: f"busy after {len(_WAITS) + 1} tries"}.get(status, words)
        raise DocumentRejected("grobid-failed", f"GROBID answered {status}" + (f": {meaning}" if meaning else ""))
    raise AssertionError


def _post(data: bytes, address: SplitResult) -> tuple[int, bytes]:
    """Give the status and body of one answer. Redirects are not followed and no proxy is used."""
    boundary = hashlib.sha256(data).hexdigest()
    kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    connection = kind(address.hostname or "", address.port, timeout=_CONNECT)
    path = address.path.rstrip("/").removesuffix("/api") + _SERVICE
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}", "Accept": "application/xml"}
    try:
        try:
            connection.connect()
        except (OSError, UnicodeError) as error:
            raise InputError(
                f"no GROBID server answers: {getattr(error, 'strerror', None) or error}",
                f"{address.scheme}://{address.netloc}",
                "start it, or check --grobid-url",
            ) from error
        end = time.monotonic() + _ANSWER
        connection.sock.settimeout(_ANSWER)
        connection.request("POST", path, _multipart(data, boundary), headers)
        answer = connection.getresponse()
        return answer.status, _body(answer, connection, end)
    except TimeoutError as error:
        raise DocumentRejected("grobid-failed", f"no whole answer within {_ANSWER:.0f} seconds") from error
    except (OSError, http.client.HTTPException) as error:
        what = " ".join(str(error).split()) or type(error).__name__
        raise DocumentRejected("grobid-failed", f"the answer broke off: {what}") from error
    finally:
        connection.close()


def _body(answer: http.client.HTTPResponse, connection: http.client.HTTPConnection, end: float) -> bytes:
    """Give the body of an answer, within its bounds on bytes and time."""
    pieces: list[bytes] = []
    size = 0
    while True:
        left = end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if connection.sock is not None:
            connection.sock.settimeout(left)
        piece = answer.read1(_PIECE)
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
        if size > MAX_BYTES:
            raise DocumentRejected("too-large", f"GROBID's answer has more than {MAX_BYTES >> 20} MiB")
    if answer.length:  # read1 does not tell
        raise http.client.IncompleteRead(b"", answer.length)
    return b"".join(pieces)


def _multipart(data: bytes, boundary: str) -> bytes:
    lines: list[bytes] = []
    for name, value in _FIELDS.items():
        lines.append(f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode())
    lines.append(
        f'--{boundary}\r\nContent-Disposition: form-data; name="input"; filename="input.pdf"\r\n'
        f"Content-Type: application/pdf\r\n\r\n".encode()
    )
    return b"".join((*lines, data, f"\r\n--{boundary}--\r\n".encode()))
