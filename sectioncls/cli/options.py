"""Options that mean the same in every verb, declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Cache", "Jobs", "Json", "Output", "Overwrite", "Quiet", "Resume", "Seed"]

Output = Annotated[
    Path | None, typer.Option("-o", "--output", help="Where to write; each verb has a default.", show_default=False)
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an output folder that sectioncls made.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on where an interrupted call stopped.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of everything random.")]
Jobs = Annotated[int, typer.Option("--jobs", help="Worker processes; 0 takes one per core.", min=0)]
Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        envvar="SECTIONCLS_CACHE",
        help="A folder to keep vectors in, and to take them from when known.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print results as JSON on stdout.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress and no notes on stderr.")]
