"""Answers of web servers: http and https only, few redirects, and which failures may pass.

The environment's proxies are respected (urllib).
"""

from __future__ import annotations

import http.client
import random
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from sectioncls import __version__
from sectioncls.errors import InputError

__all__ = [
    "BROKEN_OFF",
    "NoRangeError",
    "NotThereError",
    "PassingError",
    "Patience",
    "check_address",
    "fetch_text",
    "open_url",
    "words",
]

BROKEN_OFF = (ConnectionError, TimeoutError, http.client.HTTPException)
_PASSING = (408, 425, 429, 500, 502, 503, 504)


class PassingError(Exception):
    """A failure that another try may mend; ``asked`` is the pause that the server wishes, in seconds."""

    def __init__(self, what: str, asked: float | None = None) -> None:
        super().__init__(what)
        self.asked = asked


class NotThereError(InputError):
    """Raised when a server says that there is no such file (404, 410)."""


class NoRangeError(InputError):
    """Raised when a server has nothing behind the part that was asked for (416)."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to try a server.

    ``tries`` in a row without progress, ``timeout`` seconds of silence, ``longest_pause`` seconds between two
    tries; ``tell`` is told of each new try. The jitter of the pauses follows from ``seed`` and address.
    """

    tries: int = 5
    timeout: float = 30.0
    longest_pause: float = 120.0
    seed: int = 0
    sleep: Callable[[float], None] = time.sleep
    tell: Callable[[str], None] = lambda text: None

    def wait(self, error: PassingError, url: str, failures: int, todo: str = "try again later") -> None:
        """Pause before the next try: 1, 2, 4 … s and up to half of it more, or what the server asks for.

        Raises InputError when the tries are used up, or when the server asks for more than the longest pause.
        """
        if failures >= self.tries:
            raise InputError(f"{error} ({failures} tries)", url, todo) from error
        jitter = random.Random(f"{self.seed}:{url}:{failures}").uniform(1.0, 1.5)
        pause = min(2.0 ** (failures - 1) * jitter, self.longest_pause) if error.asked is None else error.asked
        if not pause <= self.longest_pause:
            raise InputError(f"{error} and asks to come back in {pause:,.0f} s", url, "run it again then") from error
        self.tell(f"{url}: {error}, trying again in {pause:.0f} s")
        self.sleep(pause)


def fetch_text(url: str, *, limit: int = 2**20, patience: Patience | None = None) -> str | None:
    """Give a short UTF-8 answer of a server, None when it says that there is none (404).

    Raises InputError when the server can't be reached, or answers with more than ``limit`` bytes.
    """
    patience = patience or Patience()
    failures = 0
    while True:
        try:
            with open_url(url, {}, patience.timeout) as answer:
                data: bytes = answer.read(limit + 1)
                announced = answer.headers.get("Content-Length", "")
            if announced.isdecimal() and len(data) < min(int(announced), limit):
                raise PassingError("stopped in the middle")
            if len(data) > limit:
                raise InputError(f"sends more than {limit:,} bytes, far beyond what was expected", url)
            return data.decode("utf-8")
        except NotThereError:
            return None
        except UnicodeDecodeError as error:
            raise InputError("sends no UTF-8 text", url) from error
        except (PassingError, *BROKEN_OFF) as error:
            failures += 1
            patience.wait(error if isinstance(error, PassingError) else PassingError(words(error)), url, failures)


def open_url(url: str, headers: dict[str, str], timeout: float) -> Any:
    """Give a server's answer, to be closed. Raises PassingError, NotThereError, or InputError for what won't pass."""
    check_address(url)
    asked = {"User-Agent": f"sectioncls/{__version__}", "Accept-Encoding": "identity", **headers}
    try:
        return _opener().open(urllib.request.Request(url, headers=asked), timeout=timeout)
    except urllib.error.HTTPError as error:
        with error:
            reason = " ".join(str(error.reason).split())
            if error.code in _PASSING:
                raise PassingError(f"answers {error.code} {reason}", _asked_pause(error)) from error
            if error.code in (404, 410):
                raise NotThereError(f"answers {error.code}: there is no such file", url) from error
            if error.code == 416:
                raise NoRangeError("has nothing behind the part that is here", url) from error
            todo = "it asks for a login or is closed" if error.code in (401, 403) else None
            raise InputError(f"answers {error.code} {reason}", url, todo) from error
    except urllib.error.URLError as error:
        if isinstance(error.reason, ssl.SSLCertVerificationError):
            raise InputError("its certificate can't be trusted", url) from error
        raise PassingError(f"can't be reached: {words(error.reason)}") from error
    except BROKEN_OFF as error:
        raise PassingError(words(error)) from error


def check_address(url: str) -> None:
    """Raise InputError unless an address is of http or https and names a host."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        good = False
    if not good or any(char.isspace() for char in url):
        raise InputError("is not an http(s) address", url)


def words(error: object) -> str:
    """Give an error of the network in words."""
    if isinstance(error, TimeoutError):
        return "says nothing (timed out)"
    if isinstance(error, http.client.IncompleteRead):
        return "stopped in the middle"
    if isinstance(error, http.client.RemoteDisconnected | ConnectionResetError):
        return "broke the connection off"
    text = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return " ".join(text.split())


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows a few redirects, to http(s) only and never from https to http."""

    max_redirections = 5
    max_repeats = 3

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        check_address(newurl)
        if req.full_url.startswith("https:") and not newurl.startswith("https:"):
            raise InputError(f"leads to {newurl}, which is not encrypted", req.full_url)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> urllib.request.OpenerDirector:
    """Give an opener that speaks http and https and nothing else."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        _Redirects(),
        urllib.request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


def _asked_pause(error: urllib.error.HTTPError) -> float | None:
    """Give the seconds of Retry-After, which may be a number or a date."""
    value = error.headers.get("Retry-After")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None
