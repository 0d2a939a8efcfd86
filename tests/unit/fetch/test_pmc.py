"""Articles by PMC id from a stand-in for the bucket."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from sectioncls.errors import InputError, OutputError
from sectioncls.fetch import Patience, fetch_articles, folder_lock, read_ids

from .conftest import Site, half, status, whole

XML = b"<article>sheep</article>"


def article(site: Site, name: str, body: bytes = XML, **facts: Any) -> None:
    """Put one version of an article into the bucket."""
    md5 = hashlib.md5(body).hexdigest()
    known = {"license_code": "CC BY", "xml_url": f"s3://pmc-oa-opendata/{name}/{name}.xml?md5={md5}"} | facts
    site.put(f"/metadata/{name}.json", whole(json.dumps(known).encode()))
    site.put(f"/{name}/{name}.xml", whole(body))


def bucket(site: Site, *names: str) -> None:
    """Put the listing that answers for every prefix: the bucket's other keys must not confuse."""
    keys = "".join(f"<Contents><Key>metadata/{name}.json</Key></Contents>" for name in names)
    site.put("/", whole(f"<ListBucketResult>{keys}</ListBucketResult>".encode()))


def test_ids(tmp_path: Path) -> None:
    file = tmp_path / "ids.txt"
    file.write_text("\ufeffPMC12\n34  # sheep\n\npmc12\nPMC5.2\r\n")
    assert read_ids(file) == ["PMC12", "PMC34", "PMC5.2"]
    for bad in ("PMC", "PMC0", "10.1/x", "PMC1/../x", "PMC1 PMC2", "9" * 13):
        file.write_text(f"PMC1\n{bad}\n")
        with pytest.raises(InputError, match=r"ids\.txt:2: .* is no PMC id"):
            read_ids(file)
    file.write_text("# nothing\n")
    with pytest.raises(InputError, match="names no PMC id"):
        read_ids(file)


def test_the_latest_version_in_the_order_of_the_ids(site: Site, tmp_path: Path, patience: Patience) -> None:
    bucket(site, "PMC1.1", "PMC1.10", "PMC1.9", "PMC11.12", "PMC2.1", "PMC3.1")
    article(site, "PMC1.10")
    article(site, "PMC2.1", xml_url=None)
    article(site, "PMC3.1", license_code=None)
    article(site, "PMC5.2", b"<article>old</article>")
    found = list(
        fetch_articles(["PMC3", "PMC1", "PMC2", "PMC4", "PMC5.2"], tmp_path, base_url=site.url, patience=patience)
    )
    assert [(result.id, result.status, result.file, result.licence) for result in found] == [
        ("PMC3", "new", "PMC3.1.xml", None),
        ("PMC1", "new", "PMC1.10.xml", "CC BY"),
        ("PMC2", "no-xml", None, "CC BY"),
        ("PMC4", "no-such-article", None, None),
        ("PMC5.2", "new", "PMC5.2.xml", "CC BY"),
    ]
    assert (tmp_path / "PMC1.10.xml").read_bytes() == XML
    missing = [json.loads(line)["id"] for line in (tmp_path / "missing.jsonl").read_text().splitlines()]
    assert missing == ["PMC2", "PMC4"]
    site.asked.clear()
    again = list(fetch_articles(["PMC3", "PMC1", "PMC5.2"], tmp_path, base_url=site.url + "/", patience=patience))
    assert [result.status for result in again] == ["there"] * 3
    assert site.asked == []
    assert (tmp_path / "missing.jsonl").read_text() == ""


def test_faults(site: Site, tmp_path: Path, patience: Patience) -> None:
    bucket(site, "PMC1.1")
    article(site, "PMC1.1")
    site.put("/PMC1.1/PMC1.1.xml", status(503), half(XML, 5), whole(XML))
    assert [
        result.here for result in fetch_articles(["PMC1"], tmp_path / "a", base_url=site.url, patience=patience)
    ] == [True]
    site.put("/PMC1.1/PMC1.1.xml", whole(b"<article>other</article>"))
    with pytest.raises(InputError, match=r"its md5 is .* not kept"):
        list(fetch_articles(["PMC1"], tmp_path / "b", base_url=site.url, patience=patience))
    assert list((tmp_path / "b").iterdir()) == []
    for answer in (b"no json", b"[1]", b"[" * 100_000):
        site.put("/metadata/PMC1.1.json", whole(answer))
        with pytest.raises(InputError, match=r"PMC1\.1\.json: is not"):
            list(fetch_articles(["PMC1"], tmp_path / "c", base_url=site.url, patience=patience))
    site.put("/", status(503))
    with pytest.raises(InputError, match="answers 503"):
        list(fetch_articles(["PMC1"], tmp_path / "d", base_url=site.url, patience=patience))
    with folder_lock(tmp_path / "e"), pytest.raises(OutputError, match="another download"):
        list(fetch_articles(["PMC1"], tmp_path / "e", base_url=site.url, patience=patience))


def test_many_in_order_whatever_the_jobs(site: Site, tmp_path: Path, patience: Patience) -> None:
    names = [f"PMC{number}.1" for number in range(1, 41)]
    for name in names:
        article(site, name, f"<article>{name}</article>".encode())
    for jobs in (1, 3):
        found = list(fetch_articles(names, tmp_path / str(jobs), base_url=site.url, jobs=jobs, patience=patience))
        assert [result.id for result in found] == names
    one, three = ({p.name: p.read_bytes() for p in (tmp_path / jobs).iterdir()} for jobs in ("1", "3"))
    assert one == three
