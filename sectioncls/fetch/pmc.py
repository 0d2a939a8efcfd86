"""Articles of PubMed Central by id, from its Cloud Service: one XML file an article, the latest version.

The bucket lists the versions of an article under ``metadata/PMC1234.``; ``metadata/PMC1234.2.json`` says licence,
address and MD5 of ``PMC1234.2/PMC1234.2.xml``. (The older layouts, packages and the OA service were shut in
August 2026.)
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, quote, urlsplit

from sectioncls.errors import InputError
from sectioncls.fetch.download import Download, fetch_file, folder_lock
from sectioncls.fetch.web import Patience, fetch_text
from sectioncls.staging import staged_file

__all__ = ["MISSING", "Fetched", "fetch_articles", "read_ids"]

MISSING = "missing.jsonl"
_ID = re.compile(r"(?:PMC)?([1-9][0-9]{0,11})(?:\.([1-9][0-9]{0,3}))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fetched:
    """What became of one id: ``status`` is ``new``, ``there`` (it was here before) or why it is missing.

    ``no-such-article``: the service has none under this id; ``no-xml``: it has no full text of it.
    """

    id: str
    status: Literal["new", "there", "no-such-article", "no-xml"]
    file: str | None = None
    licence: str | None = None
    bytes: int = 0

    @property
    def here(self) -> bool:
        """Whether the article is in the folder."""
        return self.file is not None


def read_ids(path: Path) -> list[str]:
    """Give the PMC ids of a file, one a line (``PMC123``, ``123``, ``PMC123.2`` for a version), each once, in order.

    Blank lines and what follows ``#`` don't count. Raises InputError with ``file:line`` for anything else.
    """
    from sectioncls.corpora.openers import read_lines

    found: dict[str, None] = {}
    for number, line in read_lines(path):
        word = line.partition("#")[0].strip()
        if not word:
            continue
        match = _ID.fullmatch(word)
        if match is None:
            raise InputError(f"{word[:40]!r} is no PMC id", f"{path}:{number}", "as PMC1234567, one a line")
        article, version = match.groups()
        found[f"PMC{article}.{version}" if version else f"PMC{article}"] = None
    if not found:
        raise InputError("names no PMC id", path, "as PMC1234567, one a line")
    return list(found)


def fetch_articles(
    ids: Sequence[str],
    folder: Path,
    *,
    base_url: str,
    jobs: int = 4,
    patience: Patience | None = None,
) -> Iterator[Fetched]:
    """Fetch articles into a folder and give what became of each id, in order; ``missing.jsonl`` keeps those missing.

    ``jobs`` articles are under way at a time. An article that is here, in whatever version, is not asked for again,
    so a call that was cut off goes on. Raises InputError when the service can't be reached or sends wrong bytes.
    """
    base_url = base_url.rstrip("/")
    patience = patience or Patience()
    missing: list[Fetched] = []
    with folder_lock(folder):
        here = _articles_here(folder)
        for result in _in_order(lambda name: _fetch_one(name, folder, base_url, here, patience), ids, jobs):
            if not result.here:
                missing.append(result)
            yield result
        with staged_file(folder / MISSING) as aside:
            lines = (json.dumps(asdict(result)) + "\n" for result in missing)
            aside.write_text("".join(lines), encoding="utf-8")


def _fetch_one(name: str, folder: Path, base_url: str, here: dict[str, str], patience: Patience) -> Fetched:
    """Fetch one article unless it is here."""
    if name in here:
        return Fetched(name, "there", here[name], bytes=(folder / here[name]).stat().st_size)
    article, _, version = name.partition(".")
    version = version or _latest_version(article, base_url, patience) or ""
    answer = fetch_text(f"{base_url}/metadata/{article}.{version}.json", patience=patience) if version else None
    if answer is None:
        return Fetched(name, "no-such-article")
    facts = _facts(answer, f"{base_url}/metadata/{article}.{version}.json")
    licence = facts.get("license_code") if isinstance(facts.get("license_code"), str) else None
    address = facts.get("xml_url")
    if not isinstance(address, str) or not address:
        return Fetched(name, "no-xml", licence=licence)
    file = f"{article}.{version}.xml"
    wanted = Download(f"{base_url}/{article}.{version}/{file}", md5=_md5(address))
    fetch_file(wanted, folder / file, patience=patience)
    return Fetched(name, "new", file, licence, (folder / file).stat().st_size)


def _latest_version(article: str, base_url: str, patience: Patience) -> str | None:
    """Give the highest version of an article, None when the bucket has none."""
    url = f"{base_url}/?list-type=2&prefix={quote(f'metadata/{article}.')}"
    listing = fetch_text(url, patience=patience) or ""
    versions = re.findall(rf"<Key>metadata/{article}\.([0-9]{{1,4}})\.json</Key>", listing)
    return max(versions, key=int, default=None)


def _facts(answer: str, url: str) -> dict[str, Any]:
    try:
        facts = json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise InputError("is not JSON", url, "try again later") from error
    if not isinstance(facts, dict):
        raise InputError("is not a JSON object", url)
    return facts


def _md5(address: str) -> str | None:
    """Give the MD5 that the service adds to its addresses (``…?md5=…``)."""
    try:
        values = parse_qs(urlsplit(address).query).get("md5", [])
    except ValueError:
        return None
    return values[0].lower() if values and re.fullmatch(r"[0-9a-fA-F]{32}", values[0]) else None


def _articles_here(folder: Path) -> dict[str, str]:
    """Give {id: file} of the articles in a folder, each under its id with and without version."""
    here: dict[str, str] = {}
    for path in sorted(folder.glob("PMC*.xml")):
        match = _ID.fullmatch(path.stem)
        if match is not None and path.stat().st_size:
            here[path.stem] = path.name
            here[f"PMC{match.group(1)}"] = path.name
    return here


def _in_order(work: Callable[[str], Fetched], names: Sequence[str], jobs: int) -> Iterator[Fetched]:
    """Give the results in the order of the names, a few of them under way at a time."""
    pool = ThreadPoolExecutor(max_workers=max(1, jobs))
    try:
        for start in range(0, len(names), 16 * max(1, jobs)):
            yield from pool.map(work, names[start : start + 16 * max(1, jobs)])
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
