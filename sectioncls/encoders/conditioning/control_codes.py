"""Control codes: one new token a format behind [CLS], whose last state is the embedding.

Paper: arXiv 2211.13308, section 4.1 (SciRepEval). Searches take [QRY], their documents [PRX]. The tokens are in the
tokenizer; their embeddings lie beside the matrix of words, one weight each, so that learning one moves no other.
Initialised at random (the paper's best), as the mean of all words, or as [CLS]; where the tokenizer has the codes
already, as a published model of that kind does, their rows are taken.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from sectioncls.encoders.conditioning.hooks import Conditioning
from sectioncls.errors import UsageError

__all__ = ["CODES", "ControlCodes"]

CODES = {"classification": "[CLF]", "regression": "[RGN]", "proximity": "[PRX]", "search": "[QRY]"}
_STARTS = ("random", "mean", "cls", "kept")


class ControlCodes(Conditioning):
    """One embedding a format. ``ids`` are the codes' tokens; ``like`` is the token that ``cls`` copies.

    ``pooling`` ``code`` takes the code's state, ``mean`` the mean of code and text without [CLS].
    """

    name = "control-codes"
    grouped = False
    by_format = True

    def __init__(
        self,
        bert: Any,
        routes: tuple[str, ...],
        ids: list[int],
        init: str = "random",
        like: int | None = None,
        pooling: str = "code",
    ) -> None:
        super().__init__(bert, routes)
        self.codes = tuple(ids)
        words = bert.embeddings.word_embeddings.weight.detach()
        self.vectors = nn.ParameterList(nn.Parameter(torch.empty(words.shape[1])) for _ in routes)
        with torch.no_grad():
            for token, vector in zip(ids, self.vectors, strict=True):
                if init == "random":
                    nn.init.normal_(vector, std=bert.config.initializer_range)
                else:
                    vector.copy_(words.mean(0) if init == "mean" else words[token if like is None else like])

    @classmethod
    def resolve(cls, model: Any, routes: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
        """Put the codes into the tokenizer, make room for one token, pool the code; give the options."""
        options = {"init": "random", "pooling": "code", **super().resolve(model, routes, options)}
        tokenizer, tokens = model.tokenizer, [CODES[route] for route in routes]
        if set(tokens) <= set(tokenizer.get_vocab()):
            options["init"] = "kept"
        if (
            options["init"] not in _STARTS
            or options["pooling"] not in ("code", "mean")
            or {"ids", "like"} & set(options)
        ):
            raise UsageError("control codes start random, mean or cls, and pool by code or mean")
        if options["init"] != "kept":
            _fill_up(tokenizer, model[0].auto_model.config.vocab_size)
        tokenizer.add_tokens(tokens, special_tokens=True)
        options["ids"] = tokenizer.convert_tokens_to_ids(tokens)
        if options["init"] == "cls":
            options["like"] = tokenizer.cls_token_id
        model.max_seq_length -= 1
        if options["pooling"] == "code":
            _pool_first(model)
        return options

    def words(self, bert: Any, ids: Tensor) -> Tensor:
        """Give the word embeddings of ``ids``, the codes' from their own weights."""
        matrix = bert.embeddings.word_embeddings
        words: Tensor = matrix(ids.clamp(max=matrix.num_embeddings - 1))
        for token, vector in zip(self.codes, self.vectors, strict=True):
            found = ids == token
            if bool(found.any()):  # a code that is not there must not get a gradient of zero
                words = torch.where(found[:, None], vector.to(words.dtype), words)
        return words


def _fill_up(tokenizer: Any, words: int) -> None:
    """Give the tokenizer as many tokens as the matrix has rows, so that new ones get numbers that nothing else has."""
    known = tokenizer.get_vocab()
    missing = max(words, 1 + max(known.values())) - len(known)
    tokenizer.add_tokens([f"[FREE{number}]" for number in range(missing)], special_tokens=True)


def _pool_first(model: Any) -> None:
    """Take the first state as the vector; what follows the pooling stays."""
    from sentence_transformers.sentence_transformer.modules import Pooling

    if model[1].pooling_mode != "cls":
        model[1] = Pooling(model[0].get_embedding_dimension(), pooling_mode="cls")
