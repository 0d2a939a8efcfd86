"""Near duplicates among articles: which share most of their runs of words, by MinHash, with keys on disk.

Paper: Broder, On the resemblance and containment of documents, 1997. Signatures that agree in a band propose a pair,
the share of equal numbers in the two signatures estimates the Jaccard index of their shingles.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

import numpy as np

from sectioncls.corpora.spill import Spill

__all__ = ["NEAR", "near_pairs", "signature"]

NEAR = 0.8
"""Share of equal shingles from which two articles are near duplicates."""
_WORDS = 5  # in a shingle
_NUMBERS = 126
_BANDS = 21  # of six numbers each: of pairs at NEAR one in five hundred is missed
_WORD = re.compile(r"\w+")


def signature(paragraphs: Iterable[str]) -> bytes:
    """Give the MinHash signature of an article, 504 bytes; nothing for one of less than five words."""
    from rensa import RMinHash

    words = _WORD.findall(" ".join(paragraphs).casefold())
    shingles = {" ".join(words[place : place + _WORDS]) for place in range(len(words) - _WORDS + 1)}
    if not shingles:
        return b""
    sketch = RMinHash(num_perm=_NUMBERS, seed=1)
    sketch.update(sorted(shingles))
    return np.array(sketch.digest(), dtype="<u4").tobytes()


def bands(signed: bytes) -> list[bytes]:
    """Give the keys of a signature's bands."""
    size = len(signed) // _BANDS
    return [bytes([band]) + signed[band * size : (band + 1) * size] for band in range(_BANDS)]


def near_pairs(spill: Spill) -> Iterator[tuple[str, str, float]]:
    """Give (article, near duplicate, share) of the articles kept, each once with the smallest it shares a band with."""
    for _, rows in groupby(spill.bands(), key=itemgetter(0)):
        (_, *first), *others = rows
        spill.propose((*first, *other) for _, *other in others)
    for one, other, signed, other_signed in spill.proposed():
        share = float(np.mean(np.frombuffer(signed, "<u4") == np.frombuffer(other_signed, "<u4")))
        if share >= NEAR:
            yield one, other, round(share, 2)
