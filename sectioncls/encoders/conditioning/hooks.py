"""What a conditioning is: weights beside a BERT, and hooks by which the forward pass asks for them."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

import numpy as np
from torch import Tensor, nn

from sectioncls.encoders.packed import Layout, layer_of
from sectioncls.encoders.routes import route_of
from sectioncls.errors import UsageError

__all__ = ["Conditioning"]


class Conditioning(nn.Module):
    """How a BERT is told its task; what a kind does not override, it leaves to the plain network.

    A kind is a subclass with a ``name`` and a line in kinds.py. It is built beside a BERT of the right shape, once when
    an encoder is conditioned (the BERT has its weights, and the random generator is seeded) and again when it is
    loaded (the weights come afterwards). It may copy parts of the BERT and take parts out that it replaces. What
    belongs to one route alone is a module of its own, so that a step of another route leaves it bit-equal.

    ``routes`` names the routes; ``trains`` says which weights learn: ``all``, or the conditioning's ``own``.
    """

    name: ClassVar[str]
    #: Rows of one route are computed together; False where layers treat all routes alike.
    grouped: ClassVar[bool] = True
    #: A search's documents take the route of proximity.
    by_format: ClassVar[bool] = False
    #: Which weights learn when nothing else is said.
    default_trains: ClassVar[str] = "all"
    #: Tokens put behind each row's first, one a route; what the backbone gives begins with them.
    codes: tuple[int, ...] = ()

    def __init__(self, bert: Any, routes: tuple[str, ...]) -> None:
        super().__init__()
        self.routes = routes

    @classmethod
    def resolve(cls, model: Any, routes: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
        """Give the options as they are kept: what ``__init__`` takes after ``routes``, in JSON's types.

        Called once, when an encoder is conditioned; ``model`` is the new SentenceTransformer, whose tokenizer and
        pooling may be changed. Raises UsageError for options that are wrong.
        """
        known = dict(list(inspect.signature(cls.__init__).parameters.items())[3:])
        for option, value in options.items():
            if option not in known:
                raise UsageError(f"conditioning {cls.name} has no option {option}", todo=f"known: {', '.join(known)}")
            if not _fits(value, str(known[option].annotation)):
                what = f"conditioning {cls.name} takes no {option} = {value!r}"
                raise UsageError(what, todo=f"give {known[option].annotation}")
        return options

    def route_of(self, task: str | None, side: str = "document") -> int:
        """Give the number of the route of a task's side. Raises UsageError for an unknown task."""
        return route_of(self.routes, task, side, by_format=self.by_format)

    def words(self, bert: Any, ids: Tensor) -> Tensor:
        """Give the word embeddings of ``ids`` (T,), (T, hidden)."""
        return bert.embeddings.word_embeddings(ids)  # type: ignore[no-any-return]

    def prepare(self, bert: Any, route: int) -> Any:
        """Give what the layers of one pass along ``route`` share; handed to each of them."""
        return None

    def layer(self, index: int, layer: Any, hidden: Tensor, layout: Layout, route: int, prepared: Any) -> Tensor:
        """Give the states after the BERT layer ``layer``, number ``index``, for rows of one route, (T, hidden)."""
        return layer_of(layer, hidden, layout)

    def inherit(self, former: Conditioning | None) -> None:
        """Take over the weights of the conditioning that the encoder had before, None where it had none.

        Called once, when an encoder is conditioned. Raises UsageError where the two don't go together.
        """
        if former is not None:
            raise UsageError(f"the encoder has a conditioning ({former.name}) already", todo="start from a plain one")

    def own_weights(self) -> list[nn.Parameter]:
        """Give the weights that learn where only the conditioning's own do."""
        return list(self.parameters())

    def choose_weights(self, bert: Any, trains: str) -> None:
        """Let ``all`` weights of ``bert`` learn, or only the conditioning's ``own``."""
        bert.requires_grad_(trains == "all")
        for weight in self.own_weights():
            weight.requires_grad_(True)

    def penalise(self) -> None:
        """Add the gradient of what the kind adds to the loss, whatever the batch, to weights that have one already.

        Called once a step, after the gradients of all processes came together; a plain kind adds nothing.
        """

    def code_of(self, routes: np.ndarray[Any, np.dtype[np.int32]]) -> np.ndarray[Any, np.dtype[np.int32]] | None:
        """Give the token to be put behind each row's first, (rows,), None for a conditioning without codes."""
        return np.asarray(self.codes, dtype=np.int32)[routes] if self.codes else None


_KINDS: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "str": (str,), "bool": (bool,)}


def _fits(value: Any, annotation: str) -> bool:
    """Tell whether a value is of an annotation made of plain types; of any other every value is."""
    kinds = annotation.split(" | ")
    if value is None:
        return "None" in kinds
    if any(kind not in (*_KINDS, "None") for kind in kinds):
        return True
    wanted = tuple(kind for name in kinds for kind in _KINDS.get(name, ()))
    return isinstance(value, wanted) and (bool in wanted or not isinstance(value, bool))
