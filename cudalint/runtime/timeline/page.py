"""Writes the timeline's page: one file, which asks no network for anything.

The charts are Plotly's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from cudalint.findings.finding import Finding
from cudalint.reports.page import asset, render_page
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
    title = "Memory timeline"
    if len(data["runs"]) == 1:
        title = f"{data['runs'][0]['title']}: memory timeline"
    return render_page(
        title,
        data,
        style=_asset("page.css"),
        scripts=(_library(), _asset("page.js")),
        # Plotly makes pictures to be saved.
        more_policy="img-src data: blob:;",
    )


def _asset(name: str) -> str:
    return asset("cudalint.runtime.timeline", name)


def _library() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise TimelineError(
            "--timeline draws with Plotly, which is not installed: pip install 'cudalint[runtime]'"
        ) from None
    text: str = get_plotlyjs()
    return text


def _refused(path: Path, error: Exception) -> TimelineError:
    reason = getattr(error, "strerror", None) or str(error)
    return TimelineError(f"--timeline {path}: {reason}")
