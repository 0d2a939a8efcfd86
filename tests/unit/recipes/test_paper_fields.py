from __future__ import annotations

import numpy as np
import pytest

from sectioncls.errors import InputError
from sectioncls.papersets.build import build_papers
from sectioncls.recipes.paper_words import evaluate_words
from sectioncls.recipes.papers import PapersOptions, material_of
from sectioncls.recipes.papers.fields import BY_FIELD, add_fields, fields_of


@pytest.fixture(scope="module")
def material(demo, tmp_path_factory):
    out = tmp_path_factory.mktemp("sets") / "demo"
    return material_of(build_papers([demo / "papers"], out, command="build", name="demo")[0], PapersOptions(), 0)


def test_each_field_is_the_mean_of_its_queries(material):
    result = evaluate_words(material.papers, protocol="mdcr", tasks=["rank:cite", "search"], methods=("bm25",))
    plain = list(result.scores)
    assert {row.metric for row in plain if row.task == "rank:cite"} == {"map", "recall@5"}
    add_fields(result, material, "area", "test")
    new = result.scores[len(plain) :]
    assert {row.task for row in new} == {"rank:cite"}
    fields = fields_of(material.papers, material.table, "area")
    columns = result.query_scores
    for row in new:
        if row.label is None:
            mine = [one.value for one in new if one.label is not None and one.metric + BY_FIELD == row.metric]
            assert row.value == pytest.approx(np.mean(mine)) and row.n == len(mine) and row.unit == "field"
            assert row.low < row.value < row.high
            continue
        values = [
            value
            for task, metric, query, value in zip(
                *(columns[name] for name in ("task", "metric", "query", "value")), strict=True
            )
            if (task, metric) == (row.task, row.metric) and row.label in fields[query]
        ]
        assert row.value == pytest.approx(np.mean(values)) and row.n == len(values)
    assert sum(row.n for row in new if row.metric == "map" and row.label) <= len(
        [row for row in plain if row.metric == "map" and row.task == "rank:cite"]
    ) * len(set(columns["query"]))


def test_how_much_was_learnt_from_is_said(material):
    result = evaluate_words(material.papers, protocol="mdcr", tasks=["rank:cite"], methods=("bm25",))
    add_fields(result, material, "area", "test")
    found = material.papers.qrels("cite", "test")
    judged = {*found.query_rows.tolist(), *found.paper_rows.tolist()}
    learnt = len(judged & set(material.rows.tolist()))
    assert any(
        note.startswith(f"rank:cite: {learnt} of {len(judged)} papers that are judged (") for note in result.notes
    )


def test_what_the_set_has_no_fields_by(material):
    with pytest.raises(InputError, match="has no collection 'genre'"):
        fields_of(material.papers, material.table, "genre")
    with pytest.raises(InputError, match="has no fields of study"):
        fields_of(material.papers, material.table, "fields")
