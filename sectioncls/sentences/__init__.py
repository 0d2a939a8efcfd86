"""Sentences of a text, as character offsets."""

from sectioncls.sentences.others import SPLITTERS, join_wrong_ends, split_sentences
from sectioncls.sentences.scisplit import scisplit, scisplit_marked

__all__ = ["SPLITTERS", "join_wrong_ends", "scisplit", "scisplit_marked", "split_sentences"]
