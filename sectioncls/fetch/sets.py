"""A card's files, fetched into one folder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from sectioncls.errors import InputError
from sectioncls.fetch.cards import Card, CardFile
from sectioncls.fetch.download import Download, fetch_file, folder_lock
from sectioncls.fetch.web import Patience
from sectioncls.staging import write_json

__all__ = ["RECEIPT", "FetchedFile", "fetch_set", "missing_by_hand"]

RECEIPT = "fetched.json"


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A file that is here now; ``fetched`` is False when it was here before, ``checked`` tells of a known checksum."""

    name: str
    url: str | None
    bytes: int
    sha256: str
    checked: bool
    fetched: bool


def fetch_set(
    card: Card,
    folder: Path,
    *,
    overwrite: bool = False,
    patience: Patience | None = None,
    watch: Callable[[CardFile, int], None] = lambda file, here: None,
) -> list[FetchedFile]:
    """Fetch the files of a card into a folder and give what is there; ``fetched.json`` keeps it.

    ``watch`` is told how many bytes of a file are here. Files that have an address are fetched; those that must be
    got by hand count when they are there. Raises InputError when nothing has an address, and see fetch_file.
    """
    addressed = [file for file in card.files if file.url]
    if not addressed:
        todo = f"{card.by_hand}; homepage: {card.homepage}" if card.homepage else card.by_hand
        raise InputError("can't be fetched by machine", card.name, todo)
    found = []
    with folder_lock(folder):
        for file in addressed:
            target = folder / file.name
            new = fetch_file(
                _download(file), target, overwrite=overwrite, patience=patience, watch=_watched(watch, file)
            )
            checked = bool(file.sha256 or file.git_blob)
            size = target.stat().st_size
            found.append(FetchedFile(file.name, file.url, size, _sha256(target), checked, new))
        kept = [{key: value for key, value in asdict(file).items() if key != "fetched"} for file in found]
        receipt = {"card": card.name, "licence": card.licence, "licence-url": card.licence_url, "files": kept}
        write_json(folder / RECEIPT, receipt)
    return found


def missing_by_hand(card: Card, folder: Path) -> list[str]:
    """Give the names of the files that have no address and are not in the folder."""
    return [file.name for file in card.files if not file.url and not (folder / file.name).is_file()]


def _download(file: CardFile) -> Download:
    return Download(file.url or "", bytes=file.bytes, sha256=file.sha256, git_blob=file.git_blob)


def _watched(watch: Callable[[CardFile, int], None], file: CardFile) -> Callable[[int], None]:
    return lambda here: watch(file, here)


def _sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
