"""Pictures of the test embeddings of a run, and how far each can be trusted."""

from __future__ import annotations

from typing import Any

from sectioncls.corpora import Corpus
from sectioncls.downstream import project, sample_rows
from sectioncls.downstream.project import FEWEST
from sectioncls.recipes.evaluate import Evaluation, Vectors, article_order
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.recipes.schema import EvaluateOptions
from sectioncls.records import Score
from sectioncls.runs import Run

__all__ = ["draw_maps"]


def draw_maps(
    run: Run,
    corpus: Corpus,
    vectors: Vectors,
    name: str,
    options: EvaluateOptions,
    *,
    seed: int = 0,
    context: str = "none",
    observer: Observer = SILENT,
) -> Evaluation:
    """Draw the test embeddings of the encoder ``name`` into the table ``projection``; give their scores and settings.

    Scores are ``trustworthiness`` and, of t-SNE, ``kl-divergence``. As many sentences as ``options.points`` says are
    drawn with ``seed`` by article and place, so that another order of the file gives the same picture and every encoder
    shows the same sentences.
    """
    test, result = corpus.split("test"), Evaluation()
    rows = article_order(corpus, test)[sample_rows(len(test), options.points, seed=seed)]
    like: dict[str, Any] = {
        "corpus": corpus.name,
        "fingerprint": corpus.info.fingerprint,
        "protocol": options.protocol,
        "encoder": name,
        "context": context,
        "seed": seed,
    }
    if len(rows) < FEWEST:
        run.note(f"{len(rows)} test sentences are too few to draw ({FEWEST} are needed): no picture of {name}")
        return result
    with observer.stage(f"drawing {name}", len(options.projections), "pictures") as advance:
        for method in options.projections:
            drawn = project(vectors[rows], method=method, seed=seed)
            columns = {
                "article_id": [test.article_ids[row] for row in rows],
                "index": test.index[rows],
                "label": [corpus.labels[test.labels[row]] for row in rows],
                "encoder": [name] * len(rows),
                "method": [method] * len(rows),
                "x": drawn.points[:, 0],
                "y": drawn.points[:, 1],
            }
            run.add_rows("projection", columns)
            values = {"trustworthiness": (drawn.trust, drawn.judged), "kl-divergence": (drawn.divergence, len(rows))}
            result.scores += [
                Score(metric, value, n=n, method=method, **like)
                for metric, (value, n) in values.items()
                if value is not None
            ]
            news = {"method": drawn.method, "engine": drawn.engine, **drawn.settings}
            result.settings.setdefault(name, {})[method] = news
            advance(1)
    return result
