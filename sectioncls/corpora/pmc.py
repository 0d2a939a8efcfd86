"""Corpora from JATS articles (TEI and PubMed sets too), PMC-Sents-FULL's way or by another label scheme.

Paper: arXiv 2404.00224, section 3: articles whose headings name background, objective, method and result;
each sentence bears the label of its section. The authors published no heading lists; ours are the tables in
``sectioncls/schemes/tables``. The paper splits by sentence, so that nearly every test article is also in
train; our default splits by article.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from sectioncls.corpora.build import BuildCounts, SplitBy, build_from_articles
from sectioncls.corpora.corpus import Corpus
from sectioncls.corpora.gather import Watch
from sectioncls.corpora.labelling import ArticleRules
from sectioncls.corpora.normalise import NORMALISERS
from sectioncls.corpora.reading import Engine
from sectioncls.corpora.sources import container_of, list_sources, total_size
from sectioncls.documents import Document, read_each
from sectioncls.documents.language import language_code
from sectioncls.errors import UsageError
from sectioncls.records import Article, Rejected
from sectioncls.schemes import DEFAULT_SCHEME, LabelScheme, load_scheme
from sectioncls.sentences import split_sentences

__all__ = ["build_pmc", "required_labels"]

_PACKAGES: dict[str, tuple[str, ...]] = {"scisplit": (), **{name: (name,) for name in ("pysbd", "syntok", "sentencex")}}
_LICENCE = re.compile(r"cc-by(?:-(?:nc|nd|sa))*(?:-\d\.\d)?|cc0(?:-\d\.\d)?|public-domain")


def build_pmc(
    paths: Sequence[str | Path],
    out: str | Path,
    *,
    command: str,
    name: str | None = None,
    scheme: str = DEFAULT_SCHEME,
    require: str = "four",
    languages: Iterable[str] = (),
    licences: Iterable[str] = (),
    sub_articles: bool = False,
    near_duplicates: bool = False,
    split_by: SplitBy = "article",
    splitter: str = "scisplit",
    normalise: str = "",
    seed: int = 0,
    jobs: int = 1,
    engine: Engine = "local",
    address: str | None = None,
    overwrite: bool = False,
    resume: bool = False,
    watch: Watch = iter,
) -> tuple[Corpus, BuildCounts]:
    """Give the corpus built from JATS files, folders and archives, and what went in.

    ``scheme`` is the name of a label scheme or a TOML file. ``require`` is ``four``, ``none`` or ``labels=a,b``: the
    labels that an article's headings must give, with ``four`` those that the scheme requires. ``languages`` (codes)
    and ``licences`` (``cc-by``, ``cc-by-4.0``, ``cc0`` …) keep only such articles, all where they are empty.
    ``normalise="paper"`` brings sentences into PMC-Sents-FULL's form (see normalise.py). ``sub_articles`` reads
    sub-articles and responses as articles of their own. ``near_duplicates`` also lists the articles that share most of
    their words in near_duplicates.jsonl. The name is the output folder's unless given. ``jobs`` workers
    read (see reading.read_locally), or ``engine="ray"`` on the cluster at ``address``; ``resume`` goes on with a build
    that was cut off. ``watch`` gets a stream with one item for each document that is done and gives it on.

    Raises UsageError for what is not known.
    """
    labels = load_scheme(scheme)
    rules = ArticleRules(
        scheme=labels,
        required=required_labels(require, labels),
        languages=frozenset(_language(code) for code in languages),
        licences=frozenset(_licence(licence) for licence in licences),
        splitter=splitter,
        normalise=normalise,
        near_duplicates=near_duplicates,
    )
    if normalise and normalise not in NORMALISERS:
        raise UsageError(f"--normalise {normalise!r} is not known", None, f"one of {', '.join(NORMALISERS)}")
    split_sentences("", splitter)  # raises here rather than in a worker for one that does not exist
    notes = []
    if split_by == "sentence":
        notes.append("split by sentence as in the paper: articles are in several splits, scores see known articles")
    return build_from_articles(
        list_sources(paths),
        partial(_read, sub_articles=sub_articles),
        out,
        rules=rules,
        name=name or Path(out).resolve().name,
        command=command,
        container_of=container_of,
        split_by=split_by,
        seed=seed,
        jobs=jobs,
        engine=engine,
        address=address,
        overwrite=overwrite,
        resume=resume,
        watch=watch,
        size=0 if watch is iter else total_size(paths),
        licence="per article: column licence",
        notes=notes,
        packages=("lxml", "py3langid", *_PACKAGES.get(splitter, ("spacy",))),
    )


def required_labels(require: str, scheme: LabelScheme) -> frozenset[str]:
    """Give the labels that ``four``, ``none`` or ``labels=a,b`` names. Raises UsageError otherwise."""
    if require == "four":
        return scheme.heading_rules().required
    if require == "none":
        return frozenset()
    key, equals, value = require.partition("=")
    wanted = frozenset(label.strip() for label in value.split(",") if label.strip())
    if key != "labels" or not equals or not wanted:
        raise UsageError(f"--require {require!r} is not known", None, "four, none or labels=a,b")
    unknown = sorted(wanted - set(scheme.labels))
    if unknown:
        known = ", ".join(scheme.labels)
        raise UsageError(f"--require names an unknown label {unknown[0]!r}", None, f"one of {known}")
    return wanted


def _language(code: str) -> str:
    known = language_code(code)
    if known is None:
        raise UsageError(f"--lang {code!r} is not a language code", None, "two letters, as en")
    return known


def _licence(word: str) -> str:
    key = word.strip().lower().replace(" ", "-")
    if not _LICENCE.fullmatch(key):
        raise UsageError(f"--licence {word!r} is not known", None, "as cc-by, cc-by-nc-4.0, cc0 or public-domain")
    return key


def _read(document: Document | Rejected, *, sub_articles: bool) -> list[Article | Rejected]:
    """Give the articles of a document, or why there are none."""
    if isinstance(document, Rejected):
        return [document]
    return list(read_each(document, sub_articles=sub_articles))
