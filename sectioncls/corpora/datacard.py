"""The data card of a corpus: README.md with the header that dataset hubs read, made from what corpus.json says."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from sectioncls.corpora.corpus import CorpusInfo

__all__ = ["DATA_CARD", "data_card"]

DATA_CARD = "README.md"
_SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"), (10**7, "1M<n<10M"))
_LICENCES = ("apache-2.0", "mit", "cc0-1.0", *(f"cc-{kind}-4.0" for kind in ("by", "by-sa", "by-nc", "by-nc-sa")))


def data_card(
    info: CorpusInfo, *, licences: Mapping[str, int], languages: Mapping[str, int], digests: Mapping[str, str]
) -> str:
    """Give the card's text, the same for the same corpus.

    ``licences`` and ``languages`` count the sentences under each that rows name, ``digests`` holds the SHA-256 of
    each split's rows, of which the fingerprint is made.
    """
    parts = [_header(info, languages), f"# {_plain(info.name)}\n", _counts(info)]
    if info.dropped:
        parts += ["## Left out\n", _table(("reason", "count"), sorted(info.dropped.items()))]
    parts += ["## Licence\n", f"{_plain(info.licence) or 'Not stated.'}\n"]
    if licences:
        parts.append(_table(("licence of the article", "sentences"), _largest_first(licences)))
    if len(languages) > 1:
        parts += ["## Languages\n", _table(("language", "sentences"), _largest_first(languages))]
    if info.notes:
        parts += ["## Notes\n", "\n".join(f"- {_plain(text)}" for text in info.notes) + "\n"]
    parts += ["## How it was made\n", f"```console\n$ {_plain(info.command)}\n```\n"]
    versions = ", ".join(f"{_plain(name)} {_plain(version)}" for name, version in info.versions.items())
    parts.append(f"With {versions}.\n")
    rows = [("all", info.fingerprint), *digests.items()]
    parts += ["## Fingerprints\n", "SHA-256 of the rows (article, index, text, label) in order.\n"]
    parts.append(_table(("split", "sha256"), rows))
    return "\n".join(parts)


def _header(info: CorpusInfo, languages: Mapping[str, int]) -> str:
    """Give the YAML header; its strings are JSON, which YAML reads."""
    licence = info.licence.lower()
    size = next((name for limit, name in _SIZES if info.sentences < limit), "n>10M")
    lines = ["---", f"pretty_name: {json.dumps(_plain(info.name), ensure_ascii=False)}"]
    lines.append(f"license: {licence if licence in _LICENCES else 'other'}")
    if languages:
        lines.append("language:")
        lines += [f"- {json.dumps(name)}" for name in sorted(languages)]
    lines += ["task_categories:", "- text-classification", "size_categories:", f"- {size}"]
    lines += ["tags:", "- scientific-text", "- sentence-classification", "- sectioncls"]
    lines += ["configs:", "- config_name: default", "  data_files:"]
    for split in info.counts:
        lines += [f"  - split: {split}", f"    path: {split}.parquet"]
    return "\n".join([*lines, "---", ""])


def _counts(info: CorpusInfo) -> str:
    """Give the table of articles, sentences and labels, one column a split."""
    splits = list(info.counts)
    rows: list[tuple[object, ...]] = [
        ("articles" if info.has_articles else "rows of no known article", *(info.articles[split] for split in splits)),
        ("sentences", *(sum(info.counts[split].values()) for split in splits)),
        *((f"`{label}`", *(info.counts[split][label] for split in splits)) for label in info.labels),
        ("words, mean", *(f"{info.lengths[split]['mean_words']:.1f}" for split in splits)),
        ("words, longest", *(info.lengths[split]["max_words"] for split in splits)),
    ]
    about = f"{info.sentences:,} sentences, labelled by the scheme `{_plain(info.scheme)}`.\n"
    return f"{about}\n{_table(('', *splits), rows)}"


def _table(heads: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines) + "\n"


def _cell(value: object) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return _plain(text).replace("|", "\\|")


def _plain(text: str) -> str:
    """Give a text on one line, its marks of HTML made harmless."""
    return " ".join(text.split()).replace("<", "&lt;")


def _largest_first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
