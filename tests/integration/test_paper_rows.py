"""Two articles of the paper's corpus are here as JATS: its rows are among our sentences, with the same label."""

from __future__ import annotations

import re

import pyarrow.parquet as pq
import pytest

from sectioncls.corpora import build_pmc, open_corpus

# PMC-Sents-FULL's label ids have no names; these are what its rows show (docs/guides/labels.md).
NAMES = {0: "other", 1: "objective", 2: "method", 3: "result", 4: "background"}
# The paper keeps the word before a linked number ("table @table"); our reader takes it into the placeholder.
WORD = re.compile(r"\b(?:table|fig|figure)\s+(?=@(?:table|fig)\b)")


@pytest.mark.shared
@pytest.mark.parametrize("splitter", ["scisplit", "sentencizer-plain"])
def test_the_papers_rows_are_ours(shared, tmp_path, splitter):
    rows = []
    for split in ("dev", "test"):
        table = pq.read_table(shared / "sentences" / "paper_pmc_sents_full" / f"pmc_sents_full_{split}.parquet")
        rows += [row for row in table.to_pylist() if row["id"] in ("PMC6267847", "PMC6299956")]
    assert len(rows) == 8
    build_pmc(
        [shared / "jats" / "pmc_xml_2.tar.xz"],
        tmp_path / "c",
        command="",
        require="none",
        splitter=splitter,
        normalise="paper",
    )
    corpus = open_corpus(tmp_path / "c")
    ours = {}
    for split in corpus.splits:
        for row in corpus.table(split).to_pylist():
            ours[row["article_id"], row["text"]] = row["label"]
    for row in rows:
        text = WORD.sub("", " ".join(row["sentence"].split()))
        assert ours.get((row["id"], text)) == NAMES[row["label_id"]], text
