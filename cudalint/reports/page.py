"""Pages that are complete in one file and ask no network for anything.

Every script is named in the page's content security policy by its hash, so that nothing that stands
in a file name, a message or a line of source can ever run.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any


def render_page(
    title: str,
    data: Mapping[str, Any],
    *,
    style: str,
    scripts: Sequence[str],
    more_policy: str = "",
) -> str:
    """A page that its last script draws from the data. All pages share ``base.css`` and
    ``base.js``, which stands before that script."""
    *libraries, own = map(_one_end_of_line, scripts)
    scripts = (*libraries, _asset("base.js") + own)
    parts = {
        "title": html.escape(title),
        "policy": f"{_policy(scripts)} {more_policy}".strip(),
        "style": _asset("base.css") + style,
        "data": _script_data(data),
        "scripts": "\n".join(f"<script>{text}</script>" for text in scripts),
    }
    page = _asset("page.html")
    for name, text in parts.items():
        before, _, after = page.partition(f"@@{name}@@")
        # Later parts stand later in the page: what was put in is not searched.
        parts[name] = before + text
        page = after
    return "".join(parts.values()) + page


def asset(package: str, name: str) -> str:
    """A text among the assets of a package."""
    file = resources.files(package) / "assets" / name
    return _one_end_of_line(file.read_text(encoding="utf-8"))


def _asset(name: str) -> str:
    return asset("cudalint.reports", name)


def _one_end_of_line(text: str) -> str:
    """HTML knows one end of line; hashes are of what a browser reads."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _policy(scripts: Sequence[str]) -> str:
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in scripts
    )
    # Elements are styled one by one, too.
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline';"
        " base-uri 'none'; form-action 'none';"
    )


def _script_data(data: Mapping[str, Any]) -> str:
    """JSON that ends no script and is no HTML, whatever stands in it. It is ASCII throughout, so
    that it holds lone surrogates too: names of files that are no UTF-8."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
