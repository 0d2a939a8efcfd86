"""Fuzz the readers and the splitter: mutated documents, and inputs that atheris finds by coverage.

    .venv/bin/python tests/fuzz/fuzz.py --mutate 10000 --guided 10000 --log tests/fuzz/log.json [FOLDER…]

Seeds are our own small files and those of the FOLDERs. Every input runs in a child process under a limit of memory and
a clock; what may come of it is an article or a rejection with a reason of our list, never another exception, never more
than ten seconds. Guided runs need `pip install atheris`. Exit status 1 when anything else was seen; the input is kept
beside the log.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import shutil
import subprocess
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OWN = [ROOT / "tests" / "data", ROOT / "corpora" / "demo" / "jats"]
SUFFIXES = (".xml", ".nxml", ".md", ".txt", ".jsonl", ".gz", ".xz", ".tar", ".zip")
SECONDS, MEMORY = 10.0, 1 << 30
TOKENS = [
    b"<", b">", b"&", b"]]>", b"<![CDATA[", b"<!--", b"-->", b"<?", b"?>", b"<!DOCTYPE a [<!ENTITY e 'ee'>]>", b"&e;",
    b"&nbsp;", b"&#0;", b"&#x110000;", b"<sec>", b"</sec>", b"<p>", b"</p>", b"<xref ref-type='bibr'>", b"<sup>", b"\0",
    b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xe2\x80\x8b", b"<article>", b"</article>", b"<body>", b"<sub-article>",
    b"<title>Methods</title>", b"<mml:math>", b"<xi:include href='file:///etc/passwd'/>", b"SYSTEM 'file:///etc/hostname'",
    b"et al. ", b". ", b"Fig. ", b"(", b"[", b'"', b"...", b"\r\n", b"\n\n", b"# ", b"```", b"$$", b"%PDF-1.4",
]  # fmt: skip

ELEMENT = re.compile(rb"<([\w:-]+)(?:\s[^<>]*)?>[^<]*(?:<[^<>]*>[^<]*){0,6}?</\1>")
NAMES = [
    b"sec", b"p", b"bold", b"sup", b"xref", b"list", b"list-item", b"boxed-text", b"fig", b"table-wrap", b"fn",
    b"title", b"inline-formula", b"disp-quote", b"sub-article", b"body", b"abstract", b"article", b"label", b"caption",
]  # fmt: skip


def seeds(folders: list[Path]) -> list[tuple[str, bytes]]:
    """Give the files to begin with, smallest first; big ones are left out, for mutation needs many."""
    files = sorted(file for folder in folders for file in folder.rglob("*") if file.is_file())
    found = [(file.name, file.read_bytes()) for file in files if file.name.endswith(SUFFIXES)]
    return sorted((item for item in found if 0 < len(item[1]) < 300_000), key=lambda item: len(item[1]))


def mutate(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """Give the bytes with one to eight changes of the kinds that break parsers."""
    out = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4, 8))):
        size = len(out)
        at = chance.randrange(size + 1)
        kind = chance.randrange(8)
        if kind == 0 and size:
            out[min(at, size - 1)] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del out[at : at + chance.choice((1, 4, 64, 4096))]
        elif kind == 2:
            out[at:at] = chance.choice(TOKENS)
        elif kind == 3:
            out[at:at] = out[at : at + chance.choice((8, 64, 1024))] * chance.choice((1, 2, 50))
        elif kind == 4:
            del out[at:]
        elif kind == 5:
            start = chance.randrange(len(other) + 1)
            out[at:at] = other[start : start + chance.choice((8, 256, 8192))]
        elif kind == 6:
            out[at:at] = chance.choice(TOKENS) * chance.choice((2, 300, 3000))
        elif size:
            end = min(size, at + chance.choice((2, 16, 256)))
            piece = list(out[at:end])
            chance.shuffle(piece)
            out[at:end] = bytes(piece)
    return bytes(out[: 1 << 20])


def rebuilt(data: bytes, chance: random.Random) -> bytes:
    """Give the document with whole elements doubled, dropped, moved or nested: it mostly stays well-formed."""
    out = data
    for _ in range(chance.choice((1, 2, 4))):
        elements = list(ELEMENT.finditer(out))
        if not elements:
            return out
        one, two = chance.choice(elements), chance.choice(elements)
        kind = chance.randrange(4)
        if kind == 0:
            out = out[: one.end()] + one[0] * chance.choice((1, 20)) + out[one.end() :]
        elif kind == 1:
            out = out[: one.start()] + out[one.end() :]
        elif kind == 2:
            out = out[: two.start()] + one[0] + out[two.end() :]
        else:
            name = chance.choice(NAMES)
            depth = chance.choice((1, 1, 3, 300))
            out = b"%s%s%s%s%s" % (
                out[: one.start()], b"<%s>" % name * depth, one[0], b"</%s>" % name * depth, out[one.end() :]
            )  # fmt: skip
    return out[: 1 << 20]


def mutated(found: list[tuple[str, bytes]], count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Give ``count`` mutated files; small seeds come more often."""
    chance = random.Random(seed)
    for _ in range(count):
        name, data = found[int(len(found) * chance.random() ** 2)]
        if chance.random() < 0.5:
            yield name, rebuilt(data, chance)
        else:
            yield name, mutate(data, chance.choice(found)[1], chance)


def read_one(name: str, data: bytes) -> str:
    """Run one input through everything that reads foreign bytes; give what came of it."""
    import tempfile

    from sectioncls.documents import Document, find_documents, labelled_paragraphs, read_each
    from sectioncls.errors import DocumentRejected
    from sectioncls.records import Rejected
    from sectioncls.sentences import split_sentences

    if name.endswith((".gz", ".xz", ".tar", ".zip")):
        with tempfile.NamedTemporaryFile(suffix=name) as file:
            file.write(data)
            file.flush()
            documents = list(find_documents([Path(file.name)]))
    else:
        documents = [Document(name, data)]
    outcome = "no-document"
    for document in documents:
        if isinstance(document, Rejected):
            outcome = document.reason
            continue
        for item in read_each(document):
            if isinstance(item, Rejected):
                assert item.reason in DocumentRejected.REASONS, item.reason
                outcome = item.reason
                continue
            outcome = "article"
            for paragraph, _, _ in labelled_paragraphs(item):
                check_split(paragraph.text, split_sentences(paragraph.text))
    text = data.decode("utf-8", "surrogateescape")
    check_split(text, split_sentences(text))
    return outcome


def check_split(text: str, spans: list[tuple[int, int]]) -> None:
    """Raise AssertionError unless the spans are trimmed, in order, and leave out white space only."""
    at = 0
    for start, end in spans:
        assert start < end and not text[at:start].strip() and text[start:end] == text[start:end].strip()
        at = end
    assert not text[at:].strip()


def child(source: str, count: int, seed: int, folders: list[Path]) -> None:
    """Run inputs of one kind, printing one line for each before and after it is read."""
    resource.setrlimit(resource.RLIMIT_AS, (4 * MEMORY, 4 * MEMORY))  # address space; libraries map more than they use
    found = seeds(folders)
    if source == "mutate":
        for name, data in mutated(found, count, seed):
            run_one(name, data)
        return
    import atheris

    with atheris.instrument_imports(include=["sectioncls"]):
        import sectioncls.documents
        import sectioncls.sentences  # noqa: F401
    names = [name for name, _ in found]

    def guided(data: bytes) -> None:
        run_one(names[zlib.crc32(data[:4]) % len(names)], data)

    corpus = Path(sys.argv[-1])
    for place, (name, data) in enumerate(found[:400]):
        (corpus / f"{place:04d}-{name}").write_bytes(data[:65536])
    arguments = [sys.argv[0], f"-runs={count}", f"-seed={seed}", "-max_len=65536", "-rss_limit_mb=0", "-timeout=0"]
    atheris.Setup([*arguments, str(corpus)], guided)
    atheris.Fuzz()


def run_one(name: str, data: bytes) -> None:
    """Run one input and print what came of it as one line of JSON; an exception is a finding, not an end."""
    Path("current.bin").write_bytes(name.encode() + b"\n" + data)
    began = time.perf_counter()
    try:
        outcome = read_one(name, data)
    except Exception as error:
        outcome = f"!{type(error).__name__}: {str(error)[:200]}"
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"outcome": outcome, "seconds": seconds, "peak": peak, "bytes": len(data)}), flush=True)


def watch(source: str, count: int, seed: int, folders: list[Path], where: Path) -> dict[str, object]:
    """Run a child, start it again behind an input that killed it, and sum up."""
    outcomes: Counter[str] = Counter()
    findings: list[dict[str, object]] = []
    slowest, peak, done, size, began, kills = 0.0, 0, 0, 0, time.perf_counter(), 0
    while done < count and kills < 20:
        work = where / f"fuzz-{source}-{kills}"
        (work / "corpus").mkdir(parents=True, exist_ok=True)
        command = [
            sys.executable,
            __file__,
            "--child",
            source,
            "--mutate",
            str(count - done),
            "--seed",
            str(seed + kills),
        ]
        command += [*map(str, folders), str(work / "corpus")] if source == "guided" else list(map(str, folders))
        process = subprocess.Popen(command, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert process.stdout is not None
        for line in process.stdout:
            if not line.startswith("{"):
                continue
            row = json.loads(line)
            done, size = done + 1, size + row["bytes"]
            outcomes[row["outcome"] if not row["outcome"].startswith("!") else "exception"] += 1
            slowest, peak = max(slowest, row["seconds"]), max(peak, row["peak"])
            if row["outcome"].startswith("!") or row["seconds"] > SECONDS or row["peak"] > MEMORY:
                (where / f"finding-{source}-{done}.bin").write_bytes((work / "current.bin").read_bytes())
                findings.append(row)
            if done >= count:
                process.kill()
                break
        status = process.wait()
        if done < count and status != 0:
            (where / f"finding-{source}-killed-{kills}.bin").write_bytes((work / "current.bin").read_bytes())
            findings.append({"outcome": f"!the process ended with {status}"})
        kills += 1
    return {
        "inputs": done,
        "bytes": size,
        "outcomes": dict(outcomes.most_common()),
        "slowest_seconds": round(slowest, 3),
        "peak_mib": peak >> 20,
        "wall_seconds": round(time.perf_counter() - began, 1),
        "findings": findings[:50],
    }


def main() -> int:
    """Run what was asked for; write the log; 1 when there is a finding."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, help="more seeds")
    parser.add_argument("--mutate", type=int, default=0)
    parser.add_argument("--guided", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--child", choices=("mutate", "guided"))
    options = parser.parse_args()
    folders = [folder.resolve() for folder in options.folders] or []
    if options.child:
        child(options.child, options.mutate, options.seed, OWN + folders)
        return 0
    import tempfile

    import sectioncls

    result: dict[str, object] = {"version": sectioncls.__version__, "seed": options.seed}
    result["seeds"] = len(seeds(OWN + folders))
    clean = True
    with tempfile.TemporaryDirectory() as scratch:
        for source in ("mutate", "guided"):
            count = getattr(options, source)
            if count:
                result[source] = done = watch(source, count, options.seed, folders, Path(scratch))
                clean = clean and not done["findings"] and done["inputs"] == count
        for finding in Path(scratch).glob("finding-*.bin") if options.log else ():
            shutil.copy(finding, options.log.resolve().parent)
    print(json.dumps(result, indent=1))
    if options.log:
        options.log.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
