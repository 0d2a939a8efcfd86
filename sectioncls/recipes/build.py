"""The corpus of a recipe: named, or built inside the run folder."""

from __future__ import annotations

import shlex
from pathlib import Path
from tempfile import TemporaryDirectory

from sectioncls.audit import survey_corpus, write_clean
from sectioncls.corpora import Corpus, Part, build_csabstruct, build_pmc_sents, build_rct, join_corpora, open_corpus
from sectioncls.errors import InputError
from sectioncls.recipes.locate import find_data
from sectioncls.recipes.schema import Recipe

__all__ = ["recipe_corpus"]


def recipe_corpus(recipe: Recipe, out: Path) -> Corpus:
    """Give the corpus that a recipe names, or builds into ``out`` (built already: opens it)."""
    options = recipe.corpus
    if options.join:
        return open_corpus(out) if (out / "corpus.json").is_file() else _join(out, recipe)
    if options.build is None:
        if options.path is None:
            raise InputError("names no corpus", recipe.name, "give corpus.path, or corpus.build and corpus.source")
        return open_corpus(options.path)
    if (out / "corpus.json").is_file():
        return open_corpus(out)
    if options.source is None:
        raise InputError("names nothing to build the corpus from", recipe.name, "give corpus.source")
    return _BUILD[options.build](find_data(options.source), out, recipe)


def _join(out: Path, recipe: Recipe) -> Corpus:
    parts = []
    for options in recipe.corpus.join:
        corpus = open_corpus(options.path)
        parts.append(Part(options.name or corpus.name, corpus, options.labels, options.articles))
    command = f"sectioncls run {recipe.name}"
    if not recipe.corpus.clean:
        return join_corpora(parts, out, name=recipe.name, labels=recipe.corpus.labels, command=command)
    with TemporaryDirectory(dir=out.parent) as folder:
        joined = join_corpora(parts, Path(folder) / "joined", name=recipe.name, labels=recipe.corpus.labels, command="")
        return write_clean(joined, survey_corpus(joined), out, command=command)[0]


def _build_csabstruct(source: Path, out: Path, recipe: Recipe) -> Corpus:
    return build_csabstruct(
        source,
        out,
        command=_command("build-csabstruct", source),
        conflicts=recipe.corpus.drop_conflicts,
        abstracts=recipe.corpus.abstracts,
    )


def _build_rct(source: Path, out: Path, recipe: Recipe) -> Corpus:
    command = _command("build-rct", source)
    return build_rct(source, out, command=command, conflicts=recipe.corpus.drop_conflicts, sizes=recipe.corpus.sizes)


def _build_pmc_sents(source: Path, out: Path, recipe: Recipe) -> Corpus:
    return build_pmc_sents(
        source,
        out,
        command=_command("build-pmc-sents", source),
        roles=recipe.corpus.roles,
        seed=recipe.seed,
        conflicts=recipe.corpus.drop_conflicts,
    )


def _build_pmc(source: Path, out: Path, recipe: Recipe) -> Corpus:
    from sectioncls.corpora import build_pmc

    command = _command("build-pmc --xml", source)
    corpus, _ = build_pmc(
        [source],
        out,
        command=command,
        name=recipe.name,
        require=recipe.corpus.require,
        split_by=recipe.corpus.split,
        seed=recipe.seed,
    )
    return corpus


_BUILD = {
    "csabstruct": _build_csabstruct,
    "rct": _build_rct,
    "pmc": _build_pmc,
    "pmc-sents": _build_pmc_sents,
}


def _command(verb: str, source: Path) -> str:
    return f"sectioncls {verb} {shlex.quote(source.name)}"
