"""The working folder of one fine-tuning: settings, history, checkpoint and best state."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sectioncls.errors import InputError, OutputError
from sectioncls.recipes.observer import Observer
from sectioncls.staging import check_output, disk_errors, folder_files, write_json
from sectioncls.training import (
    State,
    Step,
    first_process,
    load_checkpoint,
    peek_checkpoint,
    save_checkpoint,
    wait_for_all,
)

__all__ = ["Desk", "Row"]

Row = dict[str, Any]


class Desk:
    """The working folder of one fine-tuning: settings, history, checkpoint and best state.

    Of several processes the first alone writes.
    """

    def __init__(self, folder: Path, signature: Row, *, resume: bool, overwrite: bool) -> None:
        self.folder = folder
        self.checkpoint = folder / "checkpoint.safetensors"
        self.best = folder / "best.safetensors"
        self.log = folder / "history.jsonl"
        self.notes: list[str] = []
        self.first = first_process()
        if self.first:
            self._open(signature, resume=resume, overwrite=overwrite)
        wait_for_all()

    def _open(self, signature: Row, *, resume: bool, overwrite: bool) -> None:
        folder = self.folder
        started = folder / "training.json"
        if resume and self.checkpoint.is_file():
            _check_same(started, signature)
            return
        if started.is_file() and not (resume or overwrite):
            raise OutputError("holds an interrupted training", folder, "--resume goes on, --overwrite starts again")
        if folder.exists():
            _check_ours(folder, started)
            shutil.rmtree(folder)
        write_json(started, signature)

    def restore(self, state: State) -> None:
        """Bring the state to the last checkpoint, and the history to the same step."""
        if not self.checkpoint.is_file():
            return
        load_checkpoint(state, self.checkpoint)
        if self.first:
            rows = [row for row in self.history() if row["step"] <= state.step]
            self.log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        wait_for_all()
        self.notes = list(state.extra.get("notes", []))

    def history(self) -> list[Row]:
        """Give every whole row written so far."""
        if not self.log.is_file():
            return []
        lines = self.log.read_text(encoding="utf-8").split("\n")[:-1]
        return [json.loads(line) for line in lines]

    def append(self, row: Row) -> None:
        """Add one row to the history."""
        if not self.first:
            return
        with disk_errors(self.log), self.log.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")

    def step(self, step: Step, unit: str = "sentences") -> None:
        """Log one optimiser step, a row a task; the first tells the step's rows, called ``unit``."""
        for place, (task, loss) in enumerate(step.losses.items()):
            self.append(
                {
                    "kind": "step",
                    "step": step.number,
                    "epoch": round(step.epoch, 4),
                    "task": task,
                    "loss": loss,
                    "learning_rate": step.learning_rate,
                    "seconds": round(step.seconds, 4),
                    **({} if place else {unit: step.rows}),
                }
            )

    def dev(
        self,
        state: State,
        epoch: float,
        scores: dict[str, float],
        observer: Observer,
        shown: Sequence[str] = ("f1-micro", "ari"),
    ) -> None:
        """Log dev's scores and keep them in the state; those ``shown`` are said."""
        state.extra["dev"] = scores
        self.append({"kind": "dev", "step": state.step, "epoch": round(epoch, 4), **scores})
        said = "  ".join(f"{name} {100 * value:.1f}" for name, value in scores.items() if name in shown)
        observer.note(f"epoch {epoch:.1f}  dev {said}")

    def note(self, state: State, text: str, observer: Observer) -> None:
        """Log a remark that must reach the model card and the report."""
        self.notes.append(text)
        state.extra["notes"] = list(self.notes)
        self.append({"kind": "note", "step": state.step, "text": text})
        observer.note(f"note: {text}")

    def save(self, state: State) -> None:
        """Write a checkpoint; every process comes back when it is there."""
        if self.first:
            save_checkpoint(state, self.checkpoint)
        wait_for_all()

    def keep(self, state: State, choice: str) -> None:
        """Keep the state's weights when dev likes them best so far; count the checks without a better one."""
        value = state.extra["dev"][choice]
        if value > state.extra.get("best", {}).get(choice, -1.0):
            state.extra.update(best=dict(state.extra["dev"]), worse=0)
            if self.first:
                save_checkpoint(dataclasses.replace(state, optimiser=_NO_OPTIMISER), self.best)
        else:
            state.extra["worse"] = state.extra.get("worse", 0) + 1

    def take_best(self, state: State) -> dict[str, float]:
        """Bring the best weights back and give their dev scores."""
        wait_for_all()
        load_checkpoint(state, self.best)
        return dict(peek_checkpoint(self.best)["extra"]["best"])

    def clear(self) -> None:
        """Remove the folder, when the encoder is written."""
        if self.first:
            shutil.rmtree(self.folder)
        wait_for_all()


_OWN = ("training.json", "history.jsonl", "checkpoint.safetensors", "best.safetensors", "diverged.json")


def _check_ours(folder: Path, started: Path) -> None:
    """Raise OutputError unless the folder may go: it is empty, or holds what a training leaves and nothing else."""
    if not started.is_file():
        check_output(folder, overwrite=False)
        return
    for name in folder_files(folder):
        if name not in _OWN and not name.endswith(".part"):
            raise OutputError(f"holds files that are not ours ({name})", folder, "choose another -o")


def _check_same(started: Path, signature: Row) -> None:
    """Raise InputError unless a training was started with the same settings, on the same corpus, by this version."""
    again = "start again without --resume"
    try:
        kept = dict(json.loads(started.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise InputError("does not say how the training was started", started, again) from error
    missing = [key for key in signature if key not in kept]
    if missing:
        what = f"was started by another version of sectioncls, which knew no {missing[0]}"
        raise InputError(what, started.parent, again)
    for key, value in signature.items():
        if kept[key] != value:
            what = _OTHER.get(key) or f"was started with {key} {kept[key]}, not {value}"
            raise InputError(what, started.parent, f"give the same options, or {again}")


# What a fingerprint stands for.
_OTHER = {
    "corpus": "was started on another corpus",
    "papers": "was started on another paper set",
    "weights": "was started from other weights",
    "start": "was started from other weights",
}

# The best state is only ever read for its weights.
_NO_OPTIMISER: Any = type("NoOptimiser", (), {"param_groups": (), "state": {}})()
