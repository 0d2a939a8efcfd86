from __future__ import annotations

import pytest

from sectioncls.corpora import build_pmc, open_corpus
from sectioncls.errors import UsageError

XML = """<article><front><article-meta><article-id pub-id-type="pmc">7</article-id></article-meta></front><body>
<sec><title>Methods</title><p>Ewes (n = 24, 3.5 kg) slept [see above]. They, i.e. the ewes, woke. ( [ ] ) .</p></sec>
</body></article>"""


def test_normalised_sentences_still_stand_in_their_paragraph(tmp_path):
    (tmp_path / "a.xml").write_text(XML, encoding="utf-8")
    build_pmc([tmp_path / "a.xml"], tmp_path / "c", command="", require="none", normalise="paper")
    corpus = open_corpus(tmp_path / "c")
    (split,) = corpus.splits
    rows = corpus.table(split).to_pylist()
    assert [row["text"] for row in rows[:2]] == [
        "ewes n = 24, 3 5 kg slept see above.",
        "they, i e the ewes, woke.",
    ]
    import pyarrow.parquet as pq

    texts = {row["node"]: row["text"] for row in pq.read_table(tmp_path / "c" / "paragraphs.parquet").to_pylist()}
    assert all(texts[row["paragraph"]][row["start"] : row["end"]] == row["text"] for row in rows)


def test_an_unknown_form_is_refused(tmp_path):
    with pytest.raises(UsageError, match="paper"):
        build_pmc([tmp_path], tmp_path / "c", command="", normalise="upper")


def test_sentences_that_were_cut_are_reported(tmp_path):
    long = "We counted sheep, " * 300
    (tmp_path / "a.xml").write_text(XML.replace("( [ ] ) .", long + "and rams."), encoding="utf-8")
    corpus, _ = build_pmc([tmp_path / "a.xml"], tmp_path / "c", command="", require="none")
    rows = [row["text"] for split in corpus.splits for row in corpus.table(split).to_pylist()]
    assert max(map(len, rows)) <= 2000
    assert any("longer than 2,000 characters: 3" in note for note in corpus.info.notes)


def test_one_doi_under_two_ids_is_one_article(tmp_path):
    for number, words in ((7, "They woke."), (8, "They ate.")):
        doi = '<article-id pub-id-type="doi">10.1234/Sheep.1</article-id></article-meta>'
        text = XML.replace(">7<", f">{number}<").replace("</article-meta>", doi).replace("( [ ] ) .", words)
        (tmp_path / f"{number}.xml").write_text(text, encoding="utf-8")
    _, counts = build_pmc([tmp_path / "8.xml", tmp_path / "7.xml"], tmp_path / "c", command="", require="none")
    assert (counts.articles, counts.kept, counts.rejected) == (2, 1, {"duplicate": 1})
    rejected = (tmp_path / "c" / "rejected.jsonl").read_text(encoding="utf-8")
    assert "10.1234/sheep.1" in rejected and '"article_id": "PMC8"' in rejected
