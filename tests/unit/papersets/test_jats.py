"""Articles on their way into a paper set: what is kept of them, and which reference names which paper."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sectioncls.corpora.spill import Packed, unpack
from sectioncls.papersets import PaperSet, build_papers
from sectioncls.papersets.jats import pack_papers
from sectioncls.records import Article, Paragraph, Rejected, Section


def an_article(**more: object) -> Article:
    values: dict[str, object] = {"id": "PMC1", "source": "a.xml", "title": "How a flock finds its way home"}
    return Article(**(values | more))  # type: ignore[arg-type]


def packed(article: Article) -> list[Packed | Rejected]:
    return pack_papers(None, read=lambda _: [article], rules=None)  # type: ignore[arg-type]


def test_what_is_kept() -> None:
    inner = Section("Aim", paragraphs=(Paragraph("Second."),))
    abstract = (Section(None, paragraphs=(Paragraph("First."),)), Section("Parts", sections=(inner,)))
    (one,) = packed(
        an_article(
            abstract=abstract,
            year=1999,
            journal="Flocks",
            authors=("A",),
            doi="10.9999/a",
            pmid="7",
            reference_keys=(("doi:10.9999/b", "title:über  bells"), ("pmcid:PMC55.1",)),
        )
    )
    assert isinstance(one, Packed)
    title, text, year, journal, authors, keys, references = unpack(one.data)
    assert (title, text, year, journal, authors) == (
        "How a flock finds its way home",
        "First. Second.",
        1999,
        "Flocks",
        ["A"],
    )
    assert keys == ["doi:10.9999/a", "pmcid:PMC1", "pmid:7", "title:how a flock finds its way home"]
    assert references == [["doi:10.9999/b", "title:u ber bells"], ["pmcid:PMC55"]]
    assert one.text


def test_short_titles_are_no_key_and_texts_without_abstract_no_twin() -> None:
    (one,) = packed(an_article(id="file-name", title="Reply to the editor"))
    assert isinstance(one, Packed)
    assert unpack(one.data)[5] == []
    assert one.text == b""


def test_no_text() -> None:
    (one,) = packed(an_article(title=" "))
    assert one == Rejected("a.xml", "no-text", "neither title nor abstract", "PMC1")
    assert pack_papers(None, read=lambda _: [one], rules=None) == [one]  # type: ignore[arg-type]


def jats(ids: str, title: str, references: str = "", abstract: str = "Bells ring.") -> str:
    return (
        f"<article><front><article-meta>{ids}<title-group><article-title>{title}</article-title></title-group>"
        f"<pub-date><year>1999</year></pub-date><abstract><p>{abstract} {title}.</p></abstract></article-meta></front>"
        f"<body><p>Text of {title}.</p></body><back><ref-list>{references}</ref-list></back></article>"
    )


def ids(**kinds: str) -> str:
    return "".join(f'<article-id pub-id-type="{kind}">{value}</article-id>' for kind, value in kinds.items())


def ref(title: str = "", **kinds: str) -> str:
    inner = "".join(f'<pub-id pub-id-type="{kind}">{value}</pub-id>' for kind, value in kinds.items())
    return f"<ref><mixed-citation><article-title>{title}</article-title>{inner}</mixed-citation></ref>"


def build(folder: Path, files: dict[str, str]) -> PaperSet:
    (folder / "in").mkdir()
    for name, text in files.items():
        (folder / "in" / name).write_text(text)
    return build_papers([folder / "in"], folder / "out", command="x")[0]


def test_references_by_every_key(tmp_path: Path) -> None:
    own = ids(pmc="1", doi="10.9999/one", pmid="101")
    references = (
        ref(pmid="102")
        + ref(pmcid="PMC3", doi="10.9999/unknown")
        + ref(doi="10.9999/FOUR.")
        + ref("Where the: fifth flock, found its WAY")
        + ref(doi="10.9999/one")  # itself
        + ref(pmid="102", doi="10.9999/x")  # the second paper again
        + ref("Two papers bear this very title")  # which of them?
        + ref(doi="10.9999/elsewhere")
        + ref(doi="10.9999/elsewhere")
        + ref("A book about bells that nobody else knows")
    )
    found = build(
        tmp_path,
        {
            "1.xml": jats(own, "The first flock on its way", references),
            "2.xml": jats(ids(pmc="2", pmid="102"), "The second flock on its way", ref(doi="10.9999/elsewhere")),
            "3.xml": jats(ids(pmc="3"), "The third flock on its way"),
            "4.xml": jats(ids(doi="10.9999/four"), "The fourth flock on its way"),
            "5.xml": jats(ids(pmc="5"), "Where the fifth flock found its way"),
            "6.xml": jats(ids(pmc="6"), "Two papers bear this very title", abstract="One."),
            "7.xml": jats(ids(pmc="7"), "Two papers bear this very title", abstract="Other."),
            "8.xml": jats(ids(pmc="8"), "The second flock on its way, again").replace("<p>", "<p> ", 1),
        },
    )
    papers = found.papers()
    row = papers.row_of()
    assert papers.ids == ("10.9999/four", "PMC1", "PMC2", "PMC3", "PMC5", "PMC6", "PMC7", "PMC8")  # sorted
    assert found.citations().tolist() == [[row["PMC1"], row[name]] for name in ("10.9999/four", "PMC2", "PMC3", "PMC5")]
    assert found.info.edges_by == {"doi": 1, "pmcid": 1, "pmid": 1, "title": 1}
    assert found.info.dropped["citations of the paper itself"] == 1
    assert found.info.dropped["citations given twice"] == 1
    assert any(note.startswith("1 keys (mostly titles) are those of several papers") for note in found.info.notes)
    outside = found.outside()  # only what two papers refer to, once a paper
    assert outside.references == ("doi:10.9999/elsewhere",)
    assert outside.sources.tolist() == sorted([row["PMC1"], row["PMC2"]])
    np.testing.assert_array_equal(found.targets("year"), 1999)


def test_twins(tmp_path: Path) -> None:
    found = build(
        tmp_path,
        {
            "a.xml": jats(ids(pmc="1"), "One flock"),
            "b.xml": jats(ids(pmc="2"), "One flock"),
            "c.xml": jats(ids(pmc="1"), "One flock"),
            "d.xml": "<article>",
        },
    )
    assert found.papers().ids == ("PMC1",)
    assert found.info.dropped == {"documents: duplicate": 2, "documents: malformed": 1}
    assert len((found.path / "rejected.jsonl").read_text().splitlines()) == 3


def test_papers_that_refer_to_nothing(tmp_path: Path) -> None:
    found = build(tmp_path, {"a.xml": jats(ids(pmc="1"), "A")})
    assert found.citations().shape == (0, 2)
    assert found.ranking_tasks() == ()
