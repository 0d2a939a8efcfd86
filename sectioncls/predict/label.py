"""A trained model as one object: an article goes in, its sentences come out with label and probability."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream import with_temperature
from sectioncls.encoders import Encoder, LinearHead, articles_of, encode_tokens, load_encoder, load_head
from sectioncls.errors import ModelError
from sectioncls.records import Article, Paragraph, Section, Sentence
from sectioncls.sentences import split_sentences

__all__ = ["ABSTAINED", "BOX", "SectionModel", "load_model", "sentences_of"]

ABSTAINED = ""
"""The label of a sentence whose likeliest label is less probable than asked for."""

BOX = Path(__file__).parent / "sections"
"""The model that the package carries; ``recipes/sections.toml`` made it."""

# Sentences that are encoded together: long enough to fill batches of like length, short enough for any memory.
_BLOCK = 4096


@dataclass(frozen=True, slots=True)
class SectionModel:
    """Encoder, classifier and calibration; ``labels`` are those that it gives, ``temperature`` was fitted on dev.

    ``facts`` is what the model's ``sectioncls.json`` says: data, recipe, scores. ``precision`` is that of encoding,
    ``float32`` or ``bf16``.
    """

    encoder: Encoder
    head: LinearHead
    temperature: float = 1.0
    facts: dict[str, Any] = field(default_factory=dict)
    precision: str = "float32"

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of the probabilities."""
        return self.head.labels

    def predict(self, article: Article | str | Sequence[str], *, min_prob: float = 0.0) -> list[Sentence]:
        """Give the sentences of one article with ``label`` and ``prob``, in order.

        ``article`` is an Article, a text that is split, or a list of sentences. A sentence whose best label is less
        probable than ``min_prob`` gets the label ``""``.
        """
        return next(self.predict_each([article], min_prob=min_prob))

    def predict_each(
        self, articles: Iterable[Article | str | Sequence[str]], *, min_prob: float = 0.0, splitter: str = "scisplit"
    ) -> Iterator[list[Sentence]]:
        """Give the labelled sentences of each article, in order; articles are read ahead in blocks of bounded size."""
        block: list[list[Sentence]] = []
        waiting = 0
        for article in articles:
            block.append(sentences_of(article, splitter))
            waiting += len(block[-1])
            if waiting >= _BLOCK:
                yield from self._label(block, min_prob)
                block, waiting = [], 0
        yield from self._label(block, min_prob)

    def probabilities(
        self,
        texts: Sequence[str],
        article_ids: Sequence[str],
        index: Sequence[int],
        paths: Sequence[Sequence[str]] | None = None,
    ) -> npt.NDArray[np.floating]:
        """Give the calibrated probability of every label for every sentence, (n, labels).

        ``paths`` are the titles above each sentence, for a model that learnt to read them.
        """
        if not texts:
            return np.zeros((0, len(self.labels)))
        vectors = encode_tokens(self.encoder, self.encoder.read(texts, article_ids, index, paths), self.precision)
        chances = self.head.probabilities(vectors, list(articles_of(article_ids, index)))
        return with_temperature(chances, self.temperature)

    def _label(self, block: list[list[Sentence]], min_prob: float) -> Iterator[list[Sentence]]:
        # Two articles may bear one id: here each is its own.
        places = [str(place) for place, sentences in enumerate(block) for _ in sentences]
        every = [sentence for sentences in block for sentence in sentences]
        chances = self.probabilities([s.text for s in every], places, [s.index for s in every], [s.path for s in every])
        rows = iter(zip(every, chances, strict=True))
        for sentences in block:
            yield [self._labelled(*next(rows), min_prob) for _ in sentences]

    def _labelled(self, sentence: Sentence, chances: npt.NDArray[np.floating], min_prob: float) -> Sentence:
        best = int(chances.argmax())
        prob = float(chances[best])
        label = self.labels[best] if prob >= min_prob else ABSTAINED
        return replace(sentence, label=label, prob=prob, label_source="model")


def load_model(
    path: str | Path | None = None, *, device: str | None = None, precision: str = "float32"
) -> SectionModel:
    """Give the model in an encoder folder that was trained with a classifier (``--objective ce``, ``crf``, ``hsln``).

    Without ``path``, the model that the package carries: six roles, abstracts and full texts (its card:
    ``sectioncls/predict/sections/README.md``). ``precision`` ``bf16`` is about twice as fast on processors that
    multiply in it, and moved no probability by more than a hundredth. Raises ModelError for a folder without a
    classifier.
    """
    folder = BOX if path is None else Path(path).expanduser()
    encoder = load_encoder(folder, device=device)
    head = load_head(folder)
    if head is None:
        raise ModelError("has no classifier", folder, "train one: sectioncls finetune --objective ce+0.5*supcon")
    try:
        facts = json.loads((folder / "sectioncls.json").read_text(encoding="utf-8"))
        temperature = float(facts.get("temperature", 1.0))
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise ModelError("can't be read", folder / "sectioncls.json") from error
    return SectionModel(encoder, head, temperature, facts, precision)


def sentences_of(article: Article | str | Sequence[str], splitter: str = "scisplit") -> list[Sentence]:
    """Give the sentences of an article, not labelled yet, with path and offsets in their paragraph."""
    if isinstance(article, Article):
        paragraphs = sorted(_paragraphs([*article.abstract, *article.body]), key=lambda part: part.node)
        name = article.id
    elif isinstance(article, str):
        paragraphs, name = [Paragraph(article)], ""
    else:
        return [
            Sentence(article_id="", index=place, paragraph=0, text=text, start=0, end=len(text))
            for place, text in enumerate(article)
        ]
    found: list[Sentence] = []
    for part in paragraphs:
        for start, end in split_sentences(part.text, splitter=splitter):
            found.append(Sentence(name, len(found), part.node, part.text[start:end], start, end, part.path))
    return found


def _paragraphs(sections: Iterable[Section]) -> Iterator[Paragraph]:
    for section in sections:
        yield from section.paragraphs
        yield from _paragraphs(section.sections)
