"""``sectioncls encode``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from sectioncls.cli.options import Cache, Output, Overwrite, Quiet

__all__ = ["encode"]


def encode(
    src: Annotated[Path, typer.Argument(help="A corpus folder, or a text file with one sentence a line.")],
    model: Annotated[str, typer.Option(help="minilm, scibert, a folder, or a hub id.")] = "minilm",
    cache: Cache = None,
    output: Output = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Encode sentences into float32 matrices, .npy, one row a sentence (default: SRC.npy, or SRC-SPLIT.npy each).

    Example: sectioncls encode sentences.txt --model encoders/csabstruct-minilm -o sentences.npy
    """
    from sectioncls.cli.observing import observer
    from sectioncls.encoders import cached_vectors, load_encoder
    from sectioncls.recipes import embed
    from sectioncls.recipes.matrices import check_matrix, read_sources, write_matrix

    sources = read_sources(src)
    target = output or Path(f"{src.name}.npy")
    files = {name: target if not name else target.with_name(f"{target.stem}-{name}.npy") for name in sources}
    for file in files.values():
        check_matrix(file, overwrite=overwrite)
    encoder = load_encoder(model)
    for name, source in sources.items():
        tokens = encoder.read(source.texts, source.article_ids, source.index, source.paths)
        make = partial(embed, encoder, tokens, f"encoding {name or src.name}", observer(quiet=quiet))
        vectors = make() if cache is None else cached_vectors(cache, encoder, tokens, make)
        write_matrix(files[name], vectors)
        print(f"{files[name]}: {vectors.shape[0]} x {vectors.shape[1]}")
