"""Label schemes: ordered sets of labels, and the rules that give a label to a heading."""

from sectioncls.schemes.headings import (
    DEFAULT_SCHEME,
    Explanation,
    Hit,
    Level,
    LevelReading,
    explain,
    heading_label,
    label_of,
)
from sectioncls.schemes.rules import PARTS, HeadingRules, plain_heading
from sectioncls.schemes.scheme import SCHEMES, LabelScheme, load_scheme

__all__ = [
    "DEFAULT_SCHEME",
    "PARTS",
    "SCHEMES",
    "Explanation",
    "HeadingRules",
    "Hit",
    "LabelScheme",
    "Level",
    "LevelReading",
    "explain",
    "heading_label",
    "label_of",
    "load_scheme",
    "plain_heading",
]
