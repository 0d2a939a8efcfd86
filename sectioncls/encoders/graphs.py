"""From an encoder to a graph: traced, written as ONNX or OpenVINO, quantised to 8 bits with sentences of a corpus.

Weights and the inputs of every linear layer become 8-bit integers, with one scale a channel and one a tensor;
outlying channels are first smoothed into the weights. Paper: arXiv 2211.10438 (SmoothQuant), by the library nncf.
"""

from __future__ import annotations

import copy
import io
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from sectioncls.encoders.encode import encode_tokens
from sectioncls.encoders.encoder import Encoder
from sectioncls.encoders.exported import BACKENDS, import_backend, openvino_core, with_graph
from sectioncls.encoders.packed import Layout, can_pack
from sectioncls.encoders.tokens import Tokens
from sectioncls.encoders.windows import Windows
from sectioncls.errors import ModelError, UsageError

__all__ = ["export_graph"]

# The least cosine of a float32 graph's vectors with the network's own.
_ALIKE = 0.9999


def export_graph(
    encoder: Encoder,
    folder: Path,
    backend: str,
    *,
    calibration: Tokens | Windows | None = None,
    advance: Callable[[int], None] = lambda count: None,
) -> Encoder:
    """Write the graph of ``encoder`` into ``folder`` and give the encoder that runs it.

    With ``calibration``, rows of tokens as the encoder reads them, it is quantised to 8 bits; ``advance(rows)`` is
    called as they are seen. Raises UsageError for an unknown backend, ModelError for an encoder that is no plain BERT,
    a missing library, and a graph whose vectors are not those of the network.
    """
    if backend not in BACKENDS:
        raise UsageError(f"unknown backend {backend!r}", todo=f"known: {', '.join(BACKENDS)}")
    if not can_pack(encoder.backbone) or encoder.conditioning is not None:
        raise ModelError("only a plain BERT can be exported", todo="export the encoder that it was made from")
    for library in ("openvino",) if backend == "openvino" else ("onnx", "onnxruntime"):
        import_backend(library)
    quantised = calibration is not None
    if quantised:
        import_backend("nncf")
    graph_folder = folder / Path(BACKENDS[backend][0]).parent
    graph_folder.mkdir(parents=True, exist_ok=True)
    with _quiet():
        graph = _WRITERS[backend](_States(encoder.backbone), folder / BACKENDS[backend][0])
        plain = with_graph(encoder, folder, backend, "float32")
        _compare(encoder, plain)
        if calibration is None:
            return plain
        del plain
        _quantise(graph, backend, folder / BACKENDS[backend][0], calibration, advance)
    return with_graph(encoder, folder, backend, "int8")


class _States(nn.Module):
    """A copy of the network as a function of two tensors, for the tracer."""

    def __init__(self, backbone: Any) -> None:
        super().__init__()
        self.network = copy.deepcopy(backbone).float().cpu().eval()

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        states: Tensor = self.network(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return states


def _example() -> dict[str, Tensor]:
    """Give two rows of other lengths: what the tracer sees must not make it take the mask for a constant."""
    ids = torch.tensor([[1, 2, 3, 4, 2], [1, 3, 2, 0, 0]])
    return {"input_ids": ids, "attention_mask": torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])}


def _write_onnx(states: _States, file: Path) -> Any:
    names = ("input_ids", "attention_mask", "last_hidden_state")
    with torch.no_grad():
        torch.onnx.export(
            states,
            tuple(_example().values()),
            str(file),
            input_names=list(names[:2]),
            output_names=[names[2]],
            dynamic_axes={name: {0: "rows", 1: "tokens"} for name in names},
            opset_version=17,
            dynamo=False,
        )
    return import_backend("onnx").load(file)


def _write_openvino(states: _States, file: Path) -> Any:
    openvino = import_backend("openvino")
    openvino_core()
    with torch.no_grad():
        model = openvino.convert_model(states, example_input=_example())
    model.outputs[0].get_tensor().set_names({"last_hidden_state"})
    openvino.save_model(model, file, compress_to_fp16=False)
    return model


_WRITERS: dict[str, Callable[[_States, Path], Any]] = {"onnx": _write_onnx, "openvino": _write_openvino}


def _quantise(graph: Any, backend: str, file: Path, rows: Tokens | Windows, advance: Callable[[int], None]) -> None:
    """Replace the graph in ``file`` by its quantised twin."""
    nncf = import_backend("nncf")
    nncf.set_log_level(logging.ERROR)
    seen = set()

    def shown(item: tuple[int, int, dict[str, npt.NDArray[np.int64]]]) -> dict[str, npt.NDArray[np.int64]]:
        place, count, inputs = item
        if place not in seen:  # the library goes through them several times
            seen.add(place)
            advance(count)
        return inputs

    items = [(place, len(part), _inputs(rows, part)) for place, part in enumerate(_even(rows))]
    model = nncf.quantize(
        graph, nncf.Dataset(items, shown), model_type=nncf.ModelType.TRANSFORMER, subset_size=len(items)
    )
    if backend == "openvino":
        import_backend("openvino").save_model(model, file, compress_to_fp16=False)
    else:
        import_backend("onnx").save(model, file)


def _even(rows: Tokens | Windows, most: int = 8) -> Iterator[npt.NDArray[np.int64]]:
    """Yield rows of one length, ``most`` at a time: padding would take part in the statistics."""
    for length in np.unique(rows.lengths):
        same = np.flatnonzero(rows.lengths == length)
        yield from (same[first : first + most] for first in range(0, len(same), most))


def _inputs(rows: Tokens | Windows, part: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[np.int64]]:
    batch = rows.batch(part)
    mask = Layout(batch.lengths).mask
    padded = batch.ids.new_zeros(mask.shape)
    padded[mask] = batch.ids
    return {"input_ids": padded.numpy(), "attention_mask": mask.long().numpy()}


def _compare(encoder: Encoder, exported: Encoder) -> None:
    """Refuse a graph that gives other vectors, for rows of other lengths than those that it was traced with."""
    texts = [
        "We propose a new method.",
        "Results",
        "In this study, 12 patients were asked what they had eaten; most knew.",
    ]
    tokens = encoder.tokenise(texts, "search")
    ours, theirs = encode_tokens(encoder, tokens), encode_tokens(exported, tokens)
    norms = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
    least = float(((ours * theirs).sum(1) / norms).min())
    if not least > _ALIKE:
        raise ModelError(f"the graph gives other vectors than the network (cosine {least:.4f})")


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the libraries' warnings, bars and remarks of a trace off the terminal."""
    from transformers.utils import logging as transformers

    level = transformers.get_verbosity()
    transformers.set_verbosity_error()
    try:
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        transformers.set_verbosity(level)
