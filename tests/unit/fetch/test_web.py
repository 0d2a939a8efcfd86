"""Short answers of servers."""

from __future__ import annotations

import pytest

from sectioncls.errors import InputError
from sectioncls.fetch import Patience, fetch_text

from .conftest import Site, endless, half, reset, status, whole


def test_text_or_none(site: Site, patience: Patience, pauses: list[float]) -> None:
    url = site.put("/a", status(502), half(b"sheep", 2), reset, whole("Schäfchen".encode()))
    assert fetch_text(url, patience=patience) == "Schäfchen"
    assert len(pauses) == 3
    assert fetch_text(site.url + "/nothing", patience=patience) is None


def test_what_is_no_short_text(site: Site, patience: Patience) -> None:
    with pytest.raises(InputError, match="sends more than 1,000 bytes"):
        fetch_text(site.put("/a", endless), limit=1000, patience=patience)
    with pytest.raises(InputError, match="sends no UTF-8 text"):
        fetch_text(site.put("/b", whole(b"\xff\xfe")), patience=patience)
    with pytest.raises(InputError, match="answers 401"):
        fetch_text(site.put("/c", status(401)), patience=patience)
    with pytest.raises(InputError, match="not an http"):
        fetch_text("file:///etc/passwd", patience=patience)


def test_new_tries_are_told(site: Site) -> None:
    told: list[str] = []
    url = site.put("/a", status(503), whole(b"x"))
    assert fetch_text(url, patience=Patience(sleep=lambda seconds: None, tell=told.append)) == "x"
    assert told == [f"{url}: answers 503 Service Unavailable, trying again in 1 s"]
