from __future__ import annotations

import pytest
from lxml import etree

from sectioncls.documents import labelled_paragraphs, read_jats_each
from sectioncls.documents.xpath import xpath_of
from sectioncls.errors import InputError
from sectioncls.records import Article

PLAIN = b"""<!DOCTYPE article><article><!-- c --><front/><body><p>a</p><?pi x?>
<sec><title>t</title><p>b<list><list-item><p>c</p></list-item></list>d<p>e</p>f</p>
<fig><p>no</p></fig><p> </p><p>g</p></sec>
<boxed-text><p>h</p></boxed-text></body><sub-article><body><p>s</p></body></sub-article></article>"""
SPACES = b"""<x:set xmlns:x="urn:x"><article xmlns="urn:j"><body><p>a</p><sec><p xmlns="urn:k">b</p>
<p>c</p></sec></body></article><article><body><p>d</p><p>e</p></body></article></x:set>"""


@pytest.mark.parametrize("data", [PLAIN, SPACES], ids=["plain", "namespaces"])
def test_the_path_leads_to_the_element_whose_text_it_was(data: bytes) -> None:
    tree = etree.fromstring(data)
    found = []
    for article in read_jats_each(data, "x.xml", sub_articles=True):
        assert isinstance(article, Article)
        for paragraph, _, _ in labelled_paragraphs(article):
            path = xpath_of(data, paragraph.node, article_id=article.id, source="x.xml")
            [element] = tree.xpath(path)
            assert etree.QName(element).localname == "p"
            texts = [element.text, *(child.tail for child in element)]
            assert paragraph.text in [text.strip() for text in texts if text]
            found.append(paragraph.text)
    assert found == (["a", "b", "c", "d", "e", "f", "g", "h", "s"] if data is PLAIN else ["a", "b", "c", "d", "e"])


def test_paths_are_short_without_namespaces() -> None:
    assert xpath_of(PLAIN, 1) == "/article/body[1]/sec[1]/p[1]"
    assert xpath_of(PLAIN, 0, article_id="x#s1", source="x.xml") == "/article/sub-article[1]/body[1]/p[1]"
    assert xpath_of(SPACES, 1, article_id="x#2", source="x.xml") == "/*[local-name()='set']/article[1]/body[1]/p[2]"


@pytest.mark.parametrize(("node", "article_id"), [(9, None), (-1, None), (0, "y")])
def test_what_is_not_there_is_an_error(node: int, article_id: str | None) -> None:
    with pytest.raises(InputError):
        xpath_of(PLAIN, node, article_id=article_id)
    with pytest.raises(InputError, match="no article"):
        xpath_of(b"<html/>", 0)
