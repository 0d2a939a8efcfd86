"""Reading JATS, bytes to Article with every rule, beside pubmed_parser's paragraphs and metadata, and lxml alone."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from lxml import etree

from sectioncls.documents import find_documents, read_jats_each
from sectioncls.documents.files import Document

SAMPLE = 300
REPEATS = 5


def processor_time(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


@pytest.fixture(scope="module")
def documents(shared: Path) -> list[Document]:
    found = [item for item in find_documents([shared / "jats" / "pmc_xml.tar.xz"]) if isinstance(item, Document)]
    return random.Random(2024).sample(found, SAMPLE)


def test_reading_beside_pubmed_parser_and_lxml(documents: list[Document], tmp_path: Path) -> None:
    pubmed_parser = pytest.importorskip(
        "pubmed_parser", reason="the peer is not installed: pip install pubmed-parser==0.5.1"
    )
    read: list[tuple[Document, str]] = []
    for number, document in enumerate(documents):
        path = tmp_path / f"{number}.xml"
        path.write_bytes(document.data)
        try:
            pubmed_parser.parse_pubmed_paragraph(str(path))
            pubmed_parser.parse_pubmed_xml(str(path))
        except Exception:
            continue  # what it stops on is left out for all three
        read.append((document, str(path)))
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)

    def ours() -> None:
        for document, _ in read:
            for _item in read_jats_each(document.data, document.name):
                pass

    def peer() -> None:
        for _, path in read:
            pubmed_parser.parse_pubmed_paragraph(path)
            pubmed_parser.parse_pubmed_xml(path)

    def bare() -> None:
        for document, _ in read:
            etree.fromstring(document.data, parser)

    times: dict[str, list[float]] = {"ours": [], "peer": [], "bare": []}
    for _ in range(REPEATS):
        for name, work in (("ours", ours), ("peer", peer), ("bare", bare)):
            times[name].append(processor_time(work))
    rate = {name: len(read) / statistics.median(values) for name, values in times.items()}
    print(
        f"\nreading {len(read)} of {SAMPLE} articles (pubmed_parser stops on the rest), processor time: "
        f"{rate['ours']:.0f}/s; "
        f"pubmed_parser's paragraphs and metadata {rate['peer']:.0f}/s: {rate['ours'] / rate['peer']:.2f} x; "
        f"lxml's parse alone {rate['bare']:.0f}/s: {rate['ours'] / rate['bare']:.2f} x"
    )
    assert rate["ours"] / rate["peer"] >= 1.0
