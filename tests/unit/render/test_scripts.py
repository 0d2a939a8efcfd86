"""A page runs the script whose hash its policy names, and data in it can't end it."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path

import pytest

from sectioncls.render import embedded, environment, render_page


def page(folder: Path, script: str) -> str:
    (folder / "p.html").write_text('{% extends "page.html" %}{% block body %}<p>{{ text }}</p>{% endblock %}')
    return render_page(environment(folder), "p.html", version="1", script=script, text="<b>")


def test_the_policy_names_the_script(tmp_path: Path) -> None:
    script = 'const a = 1 < 2 && "é";\n'
    html = page(tmp_path, script)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src &#39;sha256-{digest}&#39;" in html or f"script-src 'sha256-{digest}'" in html
    assert f"<script>{script}</script>" in html and "&lt;b&gt;" in html


def test_without_a_script_none_may_run(tmp_path: Path) -> None:
    html = page(tmp_path, "")
    assert "<script" not in html and "script-src" not in html


def test_a_script_that_ends_itself_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="its own end"):
        page(tmp_path, "'</SCRIPT>'")


@pytest.mark.parametrize("text", ["</script><script>", "<!--", "a & b", "\u2028", "é"])
def test_data_stays_data(text: str) -> None:
    found = str(embedded({"a": [text, None, 1.5]}))
    assert not set("<>&\u2028") & set(found)
    assert json.loads(found) == {"a": [text, None, 1.5]}
