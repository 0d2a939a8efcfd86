"""``sectioncls push``."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from sectioncls.cli.options import Json, Quiet

__all__ = ["push"]


def push(
    encoder: Annotated[Path, typer.Argument(help="An encoder's folder.", show_default=False)],
    repo: Annotated[str, typer.Argument(help="NAME or OWNER/NAME on the Hugging Face hub.", show_default=False)],
    private: Annotated[bool, typer.Option("--private", help="Make the repository private.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be sent, and send nothing.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Put an encoder on the Hugging Face hub, with its card; only files that sectioncls wrote are sent.

    Example: sectioncls push encoders/csabstruct-minilm me/csabstruct-minilm --dry-run
    """
    from sectioncls.recipes.push import push_encoder

    done = push_encoder(encoder, repo, private=private, dry_run=dry_run)
    if done.left and not quiet:
        print(f"note: left out, not ours: {', '.join(done.left)}", file=sys.stderr)
    if as_json:
        print(json.dumps({**asdict(done), "sent": not dry_run}))
        return
    for name, size in done.files.items():
        print(f"{size:>14,}  {name}")
    total = sum(done.files.values())
    print(f"{total:>14,}  in {len(done.files)} files {'would go' if dry_run else 'went'} to {done.url or done.repo}")
