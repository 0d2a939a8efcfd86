"""A page that stands alone: one HTML file that loads nothing, escapes all foreign text and runs no script but ours."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sectioncls.render.palette import DARK, LIGHT, MARKERS

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

__all__ = ["GENERATOR", "POLICY", "Picture", "embedded", "environment", "number", "render_page", "signed", "whole"]

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""A page's Content-Security-Policy: no network, no script but one of known hash, styles and pictures of its own."""

GENERATOR = "sectioncls"
"""What the page's ``generator`` says first: by it we know our own pages again."""

_TEMPLATES = Path(__file__).parent / "templates"
_MINUS = "\N{MINUS SIGN}"
_NONE = "\N{EN DASH}"


@dataclass(frozen=True, slots=True)
class Picture:
    """An image with the words that stand for it; ``width`` and ``height`` are CSS pixels."""

    data: bytes
    alt: str
    width: int
    height: int
    media: str = "image/svg+xml"

    @property
    def uri(self) -> str:
        """The image as a ``data:`` address."""
        return f"data:{self.media};base64,{base64.b64encode(self.data).decode('ascii')}"


def number(value: float | None, digits: int = 2) -> str:
    """Give a number with fixed decimals and a real minus sign; a dash for an undefined one."""
    if value is None or not math.isfinite(value):
        return _NONE
    text = f"{value:.{digits}f}"
    zero = f"{0:.{digits}f}"
    return zero if text == f"-{zero}" else text.replace("-", _MINUS)


def signed(value: float | None, digits: int = 2) -> str:
    """Give a difference with its sign, ``0.00`` without one."""
    text = number(value, digits)
    return text if text[0] in (_MINUS, _NONE) or float(text) == 0 else f"+{text}"


def whole(value: float | None) -> str:
    """Give a whole number with its thousands marked; a dash for none."""
    return _NONE if value is None else f"{value:,.0f}".replace("-", _MINUS)


def environment(*folders: Path) -> Environment:
    """Give the template environment: ours and ``folders``, everything escaped, unknown names refused."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    env = Environment(
        loader=FileSystemLoader([*folders, _TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    env.filters.update(
        number=number,
        signed=signed,
        whole=whole,
        percent=lambda value, digits=2: number(None if value is None else 100 * value, digits),
    )
    env.globals.update(light=LIGHT, dark=DARK, markers=MARKERS)
    return env


def render_page(env: Environment, template: str, *, version: str, script: str = "", **values: Any) -> str:
    """Give the page of one template that extends ``page.html``; ``version`` goes into its ``generator``.

    ``script`` runs at the end of the page; the policy names its hash, so that no other can.
    """
    from markupsafe import Markup

    if "</script" in script.lower():
        raise ValueError("a script that holds its own end")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    policy = f"{POLICY}; script-src 'sha256-{digest}'" if script else POLICY
    return env.get_template(template).render(
        generator=f"{GENERATOR} {version}", policy=policy, script=Markup(script), **values
    )


def embedded(value: Any) -> Markup:
    """Give JSON that may stand inside a ``script`` element: nothing in it ends the element or opens another."""
    from markupsafe import Markup

    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)
