"""Putting an encoder's folder on the Hugging Face hub: what we wrote, and nothing else that lies there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sectioncls.encoders import read_facts
from sectioncls.errors import InputError, ModelError, UsageError
from sectioncls.staging import folder_files

__all__ = ["Pushed", "encoder_files", "push_encoder"]

_REPO = re.compile(r"[\w.-]+(?:/[\w.-]+)?")
_FACTS = "sectioncls.json"
# What an encoder can't be loaded without, one of these.
_WEIGHTS = (".safetensors", ".onnx", ".xml")


@dataclass(frozen=True, slots=True)
class Pushed:
    """What is on the hub, or with a dry run would be: bytes by file, where; ``left`` are files that are not ours."""

    repo: str
    url: str
    files: dict[str, int]
    left: tuple[str, ...]


def encoder_files(folder: Path) -> tuple[dict[str, int], tuple[str, ...]]:
    """Give the files that an encoder's manifest lists, with their bytes, and those that it does not.

    Raises InputError for a folder that is no encoder of ours, one that lacks a file of its own, and links.
    """
    facts = read_facts(folder)
    listed = facts.get("files")
    if not folder.is_dir() or not isinstance(listed, list):
        raise InputError("is no encoder that sectioncls wrote", folder, "name a folder that finetune made")
    there = folder_files(folder)
    ours = sorted({str(name) for name in listed} | {_FACTS})
    missing = [name for name in ours if name not in there]
    if missing:
        raise InputError(f"lacks {missing[0]}, which its manifest lists", folder, "make the encoder again")
    if not any(name.endswith(_WEIGHTS) for name in ours):
        raise InputError("holds no weights", folder, "make the encoder again")
    linked = [name for name in ours if (folder / name).is_symlink()]
    if linked:
        raise InputError(f"{linked[0]} is a link", folder, "put the file itself there")
    return {name: (folder / name).stat().st_size for name in ours}, tuple(sorted(set(there) - set(ours)))


def push_encoder(folder: Path, repo: str, *, private: bool = False, dry_run: bool = False, api: Any = None) -> Pushed:
    """Put the encoder in ``folder`` into the hub's repository ``repo`` (NAME or OWNER/NAME), made where it is missing.

    With ``dry_run`` nothing is asked or sent. ``api`` stands for huggingface_hub's HfApi. Raises InputError for a
    folder that is no encoder of ours, UsageError for a name that the hub would not take, ModelError when the hub can't
    be reached or refuses.
    """
    files, left = encoder_files(folder)
    if _REPO.fullmatch(repo) is None:
        raise UsageError(f"{repo!r} is no name of a repository", todo="NAME or OWNER/NAME")
    if dry_run:
        return Pushed(repo, "", files, left)
    if api is None:
        from huggingface_hub import HfApi

        api = HfApi(library_name="sectioncls")
    try:
        made = api.create_repo(repo, private=private, exist_ok=True)
        whole = str(getattr(made, "repo_id", repo))
        # The patterns of the hub know * and [: names of ours have neither.
        api.upload_folder(
            repo_id=whole,
            folder_path=folder,
            allow_patterns=list(files),
            commit_message=f"{read_facts(folder).get('name', folder.name)}, made by sectioncls",
        )
    except Exception as error:  # the hub's errors, and those of the network below it, have no common root
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        todo = "log in with `hf auth login`, and go online" if _is_access(error) else None
        raise ModelError(f"can't be pushed: {reason}", repo, todo) from error
    return Pushed(whole, str(made), files, left)


def _is_access(error: Exception) -> bool:
    """Tell an error of tokens or of the network from one of what was sent."""
    names = {kind.__name__ for kind in type(error).__mro__}
    status = getattr(getattr(error, "response", None), "status_code", None)
    missing = {"LocalTokenNotFoundError", "OfflineModeIsEnabled", "ConnectionError", "ConnectError", "TimeoutException"}
    return bool(names & missing) or status in (401, 403)
