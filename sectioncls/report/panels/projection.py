"""Two-dimensional maps of the test embeddings, as released and fine-tuned side by side: pictures, and points to ask."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.render import MARKERS, Mark, Picture, embedded, marks, number, whole
from sectioncls.report.facets import Facet, facets_of
from sectioncls.report.figures import embedding_map
from sectioncls.report.predictions import best_with_predictions
from sectioncls.report.sentences import Key, keys_of, told
from sectioncls.report.views import RunView, Summary

__all__ = ["EmbeddingMap", "build", "maps_of", "pictures"]

_NAMES = {"tsne": "t-SNE", "opentsne": "t-SNE (openTSNE)", "umap": "UMAP", "pca": "PCA"}
_JUDGED = ("right", "wrong", "not predicted")
_JUDGEMENTS = dict(zip(_JUDGED, marks(["background", "result", "other"]).values(), strict=True))
_TRUST = ("trustworthiness", "kl-divergence")
_SIDE = 65534  # whole steps from one edge of a map to the other
_ABSENT = 65535


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddingMap:
    """One map of one encoder: the places of sentences (or papers) ``keys`` with their labels, and what is said of it.

    ``also`` are other facets of the same points, by which a reader may colour them.
    """

    encoder: str
    method: str
    title: str
    keys: tuple[Key, ...]
    labels: npt.NDArray[np.object_]
    x: npt.NDArray[np.float64]
    y: npt.NDArray[np.float64]
    looks: Mapping[str, Mark]
    alt: str
    agreement: str
    by: str = "label"
    also: tuple[Facet, ...] = ()

    def picture(self, form: str = "page") -> Picture:
        """Give the map drawn, for the page or as a file."""
        return embedding_map(self.x, self.y, self.labels, self.looks, self.alt, form)  # type: ignore[arg-type]


def build(summary: Summary) -> dict[str, Any] | None:
    """Give each run's maps with their legend and points; None when no run has coordinates."""
    entries = [entry for run in summary.runs if (entry := _entry(run, summary.with_text))]
    return {"entries": entries, "several": len(summary.runs) > 1} if entries else None


def maps_of(run: RunView) -> list[EmbeddingMap]:
    """Give one run's maps, method by method, the encoders of each in the run's order; [] without coordinates."""
    table = run.run.read_table("projection")
    if not table:
        return []
    encoders, methods = np.asarray(table["encoder"], object), np.asarray(table["method"], object)
    x, y = np.asarray(table["x"], float), np.asarray(table["y"], float)
    first, *others = facets_of(run, table)
    labels, looks = np.asarray(first.values, object), first.looks
    maps = []
    for method in dict.fromkeys(methods):
        for key in sorted(set(encoders[methods == method]), key=lambda key: _position(run, key)):
            chosen = (methods == method) & (encoders == key)
            title = run.encoders[key].title if key in run.encoders and not run.of_papers else key
            name, agreement = _NAMES.get(method, method), _trust(run, key, method) + _agreement(run, key)
            alt = (
                f"{name} map of {whole(int(chosen.sum()))} test {'papers' if run.of_papers else 'sentences'} embedded "
                f"by {title}, one point each, coloured by {first.name} ({', '.join(looks)}).{agreement}"
            )
            rows = np.flatnonzero(chosen)
            keys = keys_of([table["article_id"][row] for row in rows], [table["index"][row] for row in rows])
            also = tuple(Facet(one.name, one.looks, [one.values[row] for row in rows.tolist()]) for one in others)
            place = (labels[rows], x[rows], y[rows])
            maps.append(EmbeddingMap(key, method, title, keys, *place, looks, alt, agreement.strip(), first.name, also))
    return maps


def pictures(run: RunView) -> Iterator[tuple[str, Callable[[str], Picture]]]:
    """Give the file name of each map and what draws it in a form: by label, by cluster and by error."""
    maps = maps_of(run)
    rows = {key: row for row, key in enumerate(dict.fromkeys(key for one in maps for key in one.keys))}
    labels = list(maps[0].looks) if maps else []
    clusters, guesses = dict(_clusters(run, maps, rows)), dict(_predicted(run, maps, rows, labels))
    for one in maps:
        name, at = f"{one.method}-{one.encoder}", [rows[key] for key in one.keys]
        yield name, one.picture
        for facet in one.also:
            yield f"{name}-by-{facet.name}", _recoloured(one, facet.values, facet.looks, facet.name).picture
        if one.encoder in clusters:
            found = clusters[one.encoder][at]
            names = ["in no cluster" if kind == _ABSENT else f"cluster {kind}" for kind in found]
            shown = sorted(set(names), key=lambda kind: (kind == "in no cluster", len(kind), kind))
            yield f"{name}-by-cluster", _recoloured(one, names, marks(shown), "cluster").picture
        if one.encoder in guesses:
            found = guesses[one.encoder][at]
            right = found == np.array([labels.index(label) for label in one.labels])
            names = [
                _JUDGED[2] if kind == _ABSENT else _JUDGED[1 - int(true)]
                for kind, true in zip(found, right, strict=True)
            ]
            looks = {kind: look for kind, look in _JUDGEMENTS.items() if kind in names}
            yield f"{name}-by-error", _recoloured(one, names, looks, "whether the best classifier is right").picture


def _recoloured(one: EmbeddingMap, names: Sequence[str], looks: Mapping[str, Mark], by: str) -> EmbeddingMap:
    alt = one.alt.replace(f"coloured by {one.by} ({', '.join(one.looks)})", f"coloured by {by} ({', '.join(looks)})")
    return replace(one, labels=np.array(names, dtype=object), looks=looks, alt=alt)


def _entry(run: RunView, with_text: bool) -> dict[str, Any] | None:
    maps = maps_of(run)
    if not maps:
        return None
    rows: dict[str, list[dict[str, Any]]] = {}
    for place, one in enumerate(maps):
        shown = {"title": one.title, "picture": one.picture(), "agreement": one.agreement, "place": place}
        rows.setdefault(_NAMES.get(one.method, one.method), []).append(shown)
    return {
        "run": run,
        "legends": [(maps[0].by, maps[0].looks), *((one.name, one.looks) for one in maps[0].also)],
        "rows": [{"method": method, "maps": found} for method, found in rows.items()],
        "points": embedded(_points(run, maps, with_text)),
    }


def _points(run: RunView, maps: list[EmbeddingMap], with_text: bool) -> dict[str, Any]:
    """Give the points of all maps of a run as the page's script reads them: one row a sentence, in a mixed order."""
    labels = list(maps[0].looks)
    label_of = {key: labels.index(label) for one in maps for key, label in zip(one.keys, one.labels, strict=True)}
    keys = sorted(label_of)
    keys = [keys[row] for row in np.random.default_rng(0).permutation(len(keys))]
    row_of = {key: row for row, key in enumerate(keys)}
    articles = list(dict.fromkeys(article for article, _, _ in keys))
    number_of = {article: number for number, article in enumerate(articles)}
    texts = told(run).texts if with_text else {}
    looks = [*maps[0].looks.values()]
    clusters = dict(_clusters(run, maps, row_of))
    kinds = max((int(found[found < _ABSENT].max(initial=-1)) + 1 for found in clusters.values()), default=0)
    cluster_looks = list(marks([f"cluster {number}" for number in range(kinds)]).values())
    wrong = dict(_predicted(run, maps, row_of, labels))
    return {
        "n": len(keys),
        "labels": labels,
        "looks": [[look.colour, MARKERS[look.marker]] for look in looks],
        "clusters": [[look.colour, MARKERS[look.marker]] for look in cluster_looks],
        "articles": articles,
        "article": _packed([number_of[article] for article, _, _ in keys], np.uint32),
        "index": _packed([index for _, index, _ in keys], np.int32),
        "label": _packed([label_of[key] for key in keys], np.uint16),
        "texts": [texts.get(key[:2], "") for key in keys] if texts else None,
        "by": maps[0].by,
        "also": [_facet_points(facet, row_of, maps) for facet in maps[0].also],
        "nouns": ["paper", "papers"] if run.of_papers else ["sentence", "sentences"],
        "maps": [
            {
                **dict(zip("xy", _places(one, row_of), strict=True)),
                "cluster": _packed(clusters[one.encoder], np.uint16) if one.encoder in clusters else None,
                "predicted": _packed(wrong[one.encoder], np.uint16) if one.encoder in wrong else None,
            }
            for one in maps
        ],
    }


def _facet_points(facet: Facet, row_of: dict[Key, int], maps: list[EmbeddingMap]) -> dict[str, Any]:
    """Give another facet of the points as the page's script reads it."""
    codes, words = np.full(len(row_of), _ABSENT), list(facet.looks)
    for one in maps:
        mine = next(other for other in one.also if other.name == facet.name)
        codes[[row_of[key] for key in one.keys]] = [words.index(value) for value in mine.values]
    looks = [[look.colour, MARKERS[look.marker]] for look in facet.looks.values()]
    return {"name": facet.name, "words": words, "looks": looks, "code": _packed(codes, np.uint16)}


def _places(one: EmbeddingMap, row_of: dict[Key, int]) -> Iterator[str]:
    """Give x and y as steps of one grid that fits the map; rows without a point have none."""
    rows = [row_of[key] for key in one.keys]
    side = max(float(np.ptp(one.x)), float(np.ptp(one.y)), 1e-12)
    for values in (one.x, one.y):
        middle = (values.max() + values.min()) / 2
        steps = np.full(len(row_of), _ABSENT, dtype=np.uint16)
        steps[rows] = np.rint(((values - middle) / side + 0.5) * _SIDE)
        yield _packed(steps, np.uint16)


def _clusters(
    run: RunView, maps: list[EmbeddingMap], row_of: dict[Key, int]
) -> Iterator[tuple[str, npt.NDArray[np.int64]]]:
    """Give each encoder's clusters by its first clustering; noise and sentences without one are absent."""
    table = run.run.read_table("clusters")
    for encoder in dict.fromkeys(one.encoder for one in maps):
        mine = [row for row, name in enumerate(table.get("encoder", ())) if name == encoder]
        mine = [row for row in mine if table["method"][row] == table["method"][mine[0]]]
        if mine:
            yield encoder, _spread(table, mine, row_of, [table["cluster"][row] for row in mine])


def _predicted(
    run: RunView, maps: list[EmbeddingMap], row_of: dict[Key, int], labels: list[str]
) -> Iterator[tuple[str, npt.NDArray[np.int64]]]:
    """Give for each encoder what its best classifier (of those with predictions in the run) predicted."""
    at = {label: number for number, label in enumerate(labels)}
    for encoder in dict.fromkeys(one.encoder for one in maps):
        if table := best_with_predictions(run, encoder):
            rows = range(len(table["predicted"]))
            yield encoder, _spread(table, rows, row_of, [at.get(label, -1) for label in table["predicted"]])


def _spread(
    table: dict[str, list[Any]], rows: Sequence[int], row_of: dict[Key, int], values: list[int]
) -> npt.NDArray[np.int64]:
    """Give the values of sentences in the order of the points."""
    keys = keys_of([table["article_id"][row] for row in rows], [table["index"][row] for row in rows])
    spread = np.full(len(row_of), _ABSENT, dtype=np.int64)
    for key, value in zip(keys, values, strict=True):
        if key in row_of and value >= 0:
            spread[row_of[key]] = value
    return spread


def _packed(values: Any, kind: type[np.integer[Any]]) -> str:
    """Give whole numbers as Base64 of little-endian bytes."""
    array = np.asarray(values).astype(np.dtype(kind).newbyteorder("<"))
    return base64.b64encode(array.tobytes()).decode("ascii")


def _position(run: RunView, key: str) -> tuple[int, str]:
    keys = list(run.encoders)
    return (keys.index(key) if key in keys else len(keys), key)


def _trust(run: RunView, key: str, method: str) -> str:
    """Say how far the picture can be trusted; '' where the run is older than these scores."""
    if kept := run.info.get("maps", {}).get(key, {}).get(method):
        return _trusted(kept.get("trustworthiness"), kept.get("kl-divergence"))
    scores = next(
        (row.scores for group in run.groups if group.encoder and group.encoder.key == key for row in group.rows
         if row.method == method), None
    )  # fmt: skip
    trust, loss = (scores[name].value if scores and name in scores else None for name in _TRUST)
    return _trusted(trust, loss)


def _trusted(trust: float | None, loss: float | None) -> str:
    if trust is None:
        return ""
    told = f" Trustworthiness {number(100 * trust, 1)} of 100"
    return told + ("." if loss is None else f", KL divergence {number(loss, 2)}.")


def _agreement(run: RunView, key: str) -> str:
    """Say how well k-means agrees with the labels, which the picture shows by eye."""
    for group in run.groups:
        for row in group.rows:
            if group.encoder and group.encoder.key == key and row.method == "kmeans" and "ari" in row.scores:
                return f" k-means on the embeddings: ARI {100 * row.scores['ari'].value:.1f}."
    return ""
