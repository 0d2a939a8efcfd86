from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from sectioncls.audit.paper_stats import UNKNOWN, is_paperset, paper_stats
from sectioncls.cli import app
from sectioncls.papersets import PaperSet
from sectioncls.papersets.build import build_papers


@pytest.fixture(scope="module")
def papers(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> PaperSet:
    return build_papers([demo / "papers"], tmp_path_factory.mktemp("sets") / "demo", command="build", name="demo")[0]


def test_counts_are_those_of_the_source(papers: PaperSet, demo: Path) -> None:
    rows = [json.loads(line) for line in (demo / "papers" / "papers.jsonl").read_text().splitlines()]
    found = paper_stats(papers)
    assert found.papers == len(rows)
    table = papers.papers()
    splits = dict(zip(table.ids, table.splits, strict=True))
    for split, sizes in found.splits.items():
        mine = [row for row in rows if splits[row["id"]] == split]
        assert sizes["papers"] == len(mine)
        assert sizes["with abstract"] == sum(bool(row["abstract"]) for row in mine)
        lengths = [len(f"{row['title']} {row['abstract']}".split()) for row in mine]
        assert found.words[split][0] == int(np.quantile(lengths, 0.5, method="inverted_cdf"))
    venues = Counter((row["venue"], splits[row["id"]]) for row in rows)
    assert {(venue, split): n for venue, mine in found.venues.items() for split, n in mine.items() if n} == venues
    totals = [sum(mine.values()) for mine in found.venues.values()]
    assert totals == sorted(totals, reverse=True)
    years = [row["year"] for row in rows]
    assert found.years == (min(years), max(years))
    assert sum(found.decades["1990s"].values()) == sum(1990 <= year < 2000 for year in years)
    areas = found.collections["area"].topics
    assert {area: sum(mine.values()) for area, mine in areas.items()} == Counter(row["area"] for row in rows)
    assert sum(found.linked.values()) == len(np.unique(papers.citations()))
    assert found.tasks["cite"]["test"] == len(set(papers.qrels("cite", "test").query_ids.tolist()))


def test_what_is_not_known_comes_last_and_what_nobody_has_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    years = [2001, 2009, None, None, None, None]
    rows = [{"id": f"p{n}", "title": f"On wool {n}", "year": year, "split": "train"} for n, year in enumerate(years)]
    (folder / "papers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = paper_stats(build_papers([folder], tmp_path / "out", command="test")[0])
    assert list(found.decades) == ["2000s", UNKNOWN]
    assert found.decades[UNKNOWN] == {"train": 4, "dev": 0, "test": 0}
    assert found.venues == found.fields == {} and found.words["dev"] == (0, 0)


def test_the_verb(papers: PaperSet, small_corpus: Path, tmp_path: Path) -> None:
    assert is_paperset(papers.path) and not is_paperset(small_corpus) and not is_paperset(tmp_path)
    result = CliRunner().invoke(app, ["stats", str(papers.path)])
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "demo: 180 papers"
    assert any(line.startswith("area (") for line in lines)
    assert next(line for line in lines if line.startswith("papers ")).split()[-1] == "180"
    row = json.loads(CliRunner().invoke(app, ["stats", str(papers.path), "--json"]).stdout)
    assert row["splits"]["train"]["papers"] == paper_stats(papers).splits["train"]["papers"]
    assert row["path"] == str(papers.path)
