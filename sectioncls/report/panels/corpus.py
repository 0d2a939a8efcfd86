"""What the corpus holds and how it came to be: documents to splits, and how often each label occurs."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import shorten, wrap
from typing import Any

from sectioncls.render import Picture, marks, number, whole
from sectioncls.report.figures import pipeline
from sectioncls.report.views import CorpusView, Summary

__all__ = ["build", "pictures", "steps"]

_MOST = 6
_WIDTH = 25  # letters of a line in the figure
_MORE = "\N{HORIZONTAL ELLIPSIS}"


def build(summary: Summary) -> dict[str, Any] | None:
    """Give the two tables of each corpus; None when no run says what its corpus holds."""
    corpora = [corpus for corpus in summary.corpora if corpus.info.get("kind") != "papers"]
    entries = [_entry(corpus) for corpus in corpora if corpus.info.get("counts")]
    return {"entries": entries, "several": len(entries) > 1} if entries else None


def steps(corpus: CorpusView) -> list[tuple[str, str, list[str]]]:
    """Give documents, sentences, labels, corpus and splits: what, how many, and what is told of them.

    Figure 1 of arXiv 2404.00224, from the corpus's own counts.
    """
    info, counts = corpus.info, corpus.info["counts"]
    sizes = {split: sum(by_label.values()) for split, by_label in counts.items()}
    total, articles = sum(sizes.values()), info.get("articles") or {}
    known = info.get("has_articles", True) and bool(articles)
    left = [f"left out, {reason}: {whole(n)}" for reason, n in (info.get("dropped") or {}).items() if n]
    words = _mean_words(info.get("lengths") or {}, sizes)
    labels = {label: sum(split.get(label, 0) for split in counts.values()) for label in _labels(corpus)}
    shares = [f"{label} {number(100 * n / total if total else None, 1)} %" for label, n in labels.items()]
    per_split = [
        f"{split} {whole(n)}" + (f" of {whole(articles[split])} articles" if known and split in articles else "")
        for split, n in sizes.items()
    ]
    facts = [f"scheme {info['scheme']}"] if info.get("scheme") else []
    facts += [f"joined from {', '.join(info['label_sets'])}"] if info.get("label_sets") else []
    facts += [f"licence {info['licence']}"] if info.get("licence") else []
    facts += [f"fingerprint {str(info['fingerprint'])[:12]}"] if info.get("fingerprint") else []
    return [
        ("Documents", whole(sum(articles.values()) if known else None), left or ["none left out"] * known),
        ("Sentences", whole(total), [f"{number(words, 1)} words on average"] if words else []),
        (
            "Labels",
            whole(len(labels)),
            [*shares[:_MOST], *([f"and {len(shares) - _MOST} more"] * (len(shares) > _MOST))],
        ),
        ("Corpus", corpus.name, facts),
        ("Splits", whole(len(sizes)), per_split),
    ]


def pictures(corpus: CorpusView) -> list[tuple[str, Callable[[str], Picture]]]:
    """Give the pipeline's file name and what draws it in a form; [] for a run that doesn't count its corpus."""
    if corpus.info.get("kind") == "papers" or not corpus.info.get("counts"):
        return []
    found = steps(corpus)
    alt = " ".join(f"{what}: {value}{'; ' * bool(small)}{'; '.join(small)}." for what, value, small in found)
    drawn = [
        (what, shorten(value, 16, placeholder=_MORE), [part for line in small for part in wrap(line, _WIDTH)])
        for what, value, small in found
    ]
    return [("pipeline", lambda form: pipeline(drawn, alt, form))]


def _mean_words(lengths: Any, sizes: dict[str, int]) -> float | None:
    """Give the mean over all splits; None where a split's is not told."""
    means = [(lengths.get(split, {}).get("mean_words"), n) for split, n in sizes.items() if n]
    if not means or any(mean is None for mean, _ in means):
        return None
    return sum(float(mean) * n for mean, n in means) / sum(n for _, n in means)


def _labels(corpus: CorpusView) -> list[str]:
    counts = corpus.info["counts"]
    return list(dict.fromkeys([*corpus.labels, *(label for split in counts.values() for label in split)]))


def _entry(corpus: CorpusView) -> dict[str, Any]:
    counts = corpus.info["counts"]
    found = _labels(corpus)
    sizes = {split: sum(by_label.values()) for split, by_label in counts.items()}
    comparison = corpus.comparison
    return {
        "corpus": corpus,
        "steps": steps(corpus),
        "splits": list(counts),
        "counts": counts,
        "sizes": sizes,
        "total": sum(sizes.values()),
        "articles": corpus.info.get("articles") or {},
        "has_articles": corpus.info.get("has_articles", True),
        "lengths": corpus.info.get("lengths") or {},
        "published": comparison.published.sizes.get(comparison.corpus, {}) if comparison.corpus else {},
        "labels": found,
        "looks": marks(found),
        "dropped": {reason: n for reason, n in (corpus.info.get("dropped") or {}).items() if n},
        "notes": [str(note) for note in corpus.info.get("notes") or ()],
    }
