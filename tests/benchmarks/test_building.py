"""build-pmc beside the same job done with pubmed_parser, spaCy's sentencizer and pandas; workers; memory at ten times.

The two processors of a shared machine are seldom free: one worker is judged by CPU time, two by the clock and only
when the load lets both run.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import re
import resource
import shutil
import statistics
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ARTICLES = 150
_PMC = re.compile(rb'(pub-id-type="pmc(?:id)?">)[^<]*')
_DOI = re.compile(rb'(<article-id[^>]* pub-id-type="doi"[^>]*>)[^<]*')


@pytest.fixture(scope="module")
def members(shared) -> list[tuple[str, bytes]]:
    """The articles of the shared archive, in order of their names."""
    with tarfile.open(shared / "jats" / "pmc_xml.tar.xz") as archive:  # in one go: it can't be read backwards
        return sorted(
            (Path(member.name).name, archive.extractfile(member).read()) for member in archive if member.isfile()
        )


@pytest.fixture(scope="module")
def folder(members, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("articles")
    for name, data in members[:ARTICLES]:
        (folder / name).write_bytes(data)
    return folder


def ours(source: Path, out: Path, jobs: int) -> Any:
    from sectioncls.corpora import build_pmc

    shutil.rmtree(out, ignore_errors=True)
    return build_pmc([source], out, command="x", require="none", jobs=jobs)[0]


def theirs(folder: Path, out: Path, *, all_paragraphs: bool) -> int:
    """Parse with pubmed_parser, split with spaCy's sentencizer, label by a look at the heading, write with pandas."""
    import pandas as pd
    import pubmed_parser
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    rows = []
    for path in sorted(folder.iterdir()):
        try:
            about = pubmed_parser.parse_pubmed_xml(str(path))
        except Exception:  # it stops at 9 % of the files
            about = {"pmc": path.stem}
        try:
            paragraphs = pubmed_parser.parse_pubmed_paragraph(str(path), all_paragraph=all_paragraphs)
        except Exception:
            continue
        texts = [paragraph["text"] for paragraph in paragraphs]
        for paragraph, parsed in zip(paragraphs, nlp.pipe(texts, batch_size=256), strict=True):
            heading = paragraph["section"].lower()
            label = next((word for word in ("method", "result", "introduction") if word in heading), "other")
            rows += [(about["pmc"], sentence.text, label, paragraph["section"]) for sentence in parsed.sents]
    pd.DataFrame(rows, columns=["article_id", "text", "label", "section"]).to_parquet(out)
    return len(rows)


def cpu_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def test_one_worker_beside_pubmed_parser(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("pubmed_parser")
    work = {
        "ours": lambda: ours(folder, tmp_path / "c", 1).info.sentences,
        "theirs": lambda: theirs(folder, tmp_path / "t.parquet", all_paragraphs=False),
        "theirs, all paragraphs": lambda: theirs(folder, tmp_path / "a.parquet", all_paragraphs=True),
    }
    times: dict[str, list[float]] = {name: [] for name in work}
    sentences: dict[str, int] = {}
    for turn in range(4):  # the first warms up
        for name, function in work.items():
            seconds, sentences[name] = cpu_seconds(function)
            if turn:
                times[name].append(seconds)
    median = {name: statistics.median(values) for name, values in times.items()}
    print(f"\nbuild-pmc, {ARTICLES} articles, one worker, CPU time (medians of interleaved runs):")
    for name, seconds in median.items():
        print(
            f"  {name}: {seconds:.2f} s, {ARTICLES / seconds:.0f} articles/s, {sentences[name]} sentences "
            f"({sentences[name] / seconds:.0f}/s), {seconds / median['ours']:.2f} x our time"
        )
    assert median["theirs, all paragraphs"] / median["ours"] >= 3.5
    assert median["theirs"] / median["ours"] >= 2


COPIES = 6  # of all articles: the start of the workers must not count


def test_two_workers(members, tmp_path: Path) -> None:
    if (os.cpu_count() or 1) < 2:
        pytest.skip("one processor")
    source = tmp_path / "articles"
    for copy in range(COPIES):
        (source / str(copy)).mkdir(parents=True)
        for number, (name, data) in enumerate(members):
            (source / str(copy) / name).write_bytes(_own(data, f"{copy}{number:05}"))
    times: dict[int, list[float]] = {1: [], 2: []}
    load = []
    for jobs in (1, 2):
        load.append(os.getloadavg()[0])
        began = time.perf_counter()
        ours(source, tmp_path / "c", jobs)
        times[jobs].append(time.perf_counter() - began)
    ratio = statistics.median(times[1]) / statistics.median(times[2])
    loads = f"load {min(load):.1f} to {max(load):.1f}"
    print(f"\nbuild-pmc, {COPIES * len(members)} articles: two workers {ratio:.2f} x one ({loads})")
    if max(load) > 2.5:
        pytest.skip(f"other programs use the processors (load {max(load):.1f}): {ratio:.2f} x says nothing")
    assert ratio >= 1.5


def _own(data: bytes, pmc: str) -> bytes:
    """Give an article under an id and with a paragraph of its own."""
    data = _PMC.sub(rb"\g<1>" + pmc.encode(), data, count=1)
    data = _DOI.sub(rb"\g<1>10.1234/copy." + pmc.encode(), data, count=1)
    return data.replace(b"<body>", f"<body><p>Copy {pmc} of an article.</p>".encode(), 1)


def _copies(members: list[tuple[str, bytes]], path: Path, times: int) -> Path:
    """Write an archive with each article so many times, under ids and words of its own."""
    with tarfile.open(path, "w") as archive:
        for copy in range(times):
            for number, (name, data) in enumerate(members):
                own = _own(data, f"{copy}{number:05}")
                about = tarfile.TarInfo(f"{copy}/{name}")
                about.size = len(own)
                archive.addfile(about, io.BytesIO(own))
    return path


def _peak(queue, source: Path, out: Path) -> None:
    corpus = ours(source, out, 1)
    queue.put((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, corpus.info.sentences))


def test_memory_at_ten_times_the_articles(members, tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    peaks = {}
    members = [(name, data) for name, data in members if _PMC.search(data) and b"<body>" in data][:600]
    for times in (1, 10):
        queue = context.Queue()
        source = _copies(members, tmp_path / f"{times}.tar", times)
        process = context.Process(target=_peak, args=(queue, source, tmp_path / f"c{times}"))
        process.start()
        peaks[times], sentences = queue.get(timeout=1200)
        process.join()
        print(f"\nbuild-pmc, {times * len(members)} articles, {sentences} sentences: peak RSS {peaks[times]:.0f} MB")
    assert peaks[10] / peaks[1] <= 1.1
