"""Where a paragraph stands in its document, as an XPath made on demand."""

from __future__ import annotations

from sectioncls.documents.jats import read_jats_located
from sectioncls.documents.xml import Element
from sectioncls.errors import InputError
from sectioncls.records import Rejected

__all__ = ["xpath_of"]


def xpath_of(data: bytes, node: int, *, article_id: str | None = None, source: str = "") -> str:
    """Give the XPath of the ``p`` element from which paragraph ``node`` of a JATS document came.

    ``data`` are the document's bytes. Of several articles (or sub-articles) in it, ``article_id`` names the one
    meant, the first that can be read by default; the ids of articles that name none depend on ``source``. The
    XPath needs no namespaces: elements in one are found by their local name. Several paragraphs share a ``p``
    that lists, quotes or run-in heads cut. Raises InputError when there is no such article or paragraph.
    """
    for item, origins in read_jats_located(data, source, sub_articles=True, located=True):
        if isinstance(item, Rejected) or (article_id is not None and item.id != article_id):
            continue
        if origins is None or not 0 <= node < len(origins):
            raise InputError(f"no paragraph {node} in {item.id}, which has {len(origins or ())}", source or None)
        return _path(origins[node])
    raise InputError(f"no article {article_id} can be read here" if article_id else "no article can be read", source)


def _path(element: Element) -> str:
    steps: list[str] = []
    at: Element | None = element
    while at is not None:
        namespace, _, name = at.tag.rpartition("}")
        test = f"*[local-name()='{name}']" if namespace else name
        above = at.getparent()
        if above is None:
            steps.append(f"/{test}")
        else:
            same = "{*}" + name if namespace else name
            place = sum(1 for _ in at.itersiblings(same, preceding=True)) + 1
            steps.append(f"/{test}[{place}]")
        at = above
    return "".join(reversed(steps))
