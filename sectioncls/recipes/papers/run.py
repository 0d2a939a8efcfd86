"""A recipe of paper encoders, run: set, baselines, first stage, every variant, scores and report in one folder."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sectioncls.encoders import CONDITIONINGS, Encoder, read_facts, read_history
from sectioncls.errors import InputError, UsageError
from sectioncls.papersets import PaperSet, open_paperset
from sectioncls.recipes.facts import model_facts
from sectioncls.recipes.locate import find_data
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.recipes.papers.baselines.rows import score_baselines
from sectioncls.recipes.papers.findings import finish_findings
from sectioncls.recipes.papers.lessons import kind_of, lesson_of
from sectioncls.recipes.papers.maps import draw_paper_maps
from sectioncls.recipes.papers.material import Material, material_of
from sectioncls.recipes.papers.schema import MODEL, PaperRecipe, TaskOptions, VariantOptions
from sectioncls.recipes.papers.scores import check_scored, is_scored, score_encoder
from sectioncls.recipes.papers.study.conduct import check_study, finish_study, measure_study, quick_recipe
from sectioncls.recipes.papers.study.groups import groups_of, score_grouped
from sectioncls.recipes.papers.study.titles import titled_material
from sectioncls.recipes.papers.study.wordings import reword
from sectioncls.recipes.papers.train import join_variants, load_begin, train_papers
from sectioncls.recipes.runinfo import info_at_start, source_facts, timed
from sectioncls.report import write_report
from sectioncls.runs import Run, create_run, reopen_run

__all__ = ["run_papers"]

_BASE = "base"
# What run.json keeps of an encoder's facts.
_KEPT = (
    *("backbone", "state", "model", "conditioning", "parameters", "seconds", "papers", "training", "earlier"),
    *("lessons", "dev", "notes"),
)
# What is known of a model's own training that a reader of its scores must know.
_SEEN = {
    "minilm": "all-MiniLM-L6-v2 saw S2ORC citation pairs and SPECTER's training triplets in its own training: its "
    "scores on citations are no zero-shot scores"
}


def run_papers(
    recipe: PaperRecipe,
    text: str,
    folder: Path,
    *,
    papers: Path | None = None,
    overwrite: bool = False,
    resume: bool = False,
    quick: bool = False,
    observer: Observer = SILENT,
) -> Run:
    """Run ``recipe`` into ``folder`` and give the finished run; its ``report.html`` is the last piece.

    ``text`` is the recipe as written, kept beside the results; ``papers`` is a paper set in place of the recipe's.
    ``resume`` goes on in a folder that is there: whole pieces stay, a training goes on from its checkpoint, and the
    recipe may have got more variants since; what was scored stays though its encoder be gone, as in a run that was kept
    for its numbers, and is trained anew only where a new variant starts from it. Encoders lie in ``encoder/``, in
    ``encoder/NAME/`` where there are several.
    ``quick`` makes a study a trial of a minute on made-up papers, or on a handful of ``papers``.
    """
    if quick:
        recipe = quick_recipe(recipe, renamed=papers is None)
    run = _open(recipe, folder, overwrite=overwrite, resume=resume)
    run.write_text("recipe.toml", text)
    with timed(run, "papers"):
        data = open_paperset(papers) if papers else _papers(recipe, run.folder("corpus"))
        check_study(recipe, data)
        material = material_of(data, recipe.papers, recipe.seed)
    _check(recipe, material)
    run.update(corpus=source_facts(data.info, data.path), notes=_notes(recipe, material))
    with timed(run, "measures"):
        measure_study(run, recipe, material, quick=quick)
    work = _Work(run, recipe, material, resume, observer)
    if recipe.evaluate.baselines:
        with timed(run, "baselines"):
            score_baselines(run, material, recipe.evaluate, observer, seed=recipe.seed)
    if recipe.evaluate.untuned:
        work.score_untuned()
    wanted = [(variant, seed) for variant in recipe.variants for seed in variant.seeds or (recipe.seed,)]
    left = [(variant, seed) for variant, seed in wanted if not work.is_whole(variant.name, seed)]
    if recipe.base is not None and (left or not work.is_whole(_BASE, recipe.seed)):
        work.train_base()
    for variant, seed in left:
        work.make(variant, seed)
    finish_study(run, recipe, material)
    finish_findings(run, recipe.seed)
    shutil.rmtree(run.folder("checkpoint"), ignore_errors=True)
    run.finish()
    write_report([run.path], run.path / "report.html", overwrite=True)
    return run


@dataclass(frozen=True, slots=True)
class _Work:
    """One run at work: where its encoders lie, which are there."""

    run: Run
    recipe: PaperRecipe
    material: Material
    resume: bool
    observer: Observer

    def score_untuned(self) -> None:
        """Score the model as it is before any training."""
        facts = model_facts(self.recipe.model.name)
        name = str(facts["name"])
        self._enter(name, facts)
        with timed(self.run, f"score {name}"):
            encoder = load_begin(self.recipe.model)
            score_encoder(self.run, self.material, encoder, name, None, (), self.recipe.evaluate, self.observer)
            self._score_titles(encoder, name, None, facts)
            self._draw(encoder, name, None)

    def is_whole(self, name: str, seed: int) -> bool:
        """Tell whether an encoder was scored in an earlier part of this run, be it still there or not."""
        if not self.resume or _scored(name, seed) not in self.run.info.get("seconds", {}):
            return False
        return any(is_scored(self.run, name, split, seed) for split in self.recipe.evaluate.splits)

    def train_base(self) -> None:
        """Train the first stage, from which the variants begin."""
        assert self.recipe.base is not None
        folder, seed = self.folder_of(_BASE, None), self.recipe.seed
        if not (self.resume and (folder / "sectioncls.json").is_file()):
            with timed(self.run, f"train {_BASE}"):
                train_papers(
                    self.material,
                    self.recipe.base,
                    folder,
                    begin=self.recipe.model,
                    name=_BASE,
                    seed=seed,
                    work=self.run.folder("checkpoint") / f"{_BASE}.training",
                    resume=self.resume,
                    observer=self.observer,
                )
        self._keep_history(folder, _BASE, seed)
        if self.recipe.evaluate.base:
            self._score(folder, _BASE, seed)

    def make(self, variant: VariantOptions, seed: int) -> None:
        """Train a variant, or join others to it, and score it. What is whole already stays."""
        folder = self._trained(variant, seed)
        self._keep_history(folder, variant.name, seed)
        self._score(folder, variant.name, seed)

    def _trained(self, variant: VariantOptions, seed: int) -> Path:
        """Give the folder of a variant's encoder, trained unless it is there."""
        folder = self.folder_of(variant.name, seed if variant.seeds and len(variant.seeds) > 1 else None)
        if not (self.resume and (folder / "sectioncls.json").is_file()):
            self.observer.note(f"{variant.name}, seed {seed}")
            with timed(self.run, f"train {variant.name} {seed}"):
                self._train(variant, seed, folder)
            self.run.update()
        return folder

    def _train(self, variant: VariantOptions, seed: int, folder: Path) -> None:
        if variant.wordings:
            reword(self._made(str(variant.start), seed), folder, variant.wordings, name=variant.name)
            return
        if variant.train is None:
            members = [self._made(name, seed) for name in variant.of]
            join_variants(members, folder, how=variant.ensemble or "mean", name=variant.name, seed=seed)
            return
        plain = self.recipe.base is None or variant.start == MODEL
        begin = self.recipe.model if plain else self.folder_of(_BASE, None)
        train_papers(
            _learnt_from(self.recipe, self.material, variant),
            variant.train,
            folder,
            begin=self._made(variant.start, seed) if variant.start not in (None, MODEL) else begin,
            name=variant.name,
            seed=seed,
            work=self.run.folder("checkpoint") / f"{variant.name}-{seed}.training",
            resume=self.resume,
            observer=self.observer,
        )

    def folder_of(self, name: str, seed: int | None) -> Path:
        """Give where an encoder lies; ``seed`` None where its variant has one seed only."""
        if len(self.recipe.variants) == 1 and seed is None:
            # The run's one encoder is the folder itself; its first stage is set aside until the run is whole.
            return self.run.folder("checkpoint") / _BASE if name == _BASE else self.run.folder("encoder")
        return self.run.folder("encoder") / (name if seed is None else f"{name}-{seed}")

    def _made(self, name: str, seed: int) -> Path:
        """Give the folder of a variant that was made before, of the same seed where it has several; make it if gone."""
        variant = next(variant for variant in self.recipe.variants if variant.name == name)
        seeds = variant.seeds or (self.recipe.seed,)
        own = seed if seed in seeds else seeds[0]
        folder = self.folder_of(name, None if len(seeds) == 1 else own)
        return folder if (folder / "sectioncls.json").is_file() else self._trained(variant, own)

    def _score(self, folder: Path, name: str, seed: int) -> None:
        facts = read_facts(folder)
        self._enter(name, facts)
        with timed(self.run, _scored(name, seed)):
            encoder = load_begin(folder)
            tasks = _learnt(facts)
            groups, options = groups_of(facts), self.recipe.evaluate
            if groups:
                score_grouped(self.run, self.material, encoder, name, seed, tasks, options, groups, self.observer)
            else:
                score_encoder(self.run, self.material, encoder, name, seed, tasks, options, self.observer)
            self._score_titles(encoder, name, seed, facts)
            self._draw(encoder, name, seed)

    def _draw(self, encoder: Encoder, name: str, seed: int | None) -> None:
        draw_paper_maps(
            self.run, self.material, encoder, name, seed, self.recipe.evaluate, self.recipe.seed, self.observer
        )

    def _score_titles(self, encoder: Encoder, name: str, seed: int | None, facts: dict[str, Any]) -> None:
        """Score an encoder on titles alone as well, where the recipe asks for it."""
        if not self.recipe.evaluate.titles:
            return
        titled = titled_material(self.material, self.run.folder("checkpoint") / "titles", self.recipe.seed)
        called, tasks = f"{name}, titles", _learnt(facts)
        self._enter(called, facts)
        score_encoder(self.run, titled, encoder, called, seed, tasks, self.recipe.evaluate, self.observer)

    def _enter(self, name: str, facts: dict[str, Any]) -> None:
        """Write down what is known of an encoder, once a name."""
        known = self.run.info.get("encoders", {})
        if name not in known:
            entry = {key: facts[key] for key in _KEPT if facts.get(key) is not None}
            entry.setdefault("model", facts.get("base_model"))
            self.run.update(encoders={**known, name: entry})

    def _keep_history(self, folder: Path, name: str, seed: int) -> None:
        if any(row.get("encoder") == name and row.get("seed") == seed for row in self.run.history()):
            return
        for row in read_history(folder):
            self.run.append_history({**row, "encoder": name, "seed": seed})


def _scored(name: str, seed: int) -> str:
    """Name the part of a run in which an encoder is scored."""
    return f"score {name} {seed}"


def _learnt_from(recipe: PaperRecipe, material: Material, variant: VariantOptions) -> Material:
    """Give what a variant learns from: the recipe's papers, read as the variant says."""
    changes = variant.papers.model_dump(exclude_none=True)
    if not changes:
        return material
    return material_of(material.papers, recipe.papers.model_copy(update=changes), recipe.seed)


def _check(recipe: PaperRecipe, material: Material) -> None:
    """Find mistakes before hours of work: tasks, conditionings and what is scored.

    Raises UsageError for what is not known, InputError where the papers hold nothing for a task.
    """
    stages = [(recipe.base, material)] if recipe.base is not None else []
    stages += [(one.train, _learnt_from(recipe, material, one)) for one in recipe.variants if one.train is not None]
    seen: list[tuple[TaskOptions, bool]] = []
    for stage, read in stages:
        if stage.conditioning not in (None, "none", *CONDITIONINGS):
            known = ", ".join(("none", *CONDITIONINGS))
            raise UsageError(f"unknown conditioning {stage.conditioning!r}", todo=f"known: {known}")
        for task in stage.tasks:
            if (task, read.options.transductive) not in seen:
                seen.append((task, read.options.transductive))
                kind_of(task.name)
                if task.mining != "scincl":  # graph embeddings take their time
                    lesson_of(read, task, recipe.seed)
    if recipe.variants or recipe.evaluate.baselines or recipe.evaluate.untuned:
        check_scored(material, recipe.evaluate)


def _learnt(facts: dict[str, Any]) -> tuple[str, ...]:
    """Give the names of all tasks that an encoder was trained on, in any stage."""
    stages = [*facts.get("earlier", []), facts.get("training", {})]
    return tuple(dict.fromkeys(task["name"] for stage in stages for task in stage.get("tasks", ())))


def _papers(recipe: PaperRecipe, out: Path) -> PaperSet:
    """Give the paper set that a recipe names, or build it into ``out`` (built already: open it)."""
    options = recipe.papers
    if options.build is None and options.path is None:
        raise InputError("names no paper set", recipe.name, "give papers.path, or papers.build and papers.source")
    if options.build is None:
        return open_paperset(str(options.path))
    if (out / "corpus.json").is_file():
        return open_paperset(out)
    if options.source is None:
        raise InputError("names nothing to build the papers from", recipe.name, "give papers.source")
    from sectioncls.papersets.build import build_papers

    source = find_data(options.source)
    command = f"sectioncls build-papers {source.name}"
    return build_papers(
        [source],
        out,
        command=command,
        form=options.build,
        name=recipe.name,
        topics=options.topics,
        targets=options.targets,
        seed=recipe.seed,
    )[0]


def _open(recipe: PaperRecipe, folder: Path, *, overwrite: bool, resume: bool) -> Run:
    wanted = recipe.model_dump(mode="json")
    if not (resume and (folder / "run.json").is_file()):
        seeds = sorted({seed for variant in recipe.variants for seed in variant.seeds or (recipe.seed,)})
        info = info_at_start(recipe.name, protocol=recipe.evaluate.protocol, seeds=seeds)
        return create_run(folder, {**info, "kind": "papers", "recipe": wanted}, overwrite=overwrite)
    run = reopen_run(folder)
    kept = _as_now(run.info.get("recipe") or {})
    before, now = kept.pop("variants", None) or [], list(wanted["variants"])
    kept.pop("study", None)  # claims and measures may change: they are made anew of what is there
    same = kept == {key: value for key, value in wanted.items() if key not in ("variants", "study")}
    # Encoders of a run with one variant lie where there is room for one only.
    grown = len(before) > 1 or now == before
    if not (same and grown and all(variant in now for variant in before)):
        raise InputError("was started with another recipe", folder, "start again with --overwrite")
    run.update(recipe=wanted)
    return run


def _as_now(kept: dict[str, Any]) -> dict[str, Any]:
    """Give a kept recipe with the keys that recipes have got since, at what they are when nothing is said."""
    try:
        return PaperRecipe.model_validate(kept).model_dump(mode="json")
    except ValidationError:
        return dict(kept)


def _notes(recipe: PaperRecipe, material: Material) -> list[str]:
    """Give what a reader of the scores must know of papers and training."""
    notes = [f"papers left out: {reason}, {count}" for reason, count in material.papers.info.dropped.items()]
    if material.wordless:
        notes.append(f"{material.wordless} training papers have no text and teach nothing")
    if material.options.titles_alone:
        notes.append(f"{100 * material.options.titles_alone:g} % of the papers are learnt from by their titles alone")
    seen = _SEEN.get(str(model_facts(recipe.model.name)["backbone"]))
    return [*notes, *material.overlap(), *([seen] if seen else [])]
