"""Label shares against what is known of a corpus beforehand: its paper, its last version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from sectioncls.audit.content import SHARE_CHANCE, SHARE_GAP
from sectioncls.audit.findings import Finding, share
from sectioncls.audit.survey import Survey
from sectioncls.errors import UsageError

__all__ = ["EXPECTED", "expected_shares"]

EXPECTED = "label-expected"
_REST = "the rest"


def expected_shares(survey: Survey, expected: Mapping[str, float]) -> Iterator[Finding]:
    """Give a finding when the corpus's label shares are not the ``expected`` ones (label → share, 0 to 1).

    Labels that are not named share what is left. As between splits: 5 % of the sentences would have to change label,
    and chance would do that once in a thousand. Raises UsageError for an unknown label or shares that can't be.
    """
    from scipy.stats import chisquare

    rows = survey.rows
    unknown = sorted(set(expected) - set(rows.labels))
    if unknown:
        raise UsageError(f"the corpus has no label {unknown[0]!r}", todo=f"it has {', '.join(rows.labels)}")
    stated = sum(expected.values())
    whole = len(expected) == len(rows.labels)
    if min(expected.values()) < 0 or stated > 1 + 1e-6 or (whole and stated < 1 - 1e-6):
        raise UsageError(f"shares of labels add up to {stated:g}", todo="shares from 0 to 1, at most 1 together")
    names = [*expected, *([] if whole else [_REST])]
    shares = np.array([*expected.values(), *([] if whole else [max(0.0, 1 - stated)])])
    counts = np.bincount(rows.label, minlength=len(rows.labels))
    found = np.array([counts[list(rows.labels).index(name)] for name in expected])
    if not whole:
        found = np.append(found, len(rows) - found.sum())
    difference = found / len(rows) - shares
    gap = 0.5 * float(np.abs(difference).sum())  # total variation
    possible = shares > 0
    impossible = bool(found[~possible].any())
    scale = found[possible].sum() / shares[possible].sum()
    rare = (
        impossible
        or possible.sum() < 2
        or float(chisquare(found[possible], shares[possible] * scale).pvalue) < SHARE_CHANCE
    )
    if gap >= SHARE_GAP and rare:
        most = int(np.argmax(np.abs(difference[: len(expected)])))
        yield Finding(
            check=EXPECTED,
            severity="warning",
            text=f"sentences are beyond the expected label shares: {names[most]} "
            f"{share(int(found[most]), len(rows))}, expected {100 * shares[most]:.1f} %",
            count=round(gap * len(rows)),
            of=len(rows),
            sentences=len(rows),
            splits=tuple(rows.splits),
            todo="label shares are not those expected: look at the label map and at what was left out",
        )
