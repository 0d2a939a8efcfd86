from __future__ import annotations

import pytest
from lxml import etree

from sectioncls.documents.front import Front, read_front, read_reference_keys, read_references


def front(meta: str, journal: str = "") -> Front:
    article = etree.fromstring(
        f'<article xmlns:xlink="http://www.w3.org/1999/xlink" xml:lang="EN"><front>{journal}'
        f"<article-meta>{meta}</article-meta></front></article>"
    )
    return read_front(article, article[0])


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([("pmc", "12"), ("doi", "10.9999/X")], "PMC12"),
        ([("pmcid", "PMC12"), ("pmid", "3")], "PMC12"),
        ([("doi", "https://doi.org/10.9999/X"), ("pmid", "3")], "10.9999/x"),
        ([("pmid", "3"), ("publisher-id", "q")], "pmid:3"),
        ([("publisher-id", "q")], None),
    ],
)
def test_the_best_id_is_taken(ids: list[tuple[str, str]], expected: str | None) -> None:
    meta = "".join(f'<article-id pub-id-type="{kind}">{value}</article-id>' for kind, value in ids)
    assert front(meta).id == expected


def test_what_the_front_says() -> None:
    found = front(
        "<title-group><article-title>Wax:<fn><p>no</p></fn></article-title><subtitle>notes</subtitle></title-group>"
        '<contrib-group><contrib contrib-type="author"><name><surname>Imker</surname><given-names>Ada B</given-names>'
        "</name></contrib><contrib><collab>Hive Group</collab></contrib></contrib-group>"
        "<pub-date><year>2021</year></pub-date><pub-date><year>2020</year></pub-date>",
        "<journal-meta><journal-title>Annals of Wax</journal-title></journal-meta>",
    )
    assert found.title == "Wax: notes"
    assert found.authors == ("Ada B Imker", "Hive Group")
    assert (found.year, found.journal, found.language) == (2020, "Annals of Wax", "en")


@pytest.mark.parametrize(
    ("licence", "short"),
    [
        ('<license xlink:href="http://creativecommons.org/licenses/by-nc-nd/4.0/"/>', "CC BY-NC-ND 4.0"),
        (
            '<license><license-p><ext-link xlink:href="https://creativecommons.org/licenses/by/3.0/igo"/></license-p></license>',
            "CC BY 3.0",
        ),
        ('<license xlink:href="https://creativecommons.org/publicdomain/zero/1.0/"/>', "CC0 1.0"),
        (
            "<license><license-p>Creative Commons Attribution-NonCommercial 4.0 International</license-p></license>",
            "CC BY-NC 4.0",
        ),
        ("<license><license-p>Creative Commons Attribution License (CC BY-NC)</license-p></license>", "CC BY-NC"),
        ("<license><license-p>CC0</license-p></license>", "CC0"),
        ("<license><license-p>This work is in the public domain.</license-p></license>", "public domain"),
        ("<license><license-p>All rights reserved.</license-p></license>", None),
    ],
)
def test_licences(licence: str, short: str | None) -> None:
    assert front(f"<permissions>{licence}</permissions>").licence == short


def test_the_main_abstract_is_the_first_of_a_plain_kind() -> None:
    found = front(
        '<abstract abstract-type="teaser"/><abstract abstract-type="Structured" id="main"/><abstract/><trans-abstract/>'
    )
    assert found.abstract is not None
    assert found.abstract.get("id") == "main"


def test_references_in_order() -> None:
    back = etree.fromstring(
        '<back xmlns:xlink="http://www.w3.org/1999/xlink"><ref-list>'
        "<ref><mixed-citation><article-title>A</article-title>"
        '<pub-id pub-id-type="doi">10.9999/Q.</pub-id></mixed-citation></ref>'
        '<ref><pub-id pub-id-type="pmid">5</pub-id><article-title>B</article-title></ref>'
        '<ref><pub-id pub-id-type="pmcid">PMC6</pub-id></ref>'
        "<ref><article-title>On  <italic>Wax</italic>: A Note!</article-title></ref>"
        '<ref><ext-link xlink:href="https://doi.org/10.9999/z"/></ref><ref><source>Book</source></ref></ref-list></back>'
    )
    assert read_references(back) == ("doi:10.9999/q", "pmid:5", "pmcid:PMC6", "title:on wax a note", "doi:10.9999/z")


def test_every_key_of_a_reference_and_nothing_from_behind_it() -> None:
    back = etree.fromstring(
        '<back xmlns:xlink="http://www.w3.org/1999/xlink"><ref-list><ref>'
        '<pub-id pub-id-type="pmid">5</pub-id><pub-id pub-id-type="pmc">PMC6</pub-id>'
        "<article-title>On wax</article-title>"
        '</ref></ref-list><app><ext-link xlink:href="https://doi.org/10.9999/own"/></app></back>'
    )
    assert read_reference_keys(back) == (("pmid:5", "pmcid:PMC6", "title:on wax"),)
