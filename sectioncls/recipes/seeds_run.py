"""Fine-tuning as it is asked for: its settings searched on dev first, then one training for each seed."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sectioncls.corpora import Corpus
from sectioncls.encoders import Encoder, read_facts, read_history
from sectioncls.errors import InputError, UsageError
from sectioncls.recipes.facts import model_facts
from sectioncls.recipes.finetune import Finetuned, finetune
from sectioncls.recipes.finetune_sequence import sequence_options
from sectioncls.recipes.hpo import check_search, search_options
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.recipes.presets import plan
from sectioncls.recipes.schema import FinetuneOptions, SearchOptions
from sectioncls.staging import check_output, folder_files, write_json
from sectioncls.training import Tracking

__all__ = ["TRIALS", "finetune_seeds", "keep_trials", "seed_folders"]

TRIALS = "trials.jsonl"
"""The journal of a search, beside the encoder or in the run that it was made for."""


def seed_folders(folder: Path, seeds: Sequence[int]) -> dict[int, Path]:
    """Give where the encoder of each seed lies: ``folder`` itself for one seed, ``folder/seed-N`` for several."""
    if len(seeds) == 1:
        return {seeds[0]: folder}
    return {seed: folder / f"seed-{seed}" for seed in seeds}


def finetune_seeds(
    corpus: Corpus,
    options: FinetuneOptions,
    folder: Path,
    *,
    seeds: Sequence[int] = (0,),
    search: SearchOptions | None = None,
    journal: Path | None = None,
    encoder: Encoder | None = None,
    work: Path | None = None,
    overwrite: bool = False,
    resume: bool = False,
    observer: Observer = SILENT,
    track: Tracking | None = None,
) -> list[Finetuned]:
    """Fine-tune once for each of ``seeds``, in folders as ``seed_folders`` names them, and give what each gave.

    ``search`` looks for the settings first, with the first seed; its journal is ``journal``, or lies in
    ``FOLDER.search/`` while it runs and with the encoder afterwards. ``encoder`` is the model when the caller has
    loaded it already. With ``resume`` whole encoders stay, and what was cut off goes on. Raises what ``finetune`` and
    ``search_options`` raise, InputError for an encoder that is there and was trained otherwise.
    """
    if not seeds or len(set(seeds)) < len(seeds):
        raise UsageError("give one seed or more, each once", "seeds")
    folders = seed_folders(folder, seeds)
    if search is not None:
        check_search(search, options)
    for place in folders.values():
        check_output(place, overwrite=overwrite or resume)
    facts: dict[str, Any] = {}
    aside = folder.with_name(f"{folder.name}.search")
    kept = journal or aside / TRIALS
    if search is not None:
        if resume and journal is None and not kept.is_file():
            _bring_back(kept, folders)
        found = search_options(
            corpus,
            options,
            search,
            kept,
            work=None if work is None else work / "trials",
            seed=seeds[0],
            resume=resume,
            overwrite=overwrite,
            observer=observer,
        )
        options, facts, encoder = found.options, {"search": found.facts}, encoder if len(seeds) == 1 else None
    made = []
    for seed, place in folders.items():
        if len(seeds) > 1:
            observer.note(f"seed {seed}")
        done = _whole(place, corpus, options, seed) if resume else None
        made.append(
            done
            or finetune(
                corpus,
                options,
                place,
                seed=seed,
                encoder=encoder,
                work=work if work is None or len(seeds) == 1 else work / f"seed-{seed}",
                overwrite=overwrite,
                resume=resume,
                observer=observer,
                track=_named(track, seed, len(seeds)),
                facts=facts,
            )
        )
        encoder = None  # it has learnt, and the next seed starts anew
        if search is not None and journal is None and done is None:
            keep_trials(place, kept)
    if search is not None and journal is None:
        shutil.rmtree(aside, ignore_errors=True)
    return made


def keep_trials(folder: Path, journal: Path) -> None:
    """Put the journal of a search into an encoder's folder, listed in its manifest."""
    facts = read_facts(folder)
    write_json(folder / "sectioncls.json", {**facts, "files": sorted({*folder_files(folder), TRIALS})})
    shutil.copyfile(journal, folder / TRIALS)


def _bring_back(journal: Path, folders: Mapping[int, Path]) -> None:
    """Take the journal of a search that ended from the first encoder that was made after it."""
    for place in folders.values():
        if (place / TRIALS).is_file():
            journal.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(place / TRIALS, journal)
            return


def _whole(folder: Path, corpus: Corpus, options: FinetuneOptions, seed: int) -> Finetuned | None:
    """Give an encoder that an earlier call finished. Raises InputError where it was trained otherwise."""
    facts = read_facts(folder)
    if not facts:
        return None
    settings = plan(options, corpus.info.scheme)
    model = model_facts(options.model)["model"]
    wanted: dict[str, Any] = {**dataclasses.asdict(settings), "model": model, "seed": seed}
    if options.objective == "hsln":
        own = dataclasses.asdict(sequence_options(options))
        wanted = {"objective": "hsln", "model": model, **own, "seed": seed}
    training = facts.get("training", {})
    changed = [key for key, value in wanted.items() if training.get(key) != value]
    if facts.get("corpus", {}).get("fingerprint") != corpus.info.fingerprint:
        changed.insert(0, "corpus")
    if changed:
        what = f"holds an encoder that was trained with another {changed[0]}"
        raise InputError(what, folder, "give the same options, or --overwrite")
    notes = tuple(facts.get("notes", ()))
    return Finetuned(folder, facts["name"], settings, facts["dev"], notes, tuple(read_history(folder)))


def _named(track: Tracking | None, seed: int, seeds: int) -> Tracking | None:
    """Give each seed a name of its own in the tracker."""
    return track if track is None or seeds == 1 else dataclasses.replace(track, name=f"{track.name}-seed-{seed}")
