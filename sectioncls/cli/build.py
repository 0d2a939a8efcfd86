"""The verbs that build corpora: build-csabstruct, build-rct, build-pmc-sents, build-pmc."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sectioncls.cli.options import Jobs, Json, Output, Overwrite, Quiet, Resume, Seed
from sectioncls.cli.progress import note, progress
from sectioncls.cli.stats import content_lines
from sectioncls.errors import UsageError

if TYPE_CHECKING:
    from sectioncls.audit.stats import CorpusStats
    from sectioncls.corpora import Corpus
    from sectioncls.corpora.sources import Watched

__all__ = [
    "build_command",
    "build_csabstruct",
    "build_pmc",
    "build_pmc_sents",
    "build_rct",
    "comma_words",
    "resumable",
    "show_corpus",
    "watched",
]

Source = Annotated[Path, typer.Argument(metavar="SRC", help="Folder or file to read.", show_default=False)]
Conflicts = Annotated[
    Literal["keep", "paper"],
    typer.Option("--drop-conflicts", help="paper: remove every copy of a text with two labels in one split."),
]


def build_csabstruct(
    src: Source,
    output: Output = None,
    drop_conflicts: Conflicts = "keep",
    abstracts: Annotated[
        Path | None,
        typer.Option(help="Official JSONL folder that gives the paper's rows their abstract.", show_default=False),
    ] = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build a corpus from CSAbstruct, official JSONL or the paper's Parquet (default: corpora/csabstruct)."""
    from sectioncls.corpora import build_csabstruct as build

    options = {"--drop-conflicts": drop_conflicts, "--abstracts": abstracts}
    corpus = build(
        src,
        output or Path("corpora/csabstruct"),
        command=build_command("build-csabstruct", src, options, {"--drop-conflicts": "keep"}),
        conflicts=drop_conflicts,
        abstracts=abstracts,
        overwrite=overwrite,
    )
    show_corpus(corpus, as_json=as_json, quiet=quiet)


def build_rct(
    src: Source,
    output: Output = None,
    drop_conflicts: Conflicts = "keep",
    sizes: Annotated[
        str | None,
        typer.Option(help="TRAIN,DEV,TEST: cut a single file into so many abstracts, in order.", show_default=False),
    ] = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build a corpus from PubMed-RCT text files or NICTA-PIBOSO in that form (default: corpora/SCHEME)."""
    from sectioncls.corpora import build_rct as build

    corpus = build(
        src,
        output,
        command=build_command(
            "build-rct",
            src,
            {"--drop-conflicts": drop_conflicts, "--sizes": sizes},
            {"--drop-conflicts": "keep"},
        ),
        conflicts=drop_conflicts,
        sizes=None if sizes is None else _numbers(sizes),
        overwrite=overwrite,
    )
    show_corpus(corpus, as_json=as_json, quiet=quiet)


def build_pmc_sents(
    src: Source,
    output: Output = None,
    roles: Annotated[
        str | None,
        typer.Option("--as", help="OURS=THEIRS,…: which file is which split, as train=dev,test=test."),
    ] = None,
    drop_conflicts: Conflicts = "keep",
    seed: Seed = 0,
    overwrite: Overwrite = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build a corpus from the paper's PMC-Sents-FULL Parquet files (default: corpora/pmc-sents-full)."""
    from sectioncls.corpora import build_pmc_sents as build

    options = {"--as": roles, "--drop-conflicts": drop_conflicts, "--seed": seed}
    corpus = build(
        src,
        output or Path("corpora/pmc-sents-full"),
        command=build_command("build-pmc-sents", src, options, {"--drop-conflicts": "keep", "--seed": 0}),
        roles=None if roles is None else _roles(roles),
        seed=seed,
        conflicts=drop_conflicts,
        overwrite=overwrite,
    )
    show_corpus(corpus, as_json=as_json, quiet=quiet)


def build_pmc(
    xml: Annotated[list[Path], typer.Option("--xml", help="JATS file, folder or archive; may be given several times.")],
    output: Output = None,
    scheme: Annotated[str, typer.Option(help="Label scheme: a name (`labels list`) or a .toml file.")] = "pmc-sents",
    require: Annotated[
        str,
        typer.Option(help="Labels that an article's headings must give: four (the scheme's own), none or labels=a,b."),
    ] = "four",
    lang: Annotated[
        list[str] | None, typer.Option(help="Keep only articles in these languages, as en,pt.", show_default=False)
    ] = None,
    licence: Annotated[
        list[str] | None,
        typer.Option(help="Keep only articles with these licences, as cc-by,cc0.", show_default=False),
    ] = None,
    sub_articles: Annotated[
        bool, typer.Option("--sub-articles", help="Read sub-articles and responses as articles of their own.")
    ] = False,
    near_duplicates: Annotated[
        bool, typer.Option("--near-duplicates", help="Also list articles that share most of their words.")
    ] = False,
    split: Annotated[
        Literal["article", "sentence"],
        typer.Option(help="Split by article, or by sentence as the paper did."),
    ] = "article",
    splitter: Annotated[
        str,
        typer.Option(help="Sentence splitter: scisplit, sentencizer (the paper's way), pysbd, … or a spaCy model."),
    ] = "scisplit",
    normalise: Annotated[
        Literal["paper"] | None,
        typer.Option(
            help="paper: sentences as in PMC-Sents-FULL, lower case and without brackets.", show_default=False
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = 0,
    engine: Annotated[Literal["local", "ray"], typer.Option(help="Read on this machine, or on Ray.")] = "local",
    address: Annotated[
        str | None, typer.Option(help="Ray cluster to read on, as auto or HOST:PORT.", show_default=False)
    ] = None,
    overwrite: Overwrite = False,
    resume: Resume = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build a corpus from JATS articles, each sentence labelled by its section (default: corpora/pmc)."""
    from sectioncls.audit.stats import corpus_stats
    from sectioncls.corpora import build_pmc as build

    languages, licences = comma_words(lang), comma_words(licence)
    options = {
        "--scheme": (scheme, "pmc-sents"),
        "--require": (require, "four"),
        "--lang": (",".join(languages), ""),
        "--licence": (",".join(licences), ""),
        "--sub-articles": (sub_articles, False),
        "--near-duplicates": (near_duplicates, False),
        "--split": (split, "article"),
        "--splitter": (splitter, "scisplit"),
        "--normalise": (normalise or "", ""),
        "--seed": (seed, 0),
    }
    given = {option: value for option, (value, _) in options.items()}
    defaults = {option: default for option, (_, default) in options.items()}
    sources = " ".join(f"--xml {shlex.quote(str(path))}" for path in xml)
    out = output or Path("corpora/pmc")
    start = time.perf_counter()
    with resumable(out, quiet=quiet):
        corpus, counts = build(
            xml,
            out,
            command=build_command(f"build-pmc {sources}", None, given, defaults),
            scheme=scheme,
            require=require,
            languages=languages,
            licences=licences,
            sub_articles=sub_articles,
            near_duplicates=near_duplicates,
            split_by=split,
            splitter=splitter,
            normalise=normalise or "",
            seed=seed,
            jobs=jobs,
            engine=engine,
            address=address,
            overwrite=overwrite,
            resume=resume,
            watch=lambda documents: watched(documents, quiet=quiet),
        )
    seconds = time.perf_counter() - start
    rates = {
        "seconds": round(seconds, 1),
        "articles_per_second": round(counts.articles / seconds, 1),
        "sentences_per_second": round(corpus.info.sentences / seconds, 1),
    }
    note(
        f"{counts.articles} articles and {corpus.info.sentences} sentences in {seconds:.1f} s "
        f"({rates['articles_per_second']} articles/s, {rates['sentences_per_second']} sentences/s)",
        quiet=quiet,
    )
    counted = corpus_stats(corpus, tokens=False, titles=10)
    if not as_json:
        for container, count in counts.documents.items():
            print(f"{container}: {count} documents, {counts.left_out[container]} left out")
        print(f"articles found {counts.articles}, kept {counts.kept}; rejected.jsonl names what was left out")
    more = {"read": asdict(counts), "content": asdict(counted)} | rates
    show_corpus(corpus, as_json=as_json, quiet=quiet, more=more, counted=counted)


@contextmanager
def resumable(out: Path, *, quiet: bool) -> Iterator[None]:
    """Say, where a build of ``out`` is interrupted and has set something aside, how it goes on."""
    try:
        yield
    except KeyboardInterrupt:
        if out.with_name(f"{out.name}.building").exists():
            note("--resume goes on with this build", quiet=quiet)
        raise


def watched(documents: Watched, *, quiet: bool) -> Iterator[str]:
    """Give the documents on, and show how many are done of how many."""
    return progress(documents, unit="documents", expected=documents.expected, quiet=quiet)


def build_command(verb: str, src: Path | None, options: Mapping[str, object], defaults: Mapping[str, object]) -> str:
    """Give the call as corpus.json keeps it: what decides the rows, without the rest."""
    words = [f"sectioncls {verb}"]
    if src is not None:
        words.append(shlex.quote(str(src)))
    for option, value in options.items():
        if value is True:
            words.append(option)
        elif value is not None and value != defaults.get(option):
            words.append(f"{option} {shlex.quote(str(value))}")
    return " ".join(words)


def comma_words(options: list[str] | None) -> list[str]:
    """Give the words of an option that may be repeated or hold a comma list."""
    return [word.strip() for option in options or () for word in option.split(",") if word.strip()]


def _numbers(text: str) -> tuple[int, ...]:
    """Give the numbers of ``700,100,200``. Raises UsageError for anything else."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise UsageError(f"--sizes {text!r} is not three numbers", None, "as 700,100,200") from error


def _roles(text: str) -> dict[str, str]:
    """Give {our split: file's split} of ``train=dev,test=test``. Raises UsageError for anything else."""
    roles = {}
    for part in text.split(","):
        ours, equals, theirs = (word.strip() for word in part.partition("="))
        if not (ours and equals and theirs) or ours in roles:
            raise UsageError(f"--as {text!r} is not understood", None, "as train=dev,test=test")
        roles[ours] = theirs
    return roles


def show_corpus(
    corpus: Corpus,
    *,
    as_json: bool,
    quiet: bool,
    more: dict[str, Any] | None = None,
    counted: CorpusStats | None = None,
) -> None:
    """Print what was built: as JSON, or one row a split, what was ``counted``, and notes on stderr."""
    info = corpus.info
    if as_json:
        content = asdict(info) | {"path": str(corpus.path)} | (more or {})
        print(json.dumps(content, indent=1, ensure_ascii=False))
        return
    heads = [
        "split",
        "articles" if info.has_articles else "(rows)",
        "sentences",
        *info.labels,
        "words (mean, max)",
    ]
    rows = [heads]
    for split in corpus.splits:
        counts, lengths = info.counts[split], info.lengths[split]
        rows.append(
            [
                split,
                str(info.articles[split]),
                str(sum(counts.values())),
                *(str(counts[label]) for label in info.labels),
                f"{lengths['mean_words']:.1f}, {lengths['max_words']}",
            ]
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    for row in rows:
        cells = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        print(f"{row[0].ljust(widths[0])}  {'  '.join(cells)}")
    print(f"{info.sentences} sentences in {corpus.path}")
    if counted is not None:
        print("\n".join(content_lines(counted, titles=10)))
    else:
        for reason, count in info.dropped.items():
            print(f"left out: {count} ({reason})")
    for text in info.notes:
        note(f"note: {text}", quiet=quiet)
