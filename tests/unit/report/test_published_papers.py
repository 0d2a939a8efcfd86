"""Numbers and claims of the papers on paper encoders."""

from __future__ import annotations

import numpy as np
import pytest

from sectioncls.downstream.protocols.scidocs import SCIDOCS_METRICS
from sectioncls.errors import InputError
from sectioncls.report.published import load_published
from sectioncls.report.published.claims import PAPERS_WITH_CLAIMS, load_claims, verdict

SCINCL, SCIREPEVAL, SCIMULT = PAPERS_WITH_CLAIMS


@pytest.mark.parametrize("state", ["base", "specter", "scincl, 10 seeds", "scincl, seed 4 (released)"])
def test_the_twelve_numbers_of_scidocs_are_there_and_make_the_printed_mean(state: str) -> None:
    scores = {key: value for key, value in load_published(SCINCL).scores.items() if key[1:3] == ("scibert", state)}
    twelve = [
        next(value for key, value in scores.items() if (key[0], key[4]) == (f"scidocs:{task}", metric))
        for task, metric in SCIDOCS_METRICS
    ]
    mean = next(value for key, value in scores.items() if key[0] == "scidocs:average" and key[4] == "mean")
    assert np.mean(twelve) == pytest.approx(mean, abs=0.11)


def test_some_values_by_hand() -> None:
    scores = load_published(SCINCL).scores
    assert scores["scidocs:cite", "scibert", "scincl, seed 4 (released)", "euclidean", "map"] == 93.6
    assert scores["scidocs:average", "scibert", "scincl, no leak", "", "mean"] == 79.4
    scores = load_published(SCIREPEVAL).scores
    assert scores["scirepeval:average:held-out, without SciDocs", "scincl", "adapters", "", "mean"] == 59.0
    assert scores["mdcr", "bm25", "base (SPECTER2's table)", "", "map"] == 33.7
    scores = load_published(SCIMULT).scores
    assert scores["pmc-patients:par", "pubmedbert", "mha-experts", "dot", "p@10"] == 9.35


@pytest.mark.parametrize("name", PAPERS_WITH_CLAIMS)
def test_rows_and_claims_are_whole(name: str) -> None:
    published, claims = load_published(name), load_claims(name)
    assert published.short == f"arXiv {name.removeprefix('arxiv_').replace('_', '.')}"
    assert all(0 < value < 100 for value in published.scores.values())
    assert all(source and "://" not in source for source in published.sources.values())
    assert len({claim.id for claim in claims}) == len(claims) > 3
    for claim in claims:
        assert claim.claim.endswith(".")
        assert claim.published
        assert claim.source == published.short
        assert claim.better or not claim.worse


def test_verdicts() -> None:
    assert verdict(0.01, 0.05) == "confirmed"
    assert verdict(-0.05, -0.01) == "refuted"
    assert verdict(-0.01, 0.05) == "undecided"
    assert verdict(None, None) == "not testable here"
    assert verdict(-0.004, 0.003, equal=True, margin=0.005) == "confirmed"
    assert verdict(0.006, 0.02, equal=True, margin=0.005) == "refuted"
    assert verdict(-0.02, 0.003, equal=True, margin=0.005) == "undecided"


def test_an_unknown_paper() -> None:
    with pytest.raises(InputError, match="no claims of 'arxiv_0000'"):
        load_claims("arxiv_0000")
