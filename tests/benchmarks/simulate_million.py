"""A build of as many made-up articles as you like: articles a second, memory and disk while it goes.

    python -m tests.benchmarks.simulate_million --articles 20000 --jobs 2 --folder /tmp/million

The articles come from a generator, one at a time, as tar archives would give them; no file is written for them.
Words are drawn by rank from a made-up vocabulary, so sizes are those of real articles (about 25 kB of prose, 150
sentences; a sixth of that with ``--paragraphs 1``) and each text is its own.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from sectioncls.corpora.build import build_from_articles
from sectioncls.corpora.labelling import ArticleRules
from sectioncls.corpora.pmc import _read as read
from sectioncls.corpora.sources import container_of
from sectioncls.documents import Document
from sectioncls.schemes import load_scheme

HEADS = ("Introduction", "Objectives", "Methods", "Results", "Discussion", "Conclusions")
_SYLLABLES = (
    "ba",
    "co",
    "di",
    "fer",
    "gla",
    "hu",
    "in",
    "ko",
    "lem",
    "mo",
    "ne",
    "pri",
    "qua",
    "ro",
    "sta",
    "tu",
    "vex",
)
_COMMON = ("the", "of", "and", "in", "a", "to", "was", "with", "for", "were", "by", "that", "is", "as", "we", "at")


def vocabulary(size: int = 20_000) -> list[str]:
    """Give made-up words, the common ones of English among them."""
    draw = random.Random(0)
    words = ["".join(draw.choices(_SYLLABLES, k=draw.randrange(1, 5))) for _ in range(size)]
    return [*_COMMON * 600, *words]


def article(number: int, words: list[str], paragraphs: int = 6) -> bytes:
    """Give JATS with six sections of so many paragraphs; the same number gives the same bytes."""
    draw = random.Random(number)
    sections = []
    for head in HEADS:
        written = []
        for _ in range(paragraphs):
            sentences = []
            for _ in range(draw.randrange(2, 7)):
                chosen = draw.choices(words, k=draw.randrange(10, 35))
                chosen[0] = chosen[0].capitalize()
                chosen[-2] += f" ({draw.randrange(100) / 10} mg)"
                sentences.append(" ".join(chosen) + ".")
            written.append(f"<p>{' '.join(sentences)}</p>")
        sections.append(f"<sec><title>{head}</title>{''.join(written)}</sec>")
    return (
        '<article xml:lang="en"><front><article-meta>'
        f'<article-id pub-id-type="pmc">{number}</article-id>'
        f"<title-group><article-title>Made-up article {number}</article-title></title-group>"
        f"</article-meta></front><body>{''.join(sections)}</body></article>"
    ).encode()


def articles(count: int, paragraphs: int) -> Iterator[Document]:
    """Give so many articles, as members of archives of 10,000."""
    words = vocabulary()
    for number in range(1, count + 1):
        yield Document(f"made-up-{number // 10_000:04}.tar!PMC{number}.xml", article(number, words, paragraphs))


def watched(done: Iterable[Any], folder: Path, every: int) -> Iterator[Any]:
    """Give the items on, with a line every so many: documents, rate since the last line, memory, disk."""
    began = last = time.perf_counter()
    print("documents  articles/s  parent RSS MB  work folder MB", flush=True)
    count = 0
    for count, item in enumerate(done, start=1):
        yield item
        if count % every == 0:
            now = time.perf_counter()
            print(f"{count:9,}  {every / (now - last):10.0f}  {rss():13.0f}  {disk(folder):14.0f}", flush=True)
            last = now
    print(f"read {count:,} in {time.perf_counter() - began:.0f} s", flush=True)


def rss() -> float:
    """Give this process's resident memory in MB."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmRSS")) / 1024


def disk(folder: Path) -> float:
    """Give the MB of the files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6 if folder.exists() else 0.0


def main(arguments: list[str]) -> None:
    """Build and print the curve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--paragraphs", type=int, default=6, help="in each of six sections: 6 makes real sizes")
    parser.add_argument("--every", type=int, default=2_000)
    parser.add_argument("--folder", type=Path, required=True, help="where to build; what a killed call left is resumed")
    parser.add_argument("--keep", action="store_true", help="keep the corpus")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    out = options.folder / "million"
    began, cpu = time.perf_counter(), cpu_seconds()
    corpus, counts = build_from_articles(
        articles(options.articles, options.paragraphs),
        partial(read, sub_articles=False),
        out,
        rules=ArticleRules(load_scheme("pmc-sents")),
        name="million",
        command="simulate_million",
        container_of=container_of,
        jobs=options.jobs,
        resume=True,
        watch=partial(watched, folder=options.folder / "million.building", every=options.every),
    )
    seconds, cpu = time.perf_counter() - began, cpu_seconds() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    workers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{counts.kept:,} articles, {corpus.info.sentences:,} sentences in {seconds:.0f} s ({cpu:.0f} s of CPU):")
    print(f"  {counts.kept / seconds:.0f} articles/s, {1000 * cpu / counts.kept:.2f} ms of CPU an article")
    print(f"  peak RSS {peak:.0f} MB, largest worker {workers:.0f} MB, corpus {disk(out):.0f} MB on disk")
    if not options.keep:
        shutil.rmtree(out)


def cpu_seconds() -> float:
    """Give the CPU time of this process and the workers that have ended."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    main(sys.argv[1:])
