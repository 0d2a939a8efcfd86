"""Fetching corpora from where their makers keep them: cards that say what and under which licence, and downloads."""

from sectioncls.fetch.cards import (
    Card,
    CardFile,
    LabelTable,
    card_names,
    find_card,
    label_map,
    next_command,
    read_card,
    read_form,
    read_label_table,
)
from sectioncls.fetch.download import Download, fetch_file, folder_lock, right_bytes
from sectioncls.fetch.pmc import Fetched, fetch_articles, read_ids
from sectioncls.fetch.sets import FetchedFile, fetch_set, missing_by_hand
from sectioncls.fetch.web import Patience, fetch_text

__all__ = [
    "Card",
    "CardFile",
    "Download",
    "Fetched",
    "FetchedFile",
    "LabelTable",
    "Patience",
    "card_names",
    "fetch_articles",
    "fetch_file",
    "fetch_set",
    "fetch_text",
    "find_card",
    "folder_lock",
    "label_map",
    "missing_by_hand",
    "next_command",
    "read_card",
    "read_form",
    "read_ids",
    "read_label_table",
    "right_bytes",
]
