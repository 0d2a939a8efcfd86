"""PubMed sets beside pubmed_parser, in time and memory; Markdown in time proportional to its length."""

from __future__ import annotations

import gzip
import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from sectioncls.documents import Document, read_documents, read_each

RECORDS = 4_000
WORDS = ("sheep", "kites", "hills", "wind", "wool", "ewes", "rams", "graze", "run", "fear", "count", "north", "river")


def sentence(source: random.Random, words: int) -> str:
    return " ".join(source.choice(WORDS) for _ in range(words)).capitalize() + "."


def pubmed_set(path: Path, records: int) -> Path:
    """Write a set shaped like one of MEDLINE's yearly files: half of the abstracts structured, 15 references each."""
    source = random.Random(0)
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as file:
        file.write('<?xml version="1.0" encoding="utf-8"?>\n<PubmedArticleSet>\n')
        for number in range(1, records + 1):
            text = [sentence(source, 14) for _ in range(8)]
            if number % 2:
                heads = ("BACKGROUND", "METHODS", "RESULTS", "CONCLUSIONS")
                parts = zip(heads, text[::2], text[1::2], strict=True)
                abstract = "".join(
                    f'<AbstractText Label="{head}" NlmCategory="{head}">{one} H<sub>2</sub>O. {two}</AbstractText>'
                    for head, one, two in parts
                )
            else:
                abstract = f"<AbstractText>{' '.join(text)}</AbstractText>"
            references = "".join(
                f"<Reference><Citation>{sentence(source, 12)}</Citation><ArticleIdList>"
                f'<ArticleId IdType="pubmed">{source.randrange(10**7)}</ArticleId></ArticleIdList></Reference>'
                for _ in range(15)
            )
            file.write(
                f'<PubmedArticle><MedlineCitation Status="MEDLINE"><PMID Version="1">{number}</PMID><Article>'
                "<Journal><JournalIssue><PubDate><Year>2001</Year></PubDate></JournalIssue><Title>Kites</Title></Journal>"
                f"<ArticleTitle>{sentence(source, 9)}</ArticleTitle><Abstract>{abstract}</Abstract><AuthorList><Author>"
                "<LastName>Lamb</LastName><ForeName>Ada</ForeName></Author></AuthorList><Language>eng</Language></Article>"
                "<MedlineJournalInfo><Country>X</Country><MedlineTA>K</MedlineTA><NlmUniqueID>1</NlmUniqueID>"
                f"</MedlineJournalInfo></MedlineCitation><PubmedData><ReferenceList>{references}</ReferenceList>"
                "</PubmedData></PubmedArticle>\n"
            )
        file.write("</PubmedArticleSet>\n")
    return path


def ours(path: Path) -> Callable[[], object]:
    return lambda: sum(1 for _ in read_documents([path]))


def peer(path: Path) -> Callable[[], object]:
    import pubmed_parser

    return lambda: sum(1 for _ in pubmed_parser.parse_medline_xml(str(path), nlm_category=True, reference_list=True))


def test_a_pubmed_set_beside_pubmed_parser(tmp_path: Path, interleaved, peak_memory) -> None:
    pytest.importorskip("pubmed_parser", reason="the peer is not installed: pip install pubmed-parser==0.5.1")
    path = pubmed_set(tmp_path / "set.xml.gz", RECORDS)
    assert ours(path)() == peer(path)() == RECORDS
    times = interleaved({"ours": ours(path), "pubmed_parser": peer(path)}, repeats=3)
    memory = {name: peak_memory(partial(make, path)) for name, make in (("ours", ours), ("pubmed_parser", peer))}
    large = pubmed_set(tmp_path / "large.xml.gz", 3 * RECORDS)
    growth = peak_memory(partial(ours, large)) - memory["ours"]
    print(
        f"\nPubMed, {RECORDS} records: ours {RECORDS / times['ours']:.0f}/s, {memory['ours']:.0f} MB; "
        f"pubmed_parser {RECORDS / times['pubmed_parser']:.0f}/s, {memory['pubmed_parser']:.0f} MB; "
        f"ratio {times['pubmed_parser'] / times['ours']:.2f}; three times the records: {growth:+.0f} MB"
    )
    assert growth < 10


NASTY = [
    "*", "_", "[", "> ", ">", "`", "#", "*_", "[](", "[]((", "<", "a <?", "<!--", "$", "$ ", "![", "- ", "1. ",
    "[a](b)*", "[^a]", "[@", "[@a ", "@a", "\\(", "\\[", "$$", "^a^", "<sup>", "**a** ", "| a ", "# a\n", "---\n",
    "Figure 1. ",
]  # fmt: skip


def test_markdown_takes_time_in_proportion() -> None:
    worst = ("", 0.0, 0.0)
    for text in NASTY:
        spent = []
        for size in (250_000, 1_000_000):
            data = (text * (size // len(text))).encode()
            began = time.process_time()
            for _item in read_each(Document("a.md", data)):
                pass
            spent.append(time.process_time() - began)
        if spent[1] > worst[2]:
            worst = (text, spent[1] / max(spent[0], 0.01), spent[1])
        assert spent[1] < 4 * 2 * spent[0] + 0.5, text
    print(
        f"\nMarkdown, {len(NASTY)} nasty texts: the slowest, {worst[0]!r}, {worst[2]:.2f} s/MB, "
        f"× {worst[1]:.1f} for × 4"
    )
