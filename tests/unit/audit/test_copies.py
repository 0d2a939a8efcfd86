"""Articles that stand whole in another one, against a naive loop."""

from __future__ import annotations

import random

from sectioncls.audit.copies import articles_of, whole_copies
from sectioncls.audit.rows import RowsReader, read_batches


def read(corpus):
    reader = RowsReader(corpus)
    for batch in read_batches(corpus, RowsReader.COLUMNS):
        reader.add(batch)
    return reader.rows()


def naive(splits) -> set[tuple[str, str, str, str]]:
    sets = {
        (split, name): {text for text, _ in sentences}
        for split, articles in splits.items()
        for name, sentences in articles.items()
    }
    return {
        (*one, *other)
        for one, inner in sets.items()
        for other, outer in sets.items()
        if one[1] != other[1] and len(inner) >= 2 and inner <= outer
    }


def test_as_a_naive_loop(make_corpus) -> None:
    rng = random.Random(0)
    splits: dict = {"train": {}, "dev": {}, "test": {}}
    pool = [f"sentence {number}." for number in range(30)]
    for number in range(120):
        texts = rng.choices(pool[: rng.choice((6, 30))], k=rng.randint(1, 6))
        name = f"a{number}" if rng.random() < 0.9 else f"a{number - 1}"
        splits[rng.choice(list(splits))].setdefault(name, []).extend((text, "method") for text in texts)
    rows = read(make_corpus(splits))
    articles = articles_of(rows)
    found = {
        tuple(
            part
            for unit in pair
            for part in (rows.splits[articles.split[unit]], rows.article_ids[articles.article[unit]])
        )
        for pair in whole_copies(rows, articles).tolist()
    }
    assert found == naive(splits)
    assert len(found) > 50
    assert articles.sentences.sum() == len(rows)


def test_one_sentence_elsewhere_is_no_article(make_corpus) -> None:
    line = [("None declared.", "other")]
    rows = read(make_corpus({"train": {"a": line, "b": line * 3}, "test": {"c": line}}))
    assert len(whole_copies(rows, articles_of(rows))) == 0
