"""The command line: one file per verb; errors become one line, results go to stdout, progress to stderr."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from sectioncls import __version__
from sectioncls.cli import (
    build,
    build_jsonl,
    build_papers,
    check,
    compare,
    context,
    distill,
    encode,
    evaluate,
    export,
    fetch,
    finetune,
    labels,
    predict,
    push,
    read,
    report,
    run,
    search,
    split,
    stats,
    transfer,
)
from sectioncls.errors import SectionclsError, UsageError

__all__ = ["app", "main"]

app = typer.Typer(
    name="sectioncls",
    help="What each sentence of a scientific article does: corpora, encoders, evaluation and reports.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("read")(read.read)
app.command("build-csabstruct")(build.build_csabstruct)
app.command("build-rct")(build.build_rct)
app.command("build-pmc")(build.build_pmc)
app.command("build-pmc-sents")(build.build_pmc_sents)
app.command("build-jsonl")(build_jsonl.build_jsonl)
app.command("build-papers")(build_papers.build_papers)
app.command("fetch")(fetch.fetch)
app.command("stats")(stats.stats)
app.command("check")(check.check)
app.command("split")(split.split)
app.add_typer(labels.labels, name="labels")
app.command("finetune")(finetune.finetune)
app.command("encode")(encode.encode)
app.command("export")(export.export)
app.command("distill")(distill.distill)
app.command("evaluate")(evaluate.evaluate)
app.command("push")(push.push)
app.command("transfer")(transfer.transfer)
app.command("context")(context.context)
app.command("predict")(predict.predict)
app.command("compare")(compare.compare)
app.command("leaderboard")(compare.leaderboard)
app.command("search")(search.search)
app.command("related")(search.related)
app.command("report")(report.report)
app.command("run")(run.run)


def _version(asked: bool) -> None:
    if asked:
        print(f"sectioncls {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Options that stand before the verb."""


def main() -> None:
    """Run the command line: exit 0 done, 1 input or environment at fault, 2 wrong usage, 130 interrupted."""
    # Some libraries report home or draw bars of their own unless told otherwise before they load.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    debug = "--debug" in sys.argv[1:2]
    try:
        app()
    except SectionclsError as error:
        if debug:
            raise
        print(f"sectioncls: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, UsageError) else 1)
    except KeyboardInterrupt:
        print("sectioncls: interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output (head, less) has gone: nothing more to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except MemoryError:
        print("sectioncls: out of memory (a smaller --batch-size or corpus needs less)", file=sys.stderr)
        sys.exit(1)
    except Exception as error:  # a fault of ours: one line for the user, the traceback on demand
        if debug:
            raise
        what = " ".join(f"{type(error).__name__}: {error}".split())
        print(f"sectioncls: internal error, {what} (run `sectioncls --debug …` for the traceback)", file=sys.stderr)
        sys.exit(1)
