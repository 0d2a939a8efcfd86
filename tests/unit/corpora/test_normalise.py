from __future__ import annotations

import pytest

from sectioncls.corpora.normalise import paper_normalise


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ewes (n = 24) slept [see @table].", "ewes n = 24 slept see @table."),
        ("Milk rose by 0.18 l (p<0.001).", "milk rose by 0 18 l p<0 001."),
        ("Some breeds, i.e., the small ones, did not.", "some breeds, i e , the small ones, did not."),
        ("As Lamb et al., Ewe et al. and Ram et al. @cite say.", "as lamb et al , ewe et al and ram et al @cite say."),
        ("Growth of E. ovina was slow.", "growth of e ovina was slow."),
        ("Written by A. B. Lamb and C. Ewe.", "written by a. b. lamb and c. ewe."),
        ("The S.H.E.E.P. scale of β-carotene. α-Actin.", "the s.h.e.e.p scale of β-carotene α-actin."),
        ("See www.example.org. ", "see www example org."),
        ("No stop at all", "no stop at all"),
        ("", ""),
    ],
)
def test_the_papers_form_of_a_sentence(text: str, expected: str) -> None:
    assert paper_normalise(text) == expected
