"""Roles of sentences in spaCy: ``nlp.add_pipe("sectioncls")``, perhaps with ``config={"model": FOLDER}``.

Every sentence gets ``sent._.role`` and ``sent._.role_probs`` (label → probability). A Doc is one article; one whose
sentences no component has marked is split by scisplit first.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import srsly
from spacy.language import Language
from spacy.tokens import Doc, Span

from sectioncls.errors import InputError
from sectioncls.predict.label import SectionModel, load_model
from sectioncls.sentences.component import SciSplit

__all__ = ["SectionLabels", "make_labels"]


class SectionLabels:
    """Labels the sentences of Docs with a model that ``finetune`` made, or with the one that the package carries."""

    def __init__(self, name: str = "sectioncls", model: str | Path = "") -> None:
        for extension in ("role", "role_probs"):
            if not Span.has_extension(extension):
                Span.set_extension(extension, default=None)
        self.name = name
        self.folder = Path(model).expanduser() if str(model) else None
        self.model: SectionModel | None = load_model(self.folder) if self.folder else None
        self._split = SciSplit()
        self._kept: tempfile.TemporaryDirectory[str] | None = None

    def __call__(self, doc: Doc) -> Doc:
        """Give the same Doc, its sentences labelled."""
        self._label([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 64) -> Iterator[Doc]:
        """Give the same Docs; sentences of a batch of Docs are encoded together."""
        docs = iter(stream)
        while batch := list(islice(docs, batch_size)):
            self._label(batch)
            yield from batch

    def _label(self, docs: list[Doc]) -> None:
        if self.model is None:
            self.model = load_model()
        for doc in docs:
            if len(doc) and not doc.has_annotation("SENT_START"):
                self._split(doc)
        sentences = [[sent for sent in doc.sents if sent.text.strip()] if len(doc) else [] for doc in docs]
        texts = [sent.text for spans in sentences for sent in spans]
        articles = [str(place) for place, spans in enumerate(sentences) for _ in spans]
        index = [place for spans in sentences for place in range(len(spans))]
        chances = iter(self.model.probabilities(texts, articles, index))
        for spans in sentences:
            for sent in spans:
                probs = dict(zip(self.model.labels, map(float, next(chances)), strict=True))
                sent._.role = max(probs, key=probs.__getitem__)
                sent._.role_probs = probs

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Copy the model's folder to ``path``."""
        if self.folder is not None:
            shutil.copytree(self.folder, path, dirs_exist_ok=True)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> SectionLabels:
        """Give this component with the model at ``path``."""
        if Path(path).is_dir():
            self.folder, self.model = Path(path), load_model(path)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Give the model's files as bytes."""
        files: dict[str, bytes] = {}
        if self.folder is not None:
            for file in sorted(self.folder.rglob("*")):
                if file.is_file():
                    files[file.relative_to(self.folder).as_posix()] = file.read_bytes()
        packed: bytes = srsly.msgpack_dumps(files)
        return packed

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> SectionLabels:
        """Give this component with the model of ``to_bytes``. Raises InputError for anything else."""
        try:
            files: Any = srsly.msgpack_loads(data)
            contents = {str(name): bytes(content) for name, content in files.items()}
        except Exception as error:  # msgpack raises errors of its own
            raise InputError(f"these are no bytes of a sectioncls component: {error}") from error
        if any(Path(name).is_absolute() or ".." in Path(name).parts for name in contents):
            raise InputError("a file's name leads outside of the model's folder")
        if contents:
            self._kept = tempfile.TemporaryDirectory(prefix="sectioncls-")
            for name, content in contents.items():
                file = Path(self._kept.name, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
            self.from_disk(self._kept.name)
        return self


@Language.factory(  # type: ignore[untyped-decorator,unused-ignore]
    "sectioncls", assigns=["span._.role", "span._.role_probs"], default_config={"model": ""}
)
def make_labels(nlp: Language, name: str, model: str) -> SectionLabels:
    """Give the component that ``nlp.add_pipe("sectioncls")`` adds."""
    return SectionLabels(name, model)
