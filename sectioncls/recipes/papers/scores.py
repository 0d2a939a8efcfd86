"""Scores of a run's encoders and of words, kept once: what is there already is not counted again."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from sectioncls.downstream.protocols import PAPER_PROTOCOLS, PaperProtocol
from sectioncls.encoders import Encoder, encode_batches
from sectioncls.errors import UsageError
from sectioncls.recipes.observer import Observer
from sectioncls.recipes.paper_evaluate import Embed, evaluate_papers
from sectioncls.recipes.paper_results import PaperEvaluation, main_scores, system_of, task_means
from sectioncls.recipes.paper_scoring import setting
from sectioncls.recipes.paper_words import evaluate_words
from sectioncls.recipes.papers.material import Material
from sectioncls.recipes.papers.schema import PaperEvaluateOptions
from sectioncls.runs import Run

__all__ = ["check_scored", "embedder", "learnt_tasks", "score_encoder", "score_words"]

Vectors = npt.NDArray[np.float32]

# Vectors that are kept to be asked for again, about 1.5 kB each.
_REMEMBERED = 500_000


def embedder(encoder: Encoder, observer: Observer, *, precision: str = "float32") -> Embed:
    """Give the function ``embed(texts, task, side)`` of an encoder, with progress; ``bf16`` is half as exact.

    A conditioned encoder reads a text once a route, however many tasks and sides ask for it.
    """
    known: dict[int, dict[str, Vectors]] = {}

    def read(texts: Sequence[str], task: str, side: str) -> Vectors:
        tokens = encoder.tokenise(texts, task, side)
        vectors = np.zeros((tokens.items, encoder.dimension), dtype=np.float32)
        autocast = torch.autocast(encoder.device.type, torch.bfloat16, enabled=precision == "bf16")
        with observer.stage(f"encoding for {task}", tokens.items, "texts") as advance, autocast:
            for rows, block in encode_batches(encoder, tokens):
                vectors[rows] = block
                advance(len(rows))
        return vectors

    def embed(texts: Sequence[str], task: str, side: str) -> Vectors:
        if encoder.conditioning is None:
            return read(texts, task, side)
        if sum(map(len, known.values())) > _REMEMBERED:
            known.clear()
        there = known.setdefault(encoder.conditioning.route_of(task, side), {})
        new = [text for text in dict.fromkeys(texts) if text not in there]
        there.update(zip(new, read(new, task, side) if new else (), strict=True))
        return np.stack([there[text] for text in texts]) if texts else read(texts, task, side)

    return embed


def check_scored(material: Material, options: PaperEvaluateOptions) -> None:
    """Raise UsageError for a protocol or task that is not known, InputError for a split without anything to judge."""
    for split in options.splits:
        setting(material.papers, protocol=_protocol(options), split=split, tasks=options.tasks, whole=options.whole)


def score_encoder(
    run: Run,
    material: Material,
    encoder: Encoder,
    name: str,
    seed: int | None,
    tasks: Collection[str],
    options: PaperEvaluateOptions,
    observer: Observer,
) -> None:
    """Score an encoder into a run; ``seed`` is its training's (None: untrained), ``tasks`` are what it learnt from."""
    embed = embedder(encoder, observer, precision=options.precision)
    alike = encoder.conditioning is None and not any(encoder.model.prompts.values())
    for split in options.splits:
        if _there(run, name, split, seed):
            continue
        result = evaluate_papers(
            material.papers,
            embed,
            name=name,
            protocol=_protocol(options),
            split=split,
            tasks=options.tasks,
            whole=options.whole,
            separator=material.options.separator,
            search_texts=material.found if material.options.search_fields else None,
            least=options.least,
            shared=alike,
            observer=observer,
        )
        scores = result.scores if seed is None else [replace(score, seed=seed) for score in result.scores]
        there = dict.fromkeys(score.task for score in scores)
        scores += task_means(scores, trained=learnt_tasks(tasks, tuple(there)))
        _keep(run, replace(result, scores=scores), split)


def score_words(run: Run, material: Material, options: PaperEvaluateOptions, observer: Observer) -> None:
    """Score what needs no encoder: BM25, TF-IDF and popularity."""
    for split in options.splits:
        if _there(run, "", split, None):
            continue
        result = evaluate_words(
            material.papers,
            protocol=options.protocol,
            split=split,
            tasks=options.tasks,
            whole=options.whole,
            least=options.least,
            observer=observer,
        )
        _keep(run, result, split)


def learnt_tasks(tasks: Collection[str], scored: Sequence[str]) -> tuple[str, ...]:
    """Give those of the ``scored`` tasks that ask for what one of the training ``tasks`` teaches.

    Rankings by citation (rank:cite…, retrieve:cite…) belong to links, every task of a collection to its topics or
    classes, regress:year to year, numbers of citations to citations.
    """

    def taught(scored_task: str) -> bool:
        kind, _, name = scored_task.partition(":")
        if kind in ("rank", "retrieve"):
            word = next((word for word in ("cocite", "couple") if word in name), "links" if "cit" in name else name)
            return word in tasks
        if kind in ("class", "label", "topics"):
            return f"topics:{name}" in tasks or f"class:{name}" in tasks
        if kind == "regress":
            counted = "citations" in tasks and "cit" in name
            return f"target:{name}" in tasks or name in tasks or counted
        return kind == "search" and ("search" in tasks or "titles" in tasks)

    return tuple(task for task in scored if taught(task))


def _protocol(options: PaperEvaluateOptions) -> PaperProtocol:
    if options.protocol not in PAPER_PROTOCOLS:
        raise UsageError(f"no protocol {options.protocol!r} of papers", todo=f"known: {', '.join(PAPER_PROTOCOLS)}")
    protocol = PAPER_PROTOCOLS[options.protocol]
    return protocol if options.similarity is None else replace(protocol, similarity=options.similarity)


def _there(run: Run, name: str, split: str, seed: int | None) -> bool:
    return any(
        score.encoder == name and score.split == split and (seed is None or score.seed == seed)
        for score in run.scores()
    )


def _keep(run: Run, result: PaperEvaluation, split: str) -> None:
    """Keep the tables first, then the scores: where these are, all is there."""
    seeds: dict[str, int | None] = {score.encoder: score.seed for score in result.scores}
    for table, given in (("query_scores", result.query_scores), ("paper_predictions", result.predictions)):
        if not given:
            continue
        columns: dict[str, list[Any]] = dict(given)
        if "predicted" in columns:
            columns["prediction"] = columns.pop("predicted")
        columns["seed"] = [seeds.get(encoder) for encoder in columns["encoder"]]
        columns["split"] = [split] * len(columns["encoder"])
        run.add_rows(table, columns)
    systems = {system_of(score) for score in result.scores if not score.task.startswith("average:")}
    for system in sorted(systems):
        rows = main_scores([score for score in result.scores if system_of(score) == system])
        main = {task: [score.metric, score.method] for task, score in rows.items()}
        run.update(main={**run.info.get("main", {}), system: main})  # which row of a task the report shows
    for note in result.notes:
        if note not in run.info.get("notes", []):
            run.note(note)
    run.add_scores(result.scores)
