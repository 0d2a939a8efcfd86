"""What the papers on paper encoders claim, as data: who should beat whom, on which tasks, and what was printed.

Where a paper's single numbers are not at hand, or its data is not ours, its claim is what can be tested here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from sectioncls.errors import InputError

__all__ = ["PAPERS_WITH_CLAIMS", "Claim", "Verdict", "load_claims", "verdict"]

PAPERS_WITH_CLAIMS = ("arxiv_2202_06671", "arxiv_2211_13308", "arxiv_2305_14232")

Verdict = Literal["confirmed", "refuted", "undecided", "not testable here"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of one paper.

    ``better`` and ``worse`` name what is compared, several parted by ``|``: a conditioning, ``base`` (the encoder that
    training starts from), ``mining:NAME``, ``train:NAME``, a baseline; '' where the claim is of another kind.
    ``tasks`` says where: ``all``, ``each``, ``held-out``, a kind of task, or a figure. ``equal`` claims no difference;
    ``keeps`` that this share of the gain over ``worse`` stays. ``published`` is what was printed, ``verified`` false
    where the claim itself was recalled and not read.
    """

    id: str
    claim: str
    tasks: str
    published: str
    source: str
    better: str = ""
    worse: str = ""
    equal: bool = False
    keeps: float | None = None
    verified: bool = True


@cache
def load_claims(name: str) -> tuple[Claim, ...]:
    """The claims of one of PAPERS_WITH_CLAIMS; raises InputError for another name."""
    if name not in PAPERS_WITH_CLAIMS:
        raise InputError(f"no claims of {name!r}", todo=f"there are {', '.join(PAPERS_WITH_CLAIMS)}")
    content = json.loads((files(__package__) / f"{name}.json").read_text(encoding="utf-8"))
    return tuple(Claim(**row) for row in content["claims"])


def verdict(low: float | None, high: float | None, *, equal: bool = False, margin: float = 0.0) -> Verdict:
    """What the 95 % interval of (better - worse) says of a claim; ends None where nothing was measured.

    Confirmed where the whole interval lies above 0, refuted where it lies below. A claim of no difference is confirmed
    where the interval lies within ``margin`` of 0, refuted where it leaves out 0 by more than that.
    """
    if low is None or high is None:
        return "not testable here"
    if equal:
        if -margin <= low and high <= margin:
            return "confirmed"
        return "refuted" if low > margin or high < -margin else "undecided"
    if low > 0:
        return "confirmed"
    return "refuted" if high < 0 else "undecided"
