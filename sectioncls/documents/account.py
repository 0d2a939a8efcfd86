"""The account of an article's text: what is left out, by reason, so that every character is answered for.

Characters are counted without XML's white space (space, tab, line ends). For every article::

    characters of the article element
        = characters of the title and the paragraphs - those that the reader added + those left out

The reader adds placeholders (``@cite``), ``^`` before powers and the colon before a subtitle. Reasons:

================  ==================================================================================
front             front matter and metadata, save the title and the main abstract
other-abstract    graphical, teaser, translated and further abstracts
references        reference lists
back              the rest of the back matter
sub-article       sub-articles and responses
figure table      floats, with captions; also graphics and arrays
supplement        supplementary material and media
code verse        preformatted text, poems
definitions       definition lists
formula           formulas, with their numbers
heading           titles of sections, lists and boxes, and run-in heads: they stand in paths
label             labels, attributions, speakers
footnote          foot-notes and the marks that lead to them
citation          links to references, with the brackets and commas around them
mention           links to figures, tables and formulas, with the word before them
spacing           invisible characters, blanks that became a space, letters composed with their accents
wordless          paragraphs without a letter
oversized         paragraphs and titles of more than a million characters
stray             text outside paragraphs, where the standard has none
other             elements unknown at their place
================  ==================================================================================
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from sectioncls.documents.tags import REASONS, local_name
from sectioncls.documents.xml import Element
from sectioncls.records import Article, Section

__all__ = ["Account", "characters", "characters_of", "kept_characters"]

# Controls are the reader's marks, 0x80 to 0xBF the further bytes of a character.
_UNCOUNTED = bytes(range(0x21)) + bytes(range(0x80, 0xC0))


def characters(text: str) -> int:
    """Give the number of characters of a text without white space (space, tab, line ends) and marks."""
    return len(text.encode().translate(None, _UNCOUNTED))


def characters_of(element: Element) -> int:
    """Give the number of characters of all text inside an element, in the same way."""
    content: bytes = etree.tostring(element, method="text", encoding="utf-8", with_tail=False)
    return len(content.translate(None, _UNCOUNTED))


def kept_characters(article: Article) -> int:
    """Give how many characters of the document stand in the title and the paragraphs of an article."""
    return characters(article.title) + sum(map(characters, _texts(*article.abstract, *article.body))) - article.added


def _texts(*sections: Section) -> Iterator[str]:
    for section in sections:
        for paragraph in section.paragraphs:
            yield paragraph.text
        yield from _texts(*section.sections)


class Account:
    """The running account of one article.

    Small texts are set aside in lists and counted once at the end: that is several times faster.
    """

    __slots__ = ("added", "citations", "counts", "footnotes", "headings", "mentions", "stray", "wordless")

    def __init__(self) -> None:
        self.added = 0
        self.counts: dict[str, int] = {}
        self.citations: list[str] = []
        self.footnotes: list[str] = []
        self.headings: list[str] = []
        self.mentions: list[str] = []
        self.stray: list[str] = []
        self.wordless: list[str] = []

    def count(self, reason: str, number: int) -> None:
        """Count characters that are left out."""
        if number:
            self.counts[reason] = self.counts.get(reason, 0) + number

    def leave(self, element: Element, reason: str | None = None) -> None:
        """Count an element that is left out whole; its tag gives the reason."""
        self.count(reason or REASONS.get(local_name(element.tag), "other"), characters_of(element))

    def change(self, reason: str, before: str, after: str) -> None:
        """Count what a step of cleaning took away, or added."""
        lost = characters(before) - characters(after)
        if lost > 0:
            self.count(reason, lost)
        else:
            self.added -= lost

    def left_out(self) -> tuple[tuple[str, int], ...]:
        """Give (reason, characters) pairs, sorted by reason."""
        totals = {reason: number for reason, number in self.counts.items() if number}
        for reason, texts in (
            ("citation", self.citations),
            ("footnote", self.footnotes),
            ("heading", self.headings),
            ("mention", self.mentions),
            ("stray", self.stray),
            ("wordless", self.wordless),
        ):
            number = characters("".join(texts)) if texts else 0
            if number:
                totals[reason] = totals.get(reason, 0) + number
        return tuple(sorted(totals.items()))
