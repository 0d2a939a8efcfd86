"""Everything that a check looks for, in one list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from sectioncls.audit.content import (
    CONFLICTS,
    LABELS,
    REPEATS,
    SENTENCES,
    conflicts,
    labels,
    languages,
    repeats,
    sentences,
)
from sectioncls.audit.expected import EXPECTED, expected_shares
from sectioncls.audit.findings import Finding
from sectioncls.audit.leaks import LEAKS, leaks
from sectioncls.audit.rows import read_batches
from sectioncls.audit.survey import Survey
from sectioncls.corpora import Corpus

__all__ = ["ARTICLE_CHECKS", "CHECKS", "check_corpus", "failed", "quoted"]

CHECKS = {
    "leaks between splits": LEAKS,
    "labels": (*CONFLICTS, *LABELS, EXPECTED),
    "repeats inside a split": REPEATS,
    "sentences": (*SENTENCES, "other-language"),
}
"""All checks by what they look at."""

ARTICLE_CHECKS = ("article-in-two-splits", "article-copied", "article-repeated")
"""Those that need a corpus which knows its articles."""


def check_corpus(survey: Survey, *, expected: Mapping[str, float] | None = None) -> tuple[Finding, ...]:
    """Give what there is to say about a corpus, in the order of CHECKS; nothing for a corpus without fault.

    ``expected`` are the label shares that it should have (see expected.py).
    """
    found = [
        *leaks(survey),
        *conflicts(survey),
        *labels(survey),
        *(expected_shares(survey, expected) if expected else ()),
        *repeats(survey),
        *sentences(survey),
        *languages(survey),
    ]
    order = [name for names in CHECKS.values() for name in names]
    return tuple(sorted(found, key=lambda finding: order.index(finding.check)))


def failed(findings: Iterable[Finding], *, strict: bool = False) -> bool:
    """Say whether a corpus fails: by an error, or with ``strict`` by a warning. Notes never count."""
    return any(finding.severity in (("error", "warning") if strict else ("error",)) for finding in findings)


def quoted(corpus: Corpus, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Give the findings with the texts of the sentences in their examples."""
    findings = tuple(findings)
    places = [place for finding in findings for example in finding.examples for place in example]
    wanted = {(place.split, place.article_id, place.index) for place in places if place.index is not None}
    texts: dict[tuple[str, str, int | None], str] = {}
    for batch in read_batches(corpus, ("article_id", "index", "text")):
        for article_id, index, text in zip(
            *(batch.values(name) for name in ("article_id", "index", "text")), strict=True
        ):
            if (batch.split, article_id, index) in wanted:
                texts.setdefault((batch.split, article_id, index), text)
    return tuple(
        replace(
            finding,
            examples=tuple(
                tuple(replace(at, text=texts.get((at.split, at.article_id, at.index))) for at in example)
                for example in finding.examples
            ),
        )
        for finding in findings
    )
