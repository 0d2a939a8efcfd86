"""Pictures of the test papers by every encoder, with what a reader may colour them by: field, venue, year."""

from __future__ import annotations

import numpy as np

from sectioncls.downstream import project, sample_rows
from sectioncls.downstream.project import FEWEST
from sectioncls.encoders import Encoder
from sectioncls.recipes.observer import Observer
from sectioncls.recipes.papers.material import Material
from sectioncls.recipes.papers.schema import PaperEvaluateOptions
from sectioncls.recipes.papers.scores import embedder
from sectioncls.recipes.papers.vectors import folder_name
from sectioncls.runs import Run

__all__ = ["draw_paper_maps", "field_of_papers"]

_ROUTE = "proximity"  # a map shows what is near what


def draw_paper_maps(
    run: Run,
    material: Material,
    encoder: Encoder,
    name: str,
    trained: int | None,
    options: PaperEvaluateOptions,
    seed: int,
    observer: Observer,
) -> None:
    """Draw the test papers by the encoder ``name`` into the table ``projection``, once a name and method.

    As many papers as ``options.points`` says are drawn with ``seed``, the same ones for every encoder; an encoder with
    several routes reads them as for proximity. ``trained`` is the seed of its training, by which its kept vectors are
    found. The run's ``maps`` say who drew each picture and how far it is to be trusted.
    """
    owners = zip(*(run.read_table("projection").get(key, ()) for key in ("encoder", "method")), strict=True)
    there = set(owners)
    left = [method for method in options.projections if (name, method) not in there]
    if not left:
        return
    rows = material.split_rows("test")
    rows = rows[sample_rows(len(rows), options.points, seed=seed)]
    if len(rows) < FEWEST:
        return
    task = _ROUTE if not encoder.routes or _ROUTE in encoder.routes else encoder.routes[0]
    kept = run.folder("embeddings") / folder_name(name, trained)
    embed = embedder(encoder, observer, precision=options.precision, folder=kept)
    vectors = embed([material.texts[row] for row in rows], task, "document")
    table, fields = material.table, field_of_papers(material)
    with observer.stage(f"drawing {name}", len(left), "pictures") as advance:
        for method in left:
            drawn = project(vectors, method=method, seed=seed)
            columns = {
                "article_id": [table.ids[row] for row in rows],
                "index": np.zeros(len(rows), dtype=np.int32),
                "label": [fields.get(int(row), "") for row in rows],
                "venue": [table.venues[row] for row in rows],
                "year": [int(table.years[row]) for row in rows],
                "encoder": [name] * len(rows),
                "method": [method] * len(rows),
                "x": drawn.points[:, 0],
                "y": drawn.points[:, 1],
            }
            run.add_rows("projection", columns)
            facts = {"engine": drawn.engine, "trustworthiness": drawn.trust, "kl-divergence": drawn.divergence}
            maps = run.info.get("maps", {})
            run.update(maps={**maps, name: {**maps.get(name, {}), method: {**facts, **drawn.settings}}})
            advance(1)


def field_of_papers(material: Material) -> dict[int, str]:
    """Give the field of papers by row: the first of their fields of study, else the topic of a one-topic collection.

    Of several collections that give each paper one topic at most, that of the most papers; {} without any.
    """
    own = {row: mine[0] for row, mine in enumerate(material.table.fields) if mine}
    if own:
        return own
    best: dict[int, str] = {}
    for name in material.papers.collections():
        topics = material.papers.topics(name)
        found = {int(row): topics.names[topic] for row, topic in topics.pairs}
        if len(found) == len(topics.pairs) and len(found) > len(best):
            best = found
    return best
