"""Our losses as sentence-transformers modules, for those who train with its own trainer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor, nn

from sectioncls.losses.batch_all import Distance, batch_all_triplet_loss

__all__ = ["BatchAllTripletLoss", "LabelLoss"]


class BatchAllTripletLoss(nn.Module):
    """Drop-in for ``sentence_transformers.losses.BatchAllTripletLoss``: the same numbers, without the cube.

    ``model`` is a SentenceTransformer; each batch is one text column and one integer label column. Use a batch sampler
    that gives every batch two labels with two items each (``sectioncls.training.LabelBatches``, or the library's
    GROUP_BY_LABEL, which drops items).
    """

    def __init__(self, model: nn.Module, margin: float = 5.0, distance: Distance = "euclidean") -> None:
        super().__init__()
        self.model = model
        self.margin = margin
        self.distance: Distance = distance

    def forward(self, sentence_features: Iterable[dict[str, Tensor]], labels: Tensor) -> Tensor:
        """Give the loss of one batch: a list with one feature dictionary, and (B,) labels."""
        (features,) = sentence_features
        embeddings = self.model(features)["sentence_embedding"]
        return batch_all_triplet_loss(embeddings, labels, self.margin, self.distance)

    def get_config_dict(self) -> dict[str, Any]:
        """Give what the model card prints."""
        return {"distance": self.distance, "margin": self.margin}

    @property
    def citation(self) -> str:
        """The paper of the loss, for the model card."""
        return (
            "@misc{hermans2017defense,\n"
            "    title={In Defense of the Triplet Loss for Person Re-Identification},\n"
            "    author={Alexander Hermans and Lucas Beyer and Bastian Leibe},\n"
            "    year={2017},\n    eprint={1703.07737},\n    archivePrefix={arXiv},\n"
            "    primaryClass={cs.CV}\n}"
        )


class LabelLoss(nn.Module):
    """Any of our label losses in sentence-transformers' own trainer.

    ``loss`` is called with (embeddings, labels, **settings): ``LabelLoss(model, supcon_loss, temperature=0.1)``.
    """

    def __init__(self, model: nn.Module, loss: Callable[..., Tensor], **settings: Any) -> None:
        super().__init__()
        self.model = model
        self.loss = loss
        self.settings = settings

    def forward(self, sentence_features: Iterable[dict[str, Tensor]], labels: Tensor) -> Tensor:
        """Give the loss of one batch: a list with one feature dictionary, and (B,) labels."""
        (features,) = sentence_features
        return self.loss(self.model(features)["sentence_embedding"], labels.reshape(-1), **self.settings)

    def get_config_dict(self) -> dict[str, Any]:
        """Give what the model card prints."""
        return {"loss": getattr(self.loss, "__name__", type(self.loss).__name__), **self.settings}
