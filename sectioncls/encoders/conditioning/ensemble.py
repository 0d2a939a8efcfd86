"""Ensembles: the vectors of several encoders, averaged or end to end.

Paper: arXiv 2211.13308, section 5 (SciRepEval: adapters with control codes; the mean is as good as the concatenation,
at half the size). The members are trained alone and put together afterwards, into one folder that loads like any other.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from sectioncls.encoders.conditioning.backbone import FORWARD_KEYS, refuse_strange, rows_of
from sectioncls.encoders.encoder import Encoder
from sectioncls.encoders.packed import can_pack, packed_hidden
from sectioncls.encoders.pooling import POOLINGS
from sectioncls.encoders.routes import SIDES, TASKS, route_of
from sectioncls.encoders.tokens import put_second
from sectioncls.errors import ModelError, UsageError

__all__ = ["EnsembleBert", "EnsembleConfig", "ensemble"]

_WAYS = ("mean", "concat")


class EnsembleConfig(PreTrainedConfig):  # type: ignore[misc]
    """``members`` are the members' configurations, each with its ``pooling`` and whether it ``normalises``."""

    model_type = "sectioncls-ensemble"

    how: str = "mean"
    members: list[dict[str, Any]] | None = None
    hidden_size: int = 0
    max_position_embeddings: int = 512


class EnsembleRoutes(nn.Module):
    """The routes of an ensemble: every task that all members know, on either side."""

    codes: tuple[int, ...] = ()

    def __init__(self, name: str, members: Sequence[Any]) -> None:
        super().__init__()
        self.name = name
        known = [set(member.conditioning.routes) for member in members if hasattr(member, "conditioning")]
        self.routes = tuple(task for task in TASKS if all(task in tasks for tasks in known))

    def route_of(self, task: str | None, side: str = "document") -> int:
        """Give the number of the route of a task's side: two a task. Raises UsageError for an unknown task."""
        if task in SIDES:
            task, side = "search", task
        return 2 * route_of(self.routes, task, side) + SIDES.index(side)

    def code_of(self, routes: Any) -> None:
        """Give no code: members put in theirs."""

    def of_member(self, member: Any, routes: Tensor) -> Tensor | None:
        """Give the member's routes of rows with the ensemble's, None for a member without conditioning."""
        if not hasattr(member, "conditioning"):
            return None
        table = [member.conditioning.route_of(task, side) for task in self.routes for side in SIDES]
        return torch.tensor(table, dtype=torch.int32)[routes.long()]


class EnsembleBert(PreTrainedModel):  # type: ignore[misc]
    """Several BERTs over the same tokens; each row's vector is its one state."""

    config_class = EnsembleConfig

    def __init__(self, config: EnsembleConfig) -> None:
        super().__init__(config)
        try:
            kinds = [AutoConfig.for_model(**known["network"]) for known in config.members or ()]
            self._attach([AutoModel.from_config(kind) for kind in kinds])
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError("names members that we don't know") from error
        self.post_init()

    def _attach(self, members: Sequence[Any]) -> None:
        self.members = nn.ModuleList(members)
        self.conditioning = EnsembleRoutes(self.config.how, members)

    @classmethod
    def around(cls, members: Sequence[Any], config: EnsembleConfig) -> EnsembleBert:
        """Give an ensemble of networks that have their weights."""
        with torch.device("meta"):
            model = cls(config)
        model._attach(members)
        return model

    def _init_weights(self, module: nn.Module) -> None:
        """Leave the members as they are."""

    @classmethod
    def from_pretrained(cls, source: Any, *args: Any, **kwargs: Any) -> Any:
        """Load as transformers does; raises ModelError for a folder whose weights are not those of its members."""
        wanted = kwargs.pop("output_loading_info", False)
        model, info = super().from_pretrained(source, *args, output_loading_info=True, **kwargs)
        refuse_strange(info, source)
        return (model, info) if wanted else model

    def vectors(self, ids: Tensor, lengths: Tensor, routes: Tensor) -> Tensor:
        """Give one vector a row, (rows, dimension), of rows end to end in ``ids`` without codes."""
        made = []
        member: Any
        for member, known in zip(self.members, self.config.members, strict=True):
            own = self.conditioning.of_member(member, routes)
            codes = None if own is None else member.conditioning.code_of(own.numpy())
            rows, sizes = ids, lengths
            if codes is not None:
                rows, sizes = put_second(ids, lengths, torch.from_numpy(codes).to(ids))
            ends = sizes.cumsum(0)
            starts = ends - sizes + (codes is not None)
            vectors = POOLINGS[known["pooling"]](packed_hidden(member, rows, sizes, routes=own), starts, ends)
            made.append(nn.functional.normalize(vectors, dim=1) if known["normalises"] else vectors)
        return torch.stack(made).mean(0) if self.config.how == "mean" else torch.cat(made, dim=1)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        task: str | None = None,
        side: str = "document",
        return_dict: bool | None = None,
    ) -> BaseModelOutput:
        """Give the vectors as (rows, 1, dimension). Raises UsageError for an unknown task, or for pairs of texts."""
        ids, lengths, _ = rows_of(input_ids, attention_mask, token_type_ids)
        routes = torch.full((len(lengths),), self.conditioning.route_of(task, side), dtype=torch.int32)
        return BaseModelOutput(last_hidden_state=self.vectors(ids, lengths, routes)[:, None])


def ensemble(members: Sequence[Encoder], how: str = "mean") -> Encoder:
    """Give one encoder of several with the same words: their vectors' ``mean``, or all end to end (``concat``).

    The tasks are those that all members know. The weights are shared with the members. Where all members end on the
    unit sphere, so does the ensemble.
    Raises UsageError for fewer than two members, other words, or vectors that can't be averaged.
    """
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling

    if how not in _WAYS:
        raise UsageError(f"unknown ensemble {how!r}", todo=f"known: {', '.join(_WAYS)}")
    _check(members, how)
    backbones = [member.backbone for member in members]
    sizes = [member.dimension for member in members]
    config = EnsembleConfig(
        how=how,
        members=[
            {
                # without the place that it came from
                "network": {k: v for k, v in member.backbone.config.to_dict().items() if k != "_name_or_path"},
                "pooling": member.model[1].pooling_mode,
                "normalises": member.normalises,
            }
            for member in members
        ],
        hidden_size=sizes[0] if how == "mean" else sum(sizes),
        max_position_embeddings=min(backbone.config.max_position_embeddings for backbone in backbones),
    )
    # The tokenizer with the most tokens knows every member's codes; the shortest member says where texts are cut.
    widest = max(members, key=lambda member: len(member.model.tokenizer))
    transformer = _transformer(widest.model[0], EnsembleBert.around(backbones, config))
    modules = [transformer, Pooling(config.hidden_size, pooling_mode="cls")]
    if all(member.normalises for member in members):
        modules.append(Normalize())
    model = SentenceTransformer(modules=modules, device=str(members[0].device))
    model.module_kwargs = {"0": list(FORWARD_KEYS)}
    model.max_seq_length = min(member.max_length for member in members)
    return Encoder(model).train(members[0].training)


def _check(members: Sequence[Encoder], how: str) -> None:
    """Refuse members that don't go together."""
    if len(members) < 2:
        raise UsageError("an ensemble has two members at least")
    for member in members:
        if not can_pack(member.backbone) or member.context is not None:
            raise UsageError("only BERTs over whole texts make an ensemble", todo="choose other members")
    if how == "mean" and len({member.dimension for member in members}) > 1:
        raise UsageError("vectors of different lengths have no mean", todo="choose concat")
    if all(member.conditioning is None for member in members):
        raise UsageError("no member has a conditioning", todo="condition one")
    words = [dict(member.model.tokenizer.get_vocab()) for member in members]
    least = min(len(known) for known in words)
    if len({frozenset((word, i) for word, i in known.items() if i < least) for known in words}) > 1:
        raise UsageError("the members don't read the same words", todo="choose members of one backbone")


def _transformer(first: Any, network: EnsembleBert) -> Any:
    """Give sentence-transformers' module around ``network``, with the tokenizer of ``first``."""
    transformer = copy.copy(first)
    transformer._modules = {**first._modules, "model": network}
    transformer.processor = copy.deepcopy(first.processor)
    transformer.model_forward_params = {"input_ids", "attention_mask", "token_type_ids", *FORWARD_KEYS}
    return transformer


AutoConfig.register(EnsembleConfig.model_type, EnsembleConfig, exist_ok=True)
AutoModel.register(EnsembleConfig, EnsembleBert, exist_ok=True)
