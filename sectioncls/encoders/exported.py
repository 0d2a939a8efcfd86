"""Exported encoders: the backbone is a graph that ONNX Runtime or OpenVINO runs; all else stays as it was.

The folder of an encoder with ``onnx/model.onnx``, or ``openvino/openvino_model.xml`` and ``.bin``, for the weights. A
graph takes ``input_ids`` and ``attention_mask``, (rows, longest), and gives the tokens' last states. Pooling and what
follows are computed here, in float32, so that windows of articles and classifiers go on as before.
``load_encoder(folder)`` loads it like any other, ``SentenceTransformer(folder)`` too once this package is imported.
"""

from __future__ import annotations

import copy
import hashlib
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from sectioncls.encoders.encoder import Encoder
from sectioncls.errors import ModelError, UsageError

__all__ = ["BACKENDS", "GraphBackbone", "GraphConfig", "graph_files", "import_backend", "openvino_core", "with_graph"]

Runner: TypeAlias = Callable[[npt.NDArray[np.int64], npt.NDArray[np.int64]], npt.NDArray[np.float32]]

BACKENDS: dict[str, tuple[str, ...]] = {
    "onnx": ("onnx/model.onnx",),
    "openvino": ("openvino/openvino_model.xml", "openvino/openvino_model.bin"),
}
"""The files of a graph, by who runs it."""


class GraphConfig(PreTrainedConfig):  # type: ignore[misc]
    """``backend`` runs the graph, which multiplies in ``precision`` (float32 or int8); ``sha256`` is of its files."""

    model_type = "sectioncls-graph"

    backend: str = "onnx"
    precision: str = "float32"
    sha256: str = ""
    hidden_size: int = 0
    max_position_embeddings: int = 512
    vocab_size: int = 0


class GraphBackbone(PreTrainedModel):  # type: ignore[misc]
    """A transformer whose forward pass is a graph in a file. It has no weights to train, and runs on the CPU."""

    config_class = GraphConfig

    def __init__(self, config: GraphConfig, folder: Path) -> None:
        super().__init__(config)
        files = graph_files(folder, config.backend)
        digest = _digest(files)
        if config.sha256 != digest.hex():
            raise ModelError("the graph is another than its config.json says", folder, "export the encoder again")
        self.folder = folder
        # What tells two graphs apart where weights are compared, and where the encoder is.
        self.digest = nn.Parameter(torch.tensor(list(digest), dtype=torch.float32), requires_grad=False)
        self._run = _OPENERS[config.backend](files, config)

    @classmethod
    def from_pretrained(cls, source: Any, *args: Any, config: Any = None, **kwargs: Any) -> Any:
        """Give the graph in a folder. Raises ModelError where it is missing, changed, or its library is."""
        model = cls(config or GraphConfig.from_pretrained(source), Path(source)).eval()
        return (model, {}) if kwargs.get("output_loading_info") else model

    def save_pretrained(self, save_directory: Any, **kwargs: Any) -> None:
        """Write the same graph into another folder."""
        for file, name in zip(
            graph_files(self.folder, self.config.backend), BACKENDS[self.config.backend], strict=True
        ):
            copied = Path(save_directory) / name
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copied)
        self.config.save_pretrained(save_directory)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        return_dict: bool | None = None,
    ) -> BaseModelOutput:
        """Give the last states, (rows, longest, hidden). Raises UsageError when asked for a gradient."""
        if self.training and torch.is_grad_enabled():
            raise UsageError("an exported encoder can't be trained", todo="train the one that it was made from")
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        states = self._run(input_ids.cpu().numpy(), mask.cpu().numpy().astype(np.int64))
        return BaseModelOutput(last_hidden_state=torch.from_numpy(states).to(input_ids.device))


def with_graph(encoder: Encoder, folder: Path, backend: str, precision: str) -> Encoder:
    """Give ``encoder`` with the graph in ``folder`` for its backbone; pooling, prompts and context are the same."""
    from sentence_transformers import SentenceTransformer

    known = encoder.backbone.config
    config = GraphConfig(
        backend=backend,
        precision=precision,
        sha256=_digest(graph_files(folder, backend)).hex(),
        hidden_size=known.hidden_size,
        max_position_embeddings=known.max_position_embeddings,
        vocab_size=known.vocab_size,
    )
    first, *rest = list(encoder.model)
    transformer = copy.copy(first)
    transformer._modules = {**first._modules, "model": GraphBackbone(config, folder).eval()}
    transformer.model_forward_params = {"input_ids", "attention_mask", "token_type_ids"}
    model = SentenceTransformer(
        modules=[transformer, *rest],
        device="cpu",
        prompts=encoder.model.prompts,
        default_prompt_name=encoder.model.default_prompt_name,
        similarity_fn_name=encoder.model.similarity_fn_name,
        truncate_dim=encoder.model.truncate_dim,
    )
    return Encoder(model, encoder.context).eval()


def graph_files(folder: Path, backend: str) -> list[Path]:
    """Give the files of a folder's graph. Raises ModelError for an unknown backend or a missing file."""
    if backend not in BACKENDS:
        raise ModelError(f"is for the unknown backend {backend!r}", folder, f"known: {', '.join(BACKENDS)}")
    files = [folder / name for name in BACKENDS[backend]]
    for file in files:
        if not file.is_file():
            raise ModelError("the graph is not whole", file, "export the encoder again")
    return files


def import_backend(name: str) -> Any:
    """Give one of the optional libraries. Raises ModelError, with what to install, where it is missing.

    OpenVINO's report to its makers stays off: they are told nothing of a call.
    """
    import importlib

    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]  # Python's way to say: not installed
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ModelError(f"the library {name} is missing", todo="pip install 'sectioncls[export]'") from error


@cache
def openvino_core() -> Any:
    """Give OpenVINO's core with its processor plugin loaded, one for the whole process.

    A plugin lays a stack of its own under signals and puts the earlier one back when it goes. Two that don't go in
    order put back one that is freed, and the next Ctrl-C kills the process; so the first comes early and never goes.
    """
    core = import_backend("openvino").Core()
    core.get_property("CPU", "FULL_DEVICE_NAME")
    return core


def _open_onnx(files: list[Path], config: GraphConfig) -> Runner:
    runtime = import_backend("onnxruntime")
    settings = runtime.SessionOptions()
    settings.intra_op_num_threads = torch.get_num_threads()
    settings.log_severity_level = 3
    try:
        # From bytes: a graph that names further files finds none.
        session = runtime.InferenceSession(files[0].read_bytes(), settings, providers=["CPUExecutionProvider"])
        names = [value.name for value in session.get_outputs()][:1]
    except Exception as error:  # the runtime has a dozen errors of its own
        raise ModelError(f"the graph can't be opened: {_reason(error)}", files[0]) from error

    def run(ids: npt.NDArray[np.int64], mask: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        states: npt.NDArray[np.float32] = session.run(names, {"input_ids": ids, "attention_mask": mask})[0]
        return states

    return run


def _open_openvino(files: list[Path], config: GraphConfig) -> Runner:
    core = openvino_core()
    settings = {
        "INFERENCE_NUM_THREADS": torch.get_num_threads(),
        "NUM_STREAMS": 1,
        "INFERENCE_PRECISION_HINT": "f32",
    }
    try:
        request = core.compile_model(core.read_model(files[0], files[1]), "CPU", settings).create_infer_request()
    except Exception as error:  # RuntimeError and kin, with a page of text
        raise ModelError(f"the graph can't be opened: {_reason(error)}", files[0]) from error

    def run(ids: npt.NDArray[np.int64], mask: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        states: npt.NDArray[np.float32] = request.infer({"input_ids": ids, "attention_mask": mask})[0]
        return states

    return run


_OPENERS: dict[str, Callable[[list[Path], GraphConfig], Runner]] = {"onnx": _open_onnx, "openvino": _open_openvino}


def _digest(files: list[Path]) -> bytes:
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.digest()


def _reason(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


AutoConfig.register(GraphConfig.model_type, GraphConfig, exist_ok=True)
AutoModel.register(GraphConfig, GraphBackbone, exist_ok=True)
