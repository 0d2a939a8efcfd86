"""Small corpora of our own, made to measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from sectioncls.corpora import Corpus, create_corpus, open_corpus
from sectioncls.records import Paragraph, Sentence
from sectioncls.schemes import load_scheme

Articles = Mapping[str, Sequence[tuple[str, str]]]
MakeCorpus = Callable[..., Corpus]


@pytest.fixture
def make_corpus(tmp_path: Path) -> MakeCorpus:
    """Gives the corpus of {split: {article id: [(text, label), …]}}, each sentence a paragraph of its article."""

    def make(splits: Mapping[str, Articles], *, has_articles: bool = True, name: str = "sheep") -> Corpus:
        out = tmp_path / f"corpus-{len(list(tmp_path.iterdir()))}"
        with create_corpus(
            out,
            name=name,
            scheme=load_scheme("csabstruct"),
            command="x",
            extra=("confidence",),
            has_articles=has_articles,
        ) as writer:
            for split, articles in splits.items():
                for article_id, sentences in articles.items():
                    rows = [
                        Sentence(
                            article_id,
                            index,
                            index,
                            text,
                            0,
                            len(text),
                            path=("Aims",),
                            label=label,
                            confidence=(index + 1) / 10,
                            label_source="source",
                        )
                        for index, (text, label) in enumerate(sentences)
                    ]
                    writer.add(split, rows, language="en", licence="CC0" if article_id < "b" else None)
                    writer.add_paragraphs(article_id, [Paragraph(row.text, node=row.index) for row in rows])
        return open_corpus(out)

    return make
