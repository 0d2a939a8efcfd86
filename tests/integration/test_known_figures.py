"""Figures that are known beforehand, met on the real data."""

from __future__ import annotations

import pytest

from sectioncls.downstream import classify_texts


@pytest.mark.shared
def test_csabstruct_reaches_the_known_figure(shared):
    import pyarrow.parquet as pq

    folder = shared / "sentences" / "paper_csabstruct"
    train, test = (
        pq.read_table(folder / f"csabstruct_{split}.parquet", columns=["sentence", "label_id"]).to_pydict()
        for split in ("train", "test")
    )
    found = classify_texts(train["sentence"], train["label_id"], test["sentence"], method="tfidf-logistic-regression")
    assert round(100 * (found == test["label_id"]).mean(), 2) == 68.87
