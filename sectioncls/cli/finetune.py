"""``sectioncls finetune``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sectioncls.cli.options import Json, Output, Overwrite, Quiet, Resume, Seed

if TYPE_CHECKING:
    from sectioncls.recipes import Finetuned, SearchOptions

__all__ = ["finetune"]

_SHOWN = ("f1-micro", "ari", "ami")


def finetune(
    model: Annotated[str, typer.Option(help="minilm, scibert, a folder, or a hub id.")] = "minilm",
    corpus: Annotated[Path | None, typer.Option(help="A corpus folder; default: the only one in corpora/.")] = None,
    output: Output = None,
    preset: Annotated[
        Literal["default", "paper", "cls"],
        typer.Option(
            help="default: quick, stopped by dev; paper: arXiv 2404.00224 (20 epochs, margin 5); cls: a [CLS] "
            "classifier with balanced labels and label smoothing, stopped by dev."
        ),
    ] = "default",
    objective: Annotated[
        str | None,
        typer.Option(
            help="triplet (default), soft-triplet, batch-hard, semi-hard, contrastive, supcon, npair, "
            "multi-similarity, arcface, centre, ce (a linear head), crf (labels of an article in sequence); or a sum: "
            "ce+0.5*supcon. hsln: a BiLSTM and a chain on the encoder as it is, in a minute."
        ),
    ] = None,
    pooling: Annotated[
        Literal["mean", "cls"] | None, typer.Option(help="Pool anew; default: as the model does (cls for ce).")
    ] = None,
    context: Annotated[
        Literal["none", "window"], typer.Option(help="none: sentences alone; window: each as it stands in its article.")
    ] = "none",
    window: Annotated[int, typer.Option(min=16, help="Tokens per window.")] = 512,
    overlap: Annotated[int, typer.Option(min=0, help="Tokens of neighbouring sentences that a window reads.")] = 64,
    titles: Annotated[
        bool, typer.Option("--titles", help="Windows also read the titles above their sentences.")
    ] = False,
    place: Annotated[
        bool, typer.Option("--place", help="Windows also read in which tenth of the article they stand.")
    ] = False,
    tune: Annotated[
        Literal["all", "bitfit", "lora"], typer.Option(help="All weights, the biases, or low-rank additions (peft).")
    ] = "all",
    rank: Annotated[int, typer.Option(min=1, help="Rank of LoRA.")] = 16,
    freeze: Annotated[
        int, typer.Option(min=0, help="Lowest layers that stay as they are; what they give is computed once.")
    ] = 0,
    delta: Annotated[bool, typer.Option("--delta", help="Write only what bitfit or lora changed.")] = False,
    margin: Annotated[float | None, typer.Option(min=0, help="Margin of triplet and contrastive losses.")] = None,
    temperature: Annotated[float, typer.Option(help="Temperature of supcon and npair.")] = 0.1,
    smoothing: Annotated[float | None, typer.Option(min=0, max=1, help="Label smoothing of ce.")] = None,
    dropout: Annotated[float | None, typer.Option(min=0, max=1, help="Dropout before the classifier.")] = None,
    class_weights: Annotated[
        Literal["none", "balanced"] | None, typer.Option(help="balanced: every label counts alike in ce.")
    ] = None,
    weigh_rows: Annotated[
        bool,
        typer.Option("--weigh-rows", help="Weigh sentences by the annotators' agreement, where the corpus has it."),
    ] = False,
    distance: Annotated[Literal["euclidean", "cosine"], typer.Option(help="Distance of the loss.")] = "euclidean",
    epochs: Annotated[float | None, typer.Option(help="Passes over train.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Peak learning rate.")] = None,
    batch_size: Annotated[int | None, typer.Option(min=4, help="Sentences (with windows: windows) per batch.")] = None,
    chunk: Annotated[
        int,
        typer.Option(min=0, help="Sentences with a graph at once: huge batches in little memory, the same gradient."),
    ] = 0,
    warmup: Annotated[float | None, typer.Option(min=0, max=1, help="Share of the steps that warm up.")] = None,
    patience: Annotated[
        int | None, typer.Option(min=0, help="Dev checks without a better one before stopping; 0 never stops.")
    ] = None,
    precision: Annotated[Literal["float32", "bf16"], typer.Option(help="bf16: autocast.")] = "float32",
    revision: Annotated[str | None, typer.Option(help="Revision of a hub model.")] = None,
    search: Annotated[
        str | None,
        typer.Option(
            help="First search the settings on dev: default (optuna), learning-rate (four rates, no optuna), or a TOML "
            "file with a table [search]."
        ),
    ] = None,
    trials: Annotated[int | None, typer.Option(min=1, help="Trials of the search, at most.")] = None,
    minutes: Annotated[float | None, typer.Option(min=0, help="Minutes of the search, at most.")] = None,
    seeds: Annotated[
        int, typer.Option(min=1, help="Train with so many seeds, from --seed on, each in its own folder seed-N.")
    ] = 1,
    track: Annotated[
        Literal["tensorboard", "wandb", "trackio"] | None,
        typer.Option(help="Tell a tracker of every step; tensorboard's files go to OUTPUT.logs."),
    ] = None,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    resume: Resume = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fine-tune a sentence encoder on a corpus (default output: encoders/CORPUS-MODEL).

    Example: sectioncls finetune --model minilm --corpus corpora/csabstruct
    """
    from sectioncls.cli.observing import observer
    from sectioncls.corpora import only_corpus, open_corpus
    from sectioncls.recipes import FinetuneOptions, check_search, finetune_seeds, load_start
    from sectioncls.recipes.schema import checked
    from sectioncls.training import Tracking, check_tracker, first_process

    asked = {
        "model": model,
        "revision": revision,
        "preset": preset,
        "objective": objective,
        "context": context,
        "window": window,
        "overlap": overlap,
        "titles": titles,
        "place": place,
        "pooling": pooling,
        "tune": tune,
        "rank": rank,
        "freeze": freeze,
        "delta": delta,
        "margin": margin,
        "temperature": temperature,
        "smoothing": smoothing,
        "dropout": dropout,
        "class_weights": class_weights,
        "weigh_rows": weigh_rows,
        "distance": distance,
        "epochs": epochs,
        "learning_rate": learning_rate,
        "batch_size": batch_size,
        "chunk": chunk,
        "warmup": warmup,
        "precision": precision,
        "patience": patience,
    }
    options: FinetuneOptions = checked(FinetuneOptions, asked, "finetune", usage=True)
    looked = _search(search, trials, minutes)
    # What is missing on this machine is said before anything is read.
    if looked is not None:
        check_search(looked, options)
    if track is not None:
        check_tracker(track)
    encoder = load_start(options, "")
    data = open_corpus(corpus or only_corpus())
    folder = output or Path("encoders") / f"{data.name}-{Path(model).name}"
    logs = folder.with_name(f"{folder.name}.logs")
    made = finetune_seeds(
        data,
        options,
        folder,
        seeds=range(seed, seed + seeds),
        search=looked,
        encoder=encoder,
        overwrite=overwrite,
        resume=resume,
        observer=observer(quiet=quiet or not first_process()),
        track=None if track is None else Tracking(track, folder.name, logs),
    )
    if not first_process():
        return
    if as_json:
        rows = [{"folder": str(d.folder), "name": d.name, "dev": d.dev, "notes": d.notes} for d in made]
        print(json.dumps(rows[0] if seeds == 1 else rows))
        return
    for done in made:
        known = [name for name in _SHOWN if name in done.dev]
        print(f"{done.folder}: {done.name}, dev " + ", ".join(f"{name} {100 * done.dev[name]:.2f}" for name in known))
    if len(made) > 1:
        print(_over_seeds(made))


def _search(name: str | None, trials: int | None, minutes: float | None) -> SearchOptions | None:
    """Give the search that ``--search`` names, with the budgets of the call."""
    from sectioncls.errors import UsageError
    from sectioncls.recipes.presets import SEARCHES
    from sectioncls.recipes.schema import read_search

    if name is None:
        if trials is not None or minutes is not None:
            raise UsageError("--trials and --minutes are for a search", todo="add --search default")
        return None
    if name not in SEARCHES and not Path(name).suffix:
        raise UsageError(f"there is no search {name!r}", todo=f"{', '.join(SEARCHES)}, or a TOML file")
    found = SEARCHES[name] if name in SEARCHES else read_search(Path(name))
    budgets = {"trials": trials, "minutes": minutes}
    return found.model_copy(update={key: value for key, value in budgets.items() if value is not None})


def _over_seeds(made: Sequence[Finetuned]) -> str:
    """Give mean, deviation and range of dev's scores over the seeds."""
    from sectioncls.downstream import spread

    parts = []
    for name in _SHOWN:
        values = [100 * done.dev[name] for done in made if name in done.dev]
        if values:
            over = spread(values)
            sd = "" if over.deviation is None else f" ± {over.deviation:.2f}"
            parts.append(f"{name} {over.mean:.2f}{sd} ({over.low:.2f} to {over.high:.2f})")
    return f"{len(made)} seeds, dev: " + ", ".join(parts)
