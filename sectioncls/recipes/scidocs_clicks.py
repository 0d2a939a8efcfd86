"""What SciDocs's recommender knows of a query paper and a shown one beside their embeddings.

As its code has them: Jaccard overlap of authors, of citing papers, of references and of title words; whether one
cites the other, both ways; age and relative age in twenties of years, cut to -1…1; log citations; the position, which
that code sets to 0 for every pair. A paper without a record has 0 everywhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.protocols.clicks import FEATURES

__all__ = ["click_features"]

_WORDS = re.compile(r"\w+|[^\w\s]")

NOW = 2020.0
"""The year from which ages are counted there."""


def click_features(
    pairs: Sequence[tuple[str, str]], rows: Mapping[str, int], records: Sequence[Mapping[str, Any]]
) -> npt.NDArray[np.float64]:
    """The features (pairs, FEATURES) of (query, shown) ids; ``records[rows[id]]`` says what is known of a paper."""
    found = np.zeros((len(pairs), FEATURES), dtype=np.float64)
    for place, (query, shown) in enumerate(pairs):
        one, other = (records[rows[paper]] if paper in rows else None for paper in (query, shown))
        found[place] = (
            _overlap(one, other, "authors"),
            0.0,
            _titles(one, other),
            _overlap(one, other, "cited_by"),
            _overlap(one, other, "references"),
            _cites(other, shown, one, query),
            _cites(one, query, other, shown),
            _age(NOW, _year(other)),
            0.0 if one is None else _age(_year(one), _year(other)),
            0.0 if other is None else math.log(len(_set(other, "cited_by")) + 1) / 10,
        )
    return found


def _set(record: Mapping[str, Any], key: str) -> set[str]:
    values = record.get(key) or ()
    return {str(value) for value in values} if isinstance(values, Sequence) else set()


def _jaccard(one: set[str], other: set[str]) -> float:
    union = one | other
    return len(one & other) / len(union) if union else 0.0


def _overlap(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None, key: str) -> float:
    return 0.0 if one is None or other is None else _jaccard(_set(one, key), _set(other, key))


def _titles(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> float:
    words = [
        set() if record is None else set(_WORDS.findall(str(record.get("title") or ""))) for record in (one, other)
    ]
    return _jaccard(*words)


def _cites(source: Mapping[str, Any] | None, name: str, target: Mapping[str, Any] | None, other: str) -> float:
    """1 where ``source`` cites ``target``, as either of the two says."""
    says = source is not None and other in _set(source, "references")
    return float(says or (target is not None and name in _set(target, "cited_by")))


def _year(record: Mapping[str, Any] | None) -> float | None:
    try:
        return None if record is None else float(record["year"])
    except (KeyError, TypeError, ValueError):
        return None


def _age(one: float | None, other: float | None) -> float:
    return 0.0 if one is None or other is None else max(-1.0, min(1.0, (one - other) / 20))
