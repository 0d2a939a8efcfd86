from __future__ import annotations

import pytest

from sectioncls.audit import check_corpus, survey_corpus
from sectioncls.errors import UsageError


@pytest.fixture
def survey(make_corpus):
    """600 method, 300 result, 100 other."""
    labels = ["method"] * 6 + ["result"] * 3 + ["other"]
    articles = {f"a{n}": [(f"Sheep {n} {k} slept.", label) for k, label in enumerate(labels)] for n in range(100)}
    return survey_corpus(make_corpus({"train": articles}))


def expected(survey, shares):
    return [finding for finding in check_corpus(survey, expected=shares) if finding.check == "label-expected"]


@pytest.mark.parametrize(
    "shares",
    [
        {"method": 0.6},
        {"method": 0.62, "result": 0.29},  # a gap of 2 points is none
        {"background": 0.0, "objective": 0.0, "method": 0.6, "result": 0.3, "other": 0.1},
    ],
)
def test_shares_as_expected_are_no_finding(survey, shares):
    assert expected(survey, shares) == []


def test_other_shares_are_a_warning_with_the_gap(survey):
    (finding,) = expected(survey, {"method": 0.4, "result": 0.3})
    # method is 20 points above, the rest 20 below: a fifth of the sentences would have to change.
    assert (finding.severity, finding.count, finding.of) == ("warning", 200, 1000)
    assert "method 60.0 %, expected 40.0 %" in finding.text


def test_a_label_that_should_not_be_there_is_found(survey):
    (finding,) = expected(survey, {"other": 0.0})
    assert finding.count == 100 and "other 10.0 %, expected 0.0 %" in finding.text


@pytest.mark.parametrize("shares", [{"sheep": 0.1}, {"method": 0.7, "result": 0.4}, {"method": -0.1}])
def test_shares_that_can_not_be_are_refused(survey, shares):
    with pytest.raises(UsageError):
        expected(survey, shares)


def test_without_an_expectation_nothing_is_compared(survey):
    assert [finding for finding in check_corpus(survey) if finding.check == "label-expected"] == []
