"""Writes the timeline's page: one file, which asks no network for anything.

The charts are Plotly's. Every script is named in the page's content security policy by its hash,
so that nothing that stands in a file name, a message or a line of source can ever run.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from cudalint.findings.finding import Finding
from cudalint.runtime.timeline.data import timeline
from cudalint.runtime.timeline.model import Recorded
from cudalint.runtime.timeline.wire import wire


class TimelineError(Exception):
    """The page cannot be written; says why in one line."""


def check_timeline(path: Path) -> None:
    """Find out before a long run that its page could not be written. ``TimelineError``."""
    _library()
    existed = path.exists()
    try:
        with path.open("ab"):
            pass
        if not existed:
            path.unlink()
    except (OSError, ValueError) as error:
        raise _refused(path, error) from error


def write_timeline(
    recorded: Sequence[Recorded],
    findings: Sequence[Finding],
    path: Path,
    failed: Mapping[str, str] | None = None,
) -> None:
    """Write the page of some runs. ``failed`` are targets that did not run, and why.
    ``TimelineError`` where it is not possible."""
    text = render_timeline(recorded, findings, failed)
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except (OSError, ValueError) as error:
        raise _refused(path, error) from error


def render_timeline(
    recorded: Sequence[Recorded],
    findings: Sequence[Finding] = (),
    failed: Mapping[str, str] | None = None,
) -> str:
    """The page."""
    data = wire([timeline(one) for one in recorded], findings, failed)
    scripts = (_library(), _asset("page.js"))
    title = "Memory timeline"
    if len(data["runs"]) == 1:
        title = f"{data['runs'][0]['title']}: memory timeline"
    parts = {
        "title": html.escape(title),
        "policy": _policy(scripts),
        "style": _asset("page.css"),
        "data": _script_data(data),
        "library": scripts[0],
        "script": scripts[1],
    }
    page = _asset("page.html")
    for name, text in parts.items():
        before, _, after = page.partition(f"@@{name}@@")
        # Later parts stand later in the page: what was put in is not searched.
        parts[name] = before + text
        page = after
    return "".join(parts.values()) + page


def _policy(scripts: Sequence[str]) -> str:
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in scripts
    )
    # Plotly styles its elements itself, and makes pictures to be saved.
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline';"
        " img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _script_data(data: Mapping[str, Any]) -> str:
    """JSON that ends no script and is no HTML, whatever stands in it. It is ASCII throughout, so
    that it holds lone surrogates too: names of files that are no UTF-8."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _asset(name: str) -> str:
    folder = resources.files("cudalint.runtime.timeline") / "assets"
    return (folder / name).read_text(encoding="utf-8").replace("\r\n", "\n")


def _library() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise TimelineError(
            "--timeline draws with Plotly, which is not installed: pip install 'cudalint[runtime]'"
        ) from None
    text: str = get_plotlyjs()
    # HTML knows one end of line; the hash is of what a browser reads.
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _refused(path: Path, error: Exception) -> TimelineError:
    reason = getattr(error, "strerror", None) or str(error)
    return TimelineError(f"--timeline {path}: {reason}")
