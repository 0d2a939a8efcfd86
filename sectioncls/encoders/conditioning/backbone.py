"""A BERT with a conditioning, as transformers and sentence-transformers load it by themselves.

Importing this module tells transformers of the model type ``sectioncls-bert``; from then on a folder with one loads by
``SentenceTransformer(folder)`` and encodes with ``encode(texts, task="search", side="query")``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers import AutoConfig, AutoModel, BertConfig, BertModel
from transformers.modeling_outputs import BaseModelOutput

from sectioncls.encoders.conditioning.kinds import CONDITIONINGS
from sectioncls.encoders.packed import packed_hidden
from sectioncls.encoders.routes import check_tasks
from sectioncls.encoders.tokens import put_second
from sectioncls.errors import ModelError, UsageError

__all__ = ["FORWARD_KEYS", "ConditionedBert", "ConditionedBertConfig", "refuse_strange", "rows_of"]

#: What ``encode`` of sentence-transformers hands on to the network.
FORWARD_KEYS = ("task", "side")


class ConditionedBertConfig(BertConfig):  # type: ignore[misc]
    """A BERT's configuration with ``conditioning``: kind, routes, trains, options."""

    model_type = "sectioncls-bert"

    conditioning: dict[str, Any] | None = None


class ConditionedBert(BertModel):  # type: ignore[misc]
    """A BERT whose layers are computed by ``conditioning`` (see hooks.py), always without padding."""

    config_class = ConditionedBertConfig

    def __init__(self, config: ConditionedBertConfig, add_pooling_layer: bool = True) -> None:
        super().__init__(config, add_pooling_layer=add_pooling_layer)
        self._attach()

    def _attach(self) -> None:
        known = self.config.conditioning or {}
        try:
            kind = CONDITIONINGS[known["kind"]]
            routes = check_tasks(known["routes"], by_format=kind.by_format)
            self.conditioning = kind(self, routes, **known["options"])
            self.conditioning.choose_weights(self, known["trains"])
        except (KeyError, TypeError, ValueError, UsageError) as error:
            raise ModelError(f"names a conditioning that we don't know: {known}") from error

    @classmethod
    def around(cls, bert: Any, conditioning: dict[str, Any]) -> ConditionedBert:
        """Give the parts of ``bert`` with a new conditioning, initialised from torch's random generator."""
        settings = {k: v for k, v in bert.config.to_dict().items() if k not in ("model_type", "conditioning")}
        config = ConditionedBertConfig(**settings, conditioning=conditioning)
        with torch.device("meta"):
            model = cls(config, add_pooling_layer=bert.pooler is not None)
        model.embeddings, model.encoder, model.pooler = bert.embeddings, bert.encoder, bert.pooler
        model._attach()
        model.conditioning.inherit(getattr(bert, "conditioning", None))
        model.train(bert.training)
        return model

    @classmethod
    def from_pretrained(cls, source: Any, *args: Any, **kwargs: Any) -> Any:
        """Load as transformers does, but refuse weights that are not all of this network's.

        Raises ModelError for a folder whose weights belong to other tasks or another conditioning.
        """
        wanted = kwargs.pop("output_loading_info", False)
        model, info = super().from_pretrained(source, *args, output_loading_info=True, **kwargs)
        refuse_strange(info, source)
        model.conditioning.choose_weights(model, model.config.conditioning["trains"])
        return (model, info) if wanted else model

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        task: str | None = None,
        side: str = "document",
        return_dict: bool | None = None,
    ) -> BaseModelOutput:
        """Give the last states, (rows, longest, hidden), of padded rows of one task and side.

        Codes are put in here; the states begin with the code's then, in the place of [CLS]'s.
        Raises UsageError for an unknown task, or for pairs of texts.
        """
        ids, lengths, mask = rows_of(input_ids, attention_mask, token_type_ids)
        routes = torch.full((len(lengths),), self.conditioning.route_of(task, side), dtype=torch.int32)
        codes = self.conditioning.code_of(routes.numpy())
        if codes is not None:
            ids, lengths = put_second(ids, lengths, torch.from_numpy(codes).to(ids))
        hidden = packed_hidden(self, ids, lengths, routes=routes)
        if codes is not None:
            hidden = hidden[_without_first(lengths)]
        states = hidden.new_zeros(*mask.shape, hidden.shape[1])
        states[mask] = hidden
        return BaseModelOutput(last_hidden_state=states)


def rows_of(ids: Tensor, mask: Tensor | None, types: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """Give padded rows end to end, (T,), their lengths, (rows,), and where they stood, (rows, longest).

    Raises UsageError for pairs of texts.
    """
    if types is not None and bool(types.any()):
        raise UsageError("pairs of texts are not encoded", todo="join them with [SEP]")
    real = torch.ones_like(ids, dtype=torch.bool) if mask is None else mask.bool()
    return ids[real], real.sum(1), real


def refuse_strange(info: dict[str, Any], source: Any) -> None:
    """Raise ModelError for weights of ``source`` that are missing, or that belong to no part of the network."""
    strange = sorted([*info["missing_keys"], *info["unexpected_keys"]])
    if strange:
        raise ModelError(f"holds weights of other tasks than it says ({strange[0]})", source)


def _without_first(lengths: Tensor) -> Tensor:
    keep = torch.ones(int(lengths.sum()), dtype=torch.bool, device=lengths.device)
    keep[lengths.cumsum(0) - lengths] = False
    return keep


AutoConfig.register(ConditionedBertConfig.model_type, ConditionedBertConfig, exist_ok=True)
AutoModel.register(ConditionedBertConfig, ConditionedBert, exist_ok=True)
