"""What an encoder reads."""

from __future__ import annotations

import numpy as np

from sectioncls.papersets.paperset import Papers, Topics
from sectioncls.papersets.texts import paper_text, paper_texts, topic_text, topic_texts


def test_texts() -> None:
    assert paper_text("A", "B", " [SEP] ") == "A [SEP] B"
    assert (paper_text("A", ""), paper_text("", "B"), paper_text("A", "B")) == ("A", "B", "A. B")
    assert (topic_text("N"), topic_text("N", "D", " | ")) == ("N", "N | D")


def test_of_tables() -> None:
    papers = Papers(("1", "2"), ("A", "C"), ("B", ""), np.array([-1, 2]), ("", ""), ((), ()), ("train", "test"))
    assert paper_texts(papers) == ["A. B", "C"]
    assert paper_texts(papers, [1, 0], " ") == ["C", "A B"]
    topics = Topics("t", ("N", "M"), ("D", ""), np.empty((0, 2), dtype=np.int64))
    assert topic_texts(topics) == ["N. D", "M"]
    assert topic_texts(topics, definitions=False) == ["N", "M"]
