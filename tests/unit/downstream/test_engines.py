"""Who computes SVM and neighbours."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sectioncls.downstream import PROTOCOLS, engines
from sectioncls.downstream.engines import ENOUGH_ROWS, engine_of
from sectioncls.errors import UsageError

DEFAULT = PROTOCOLS["default"]


def test_auto_takes_intelex_for_many_rows_where_it_is(monkeypatch):
    monkeypatch.setattr(engines, "find_spec", lambda name: object())
    assert engine_of(DEFAULT, ENOUGH_ROWS) == "intelex"
    assert engine_of(DEFAULT, ENOUGH_ROWS - 1) == "scikit-learn"
    assert engine_of(PROTOCOLS["paper"], 10**6) == "scikit-learn"
    assert engine_of(replace(PROTOCOLS["paper"], engine="intelex"), 9) == "intelex"


def test_without_intelex_there_is_scikit_learn(monkeypatch):
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    assert engine_of(DEFAULT, 10**6) == "scikit-learn"
    with pytest.raises(UsageError, match="pip install"):
        engine_of(replace(DEFAULT, engine="intelex"), 9)
