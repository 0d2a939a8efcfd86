"""``scisplit`` as a spaCy component: ``nlp.add_pipe("scisplit")`` marks the first token of each sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from spacy.attrs import IDX, ORTH, SENT_START, SPACY
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from sectioncls.errors import InputError, UsageError
from sectioncls.sentences.scisplit import CAP, scisplit

__all__ = ["SciSplit", "make_scisplit"]

_COLUMNS = (ORTH, SPACY, IDX)
_MARKS = (SENT_START,)
_BEGINS, _GOES_ON = 1, 2**64 - 1  # 1 and -1 in spaCy's unsigned arrays
_SPACED = np.uint64(0x9E3779B97F4A7C15)
_MOST_WORDS = 200_000
_MOST_TOKENS = 50_000


class SciSplit:
    """Sets ``token.is_sent_start`` of every token.

    A sentence begins at the first token that begins with it or after it: no token is cut. Sentences over ``cap``
    characters are cut. Unless ``overwrite``, marks that earlier components have set stay. Raises UsageError for a
    cap below 1.
    """

    def __init__(
        self,
        name: str = "scisplit",
        *,
        cap: int = CAP,
        overwrite: bool = False,
        scorer: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        if cap < 1:
            raise UsageError(f"a sentence can't have at most {cap} characters", todo="a cap of 1 or more")
        self.name = name
        self.cap = cap
        self.overwrite = overwrite
        self.scorer = scorer
        self._words: _Words | None = None

    def __call__(self, doc: Doc) -> Doc:
        """Give the same Doc with its sentences marked."""
        self._mark([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 256) -> Iterator[Doc]:
        """Give the same Docs with their sentences marked, a batch at a time."""
        for batch in _batches(stream, batch_size):
            self._mark(batch)
            yield from batch

    def _mark(self, docs: list[Doc]) -> None:
        """Mark the sentences of Docs of one vocabulary, all at once."""
        orths, spaces, places = np.concatenate([doc.to_array(_COLUMNS).reshape(-1, len(_COLUMNS)) for doc in docs]).T
        words = self._words_of(docs[0].vocab.strings)
        # doc.text would make an object of each token, which takes longer than all the rest.
        pieces = list(map(words.__getitem__, (orths ^ spaces * _SPACED).tolist()))
        bounds = list(pairwise(accumulate(map(len, docs), initial=0)))
        starts: list[int] = []
        offsets: list[int] = []
        offset = 0
        for left, right in bounds:
            text = "".join(pieces[left:right])
            offsets.append(offset)
            starts.append(offset)
            starts.extend(offset + start for start, _ in scisplit(text, self.cap)[1:])
            offset += len(text)
        places = places + np.repeat(np.array(offsets, dtype=np.uint64), [len(doc) for doc in docs])
        marks = np.full(len(places) + 1, _GOES_ON, dtype=np.uint64)  # one more: a sentence may begin in the last token
        marks[places.searchsorted(np.array(starts, dtype=np.uint64))] = _BEGINS
        for doc, (left, right) in zip(docs, bounds, strict=True):
            if left == right:
                continue
            new = marks[left:right]
            if not self.overwrite and doc.has_annotation("SENT_START"):
                old = doc.to_array(_MARKS)
                new = np.where(old == 0, new, old)
            doc.from_array(_MARKS, new)

    def _words_of(self, strings: Any) -> _Words:
        if self._words is None or self._words.strings is not strings or len(self._words) > _MOST_WORDS:
            self._words = _Words(strings)
        return self._words

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_words": None}

    def score(self, examples: Iterable[Example], **settings: Any) -> dict[str, Any]:
        """Give spaCy's scores of sentences: ``sents_p``, ``sents_r``, ``sents_f``."""
        return self.scorer(examples, **settings) if self.scorer else {}

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Give the settings as bytes."""
        return json.dumps({"cap": self.cap, "overwrite": self.overwrite}).encode()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> SciSplit:
        """Give this component with the settings of ``to_bytes``. Raises InputError for anything else."""
        return self._set(data, None)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the settings to ``path`` with the ending ``.json``, as spaCy's sentencizer does."""
        Path(path).with_suffix(".json").write_bytes(self.to_bytes())

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> SciSplit:
        """Give this component with the settings of ``to_disk``. Raises InputError for anything else."""
        file = Path(path).with_suffix(".json")
        return self._set(file.read_bytes(), file)

    def _set(self, data: bytes, where: Path | None) -> SciSplit:
        try:
            settings = json.loads(data)
            cap, overwrite = settings["cap"], settings["overwrite"]
            if type(cap) is not int or cap < 1 or type(overwrite) is not bool:
                raise ValueError("a value of the wrong kind")
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"these are no settings of scisplit: {error}", where) from error
        self.cap, self.overwrite = cap, overwrite
        return self


def _batches(stream: Iterable[Doc], most: int) -> Iterator[list[Doc]]:
    """Give lists of neighbouring Docs of one vocabulary: at most ``most``, and few if they are long."""
    batch: list[Doc] = []
    tokens = 0
    for doc in stream:
        if batch and (len(batch) >= most or tokens >= _MOST_TOKENS or doc.vocab is not batch[0].vocab):
            yield batch
            batch, tokens = [], 0
        batch.append(doc)
        tokens += len(doc)
    if batch:
        yield batch


class _Words(dict[int, str]):
    """Strings of tokens by hash, those with a space behind by the hash with ``_SPACED``."""

    def __init__(self, strings: Any) -> None:
        self.strings = strings  # a StringStore

    def __missing__(self, key: int) -> str:
        word: str = self.strings[key] if key in self.strings else self.strings[key ^ int(_SPACED)] + " "
        self[key] = word
        return word


@Language.factory(  # type: ignore[untyped-decorator,unused-ignore]
    "scisplit",
    assigns=["token.is_sent_start", "doc.sents"],
    default_config={"cap": CAP, "overwrite": False, "scorer": {"@scorers": "spacy.senter_scorer.v1"}},
    default_score_weights={"sents_f": 1.0, "sents_p": 0.0, "sents_r": 0.0},
)
def make_scisplit(
    nlp: Language, name: str, cap: int, overwrite: bool, scorer: Callable[..., dict[str, Any]] | None
) -> SciSplit:
    """Give the component that ``nlp.add_pipe("scisplit")`` adds."""
    return SciSplit(name, cap=cap, overwrite=overwrite, scorer=scorer)
