"""The network that turns a batch of tokens into one vector per span."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from sectioncls.encoders.packed import can_pack, packed_hidden, padded_hidden
from sectioncls.encoders.pooling import POOLINGS
from sectioncls.encoders.routes import TASKS, route_of
from sectioncls.encoders.tokens import Batch, Tokens, put_second, tokenise
from sectioncls.encoders.windows import Context, Windows, make_windows
from sectioncls.errors import ModelError, UsageError

__all__ = ["Encoder"]


class Encoder(nn.Module):
    """A SentenceTransformer seen as backbone, pooling and what follows; it shares the weights of ``model``.

    With ``context`` sentences are read in windows of their article (see windows.py), without it alone.
    ``model`` stays a plain SentenceTransformer, so saving it after training gives a folder that loads anywhere.
    Raises ModelError for a model that is not a text transformer followed by mean or [CLS] pooling.
    """

    def __init__(self, model: Any, context: Context | None = None) -> None:
        super().__init__()
        from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

        modules = list(model)
        if len(modules) < 2 or not isinstance(modules[0], Transformer) or not isinstance(modules[1], Pooling):
            raise ModelError(
                "is not a text transformer followed by pooling", todo="choose a BERT-like sentence encoder"
            )
        mode = modules[1].pooling_mode
        if mode not in POOLINGS:
            raise ModelError(f"pools by {mode!r}", todo=f"known: {', '.join(POOLINGS)}")
        self.model = model
        self.context = context
        self.pool = POOLINGS[mode]

    @property
    def backbone(self) -> Any:
        """The transformer itself."""
        return self.model[0].auto_model

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.model.parameters()).device  # type: ignore[no-any-return]

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return int(self.model.get_embedding_dimension())

    @property
    def max_length(self) -> int:
        """Tokens that a text may have; the rest is cut."""
        limit = self.model.max_seq_length or self.backbone.config.max_position_embeddings
        return int(limit)

    @property
    def normalises(self) -> bool:
        """Whether vectors end on the unit sphere, where no Euclidean distance exceeds 2."""
        from sentence_transformers.sentence_transformer.modules import Normalize

        return any(isinstance(module, Normalize) for module in self.model)

    @property
    def conditioning(self) -> Any:
        """What tells the backbone its task (see conditioning/hooks.py), None for one vector for every task."""
        return getattr(self.backbone, "conditioning", None)

    @property
    def routes(self) -> tuple[str, ...]:
        """The names of the routes, none for an encoder without conditioning."""
        return self.conditioning.routes if self.conditioning is not None else ()

    def tokenise(self, texts: Sequence[str], task: str | None = None, side: str = "document") -> Tokens:
        """Give the token ids of ``texts`` as this encoder reads them, its default prompt included.

        A conditioned encoder needs the ``task`` and, in a search, the ``side``: the rows get their route, and their
        control code where it has them. Others read every task alike; only a search takes the prompt of its side.
        Raises UsageError for a task that the encoder has no route for.
        """
        conditioning = self.conditioning
        route = route_of(TASKS, task or TASKS[0], side) if conditioning is None else conditioning.route_of(task, side)
        named = self.model.prompts.get(side) if conditioning is None and task == "search" else None
        prompt = named or self.model.prompts.get(self.model.default_prompt_name or "", "")
        texts = [prompt + text for text in texts] if prompt else texts
        if getattr(self.model[0], "do_lower_case", False):
            texts = [text.lower() for text in texts]
        tokens = tokenise(self.model.tokenizer, [text.strip() for text in texts], self.max_length)
        return tokens if conditioning is None else _routed(tokens, conditioning, route)

    def read(
        self,
        texts: Sequence[str],
        article_ids: Sequence[str],
        index: Sequence[int] | npt.NDArray[np.integer[Any]],
        paths: Sequence[Sequence[str]] | None = None,
    ) -> Tokens | Windows:
        """Give sentences as this encoder reads them: alone, or in windows of their articles (see make_windows)."""
        if self.context is None:
            return self.tokenise(texts)
        words = [text.strip() for text in texts]
        return make_windows(self.model.tokenizer, words, article_ids, index, self.context, paths)

    def forward(self, batch: Batch) -> Tensor:
        """Give one vector per span of the batch, (S, dimension)."""
        starts, ends = batch.bounds()
        conditioning = self.conditioning
        if conditioning is not None and batch.routes is None:
            raise UsageError("this encoder has to be told the task", todo=f"known: {', '.join(self.routes)}")
        if hasattr(self.backbone, "vectors"):  # an ensemble pools by itself
            hidden = self.backbone.vectors(batch.ids, batch.lengths, batch.routes)
            starts = torch.arange(len(hidden), device=hidden.device)
            ends = starts + 1
        elif can_pack(self.backbone):
            hidden = packed_hidden(
                self.backbone, batch.ids, batch.lengths, routes=batch.routes, start=batch.start, first=batch.first
            )
            if conditioning is not None and conditioning.codes:
                starts = starts + 1  # the code stands for the row, [CLS] does not
        else:
            pad = self.model.tokenizer.pad_token_id or 0
            hidden = padded_hidden(self.backbone, batch.ids, batch.lengths, pad)
        features = {"sentence_embedding": self.pool(hidden, starts, ends)}
        for module in list(self.model)[2:]:
            features = module(features)
        vectors: Tensor = features["sentence_embedding"]
        return vectors[:, : self.model.truncate_dim]


def _routed(tokens: Tokens, conditioning: Any, route: int) -> Tokens:
    """Give the rows with their route and, where the conditioning has them, their code."""
    routes = np.full(len(tokens), route, dtype=np.int32)
    codes = conditioning.code_of(routes)
    if codes is None:
        return Tokens(tokens.ids, tokens.offsets, routes)
    ids, lengths = put_second(*(torch.from_numpy(array) for array in (tokens.ids, tokens.lengths, codes)))
    return Tokens(ids.numpy(), np.concatenate([[0], lengths.cumsum(0).numpy()]), routes)
