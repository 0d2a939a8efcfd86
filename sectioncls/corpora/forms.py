"""How foreign sets of labelled sentences are written down: a record is a sentence, or an article with its sentences.

A Form says where a record keeps what, a LabelMap what its labels are called here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sectioncls.corpora.labelled import sound_text
from sectioncls.corpora.records import KEY, lookup, plain_name, read_records
from sectioncls.errors import InputError
from sectioncls.records import Paragraph, Sentence
from sectioncls.schemes import LabelScheme, label_of

__all__ = ["Form", "LabelMap", "LabelledArticle", "form_records", "read_articles", "written_labels"]


@dataclass(frozen=True, slots=True)
class Form:
    """Where a record keeps what, as paths (see records.py); what is None is not there.

    ``text`` and ``label`` lead to one sentence and its label, or to equally long lists of an article. ``several``
    says that a sentence may bear several labels: the column ``labels`` keeps all, ``label`` is the first of them
    in the scheme's order. ``votes`` leads to the labels that several people gave a sentence: ``label`` is then the
    most frequent (of equals the one named first) unless the set has its own, ``confidence`` the share that gave it.
    ``position`` leads to a number that rises within an article, for rows without an article's id. ``paragraphs``
    says that texts are paragraphs, to be cut into sentences. ``also`` adds texts as (path, label). ``unlabelled``
    names the label of a sentence that has none, ``""`` leaves it out. ``headings`` lets the rules for headings
    label what the map does not name. ``columns`` and ``delimiter`` are for tables as text.
    """

    text: str = "sentences"
    label: str | None = "labels"
    article: str | None = None
    split: str | None = None
    confidence: str | None = None
    votes: str | None = None
    path: str | None = None
    licence: str | None = None
    position: str | None = None
    several: bool = False
    paragraphs: bool = False
    headings: bool = False
    unlabelled: str | None = None
    also: tuple[tuple[str, str], ...] = ()
    columns: tuple[str, ...] = ()
    delimiter: str | None = None

    @property
    def lists(self) -> bool:
        """Whether a sentence may keep several labels."""
        return self.several or (self.votes is not None and self.label is None)

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that is looked up."""
        named = (self.text, self.label, self.article, self.split, self.confidence, self.votes, self.path)
        more = (self.licence, self.position, *(path for path, _ in self.also))
        return tuple(path for path in (*named, *more) if path is not None)


@dataclass(frozen=True, slots=True)
class LabelMap:
    """A set's labels in ours: ``names`` maps a spelling to a label of the scheme, ``""`` leaves it out."""

    scheme: LabelScheme
    names: Mapping[str, str] = field(default_factory=dict)

    def label(self, raw: object, where: str, *, headings: bool = False) -> str:
        """Give our label for one as written, ``""`` for one that is left out. Raises InputError for an unknown one."""
        word = str(raw) if isinstance(raw, str | int) and not isinstance(raw, bool) else repr(raw)
        found = self.names.get(word, self.names.get(word.strip().casefold()))
        if found is not None:
            return found
        try:
            return self.scheme.label(word)
        except InputError as error:
            if headings:
                return label_of([(word, None)], self.scheme)[0]
            raise InputError(f"unknown label {word!r}", where, error.todo) from error


@dataclass(frozen=True, slots=True)
class LabelledArticle:
    """An article with its labelled sentences, ``split`` as written (None where it is not said).

    ``whole`` tells one record with all its sentences from gathered rows; ``loose`` is a row that names no article.
    ``left_out`` counts sentences without a label.
    """

    id: str
    split: str | None
    licence: str | None
    sentences: tuple[Sentence, ...]
    paragraphs: tuple[Paragraph, ...] = ()
    left_out: int = 0
    whole: bool = True
    loose: bool = False


def read_articles(path: Path, form: Form, labels: LabelMap) -> Iterator[LabelledArticle]:
    """Give the articles of a file, sentence rows gathered while the article's id stays the same (or positions rise).

    Articles without an id are numbered by the file's name. Raises InputError with ``file:line`` for a record that
    does not fit the form, an unknown label, an empty sentence, lists of unequal length.
    """
    stem = Path(plain_name(path)).stem
    rows: list[tuple[str, Mapping[str, Any]]] = []
    number = -1
    last: tuple[str | None, float | None] = (None, None)
    for where, record in form_records(path, form):
        article_id = _id(record, form, where)
        if isinstance(lookup(record, form.text), list) or form.also:
            number += 1
            yield _whole(where, record, article_id or f"{stem}-{number:05d}", form, labels)
            continue
        here = (article_id, _position(record, form, where))
        if rows and not _goes_on(last, here):
            yield _gathered(rows, last[0] or f"{stem}-{number:05d}", form, labels)
            rows = []
        if not rows:
            number += 1
        rows.append((where, record))
        last = here
    if rows:
        yield _gathered(rows, last[0] or f"{stem}-{number:05d}", form, labels)


def _goes_on(last: tuple[str | None, float | None], here: tuple[str | None, float | None]) -> bool:
    """Say whether a row belongs to the article of the row before it."""
    if here[0] != last[0]:
        return False
    if here[1] is not None and last[1] is not None:
        return here[1] > last[1]
    return here[0] is not None


def _whole(where: str, record: Mapping[str, Any], article_id: str, form: Form, labels: LabelMap) -> LabelledArticle:
    """Give the article that one record holds."""
    texts = list(_listed(record, form.text, where))
    given = _beside(record, form.label, texts, where)
    votes = _beside(record, form.votes, texts, where)
    shares = _beside(record, form.confidence, texts, where)
    paths = _beside(record, form.path, texts, where)
    for path, label in form.also:
        more = lookup(record, path)
        if more is not None:
            for values, value in ((texts, more), (given, label), (votes, None), (shares, None), (paths, None)):
                values.append(value)
    sentences: list[Sentence] = []
    paragraphs: list[Paragraph] = []
    left_out = 0
    for node, (text, raw, vote, share, path) in enumerate(zip(texts, given, votes, shares, paths, strict=True)):
        cells = _Cells(sound_text(text, where), raw, vote, share, _titles(path, where))
        if form.paragraphs:
            cells = replace(cells, titles=cells.titles or (str(raw),))
            paragraphs.append(Paragraph(cells.text, path=cells.titles, node=node))
            found = _cut(article_id, node, cells, form, labels, where)
        else:
            found = [_sentence(article_id, cells, form, labels, where)]
        kept = [sentence for sentence in found if sentence.label]
        left_out += len(found) - len(kept)
        sentences += kept
    return LabelledArticle(
        id=article_id,
        split=_text(record, form.split, where),
        licence=_text(record, form.licence, where),
        sentences=tuple(replace(sentence, index=index) for index, sentence in enumerate(sentences)),
        paragraphs=tuple(paragraphs),
        left_out=left_out,
    )


def _gathered(
    rows: Sequence[tuple[str, Mapping[str, Any]]], article_id: str, form: Form, labels: LabelMap
) -> LabelledArticle:
    """Give the article that rows of one sentence each make up."""
    found: list[Sentence] = []
    paragraphs: list[Paragraph] = []
    for node, (where, record) in enumerate(rows):
        cells = _Cells(
            text=sound_text(lookup(record, form.text), where),
            label=lookup(record, form.label) if form.label else None,
            votes=lookup(record, form.votes) if form.votes else None,
            confidence=lookup(record, form.confidence) if form.confidence else None,
            titles=_titles(lookup(record, form.path) if form.path else None, where),
        )
        if form.paragraphs:
            paragraphs.append(Paragraph(cells.text, path=cells.titles, node=node))
            found += _cut(article_id, node, cells, form, labels, where)
        else:
            found.append(_sentence(article_id, cells, form, labels, where))
    kept = [sentence for sentence in found if sentence.label]
    where, first = rows[0]
    return LabelledArticle(
        id=article_id,
        split=_text(first, form.split, where),
        licence=_text(first, form.licence, where),
        sentences=tuple(replace(sentence, index=index) for index, sentence in enumerate(kept)),
        paragraphs=tuple(paragraphs),
        left_out=len(found) - len(kept),
        whole=False,
        loose=form.article is None and form.position is None,
    )


@dataclass(frozen=True, slots=True)
class _Cells:
    """What a record says of one sentence (or paragraph), as written."""

    text: str
    label: Any
    votes: Any
    confidence: Any
    titles: tuple[str, ...]


def _sentence(article_id: str, cells: _Cells, form: Form, labels: LabelMap, where: str) -> Sentence:
    """Give a sentence with its label, which is empty where it has none and such sentences are left out."""
    votes = [labels.label(raw, where) for raw in _flat(cells.votes)]
    every = _distinct(labels.label(raw, where, headings=form.headings) for raw in _given(cells.label, form, where))
    order = labels.scheme.labels
    every = sorted((label for label in every if label), key=order.index)
    label = every[0] if every else ""
    if not form.label and votes:
        label = max(dict.fromkeys(votes), key=votes.count)
        every = _distinct([label, *votes])
    if not label and form.unlabelled:
        label = labels.names.get(form.unlabelled, form.unlabelled)
        every = [label] if label else []
    confidence = _share(cells.confidence, where)
    if votes and confidence is None:
        confidence = votes.count(label) / len(votes)
    return Sentence(
        article_id=article_id,
        index=0,
        paragraph=-1,
        text=cells.text,
        start=0,
        end=len(cells.text),
        path=cells.titles,
        label=label,
        labels=tuple(every) if form.lists else (),
        confidence=confidence,
        label_source="source",
    )


def _cut(article_id: str, node: int, cells: _Cells, form: Form, labels: LabelMap, where: str) -> list[Sentence]:
    """Give the sentences of a paragraph, all with its label."""
    from sectioncls.sentences import split_sentences

    whole = _sentence(article_id, cells, form, labels, where)
    source = f"title:{cells.label}" if form.headings else "source"
    return [
        replace(whole, paragraph=node, text=cells.text[start:end], start=start, end=end, label_source=source)
        for start, end in split_sentences(cells.text)
    ]


def form_records(path: Path, form: Form) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give (``file:line``, record) for each record of a file of this form."""
    paths = [part for part in form.paths if part != KEY]
    return read_records(path, paths=paths, columns=form.columns, delimiter=form.delimiter)


def _id(record: Mapping[str, Any], form: Form, where: str) -> str | None:
    """Give the article's id. Raises InputError when the form names one and the record has none."""
    if form.article is None:
        return None
    value = lookup(record, form.article)
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise InputError(f"has no article id under {form.article!r}", where)
    return sound_text(str(value).strip(), where)


def _position(record: Mapping[str, Any], form: Form, where: str) -> float | None:
    """Give the number that rises within an article."""
    if form.position is None:
        return None
    try:
        return float(lookup(record, form.position))
    except (TypeError, ValueError) as error:
        raise InputError(f"has no number under {form.position!r}", where) from error


def _text(record: Mapping[str, Any], path: str | None, where: str) -> str | None:
    """Give a text of the record, None where it has none. Raises InputError for anything else."""
    value = lookup(record, path) if path else None
    if value is not None and not isinstance(value, str):
        raise InputError(f"{path!r} leads to something that is no text", where)
    return sound_text(value, where) if value else None


def _listed(record: Mapping[str, Any], path: str, where: str) -> list[Any]:
    value = lookup(record, path)
    if not isinstance(value, list):
        raise InputError(f"has no list under {path!r}", where)
    return value


def _beside(record: Mapping[str, Any], path: str | None, texts: Sequence[Any], where: str) -> list[Any]:
    """Give the values that stand beside the sentences, as many of them; Nones where there is no path."""
    if path is None:
        return [None] * len(texts)
    values = _listed(record, path, where)
    if len(values) != len(texts):
        raise InputError(f"has {len(texts)} sentences and {len(values)} values under {path!r}", where)
    return list(values)


def _given(value: Any, form: Form, where: str) -> list[Any]:
    """Give the labels of a sentence as written. Raises InputError for several, or none, where one was expected."""
    if isinstance(value, list) and not form.several:
        raise InputError("has a list of labels for one sentence", where, "--several keeps them all")
    given = [raw for raw in _flat(value) if raw is not None and raw != ""]
    if not given and form.label and form.unlabelled is None:
        raise InputError("has no label", where, "--unlabelled LABEL names those, --unlabelled '' leaves them out")
    return given


def _share(value: Any, where: str) -> float | None:
    """Give a confidence on. Raises InputError unless it is None or a number from 0 to 1."""
    try:
        share = None if value is None or value == "" else float(value)
    except (TypeError, ValueError):
        share = -1.0
    if share is not None and not 0 <= share <= 1:
        raise InputError(f"confidence {value!r} is not a number from 0 to 1", where)
    return share


def _titles(path: Any, where: str) -> tuple[str, ...]:
    """Give the titles above a sentence: a list, or one text parted by ``>``."""
    parts = path if isinstance(path, list) else str(path or "").split(" > ")
    return tuple(sound_text(str(part), where) for part in parts if part)


def _flat(value: Any) -> list[Any]:
    """Give a value as a list, lists inside lists opened."""
    if isinstance(value, list):
        return [item for part in value for item in _flat(part)]
    return [] if value is None else [value]


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def written_labels(path: Path, form: Form) -> Iterator[tuple[str, str]]:
    """Give (``file:line``, label as written) for all labels and votes of a file."""
    for where, record in form_records(path, form):
        for field_path in (form.label, form.votes):
            for value in _flat(lookup(record, field_path)) if field_path else ():
                if not isinstance(value, str | int) or isinstance(value, bool):
                    raise InputError(f"label {value!r} is neither a word nor a number", where)
                if str(value).strip():
                    yield where, sound_text(str(value), where)
