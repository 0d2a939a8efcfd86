"""Tables 5 to 7 of arXiv 2404.00224 from the runs at hand, what the paper prints of the same cells beside."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from sectioncls.render import number, signed
from sectioncls.report.pairs import CLS, Pair, Reader, gain, pairs, top
from sectioncls.report.published import load_published
from sectioncls.report.tables import Cell, Column, Table
from sectioncls.report.views import Summary

__all__ = ["replication_tables"]

_Cells = list[tuple[float, str]]
_SIGNED = ("Gain, %",)
_SHORT = {"decision-tree": "tree", "knn": "k-NN", "mlp": "perceptron", "random-forest": "forest", "svm": "SVM"}


def replication_tables(summary: Summary) -> list[Table]:
    """Give tables 5, 6 and 7: ours, the published values, the differences; without a table that ours lack wholly."""
    found = pairs(summary)
    several = len(summary.corpora) > 1
    tables = [
        _table("5", "best classifier, released against fine-tuned",
               "Best of the five classifiers on the embeddings of each encoder",
               ("Released", "Fine-tuned", "Gain, %"), _best, found, several),
        _table("6", "nearest neighbours, released against fine-tuned",
               "k nearest neighbours on the embeddings; the gap is theirs to the best classifier, in points",
               ("Released", "Fine-tuned", "Gain, %", "Gap to best"), _neighbours, found, several),
        _table("7", "fine-tuned embeddings against [CLS] classifiers",
               "Best of the five classifiers on fine-tuned embeddings against the [CLS] classifier",
               ("[CLS]", "Ours", "Gain, %"), _against_cls, found, several),
    ]  # fmt: skip
    return [table for table in tables if table.rows]


def _table(
    place: str,
    title: str,
    caption: str,
    names: tuple[str, ...],
    cells: Callable[[Reader], _Cells],
    found: Sequence[Pair],
    several: bool,
) -> Table:
    """Give one table; ``cells`` gives (value, method) of the columns ``names``; without published ones, ours alone."""
    measured = [(pair, cells(pair.ours), cells(pair.printed)) for pair in found]
    measured = [one for one in measured if not all(math.isnan(value) for value, _ in one[1])]
    beside = any(not math.isnan(value) for _, _, printed in measured for value, _ in printed)
    groups = ("Measured here", "Published", "Difference") if beside else ("Measured here",)
    columns = [Column("Corpus", words=True)] if several else []
    columns += [Column("Encoder", words=True), *(Column(name, group) for group in groups for name in names)]
    rows = []
    for pair, ours, printed in measured:
        lead = [Cell(pair.corpus.name)] if several else []
        shown = [_cell(*one, name) for side in (ours, printed) for one, name in zip(side, names, strict=True)]
        apart = [Cell(signed(one - other)) for (one, _), (other, _) in zip(ours, printed, strict=True)]
        rows.append((*lead, Cell(pair.title), *(shown + apart)[: len(names) * len(groups)]))
    return Table(
        f"table-{place}",
        f"Table {place} of {load_published().short}: {title}",
        f"{caption}. F1-micro \N{MULTIPLICATION SIGN} 100 on test{'; differences are ours minus published' * beside}.",
        tuple(columns),
        tuple(rows),
        tuple(dict.fromkeys(pair.corpus.comparison.why for pair, *_ in measured)),
    )


def _cell(value: float, method: str, name: str) -> Cell:
    return Cell(signed(value) if name in _SIGNED else number(value), _SHORT.get(method, method))


def _best(read: Reader) -> _Cells:
    base, tuned = top(read, "base"), top(read, "tuned")
    return [base, tuned, (gain(base[0], tuned[0]), "")]


def _neighbours(read: Reader) -> _Cells:
    base, tuned = (100 * read(state, "knn", "f1-micro") for state in ("base", "tuned"))
    return [(base, ""), (tuned, ""), (gain(base, tuned), ""), (tuned - top(read, "tuned")[0], "")]


def _against_cls(read: Reader) -> _Cells:
    head, tuned = 100 * read("cls", CLS, "f1-micro"), top(read, "tuned")
    return [(head, ""), tuned, (gain(head, tuned[0]), "")]
