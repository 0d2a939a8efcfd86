"""Instruction: each layer's tokens attend to the states that the task's wording has at that layer.

Paper: arXiv 2305.14232, section 3.3 (SciMult-Instruction). The wording is encoded by the network itself; its states
before layer n are extra keys and values of layer n for every text of the task. It does not attend to the text, gives no
output, and moves no token's position; so its states are the same for all texts, and kept while the weights stay.

The wordings are ours: the paper's table could not be had. It says that other reasonable ones change little.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from sectioncls.encoders.conditioning.hooks import Conditioning
from sectioncls.encoders.packed import Layout, layer_of, states_before
from sectioncls.errors import ModelError, UsageError

__all__ = ["WORDINGS", "Instruction"]

#: What a task's texts are read with, unless the option ``wordings`` says otherwise. Ours.
WORDINGS: Mapping[str, str] = {
    "classification": "Find the topics of a scientific paper.",
    "regression": "Estimate a number that describes a scientific paper.",
    "proximity": "Find scientific papers that a scientific paper cites or is cited by.",
    "search": "Find scientific papers that answer a query.",
}


class Instruction(Conditioning):
    """The wording of the task, encoded by the network itself, as extra keys and values of every layer.

    Options: ``wordings`` (task → text; those not named are ours). All weights learn. ``ids`` are the wordings' tokens.
    """

    name = "instruction"

    def __init__(self, bert: Any, routes: tuple[str, ...], wordings: dict[str, str], ids: dict[str, list[int]]) -> None:
        super().__init__(bert, routes)
        self.wordings = wordings
        self.ids = [[int(token) for token in ids[route]] for route in routes]
        words, places = bert.config.vocab_size, bert.config.max_position_embeddings
        if not all(0 < len(row) <= places and min(row) >= 0 and max(row) < words for row in self.ids):
            raise ModelError(f"holds wordings that its network can't read: {wordings}")
        self._kept: dict[int, tuple[object, list[Tensor]]] = {}

    @classmethod
    def resolve(cls, model: Any, routes: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
        """Give the wording of every route and its tokens. Raises UsageError for an empty, long or superfluous one."""
        given = options.pop("wordings", {})
        if not isinstance(given, Mapping):
            raise UsageError(f"conditioning {cls.name} takes no wordings = {given!r}", todo="give one text a task")
        wordings = dict(given)
        if options:
            raise UsageError(f"conditioning {cls.name} has no option {sorted(options)[0]}", todo="known: wordings")
        for task in wordings:
            if task not in routes:
                raise UsageError(f"a wording for the task {task!r}", todo=f"the tasks are {', '.join(routes)}")
        wordings = {route: str(wordings.get(route, WORDINGS[route])).strip() for route in routes}
        limit = int(model[0].auto_model.config.max_position_embeddings)
        ids: dict[str, list[int]] = {}
        for route, text in wordings.items():
            ids[route] = list(model.tokenizer(text)["input_ids"])
            if not text or len(ids[route]) > limit:
                raise UsageError(f"the wording of {route} is empty or longer than {limit} tokens")
        return {"wordings": wordings, "ids": ids}

    def prepare(self, bert: Any, route: int) -> list[Tensor]:
        """Give the wording's states before each layer, each (m, hidden)."""
        network = self.network(bert)
        if network.training or torch.is_grad_enabled():
            return self._states(network, len(bert.encoder.layer), route)
        mark = _mark(network)
        if route not in self._kept or self._kept[route][0] != mark:
            self._kept[route] = (mark, self._states(network, len(bert.encoder.layer), route))
        return self._kept[route][1]

    def network(self, bert: Any) -> Any:
        """Give what encodes the wording: the network itself."""
        return bert

    def layer(
        self, index: int, layer: Any, hidden: Tensor, layout: Layout, route: int, prepared: list[Tensor]
    ) -> Tensor:
        """Give the states after one layer, whose tokens attend to the wording's states besides their own."""
        return layer_of(layer, hidden, layout, prepared[index])

    def _states(self, network: Any, layers: int, route: int) -> list[Tensor]:
        device = network.embeddings.word_embeddings.weight.device
        ids = torch.tensor(self.ids[route], device=device)
        return list(islice(states_before(network, ids, torch.tensor([len(ids)], device=device)), layers))


def _mark(network: Any) -> object:
    """Give what changes whenever a weight is changed or moved, or the precision of the pass is."""
    weights = list(network.parameters())
    kind = weights[0].device.type
    precision = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else None
    return precision, tuple((w.data_ptr(), 0 if w.is_inference() else w._version) for w in weights)
