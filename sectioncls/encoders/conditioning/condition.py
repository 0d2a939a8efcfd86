"""Giving an encoder a conditioning."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch

from sectioncls.encoders.conditioning.backbone import FORWARD_KEYS, ConditionedBert
from sectioncls.encoders.conditioning.kinds import CONDITIONINGS
from sectioncls.encoders.encoder import Encoder
from sectioncls.encoders.packed import can_pack
from sectioncls.encoders.routes import TASKS, check_tasks
from sectioncls.errors import UsageError

__all__ = ["condition"]


def condition(
    encoder: Encoder,
    kind: str,
    *,
    seed: int = 0,
    tasks: Sequence[str] | None = None,
    trains: str | None = None,
    **options: Any,
) -> Encoder:
    """Give a new encoder with the weights of ``encoder`` and the conditioning ``kind``; ``encoder`` stays as it is.

    ``tasks`` are those that get a route, all four unless told otherwise. ``trains`` says which weights learn: ``all``,
    or the conditioning's ``own`` (adapters, fusion and prefix unless told otherwise). ``options`` are the kind's. What
    is random comes from ``seed`` alone. Kind ``none`` gives a copy: one vector for every task.
    Raises UsageError for an unknown kind, task or option, and for an encoder that is no plain BERT over whole texts.
    """
    if kind != "none" and kind not in CONDITIONINGS:
        raise UsageError(f"unknown conditioning {kind!r}", todo=f"known: {', '.join(['none', *CONDITIONINGS])}")
    if kind == "none":
        if options:
            raise UsageError(f"conditioning none has no option {sorted(options)[0]}")
        if encoder.conditioning is not None:
            raise UsageError(
                f"the encoder has a conditioning ({encoder.conditioning.name})", todo="start from a plain one"
            )
        return Encoder(copy.deepcopy(encoder.model), encoder.context).train(encoder.training)
    if not can_pack(encoder.backbone):
        raise UsageError("only a plain BERT can be conditioned", todo="choose another model")
    if encoder.context is not None:
        raise UsageError("an encoder with context can't be conditioned", todo="load it without context")
    built = CONDITIONINGS[kind]
    routes = check_tasks(tasks or encoder.routes or TASKS, by_format=built.by_format)
    if trains not in (None, "all", "own"):
        raise UsageError(f"trains {trains!r}", todo="known: all, own")
    model = copy.deepcopy(encoder.model)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        settings = {
            "kind": kind,
            "routes": list(routes),
            "trains": trains or built.default_trains,
            "options": built.resolve(model, routes, options),
        }
        backbone = ConditionedBert.around(model[0].auto_model, settings)
    if not any(weight.requires_grad for weight in backbone.parameters()):
        raise UsageError(f"conditioning {kind} has no weights of its own to learn", todo="choose trains all")
    transformer = model[0]
    transformer.model = backbone
    # What sentence-transformers reads off a network's signature when it loads one.
    transformer.model_forward_params = {"input_ids", "attention_mask", "token_type_ids", *FORWARD_KEYS}
    model.module_kwargs = {**(model.module_kwargs or {}), next(iter(model._modules)): list(FORWARD_KEYS)}
    return Encoder(model).train(encoder.training)
