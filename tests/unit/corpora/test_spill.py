"""What is set aside comes back sorted, outlives a crash up to its last commit, and knows twins."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sectioncls.corpora.spill import Packed, Spill, pack, text_digest, unpack
from sectioncls.errors import OutputError
from sectioncls.records import Rejected

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


def packed(name: str, source: str = "", **more: object) -> Packed:
    return Packed(name, source or f"{name}.xml", 0, {"method": 2}, "", pack([name, source]), **more)  # type: ignore[arg-type]


@settings(max_examples=40, deadline=None)
@given(JSON)
def test_packing_gives_back(value: object) -> None:
    assert unpack(pack(value)) == value


def test_text_digests_see_words_only() -> None:
    assert text_digest(["Sheep  graze.", "They sleep."]) == text_digest(["sheep graze.\nThey", "sleep."])
    assert text_digest(["Sheep graze."]) != text_digest(["Sheep gaze."])


def test_articles_come_back_sorted_whatever_the_order(tmp_path: Path) -> None:
    draw = random.Random(3)
    articles = [packed(f"a{n % 17}", f"s{n}.xml") for n in range(60)]
    expected = sorted((a.article_id, a.source) for a in articles)
    draw.shuffle(articles)
    with Spill(tmp_path) as spill:
        for n, article in enumerate(articles):
            spill.add(f"c{n % 3}", bytes([n]), [article, Rejected(article.source, "empty")])
        found = [(stored.article_id, stored.source, spill.load(stored)) for stored in spill.articles()]
        assert [pair[:2] for pair in found] == expected
        assert [pair[2] for pair in found] == [[name, source] for name, source in expected]
        assert [row.source for row in spill.rejections()] == sorted(source for _, source in expected)
        assert spill.counts() == {"c0": 20, "c1": 20, "c2": 20}
        assert (spill.found(), spill.found(["empty"])) == (60, 120)


def test_a_copy_taken_in_the_middle_holds_the_last_commit(tmp_path: Path) -> None:
    """A copy of the files at any moment is what a kill -9 leaves."""
    work, left = tmp_path / "work", tmp_path / "left"
    work.mkdir()
    spill = Spill(work)
    for n in range(10):
        spill.add("c", bytes([n]), [packed(f"a{n}")])
    spill.commit()
    for n in range(10, 15):
        spill.add("c", bytes([n]), [packed(f"a{n}")])
    spill._file.flush()
    shutil.copytree(work, left)
    with Spill(left) as again:
        assert again.resumed == 10
        assert [again.seen_before("c", bytes([n])) for n in range(15)] == [True] * 10 + [False] * 5
        assert not again.seen_before("c", bytes([0])), "each copy counts once"
        again.forget_absent()
        again.add("c", bytes([20]), [packed("a20")])
        assert [stored.article_id for stored in again.articles()] == sorted([*(f"a{n}" for n in range(10)), "a20"])
        assert all(again.load(stored)[0] == stored.article_id for stored in again.articles())
    spill.__exit__(None, None, None)


def test_documents_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    with Spill(tmp_path) as spill:
        spill.add("c", b"1", [packed("stays")])
        spill.add("c", b"2", [packed("goes"), Rejected("goes.xml", "empty")])
        spill.add("d", b"2", [packed("goes too")])
        spill.reject(Rejected("verdict.xml", "duplicate"))
    with Spill(tmp_path) as spill:
        assert spill.keys_of("c") == [b"1", b"2"]
        assert spill.seen_before("c", b"1")
        assert spill.keys_of("c") == [b"2"]
        spill.forget_absent()
        assert [stored.article_id for stored in spill.articles()] == ["stays"]
        assert list(spill.rejections()) == []
        assert spill.counts() == {"c": 1}


def test_twins(tmp_path: Path) -> None:
    draw = random.Random(1)
    articles = [
        packed(f"a{n:02}", doi=f"10.1/{draw.randrange(40)}", text=bytes([draw.randrange(40)])) for n in range(40)
    ]
    articles.append(Packed("a00x", "lacks.xml", 0, {}, "no method", b"", "10.1/0", b"\0"))
    with Spill(tmp_path) as spill:
        for article in draw.sample(articles, len(articles)):
            spill.add("c", article.source.encode(), [article])
        spill.match_twins()
        for stored in spill.articles():
            me = next(article for article in articles if article.article_id == stored.article_id)
            smaller = [a for a in articles if a.article_id < me.article_id and not a.lacks]
            same_doi = [a.article_id for a in smaller if a.doi == me.doi]
            same_text = [a.article_id for a in smaller if a.text == me.text]
            if stored.lacks:
                continue
            if same_doi:
                assert stored.twin == (min(same_doi), f"DOI {me.doi}")
            else:
                assert stored.twin == ((min(same_text), "text") if same_text else None)


def test_a_data_file_that_was_cut_is_said(tmp_path: Path) -> None:
    with Spill(tmp_path) as spill:
        spill.add("c", b"1", [packed("a")])
    with (tmp_path / "articles").open("r+b") as stream:
        stream.truncate(3)
    with pytest.raises(OutputError, match="is damaged"):
        Spill(tmp_path)
