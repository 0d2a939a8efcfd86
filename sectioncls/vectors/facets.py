"""One vector per paper and facet, as an index keeps them: what its sentences of one role say together.

They lie beside the index, in ``MODEL.facets``::

    index.json     the facets, the labels behind each, the model that gave the labels
    dense.npy      (facets, papers, dimensions) float32; zeros where a paper has no sentences
    shares.npy     (papers, facets) float32: the share of every facet among a paper's sentences
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError, UsageError
from sectioncls.vectors.terms import load_array

__all__ = ["FACETS", "FACET_FILES", "Facets", "facets_folder", "facets_of", "open_facets"]

FACETS: Mapping[str, tuple[str, ...]] = {
    "background": ("background", "introduction", "objective", "objectives", "aim", "purpose"),
    "method": ("method", "methods", "materials and methods", "design", "objective", "objectives", "aim", "purpose"),
    "result": ("result", "results", "finding", "findings", "conclusion", "conclusions", "discussion"),
}
"""What people search by, and the labels that belong to it, in whatever scheme they are given.

An objective says what the work is about and how it goes at it: it belongs to two.
"""

FACET_FILES = ("index.json", "dense.npy", "shares.npy")
"""The files of a folder of facets."""

_AGAIN = "build the index again: --rebuild"


@dataclass(frozen=True, slots=True, eq=False)
class Facets:
    """Opened facets: ``names`` in the order of ``dense`` (facets, papers, dimensions), ``shares`` (papers, facets)."""

    names: tuple[str, ...]
    dense: npt.NDArray[np.float32]
    shares: npt.NDArray[np.float32]
    info: Mapping[str, Any]

    def vectors(self, facet: str) -> npt.NDArray[np.float32]:
        """Give the vectors of a facet, (papers, dimensions). Raises UsageError for an unknown one."""
        vectors: npt.NDArray[np.float32] = self.dense[self._place(facet)]
        return vectors

    def present(self, facet: str) -> npt.NDArray[np.bool_]:
        """Say of every paper whether it has a sentence of the facet, (papers,)."""
        found: npt.NDArray[np.bool_] = np.asarray(self.shares[:, self._place(facet)]) > 0
        return found

    def shares_of(self, row: int) -> dict[str, float]:
        """Give the share of every facet among the sentences of a paper."""
        return dict(zip(self.names, self.shares[row].tolist(), strict=True))

    def _place(self, facet: str) -> int:
        if facet not in self.names:
            raise UsageError(f"no facet {facet!r}", todo=f"facets: {', '.join(self.names)}")
        return self.names.index(facet)


def facets_of(label: str) -> tuple[str, ...]:
    """Give the facets that a label belongs to, in whatever case it stands; none for one such as ``other``."""
    plain = label.strip().lower().replace("_", " ")
    return tuple(facet for facet, labels in FACETS.items() if plain in labels)


def facets_folder(index: Path) -> Path:
    """Give the folder of the facets of the index in a folder."""
    return index.with_name(f"{index.name}.facets")


def open_facets(index: Path, kept: Mapping[str, Any]) -> Facets | None:
    """Give the facets of an index whose index.json says ``kept``; None where there are none, or another index's.

    Raises InputError for files that are missing or broken.
    """
    folder = facets_folder(index)
    if not (folder / "index.json").is_file():
        return None
    try:
        info = json.loads((folder / "index.json").read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(f"can't be read: {error}", folder / "index.json", _AGAIN) from error
    names = info.get("facets") if isinstance(info, dict) else None
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise InputError("lists no facets", folder / "index.json", _AGAIN)
    owners = {"papers": kept["papers"]["fingerprint"], "encoder": kept["encoder"]["fingerprint"]}
    if any(info.get(part) != fingerprint for part, fingerprint in owners.items()):
        return None
    dense, shares = load_array(folder / "dense.npy"), load_array(folder / "shares.npy")
    count, dimension = kept["papers"]["count"], kept["encoder"]["dimension"]
    if dense.shape != (len(names), count, dimension) or shares.shape != (count, len(names)):
        raise InputError("has parts that don't fit together", folder, _AGAIN)
    return Facets(tuple(names), dense, shares, info)
