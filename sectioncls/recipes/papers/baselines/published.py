"""Encoders that others published and compare with, as rows: which model, how papers are read and pooled.

Pooling is what the papers of paper encoders give these models, not what models of sentences do: [CLS] of the last
layer, the mean for those whose makers average. ``separator`` stands between title and abstract; blanks around [SEP]
give the same tokens as none. Weights come from the hub, or from a folder: ``scibert=FOLDER``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sectioncls.encoders import MODELS, Encoder, load_encoder

__all__ = ["LONGEST", "PUBLISHED", "PublishedEncoder", "open_published", "published_of", "separator_of"]

LONGEST = 512
"""Tokens of a paper at most, as all of the three benchmarks read them."""

_SEP = " [SEP] "


@dataclass(frozen=True, slots=True)
class PublishedEncoder:
    """One model: its short name in encoders/backbones.py or hub id, pooling (None: its own), and what it is scored on.

    ``formats`` limits the tasks to those formats (none: all). ``note`` is what a reader of its row must know.
    """

    model: str
    pooling: Literal["cls", "mean"] | None = "cls"
    separator: str = _SEP
    formats: tuple[str, ...] = ()
    note: str = ""


PUBLISHED: Mapping[str, PublishedEncoder] = {
    "bert": PublishedEncoder("bert"),
    "scibert": PublishedEncoder("scibert"),
    "biobert": PublishedEncoder("biobert"),
    "pubmedbert": PublishedEncoder("pubmedbert"),
    "linkbert": PublishedEncoder("linkbert"),
    "biolinkbert": PublishedEncoder("biolinkbert"),
    "oag-bert": PublishedEncoder(
        "oag-bert",
        note="oag-bert is published in a form of its own (CogDL), under no hub id that is known here: give a folder "
        "that holds it as a BERT, oag-bert=FOLDER; its entity embeddings (venues, authors, fields) are not read",
    ),
    "sentbert": PublishedEncoder("sentence-transformers/bert-base-nli-mean-tokens", pooling="mean", separator=". "),
    "citebert": PublishedEncoder("copenlu/citebert"),
    "declutr": PublishedEncoder("johngiorgi/declutr-sci-base", pooling="mean"),
    "specter": PublishedEncoder("specter", pooling=None),
    "scincl": PublishedEncoder("scincl", pooling=None),
    "specter2-base": PublishedEncoder("specter2-base", pooling=None),
    "specter2": PublishedEncoder("specter2", pooling=None),
    "aspire": PublishedEncoder(
        "allenai/aspire-biencoder-compsci-spec",
        formats=("proximity",),
        note="aspire is the bi-encoder trained on co-citations, read at [CLS] of the last layer: without the mix of "
        "layers that was published apart, and not the model of several sentence vectors with alignments",
    ),
}


def published_of(name: str) -> PublishedEncoder:
    """Give the row of a name, or that of a hub id or folder which has none: read as title, [SEP], abstract."""
    return PUBLISHED.get(name) or PublishedEncoder(name, pooling=None)


def separator_of(row: PublishedEncoder, encoder: Encoder) -> str:
    """Give what stands between title and abstract for an encoder: its own tokenizer's separator where the row has one.

    A tokenizer without a separator gets a full stop.
    """
    if row.separator != _SEP:
        return row.separator
    own = getattr(encoder.model.tokenizer, "sep_token", None)
    return f" {own} " if own else ". "


def open_published(name: str, folder: str | None = None) -> Encoder:
    """Load the encoder of a row, or the one in ``folder`` as that row is read; texts are cut at LONGEST tokens.

    Raises ModelError where its weights are not here and can't be fetched.
    """
    row = published_of(name)
    source = str(Path(folder).expanduser()) if folder else row.model
    like = row.model if folder and row.model in MODELS else None
    encoder = load_encoder(source, pooling=row.pooling, like=like)
    longest = int(encoder.model.max_seq_length or LONGEST)
    encoder.model.max_seq_length = min(longest, LONGEST)
    return encoder
