"""The Summary as Markdown, as LaTeX tables and as JSON: the same numbers as the page."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from sectioncls import __version__
from sectioncls.render.page import GENERATOR
from sectioncls.report.panels.overview import cautions, headline
from sectioncls.report.panels.studies import study_tables
from sectioncls.report.questions import answers, claims, claims_table
from sectioncls.report.replication import replication_tables
from sectioncls.report.reproduced import reproduced
from sectioncls.report.tables import Cell, Table, report_tables
from sectioncls.report.views import Encoder, Group, Measured, RunView, Summary

__all__ = ["FORMATS", "latex", "markdown", "summary_json"]

_MADE = f"{GENERATOR} {__version__}"


def _tables(summary: Summary) -> list[Table]:
    stated = claims_table(summary)
    shown = [*report_tables(summary), *replication_tables(summary), *([stated] if stated else [])]
    return [*study_tables(summary), *shown]


def markdown(summary: Summary) -> str:
    """Give the report as Markdown (tables as GitHub reads them); foreign text is escaped."""
    names = ", ".join(run.name for run in summary.runs)
    lines = [f"<!-- {_MADE} -->", f"# Report on {_md(names)}", ""]
    for run in _sentence_runs(summary):
        lines += [f"## {_md(run.name)}", "", *(_md(sentence) for sentence in headline(run)), ""]
        kept = [f"- {text}" for text in dict.fromkeys(_md(text) for text, _ in cautions(run))]
        lines += ["Keep in mind:", "", *kept, ""] if kept else []
    for table in _tables(summary):
        lines += [f"## {_md(table.title)}", "", _md(table.caption), "", *_md_rows(table), ""]
        lines += [line for note in table.notes for line in (_md(note), "")]
    if same := reproduced(summary):
        lines += ["## Printed values that come out", "", *(line for text in same for line in (_md(text), ""))]
    if _sentence_runs(summary):
        lines += ["## Questions", ""]
        lines += [line for one in answers(summary) for line in (f"**{_md(one.question)}** {_md(one.sentence)}", "")]
    return "\n".join(lines).rstrip() + "\n"


def _sentence_runs(summary: Summary) -> list[RunView]:
    return [run for run in summary.runs if not run.of_papers]


def _md_rows(table: Table) -> list[str]:
    names = [" ".join(filter(None, (column.group, column.name))) for column in table.columns]
    rule = [":--" if column.words else "--:" for column in table.columns]
    rows = [
        [f"**{_md(cell.text)}**" if cell.best else _md(cell.text) for cell in row]
        for row in ((Cell(_joined(cell), best=cell.best) for cell in row) for row in table.rows)
    ]
    return [f"| {' | '.join(row)} |" for row in ([_md(name) for name in names], rule, *rows)]


def _joined(cell: Cell) -> str:
    return f"{cell.text} ({cell.under})" if cell.under else cell.text


def _md(text: str) -> str:
    """Give text that Markdown shows as it is, on one line."""
    return re.sub(r"([\\`*_\[\]<>|&#~$])", r"\\\1", _one_line(text))


_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "[": "{[}", "]": "{]}",
    "\N{MINUS SIGN}": "$-$", "\N{EN DASH}": "--", "\N{MULTIPLICATION SIGN}": r"$\times$", "\N{GREEK SMALL LETTER TAU}":
    r"$\tau$", "\N{NARROW NO-BREAK SPACE}": r"\,", "\N{NO-BREAK SPACE}": "~", "\N{NON-BREAKING HYPHEN}": "-",
    "\N{LEFT DOUBLE QUOTATION MARK}": "``", "\N{RIGHT DOUBLE QUOTATION MARK}": "''",
}  # fmt: skip


def latex(summary: Summary) -> str:
    """Give every table as a LaTeX ``table`` with booktabs, text escaped; questions stand in comments below."""
    parts = [f"% {_MADE}", "% needs \\usepackage{booktabs}; textcomp and T1 fonts for quotation marks in names"]
    names: Counter[str] = Counter()
    for table in _tables(summary):
        names[table.name] += 1
        parts.append(_latex_table(table, table.name + (f"-{names[table.name]}" if names[table.name] > 1 else "")))
    parts += [f"% {_tex(one.question)} {_tex(one.sentence)}" for one in answers(summary)]
    return "\n".join(parts) + "\n"


def _latex_table(table: Table, label: str) -> str:
    spans, at, groups, rules = table.spans(), 1, [], []
    for name, width, _ in spans:
        groups.append(rf"\multicolumn{{{width}}}{{c}}{{{_tex(name)}}}" if name else "")
        if name:
            rules.append(rf"\cmidrule(lr){{{at}-{at + width - 1}}}")
        at += width
    head = [" & ".join(groups) + r" \\", " ".join(rules)] if rules else []
    body = [" & ".join(_tex_cell(cell) for cell in row) + r" \\" for row in table.rows]
    notes = [rf"\par\smallskip\footnotesize {_tex(' '.join(table.notes))}"] if table.notes else []
    align = "".join("l" if column.words else "r" for column in table.columns)
    lines = [
        r"\begin{table}",
        r"\centering\small",
        rf"\caption{{{_tex(table.caption)}}}",
        rf"\label{{tab:{label}}}",
        rf"\begin{{tabular}}{{{align}}}",
        r"\toprule",
        *head,
        " & ".join(_tex(column.name) for column in table.columns) + r" \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        *notes,
        r"\end{table}",
    ]
    return "\n".join(["", *lines])


def _tex_cell(cell: Cell) -> str:
    text = _tex(_joined(cell))
    return rf"\textbf{{{text}}}" if cell.best else text


def _tex(text: str) -> str:
    """Give text that LaTeX sets as it is, on one line."""
    return "".join(_LATEX.get(letter, letter) for letter in _one_line(text))


def _one_line(text: str) -> str:
    """Give text without line ends or control characters."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def summary_json(summary: Summary) -> str:
    """Give the Summary as JSON: runs, encoders and scores (fractions), tables, claims, answers; undefined is null."""
    content = {
        "generator": _MADE,
        "format": 1,
        "runs": [_run(run) for run in summary.runs],
        "corpora": [
            {
                "name": corpus.name,
                "fingerprint": corpus.info.get("fingerprint"),
                "labels": corpus.labels,
                "published": corpus.comparison.corpus,
                "why": corpus.comparison.why,
                "groups": [_group(group) for group in corpus.groups],
            }
            for corpus in summary.corpora
        ],
        "tables": [_plain_table(table) for table in _tables(summary)],
        "reproduced": reproduced(summary),
        "claims": [_fields(one) for one in claims(summary)],
        "answers": [_fields(one) for one in answers(summary)] if _sentence_runs(summary) else [],
    }
    return json.dumps(_defined(content), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _run(run: RunView) -> dict[str, Any]:
    best = run.best and {"encoder": run.best[0].key, "method": run.best[1].method}
    sentences = not run.of_papers
    return {
        "name": run.name,
        "corpus": run.corpus.info.get("fingerprint"),
        "protocol": run.info.get("protocol"),
        "seeds": run.info.get("seeds"),
        "versions": run.info.get("versions"),
        "encoders": [_encoder(encoder) for encoder in run.encoders.values()],
        "best": best,
        "headline": headline(run) if sentences else [],
        "cautions": list(dict.fromkeys(text for text, _ in cautions(run))) if sentences else [],
    }


def _encoder(encoder: Encoder) -> dict[str, Any]:
    return {**_fields(encoder), "training": dict(encoder.training), "collapsed": encoder.collapsed}


def _group(group: Group) -> dict[str, Any]:
    def scores(kind: Mapping[str, Measured]) -> dict[str, Any]:
        return {name: {**_fields(score), "difference": score.difference} for name, score in kind.items()}

    rows = [
        {"method": row.method, "scores": scores(row.scores), "per_label": scores(row.per_label)} for row in group.rows
    ]
    return {"encoder": group.encoder.key if group.encoder else None, "runs": group.runs, "rows": rows}


def _plain_table(table: Table) -> dict[str, Any]:
    columns = [_fields(column) for column in table.columns]
    rows = [[_joined(cell) for cell in row] for row in table.rows]
    return {**_fields(table), "columns": columns, "rows": rows}


def _fields(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


def _defined(value: Any) -> Any:
    """Give ``value`` with null for what JSON can't say."""
    if isinstance(value, Mapping):
        return {str(key): _defined(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_defined(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


FORMATS: dict[str, tuple[str, Callable[[Summary], str]]] = {
    "md": (f"<!-- {GENERATOR} ", markdown),
    "json": (f'{{\n "generator": "{GENERATOR} ', summary_json),
    "tex": (f"% {GENERATOR} ", latex),
}
"""Format name, which is its file's ending → how a file of ours begins, and what gives it."""
