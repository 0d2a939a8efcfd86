"""What stands beside every paper encoder: BM25, TF-IDF and the popularity of topics, on the same tasks.

Rows have no encoder; their method is ``bm25``, ``tfidf``, ``popularity`` (``+match`` where topics named in the paper
come first), ``tfidf-linear-svm`` or ``tfidf-linear-svr``. The untuned backbone is one more call of evaluate_papers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from sectioncls.downstream.label_ranking import popularity_scorer
from sectioncls.downstream.lexical import Fitted, bm25, tfidf, tfidf_features
from sectioncls.downstream.protocols import PaperProtocol
from sectioncls.downstream.retrieve import Scorer, pair_scores
from sectioncls.papersets import PaperSet
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.recipes.paper_plan import (
    Planned,
    class_data,
    number_data,
    reviewer_data,
    topic_data,
)
from sectioncls.recipes.paper_results import PaperEvaluation
from sectioncls.recipes.paper_scoring import (
    LEAST,
    Setting,
    score_classes,
    score_judged,
    score_numbers,
    score_reviewers,
    score_topics,
    score_whole,
    setting,
)

__all__ = ["METHODS", "WORDS", "evaluate_words"]

WORDS: dict[str, Callable[[Sequence[str]], Fitted]] = {"bm25": bm25, "tfidf": tfidf}

METHODS = (*WORDS, "popularity")
"""What needs nothing but words: BM25, TF-IDF, and how often train has a topic."""


class _Papers:
    """All papers of the set as text, counted once in each way, when first asked for."""

    def __init__(self, given: Setting, methods: Collection[str]) -> None:
        self.texts = given.texts()
        self.methods = {name: fit for name, fit in WORDS.items() if name in methods}
        self.popularity = "popularity" in methods
        self.fitted: dict[str, Fitted] = {}

    def scorer(self, method: str, queries: Sequence[str]) -> Scorer:
        """A scorer of queries against all papers."""
        if method not in self.fitted:
            self.fitted[method] = WORDS[method](self.texts)
        return self.fitted[method](queries)


def evaluate_words(
    papers: PaperSet,
    *,
    protocol: str | PaperProtocol = "default",
    split: str = "test",
    tasks: Collection[str] = (),
    whole: Collection[str] = (),
    least: int = LEAST,
    methods: Collection[str] = METHODS,
    observer: Observer = SILENT,
) -> PaperEvaluation:
    """Score BM25, TF-IDF and popularity (``methods``) on the tasks of ``papers``; arguments as of evaluate_papers.

    Statistics of words are those of all papers of the set, for probes those of train. ``label:`` tasks have no rows.
    """
    options: dict[str, Any] = {"protocol": protocol, "split": split, "tasks": tasks, "whole": whole}
    given = setting(papers, least=least, **options)
    result, counted = PaperEvaluation(), _Papers(given, methods)
    with observer.stage("scoring words", len(given.tasks), "tasks") as advance:
        for planned in given.tasks:
            if planned.kind in _TASKS:
                with result.attempt(planned.name):
                    _TASKS[planned.kind](given, planned, counted, result)
            advance(1)
    return result


def _rank(given: Setting, planned: Planned, counted: _Papers, result: PaperEvaluation) -> None:
    data = given.ranking(planned)
    texts = counted.texts
    queries = data.query_texts if data.query_rows is None else [texts[row] for row in data.query_rows]
    for method in counted.methods:
        scorer = counted.scorer(method, queries)
        if planned.whole:
            score_whole(given, planned, data, scorer, method, result)
        else:
            scores = pair_scores(scorer, data.judged.query, data.judged.document, len(texts))
            score_judged(given, planned, data, scores, method, result)


def _class(given: Setting, planned: Planned, counted: _Papers, result: PaperEvaluation) -> None:
    if "tfidf" not in counted.methods:
        return
    data = class_data(given.papers, given.table, planned, given.split)
    train, test = tfidf_features(given.texts(data.train), given.texts(data.test))
    score_classes(given, planned, data, train, test, "tfidf-linear-svm", result)


def _topics(given: Setting, planned: Planned, counted: _Papers, result: PaperEvaluation) -> None:
    data = topic_data(given.papers, given.table, planned, given.split, given.least)
    texts = given.texts(data.papers)
    scorers = {"popularity": popularity_scorer(data.train_topics, len(data.names))} if counted.popularity else {}
    scorers |= {method: fit(data.names)(texts) for method, fit in counted.methods.items()}
    score_topics(given, planned, data, scorers, result)


def _regress(given: Setting, planned: Planned, counted: _Papers, result: PaperEvaluation) -> None:
    if "tfidf" not in counted.methods:
        return
    data = number_data(given.papers, given.table, planned, given.split)
    train, test = tfidf_features(given.texts(data.train), given.texts(data.test))
    score_numbers(given, planned, data, train, test, "tfidf-linear-svr", result)


def _reviewers(given: Setting, planned: Planned, counted: _Papers, result: PaperEvaluation) -> None:
    data = reviewer_data(given.papers, given.table, planned, given.split)
    texts = given.texts(data.rows())
    for method, fit in counted.methods.items():
        score_reviewers(given, planned, data, fit(texts)(texts), method, result)


_TASKS: dict[str, Callable[[Setting, Planned, _Papers, PaperEvaluation], None]] = {
    "rank": _rank,
    "retrieve": _rank,
    "search": _rank,
    "class": _class,
    "topics": _topics,
    "regress": _regress,
    "reviewers": _reviewers,
}
