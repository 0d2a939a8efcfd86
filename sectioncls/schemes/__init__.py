"""Label schemes: ordered sets of labels, and the rules that give a label to a heading."""

from sectioncls.schemes.headings import heading_label, label_of
from sectioncls.schemes.scheme import SCHEMES, LabelScheme, load_scheme

__all__ = ["SCHEMES", "LabelScheme", "heading_label", "label_of", "load_scheme"]
