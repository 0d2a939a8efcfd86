"""Sentences of a text, as character offsets."""

from sectioncls.sentences.others import SPLITTERS, join_wrong_ends, split_sentences

__all__ = ["SPLITTERS", "join_wrong_ends", "split_sentences"]
