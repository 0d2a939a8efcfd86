"""A paper set without its abstracts, to score encoders on titles alone."""

from __future__ import annotations

import shutil
from pathlib import Path

from sectioncls.papersets import open_paperset
from sectioncls.recipes.papers.material import Material, material_of

__all__ = ["titled_material"]


def titled_material(material: Material, folder: Path, seed: int) -> Material:
    """Give the same papers with titles alone, as a paper set of its own in ``folder``, which is made anew.

    Paper: arXiv 2211.13308, section 5 (SPECTER2's base model learns from titles alone in 5 % of its triplets).
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    source = material.papers.path
    for file in sorted(source.iterdir()):
        if file.name == "papers.parquet":
            table = pq.read_table(file)
            column = table.schema.get_field_index("abstract")
            table = table.set_column(column, table.schema.field(column), pa.array([""] * len(table), type=pa.string()))
            pq.write_table(table, folder / file.name)
        elif file.is_file() and not file.is_symlink():
            shutil.copyfile(file, folder / file.name)
    return material_of(open_paperset(folder), material.options, seed)
