"""A table before it is drawn: the same cells for the page, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sectioncls.render import number, signed, whole
from sectioncls.report.curves import Spot, curves_of
from sectioncls.report.panels import papers
from sectioncls.report.views import (
    BASELINES,
    CorpusView,
    Group,
    Measured,
    Row,
    RunView,
    Summary,
    interval_words,
    method_name,
    on_points,
)

__all__ = ["CLUSTERED", "Cell", "Column", "Table", "learning_tables", "measured_cell", "report_tables", "unseen_table"]

CLUSTERED = (
    ("ari", "ARI", 100.0, 2),
    ("ami", "AMI", 100.0, 2),
    ("silhouette", "Silhouette", 100.0, 2),
    ("effective-rank", "Effective rank", 1.0, 1),
    ("noise", "Noise, %", 100.0, 1),
    ("ari-clustered", "ARI without noise", 100.0, 2),
    ("ami-clustered", "AMI without noise", 100.0, 2),
)
"""What a table of clusterings shows: metric, heading, factor, decimals; a column stands where a run has it."""

_ALWAYS = ("silhouette", "effective-rank")
_TIMES = "\N{MULTIPLICATION SIGN}"


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell says; ``under`` is the small print below (an interval, a method)."""

    text: str
    under: str = ""
    best: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """A heading; columns side by side with one ``group`` share a heading above. Numbers stand to the right."""

    name: str
    group: str = ""
    words: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under columns; ``name`` is fit for a label, ``notes`` stand below."""

    name: str
    title: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    @property
    def grouped(self) -> bool:
        """True where headings stand above headings."""
        return any(column.group for column in self.columns)

    def spans(self) -> list[tuple[str, int, Column]]:
        """Give the headings above the columns, how many columns each spans, and its first; '' above single ones."""
        spans: list[tuple[str, int, Column]] = []
        for column in self.columns:
            if spans and column.group and spans[-1][0] == column.group:
                spans[-1] = (column.group, spans[-1][1] + 1, spans[-1][2])
            else:
                spans.append((column.group, 1, column))
        return spans


def report_tables(summary: Summary) -> list[Table]:
    """Give the tables of a Summary in the order of the page: corpora, classification, clustering, paper encoders."""
    tables: list[Table] = []
    for corpus in summary.corpora:
        if corpus.info.get("counts") and corpus.info.get("kind") != "papers":
            tables.append(_labels(corpus))
        if corpus.classification:
            tables.append(_classification(corpus))
        if corpus.clustering:
            tables.append(_clustering(corpus))
        if (without := unseen_table(corpus)) is not None:
            tables.append(without)
    return [*tables, *(table for run in summary.runs for table in learning_tables(run)), *_papers(summary)]


def unseen_table(corpus: CorpusView) -> Table | None:
    """Give scores on those test sentences alone that no other split holds, beside all of test; None where that is all.

    Majority and place are left out: they remember nothing.
    """
    shown = (("f1-micro", "F1 micro"), ("ari", "ARI"), ("ami", "AMI"))
    rows, counts = [], set()
    for group in corpus.groups:
        for row in group.rows:
            cells = []
            for metric, _ in shown:
                every, rest = row.scores.get(metric), row.unseen.get(metric)
                if rest is None or every is None:
                    cells += [Cell(number(None))] * 3
                    continue
                counts.add((rest.n, every.n))
                cells += [Cell(number(100 * every.value, 2)), measured_cell(rest)]
                cells.append(Cell(signed(100 * (rest.value - every.value))))
            if row.unseen and row.method not in BASELINES[:2]:
                title = group.encoder.title if group.encoder else "Text baselines"
                rows.append((Cell(title), Cell(row.title), *cells))
    if not rows:
        return None
    left, of = max(counts)
    intervals = interval_words(score for group in corpus.groups for row in group.rows for score in row.unseen.values())
    caption = (
        f"{corpus.name}, {_TIMES} 100: all {whole(of)} sentences of test and the {whole(left)} of them that stand in "
        "no other split, neither so nor almost so, nor in an article of one"
        f"{'; below, ' + intervals if intervals else ''}. Predictions and clusters are the same: what falls was memory."
    )
    heads = [Column(name, title) for _, title in shown for name in ("test", "unseen", "difference")]
    columns = (Column("Encoder", words=True), Column("Method", words=True), *heads)
    return Table("unseen", f"Without what other splits hold: {corpus.name}", caption, columns, tuple(rows))


def learning_tables(run: RunView) -> list[Table]:
    """Give F1 by the number of training sentences, in all and of each label; without a curve that the run lacks."""
    tables = []
    for curve, title, heads in (
        ("learning", "Learning curves", "from {}"),
        ("few-shot", "Few-shot scores", "{} per label"),
    ):
        macro, micro = (curves_of(run, curve, series) for series in ("f1-macro", "f1-micro"))
        if not macro:
            continue
        sizes = sorted({spot.x for one in macro for spot in one.spots})
        columns = [Column("Encoder", words=True)]
        columns += [Column(name, heads.format(whole(size))) for size in sizes for name in ("macro", "micro")]
        rows = []
        for one, other in zip(macro, micro, strict=True):
            spots = [found.at(size) for size in sizes for found in (one, other)]
            rows.append((Cell(one.title), *(_spot_cell(spot) for spot in spots)))
        draws = max(spot.draws for one in macro for spot in one.spots)
        what = "so many training sentences" if curve == "learning" else "so many training sentences of each label"
        caption = (
            f"F1 {_TIMES} 100 on test of {method_name(macro[0].method).lower()} that learns from {what}; "
            f"mean and range of {draws} draws."
        )
        tables.append(Table(curve, f"{title} of {run.name}", caption, tuple(columns), tuple(rows)))
    return tables


def _spot_cell(spot: Spot | None) -> Cell:
    if spot is None:
        return Cell(number(None))
    under = f"{number(100 * spot.low, 1)}\N{EN DASH}{number(100 * spot.high, 1)}" if spot.draws > 1 else ""
    return Cell(number(100 * spot.mean, 1), under)


def measured_cell(score: Measured | None, *, factor: float = 100, digits: int = 2, best: bool = False) -> Cell:
    """Give a value with its interval below, a dash where nothing was measured."""
    if score is None:
        return Cell(number(None))
    span = ""
    if score.low is not None and score.high is not None:
        ends = (number(factor * end, max(digits - 1, 0)) for end in (score.low, score.high))
        span = "\N{EN DASH}".join(ends)
    return Cell(number(factor * score.value, digits), span, best)


def _labels(corpus: CorpusView) -> Table:
    counts = corpus.info["counts"]
    labels = list(dict.fromkeys([*corpus.labels, *(label for split in counts.values() for label in split)]))
    rows = [(Cell(label), *(Cell(whole(split.get(label, 0))) for split in counts.values())) for label in labels]
    total = (Cell("all"), *(Cell(whole(sum(split.values()))) for split in counts.values()))
    columns = (Column("Label", words=True), *(Column(str(split)) for split in counts))
    title = f"Sentences of {corpus.name}"
    return Table("corpus", title, f"{title} by split and label.", columns, (*rows, total))


def _classification(corpus: CorpusView) -> Table:
    """Give one row for each classifier and encoder."""
    found = list(_rows(corpus.classification))
    macro = any("f1-macro" in row.scores for _, row in found)
    beside = any((score := row.scores.get("f1-micro")) and score.published is not None for _, row in found)
    columns = [Column("Encoder", words=True), Column("Method", words=True), Column("F1-micro")]
    columns += [Column("Published"), Column("Difference")] if beside else []
    columns += [Column("F1-macro")] if macro else []
    rows = []
    for title, row in found:
        micro = row.scores.get("f1-micro")
        cells = [Cell(title), Cell(row.title), measured_cell(micro, best="f1-micro" in row.best)]
        cells += _beside(micro) if beside else []
        if macro:
            cells.append(measured_cell(row.scores.get("f1-macro"), best="f1-macro" in row.best))
        rows.append(tuple(cells))
    n = next((score.n for _, row in found for score in row.scores.values()), 0)
    caption = f"F1 {_TIMES} 100 on the {whole(n)} test sentences of {corpus.name}{_intervals(found)}."
    title = f"Classification of {corpus.name}"
    return Table("classification", title, caption, tuple(columns), tuple(rows), (corpus.comparison.why,))


def _clustering(corpus: CorpusView) -> Table:
    """Give one row for each clustering; the effective rank stands beside every silhouette."""
    found = list(_rows(corpus.clustering))
    scores = [row.scores for _, row in found]
    shown = [one for one in CLUSTERED if one[0] in _ALWAYS or any(one[0] in of for of in scores)]
    published = {name for name, *_ in shown if any(name in of and of[name].published is not None for of in scores)}
    columns = [Column("Encoder", words=True), Column("Method", words=True)]
    for metric, name, *_ in shown:
        beside = metric in published
        columns += [Column("ours", name), Column("published", name)] if beside else [Column(name)]
    rows = []
    for title, row in found:
        cells = [Cell(title), Cell(row.title)]
        for metric, _, factor, digits in shown:
            score = row.scores.get(metric)
            cells.append(measured_cell(score, factor=factor, digits=digits, best=metric in row.best))
            cells += _beside(score)[:1] if metric in published else []
        rows.append(tuple(cells))
    caption = (
        f"Agreement of clusters of the test embeddings of {corpus.name} with the labels, and silhouette of the "
        f"clusters, {_TIMES} 100{_intervals(found)}."
    )
    note = "A silhouette rises when embeddings collapse: read it beside the effective rank."
    title = f"Clustering of {corpus.name}"
    fallen = [f"{row.title} on {name}" for name, row in found if on_points(row, len(corpus.labels))]
    which = f"Collapse, a high silhouette in fewer directions than labels: {', '.join(fallen)}." if fallen else ""
    notes = (note, *([which] if which else []), corpus.comparison.why)
    return Table("clustering", title, caption, tuple(columns), tuple(rows), notes)


def _papers(summary: Summary) -> list[Table]:
    """Give the main metric of every task for each paper encoder."""
    tables = []
    for entry in (papers.build(summary) or {"entries": []})["entries"]:
        tasks = entry["tasks"]
        columns = (Column("Encoder", words=True), *(Column(f"{task}, {metric}") for task, metric in tasks))
        rows = tuple(
            (Cell(title), *(measured_cell(cells.get(task)) for task, _ in tasks))
            for title, cells in entry["rows"].items()
        )
        title = f"Paper encoders of {entry['run'].name}"
        tables.append(Table("papers", title, f"{title}, {_TIMES} 100.", columns, rows))
    return tables


def _rows(groups: Sequence[Group]) -> Iterator[tuple[str, Row]]:
    for group in groups:
        for row in group.rows:
            yield (group.encoder.title if group.encoder else "text baseline"), row


def _beside(score: Measured | None) -> list[Cell]:
    """Give the published value, and ours minus it with a star where it lies outside our interval."""
    if score is None or score.published is None or score.difference is None:
        return [Cell(number(None)), Cell(number(None))]
    star = "*" if score.published_inside is False else ""
    return [Cell(number(100 * score.published)), Cell(signed(100 * score.difference) + star)]


def _intervals(found: Sequence[tuple[str, Row]]) -> str:
    """Say what the small print below a value is."""
    what = interval_words(score for _, row in found for score in row.scores.values())
    return f"; beside the values {what}" if what else ""
