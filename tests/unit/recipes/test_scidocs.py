"""A made-up folder in SciDocs's form gives its twelve numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sectioncls.downstream.protocols.scidocs import SCIDOCS_METRICS
from sectioncls.errors import InputError
from sectioncls.recipes.scidocs import evaluate_scidocs
from sectioncls.recipes.scidocs_clicks import click_features

RNG = np.random.default_rng(7)
WORDS = ("roses", "harbour", "flour")


def embed(texts, task, side):
    """Counts of three words, with a little noise that depends on the text alone."""
    rows = [[text.lower().count(word) for word in WORDS] for text in texts]
    noise = [np.random.default_rng(len(text)).normal(size=3) * 0.05 for text in texts]
    return np.array(rows, dtype=np.float32) + np.array(noise)


def metadata(count):
    return {
        f"p{number:03d}": {
            "paper_id": f"p{number:03d}",
            "title": f"On {WORDS[number % 3]} {'again ' * (number % 5)}",
            "abstract": None if number % 7 == 0 else f"We look at {WORDS[number % 3]}.",
            "year": 2000 + number % 9,
            "authors": [f"a{number % 4}"],
            "references": [f"p{(number + 3) % count:03d}"],
            "cited_by": [f"p{(number - 3) % count:03d}"],
        }
        for number in range(count)
    }


@pytest.fixture()
def folder(tmp_path):
    papers = metadata(60)
    papers["p005"]["title"] = papers["p005"]["abstract"] = ""
    for name in ("mag_mesh", "view_cite_read", "recomm"):
        (tmp_path / f"paper_metadata_{name}.json").write_text(json.dumps(papers))
    ids = list(papers)
    for task in ("mag", "mesh"):
        (tmp_path / task).mkdir()
        for part, rows in (("train", ids[:40]), ("val", ids[40:50]), ("test", [*ids[50:], "unknown"])):
            lines = [f"{paper},{WORDS[place % 3]}" for place, paper in enumerate(rows, {"train": 0}.get(part, 50))]
            (tmp_path / task / f"{part}.csv").write_text("pid,class_label\n" + "\n".join(lines) + "\n")
    for task in ("coview", "coread", "cite", "cocite"):
        (tmp_path / task).mkdir()
        lines = []
        for query in [*range(12), -1]:
            name = ids[query] if query >= 0 else "lost"
            same = [ids[one] for one in range(12, 60) if one % 3 == query % 3][:5]
            other = [ids[one] for one in range(12, 60) if one % 3 != query % 3][:25]
            lines += [f"{name} 0 {paper} 1" for paper in same] + [f"{name} 0 {paper} 0" for paper in other]
            lines.append(f"{name} 0 gone{query} 0")
        (tmp_path / task / "test.qrel").write_text("\n".join(lines) + "\n")
    (tmp_path / "recomm").mkdir()
    for part, count in (("train", 90), ("val", 20), ("test", 30)):
        lines = []
        for _ in range(count):
            query = int(RNG.integers(0, 60))
            shown = [ids[(query + 3) % 60], *(ids[(query + step) % 60] for step in (1, 2, 4))]
            clicked = shown[0]
            RNG.shuffle(shown)
            lines.append(f'{ids[query]},{clicked},"{",".join(shown)}"')
        (tmp_path / "recomm" / f"{part}.csv").write_text("pid,clicked,shown\n" + "\n".join(lines) + "\n")
    (tmp_path / "recomm" / "propensity_scores.json").write_text(json.dumps({"scores": [0.5, 0.2, 0.2, 0.1]}))
    return tmp_path


def test_all_twelve_and_their_mean(folder):
    result = evaluate_scidocs(folder, embed, name="none")
    rows = {(row.task.removeprefix("scidocs:"), row.metric): row for row in result.scores}
    assert [pair for pair in rows if pair[0] != "average"] == list(SCIDOCS_METRICS)
    assert rows["mag", "f1-macro"].value > 0.8
    assert rows["mag", "f1-macro"].n == 11  # the unknown paper is a zero vector
    assert rows["cite", "map"].value > 0.9
    assert rows["cite", "map"].n == 11  # p005 has no text, "lost" is not known
    assert rows["recomm", "adj-ndcg"].value > 0.6
    mean = np.mean([rows[pair].value for pair in SCIDOCS_METRICS])
    assert rows["average", "mean"].value == pytest.approx(mean)
    assert {row.protocol for row in result.scores} == {"scidocs"}
    assert "scidocs:cite: 2 of 13 queries have no vector and are not judged" in result.notes
    assert result.query_scores["task"].count("scidocs:cite") == 22


def test_a_part_that_is_missing_is_said(folder):
    (folder / "paper_metadata_recomm.json").unlink()
    (folder / "mesh" / "test.csv").unlink()
    result = evaluate_scidocs(folder, embed, name="none")
    tasks = {row.task for row in result.scores}
    assert tasks == {"scidocs:mag", *(f"scidocs:{task}" for task in ("coview", "coread", "cite", "cocite"))}
    assert any("scidocs:mesh is left out" in note for note in result.notes)
    assert any("paper_metadata_recomm.json is missing" in note for note in result.notes)


def test_features_of_a_pair():
    papers = metadata(12)
    rows = {name: place for place, name in enumerate(papers)}
    found = click_features([("p001", "p004"), ("p001", "nobody")], rows, list(papers.values()))
    # authors {a1} and {a0}; position; title words {On, harbour, again} both; cited_by, references apart;
    # p004 does not cite p001, p001 cites p004; ages; one citation.
    assert found[0] == pytest.approx([0, 0, 1, 0, 0, 0, 1, 16 / 20, -3 / 20, np.log(2) / 10])
    assert found[1] == pytest.approx([0] * 10)


def test_refusals(folder, tmp_path_factory):
    with pytest.raises(InputError, match="holds nothing of SciDocs's form"):
        evaluate_scidocs(tmp_path_factory.mktemp("empty"), embed, name="none")
    (folder / "recomm" / "test.csv").write_text('pid,clicked,shown\np001,p002,"p003,p004"\n')
    result = evaluate_scidocs(folder, embed, name="none")
    assert any("clicked 'p002' is not among those shown" in note for note in result.notes)
    (folder / "paper_metadata_mag_mesh.json").write_text('[{"title": "a"}]')
    with pytest.raises(InputError, match="has no paper_id"):
        evaluate_scidocs(folder, embed, name="none")
