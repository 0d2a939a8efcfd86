"""Exporting an encoder: as a graph for ONNX Runtime or OpenVINO, in 8 bits where dev's score allows it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sectioncls.corpora import Corpus, require_trainable
from sectioncls.encoders import Encoder, export_graph, load_encoder, load_head, read_facts, save_encoder
from sectioncls.errors import ModelError, UsageError
from sectioncls.recipes.evaluate import read_rows
from sectioncls.recipes.facts import model_facts
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.recipes.probe import dev_probe, draw_rows, shown_scores
from sectioncls.recipes.versions import versions
from sectioncls.staging import check_output

__all__ = ["Exported", "export_encoder", "export_name"]

# Training rows that scores are measured with: as many as fine-tuning asks for its own.
_ROWS = 2000
# Training sentences whose activations set the scales: more of them changed no vector's third digit.
_CALIBRATION = 300


@dataclass(frozen=True, slots=True)
class Exported:
    """The exported encoder's folder and name, dev's scores before and after (empty without a corpus), and bytes."""

    folder: Path
    name: str
    before: dict[str, float] = field(default_factory=dict)
    after: dict[str, float] = field(default_factory=dict)
    size: int = 0

    @property
    def loss(self) -> float:
        """The points of F1-micro that the worst score lost; 0 where none did."""
        return _loss(self.before, self.after)


def export_encoder(
    model: str,
    folder: Path,
    *,
    backend: str = "openvino",
    int8: bool = False,
    corpus: Corpus | None = None,
    tolerance: float = 0.3,
    seed: int = 0,
    overwrite: bool = False,
    observer: Observer = SILENT,
) -> Exported:
    """Export ``model``, what load_encoder takes, to ``folder``, which ``load_encoder(folder)`` loads in its turn.

    In ``int8`` the scales are set with training sentences of ``corpus``. With a corpus, dev's F1-micro (nearest
    neighbours, logistic regression, and the encoder's own classifier where its labels are the corpus's) is measured
    before and after; both are kept in ``sectioncls.json``.

    Raises ModelError, and writes nothing, where one of them falls by more than ``tolerance`` points, for an encoder
    that is no plain BERT, or without the libraries; UsageError for int8 without a corpus or an impossible tolerance;
    OutputError for a folder that is taken.
    """
    if not (tolerance >= 0 and math.isfinite(tolerance)):
        raise UsageError(f"a tolerance of {tolerance} points can't be", todo="choose 0 or more")
    if int8 and corpus is None:
        raise UsageError("int8 needs a corpus, whose sentences set the scales", todo="add --corpus")
    check_output(folder, overwrite=overwrite)
    encoder = load_encoder(model, device="cpu")
    source = Path(model).expanduser()
    head = load_head(source) if source.is_dir() else None
    if corpus is not None:
        require_trainable(corpus, ("train", "dev"))
    with TemporaryDirectory(prefix="sectioncls-") as scratch:
        exported = _graph(encoder, Path(scratch), backend, corpus if int8 else None, seed, observer)
        before: dict[str, float] = {}
        after: dict[str, float] = {}
        if corpus is not None:
            judged = head if head is not None and head.labels == tuple(corpus.labels) else None
            probe = dev_probe(corpus, encoder, _ROWS, seed)
            after = probe.measure(exported, "exported", judged, observer)
            before = probe.measure(encoder, "float32", judged, observer)
            observer.note(f"dev: {shown_scores(before, after)}")
            _judge(before, after, model, tolerance)
        facts = _facts(model, backend, int8, corpus, before, after, tolerance)
        save_encoder(exported, folder, facts=facts, head=head, overwrite=overwrite)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return Exported(folder, str(facts["name"]), before, after, size)


def export_name(model: str, backend: str, *, int8: bool) -> str:
    """Give the name of an exported encoder: MODEL-BACKEND, and what it multiplies in where that is not float32."""
    return f"{model_facts(model)['name']}-{backend}" + ("-int8" if int8 else "")


def _graph(
    encoder: Encoder, scratch: Path, backend: str, corpus: Corpus | None, seed: int, observer: Observer
) -> Encoder:
    """Give the encoder that runs the graph; quantised with sentences of ``corpus`` where there is one."""
    if corpus is None:
        with observer.stage(f"exporting to {backend}", 1, "graph") as advance:
            exported = export_graph(encoder, scratch, backend)
            advance(1)
        return exported
    train = corpus.split("train")
    rows = draw_rows(train, _CALIBRATION, seed, whole_articles=encoder.context is not None)
    tokens = read_rows(encoder, train, rows)
    with observer.stage(f"exporting to {backend} in int8", len(tokens), "rows") as advance:
        return export_graph(encoder, scratch, backend, calibration=tokens, advance=advance)


def _judge(before: Mapping[str, float], after: Mapping[str, float], model: str, tolerance: float) -> None:
    if _loss(before, after) <= tolerance:
        return
    name = min(after, key=lambda score: after[score] - before[score])
    what = (
        f"the exported encoder loses {100 * (before[name] - after[name]):.2f} points of dev's {name} "
        f"({100 * before[name]:.2f} to {100 * after[name]:.2f}), more than the {tolerance:g} that are allowed"
    )
    raise ModelError(what, Path(model).name, "leave out --int8, try the other --backend, or allow more: --tolerance")


def _loss(before: Mapping[str, float], after: Mapping[str, float]) -> float:
    return max([0.0, *(round(100 * (before[name] - after[name]), 6) for name in after)])


def _facts(
    model: str,
    backend: str,
    int8: bool,
    corpus: Corpus | None,
    before: Mapping[str, float],
    after: Mapping[str, float],
    tolerance: float,
) -> dict[str, Any]:
    """Give what ``sectioncls.json`` says: all that was known of the encoder, and how it was exported."""
    known, own = model_facts(model), read_facts(Path(model).expanduser())
    kept = {key: value for key, value in own.items() if key not in ("files", "versions")}
    exported: dict[str, Any] = {"backend": backend, "precision": "int8" if int8 else "float32", "from": known["name"]}
    if corpus is not None:
        exported |= {
            "corpus": {"name": corpus.name, "fingerprint": corpus.info.fingerprint},
            "before": dict(before),
            "after": dict(after),
            "tolerance": tolerance,
        }
    note = f"exported to {backend}, {exported['precision']}" + (
        f": dev {shown_scores(dict(before), dict(after))}" if after else ""
    )
    return {
        "format": 1,
        "backbone": known.get("backbone", "other"),
        "state": known.get("state", "base"),
        "base_model": known["model"],
        **kept,
        "name": export_name(model, backend, int8=int8),
        "exported": exported,
        "notes": [*own.get("notes", []), note],
        "versions": versions(),
    }
