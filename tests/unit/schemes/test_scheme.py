from __future__ import annotations

import pytest

from sectioncls.errors import InputError, UsageError
from sectioncls.schemes import SCHEMES, load_scheme

ORDERS = {
    "csabstruct": ("background", "objective", "method", "result", "other"),
    "pubmed-rct": ("background", "objective", "method", "result", "conclusion"),
    "pmc-sents": ("other", "objective", "method", "result", "background"),
    "nicta-piboso": ("background", "population", "intervention", "outcome", "study-design", "other"),
}


@pytest.mark.parametrize("name", sorted(SCHEMES))
def test_the_order_of_labels_gives_their_ids(name: str) -> None:
    scheme = load_scheme(name)
    assert scheme.name == name
    assert scheme.labels == ORDERS[name]
    assert [scheme.id(label) for label in scheme.labels] == list(range(len(scheme.labels)))
    assert set(scheme.aliases.values()) <= set(scheme.labels)


def test_other_spellings_name_the_same_label() -> None:
    assert load_scheme("pubmed-rct").label(" METHODS ") == "method"
    assert load_scheme("pubmed-rct").label("CONCLUSIONS") == "conclusion"
    assert load_scheme("nicta-piboso").label("study design") == "study-design"


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UsageError, match="pmc-sents"):
        load_scheme("nothing")
    with pytest.raises(InputError, match="csabstruct"):
        load_scheme("csabstruct").label("prelude")
