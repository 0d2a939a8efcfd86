"""One builder for sets that bring their own labels, whatever their form (see forms.py).

Cards (see sectioncls.fetch) hold the form and the label map of published sets.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from sectioncls.corpora.conflicts import ConflictRule, without_texts
from sectioncls.corpora.corpus import SPLITS, Corpus, open_corpus
from sectioncls.corpora.forms import Form, LabelledArticle, LabelMap, read_articles, written_labels
from sectioncls.corpora.openers import COMPRESSIONS, source_path
from sectioncls.corpora.records import SUFFIXES, plain_name
from sectioncls.corpora.splits import split_of_article
from sectioncls.corpora.writer import create_corpus
from sectioncls.errors import InputError
from sectioncls.records import Sentence
from sectioncls.schemes import LabelScheme

__all__ = ["build_jsonl", "find_files", "own_labels"]

ROWS_ONLY = "the rows do not say which article they come from, so intervals fall back to sentences"
_SPLITS = {"train": "train", "dev": "dev", "val": "dev", "valid": "dev", "validation": "dev", "test": "test"}
_NO_CONFLICT: tuple[frozenset[str], int] = (frozenset(), 0)
_MOST_LABELS = 200
_OURS = ("fetched.json", "missing.jsonl")
"""What ``fetch`` writes beside the files of a set."""


def build_jsonl(
    files: Iterable[tuple[Path, str | None]],
    out: str | Path,
    *,
    name: str,
    form: Form,
    labels: LabelMap,
    command: str,
    conflicts: ConflictRule = "keep",
    overwrite: bool = False,
    licence: str = "",
    language: str | None = None,
    notes: Iterable[str] = (),
    seed: int = 0,
) -> Corpus:
    """Give the corpus built from files, each with its split; rows stand in the order of the files.

    Where neither file nor record names a split, the article's id decides (80/10/10 by a hash with ``seed``), so that
    no article stands in two. Raises InputError from the records, OutputError when ``out`` is taken.
    """
    files = list(files)
    extra = [*(["labels"] if form.lists else []), *(["confidence"] if form.confidence or form.votes else [])]
    conflicting = _conflicts(_split_articles(files, form, labels, seed, Counter()))
    counts: Counter[str] = Counter()
    with create_corpus(
        out,
        name=name,
        scheme=labels.scheme,
        command=command,
        overwrite=overwrite,
        licence=licence,
        notes=notes,
        extra=extra,
    ) as writer:
        for split, article in _split_articles(files, form, labels, seed, counts):
            sentences: Iterable[Sentence] = article.sentences
            if conflicts == "paper":
                sentences = without_texts(article.sentences, conflicting.get(split, _NO_CONFLICT)[0])
            writer.add(split, sentences, language=language, licence=article.licence)
            if article.paragraphs:
                writer.add_paragraphs(article.id, article.paragraphs)
        writer.dropped("no-label", counts["left out"])
        if counts["loose"] == counts["articles"]:
            writer.has_articles = False
            writer.note(ROWS_ONLY)
        if counts["by hash"]:
            writer.note(f"{counts['by hash']} articles were put into splits by a hash of their id with seed {seed}")
        if counts["ids again"]:
            writer.note(
                f"{counts['ids again']} articles bear an id that another one of their split has: numbered #2, #3 …"
            )
        for split in SPLITS:
            texts, copies = conflicting.get(split, _NO_CONFLICT)
            if texts:
                done = "removed" if conflicts == "paper" else "kept (--drop-conflicts paper removes them)"
                writer.note(f"{split}: {len(texts)} texts with two labels in {copies} rows, {done}")
                writer.dropped("conflict", copies if conflicts == "paper" else 0)
    return open_corpus(out)


def find_files(src: Path, names: Mapping[str, str | None] | None = None) -> list[tuple[Path, str | None]]:
    """Give (file, split) for the files of a set; ``names`` maps the files of a card to their split.

    A file of a card may be packed. Without ``names`` every file of a known form counts, and its split is the one
    that it is named after. Raises InputError when one is missing, or there is none.
    """
    source_path(src)
    if names:
        if src.is_file():
            return [(src, _named(names, src))]
        return [(_packed(src, name), split) for name, split in names.items()]
    if src.is_file():
        return [(src, _split_in(plain_name(src)))]
    try:
        there = sorted(path for path in src.iterdir() if path.is_file() and not path.name.startswith("."))
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", src) from error
    there = [path for path in there if path.name not in _OURS]
    found = [path for path in there if Path(plain_name(path)).suffix.lower() in SUFFIXES]
    if not found:
        raise InputError("holds no file of a known form", src, f"one of {' '.join(SUFFIXES)}, packed or not")
    stems: dict[str, Path] = {}
    for path in found:
        other = stems.setdefault(Path(plain_name(path)).stem, path)
        if other is not path:
            raise InputError(f"holds {other.name} and {path.name}", src, "name one file, or move one away")
    return [(path, _split_in(plain_name(path))) for path in found]


def own_labels(files: Iterable[tuple[Path, str | None]], form: Form, name: str) -> LabelMap:
    """Give a scheme with the labels that occur, in the order of the alphabet, for a set that has no map."""
    words = {label for _, label in form.also}
    for path, _ in files:
        for where, word in written_labels(path, form):
            words.add(word)
            if len(words) > _MOST_LABELS:
                raise InputError(f"has more than {_MOST_LABELS} labels", where, "does --label-field lead to labels?")
    names = {word: _slug(word) for word in sorted(words)}
    spelled: dict[str, str] = {}
    for word, label in names.items():
        other = spelled.setdefault(label, word)
        if other.strip().casefold() != word.strip().casefold():
            todo = "--labels-map FILE names them apart"
            raise InputError(f"labels {other!r} and {word!r} would both be called {label}", name, todo)
    known = sorted({*names.values(), *([form.unlabelled] if form.unlabelled else [])})
    return LabelMap(LabelScheme(name=name, labels=tuple(known)), names)


def _split_articles(
    files: Iterable[tuple[Path, str | None]], form: Form, labels: LabelMap, seed: int, counts: Counter[str]
) -> Iterator[tuple[str, LabelledArticle]]:
    """Give (split, article) over all files, counting what notes will tell.

    A second record with the id of another in its split is an article of its own (``ID#2``); rows go on counting.
    """
    seen: Counter[tuple[str, str]] = Counter()
    rows: Counter[tuple[str, str]] = Counter()
    for path, file_split in files:
        for article in read_articles(path, form, labels):
            split = _split(article, file_split, path)
            if split is None:
                split = split_of_article(article.id, seed)
                counts["by hash"] += 1
            key = (split, article.id)
            seen[key] += 1
            if article.whole and seen[key] > 1:
                counts["ids again"] += 1
                article = _renamed(article, f"{article.id}#{seen[key]}", 0)
            elif rows[key]:
                article = _renamed(article, article.id, rows[key])
            if not article.whole:
                rows[key] += len(article.sentences)
            counts["articles"] += 1
            counts["loose"] += article.loose
            counts["left out"] += article.left_out
            yield split, article


def _split(article: LabelledArticle, file_split: str | None, path: Path) -> str | None:
    """Give the split of an article as its record or else its file says, None where neither does."""
    if article.split is None:
        return file_split
    split = _SPLITS.get(article.split.strip().lower())
    if split is None:
        where = f"{path}: article {article.id}"
        raise InputError(f"{article.split!r} is no split", where, f"known: {', '.join(_SPLITS)}")
    return split


def _renamed(article: LabelledArticle, article_id: str, first: int) -> LabelledArticle:
    """Give the article under another id, its sentences counted from ``first``."""
    sentences = tuple(
        replace(sentence, article_id=article_id, index=first + sentence.index) for sentence in article.sentences
    )
    return replace(article, id=article_id, sentences=sentences)


def _conflicts(articles: Iterable[tuple[str, LabelledArticle]]) -> dict[str, tuple[frozenset[str], int]]:
    """Give, by split, the texts with more than one label and how many rows bear them (see conflicts.py)."""
    label_of: dict[tuple[str, str], str] = {}
    copies: Counter[tuple[str, str]] = Counter()
    conflicting: dict[str, set[str]] = {}
    for split, article in articles:
        for sentence in article.sentences:
            key = (split, sentence.text)
            copies[key] += 1
            if label_of.setdefault(key, sentence.label) != sentence.label:
                conflicting.setdefault(split, set()).add(sentence.text)
    return {
        split: (frozenset(texts), sum(copies[split, text] for text in texts)) for split, texts in conflicting.items()
    }


def _slug(word: str) -> str:
    """Give a label as we write them: lower case, words joined by ``-``."""
    return "-".join(re.findall(r"[^\W_]+", word.casefold())) or word.strip()


def _split_in(name: str) -> str | None:
    """Give the split that a file is named after, the first of its words that is one."""
    words = re.split(r"[^a-z0-9]+", name.rpartition(".")[0].lower())
    return next((_SPLITS[word] for word in words if word in _SPLITS), None)


def _packed(src: Path, name: str) -> Path:
    """Give a card's file in a folder, plain or packed. Raises InputError when it is not there."""
    for suffix in ("", *COMPRESSIONS):
        if (src / f"{name}{suffix}").is_file():
            return src / f"{name}{suffix}"
    raise InputError(f"holds no {name}", src, "plain or packed; `sectioncls fetch` says where it comes from")


def _named(names: Mapping[str, str | None], path: Path) -> str | None:
    """Give the split of a single file that a card knows by its name."""
    return names.get(path.name, names.get(plain_name(path)))
