"""PMC-Sents-FULL style corpora from JATS articles.

Paper: arXiv 2404.00224, section 3: articles whose headings name background, objective, method and result;
each sentence bears the label of its section. The authors published no heading lists; ours are the tables in
``sectioncls/schemes/tables``. The paper splits by sentence, so that nearly every test article is also in
train; our default splits by article.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from sectioncls.corpora.build import BuildCounts, SplitBy, build_from_articles
from sectioncls.corpora.corpus import Corpus
from sectioncls.documents import Document, find_documents, read_jats_each
from sectioncls.errors import UsageError
from sectioncls.records import Article, Rejected
from sectioncls.schemes import load_scheme
from sectioncls.sentences import SPLITTERS

__all__ = ["FOUR", "build_pmc", "required_labels"]

FOUR = frozenset({"background", "objective", "method", "result"})
Watch = Callable[[Iterable[Any]], Iterable[Any]]


def build_pmc(
    paths: Sequence[str | Path],
    out: str | Path,
    *,
    command: str,
    name: str | None = None,
    require: str = "four",
    split_by: SplitBy = "article",
    splitter: str = "sentencizer",
    seed: int = 0,
    jobs: int = 1,
    overwrite: bool = False,
    watch: Watch = iter,
) -> tuple[Corpus, BuildCounts]:
    """Give the corpus built from JATS files, folders and archives, and what went in.

    ``require`` is ``four``, ``none`` or ``labels=a,b``: the labels that an article's headings must give. The
    name is the output folder's unless given. ``watch`` gets the stream of documents and gives it on.
    """
    scheme = load_scheme("pmc-sents")
    required = required_labels(require, scheme.labels)
    if splitter not in SPLITTERS:
        raise UsageError(f"there is no splitter {splitter!r}", None, f"one of {', '.join(SPLITTERS)}")
    notes = []
    if split_by == "sentence":
        notes.append("split by sentence as in the paper: articles are in several splits, scores see known articles")
    return build_from_articles(
        watch(find_documents([Path(path) for path in paths])),
        _read,
        out,
        name=name or Path(out).resolve().name,
        scheme=scheme,
        command=command,
        container_of=_container,
        required=required,
        split_by=split_by,
        splitter=splitter,
        seed=seed,
        jobs=jobs,
        overwrite=overwrite,
        licence="per article: column licence",
        notes=notes,
        packages=("lxml", "spacy"),
    )


def required_labels(require: str, labels: Sequence[str]) -> frozenset[str]:
    """Give the labels that ``four``, ``none`` or ``labels=a,b`` names. Raises UsageError otherwise."""
    if require == "four":
        return FOUR
    if require == "none":
        return frozenset()
    key, equals, value = require.partition("=")
    wanted = frozenset(label.strip() for label in value.split(",") if label.strip())
    if key != "labels" or not equals or not wanted:
        raise UsageError(f"--require {require!r} is not known", None, "four, none or labels=a,b")
    unknown = sorted(wanted - set(labels))
    if unknown:
        raise UsageError(f"--require names an unknown label {unknown[0]!r}", None, f"one of {', '.join(labels)}")
    return wanted


def _read(document: Document | Rejected) -> list[Article | Rejected]:
    """Give the articles of a document, or why there are none."""
    if isinstance(document, Rejected):
        return [document]
    return list(read_jats_each(document.data, document.name))


def _container(document: Document | Rejected) -> str:
    """Give the archive or folder that a document came from."""
    name = document.source if isinstance(document, Rejected) else document.name
    outer, bang, _ = name.partition("!")
    return outer if bang else str(Path(name).parent)
