"""``sectioncls finetune``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from sectioncls.cli.options import Json, Output, Overwrite, Quiet, Resume, Seed

__all__ = ["finetune"]


def finetune(
    model: Annotated[str, typer.Option(help="minilm, scibert, a folder, or a hub id.")] = "minilm",
    corpus: Annotated[Path | None, typer.Option(help="A corpus folder; default: the only one in corpora/.")] = None,
    output: Output = None,
    preset: Annotated[
        Literal["default", "paper"],
        typer.Option(help="default: quick, stopped by dev; paper: arXiv 2404.00224 (20 epochs, margin 5)."),
    ] = "default",
    objective: Annotated[
        str,
        typer.Option(
            help="triplet, soft-triplet, batch-hard, semi-hard, contrastive, supcon, npair, multi-similarity, arcface, "
            "centre, ce (a linear head), crf (labels of an article in sequence); or a sum: ce+0.5*supcon. "
            "hsln: a BiLSTM and a chain on the encoder as it is, in a minute."
        ),
    ] = "triplet",
    pooling: Annotated[
        Literal["mean", "cls"] | None, typer.Option(help="Pool anew; default: as the model does (cls for ce).")
    ] = None,
    context: Annotated[
        Literal["none", "window"], typer.Option(help="none: sentences alone; window: each as it stands in its article.")
    ] = "none",
    window: Annotated[int, typer.Option(min=16, help="Tokens per window.")] = 512,
    overlap: Annotated[int, typer.Option(min=0, help="Tokens of neighbouring sentences that a window reads.")] = 64,
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
    smoothing: Annotated[float, typer.Option(min=0, max=1, help="Label smoothing of ce.")] = 0.0,
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
    from sectioncls.recipes import FinetuneOptions, load_start
    from sectioncls.recipes import finetune as run

    options = FinetuneOptions(
        model=model,
        revision=revision,
        preset=preset,
        objective=objective,
        context=context,
        window=window,
        overlap=overlap,
        pooling=pooling,
        tune=tune,
        rank=rank,
        freeze=freeze,
        delta=delta,
        margin=margin,
        temperature=temperature,
        smoothing=smoothing,
        weigh_rows=weigh_rows,
        distance=distance,
        epochs=epochs,
        learning_rate=learning_rate,
        batch_size=batch_size,
        chunk=chunk,
        warmup=warmup,
        precision=precision,
        patience=patience,
    )
    # The model first: what is missing on this machine is said before anything is read.
    encoder = load_start(options, "")
    data = open_corpus(corpus or only_corpus())
    folder = output or Path("encoders") / f"{data.name}-{Path(model).name}"
    done = run(
        data,
        options,
        folder,
        seed=seed,
        encoder=encoder,
        overwrite=overwrite,
        resume=resume,
        observer=observer(quiet=quiet),
    )
    if as_json:
        print(json.dumps({"folder": str(done.folder), "name": done.name, "dev": done.dev, "notes": done.notes}))
        return
    scores = ", ".join(f"{name} {100 * done.dev[name]:.2f}" for name in ("f1-micro", "ari", "ami") if name in done.dev)
    print(f"{done.folder}: {done.name}, dev {scores}")
