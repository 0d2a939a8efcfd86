"""Scores of a run's encoders and of words, kept once: what is there already is not counted again."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sectioncls.downstream.protocols import PAPER_PROTOCOLS, PaperProtocol
from sectioncls.encoders import Encoder
from sectioncls.errors import UsageError
from sectioncls.recipes.observer import Observer
from sectioncls.recipes.paper_evaluate import evaluate_papers
from sectioncls.recipes.paper_results import (
    FORMATS,
    PaperEvaluation,
    format_of_task,
    main_scores,
    system_of,
    task_means,
)
from sectioncls.recipes.paper_scoring import setting
from sectioncls.recipes.papers.baselines.names import choose_baselines
from sectioncls.recipes.papers.fields import add_fields, fields_of
from sectioncls.recipes.papers.material import Material
from sectioncls.recipes.papers.schema import PaperEvaluateOptions
from sectioncls.recipes.papers.vectors import KeptVectors, Request, Vectors, folder_name
from sectioncls.records import Score
from sectioncls.runs import Run

__all__ = [
    "answered",
    "check_scored",
    "cross_formats",
    "embedder",
    "is_scored",
    "keep_rows",
    "learnt_tasks",
    "protocol_of",
    "score_encoder",
]


def embedder(
    encoder: Encoder, observer: Observer, *, precision: str = "float32", folder: Path | None = None
) -> KeptVectors:
    """Give the function ``embed(texts, task, side)`` of an encoder, with progress; ``bf16`` is half as exact.

    A text is read once a route, however many tasks and sides ask for it. ``folder`` keeps the vectors.
    """
    return KeptVectors(encoder, observer, precision=precision, folder=folder)


def check_scored(material: Material, options: PaperEvaluateOptions) -> None:
    """Raise UsageError for an unknown protocol, task or baseline, InputError for a split without anything to judge."""
    choose_baselines(options.baselines)
    if options.fields is not None:
        fields_of(material.papers, material.table, options.fields)
    for split in options.splits:
        setting(material.papers, protocol=protocol_of(options), split=split, tasks=options.tasks, whole=options.whole)


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
    left = [split for split in options.splits if not is_scored(run, name, split, seed)]
    if not left:
        return
    folder = run.folder("embeddings") / folder_name(name, seed)
    embed = embedder(encoder, observer, precision=options.precision, folder=folder)
    alike = encoder.conditioning is None and not any(encoder.model.prompts.values())
    for split in left:
        asked, unknown = answered(material, encoder, options, split)
        told = f"{name} has no route for {', '.join(unknown)}: left out"
        if unknown and told not in run.info.get("notes", []):
            observer.note(told)
            run.note(told)
        if not asked:
            continue
        result = evaluate_papers(
            material.papers,
            embed,
            name=name,
            protocol=protocol_of(options),
            split=split,
            tasks=asked,
            whole=options.whole,
            separator=material.options.separator,
            search_texts=material.found if material.options.search_fields else None,
            least=options.least,
            shared=alike,
            prepare=embed.prepare,
            observer=observer,
        )
        for note in result.notes:
            if note not in run.info.get("notes", []):
                observer.note(note)
        scores = result.scores if seed is None else [replace(score, seed=seed) for score in result.scores]
        there = dict.fromkeys(score.task for score in scores)
        scores += task_means(scores, trained=learnt_tasks(tasks, tuple(there)))
        if options.cross_formats and encoder.routes and scores:
            scores += cross_formats(material, embed, encoder.routes, options, asked, split, scores[0], observer)
        found = replace(result, scores=scores)
        if options.fields is not None:
            add_fields(found, material, options.fields, split)
        keep_rows(run, found, split)


def answered(
    material: Material, encoder: Encoder, options: PaperEvaluateOptions, split: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the tasks that an encoder has a route for, and those that it has none for."""
    given = setting(material.papers, split=split, tasks=options.tasks, whole=options.whole)
    names = tuple(planned.name for planned in given.tasks)
    known = tuple(name for name in names if not encoder.routes or format_of_task(name) in encoder.routes)
    return known, tuple(name for name in names if name not in known)


def cross_formats(
    material: Material,
    embed: KeptVectors,
    routes: Sequence[str],
    options: PaperEvaluateOptions,
    tasks: Sequence[str],
    split: str,
    like: Score,
    observer: Observer,
) -> list[Score]:
    """Give the mean over the tasks of each format by the vectors of each route: task names ``cross:ROUTE>FORMAT``.

    Paper: arXiv 2211.13308, table 3. ``like`` says encoder, corpus and seed.
    """
    found = []
    for route in routes:

        def along(texts: Sequence[str], task: str, side: str, route: str = route) -> Vectors:
            return embed(texts, route, side)

        def prepare(requests: Sequence[Request], route: str = route) -> None:
            embed.prepare([(texts, route, side) for texts, _, side in requests])

        result = evaluate_papers(
            material.papers,
            along,
            name=like.encoder,
            protocol=protocol_of(options),
            split=split,
            tasks=tasks,
            whole=options.whole,
            separator=material.options.separator,
            least=options.least,
            prepare=prepare,
            observer=observer,
        )
        means = {mean.task.partition(":")[2]: mean for mean in task_means(result.scores)}
        found += [
            replace(means[asked], task=f"cross:{route}>{asked}", seed=like.seed) for asked in FORMATS if asked in means
        ]
    return found


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


def protocol_of(options: PaperEvaluateOptions) -> PaperProtocol:
    """Give the protocol that a recipe names, with its own similarity. Raises UsageError for an unknown one."""
    if options.protocol not in PAPER_PROTOCOLS:
        raise UsageError(f"no protocol {options.protocol!r} of papers", todo=f"known: {', '.join(PAPER_PROTOCOLS)}")
    protocol = PAPER_PROTOCOLS[options.protocol]
    return protocol if options.similarity is None else replace(protocol, similarity=options.similarity)


def is_scored(run: Run, name: str, split: str, seed: int | None = None) -> bool:
    """Tell whether a run has rows of an encoder, or of a baseline by its name; of one ``seed`` where it is given."""
    return any(
        system_of(score) == name and score.split == split and (seed is None or score.seed == seed)
        for score in run.scores()
    )


def keep_rows(run: Run, result: PaperEvaluation, split: str) -> None:
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
