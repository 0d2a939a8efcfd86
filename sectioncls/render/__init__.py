"""What every page of ours shares: the palette of roles, the page around the content, pictures, escaping."""

from sectioncls.render.page import Picture, embedded, environment, number, render_page, signed, whole
from sectioncls.render.palette import DARK, LIGHT, MARKERS, RANKS, Mark, marks, ranked_marks

__all__ = [
    "DARK",
    "LIGHT",
    "MARKERS",
    "RANKS",
    "Mark",
    "Picture",
    "embedded",
    "environment",
    "marks",
    "number",
    "ranked_marks",
    "render_page",
    "signed",
    "whole",
]
