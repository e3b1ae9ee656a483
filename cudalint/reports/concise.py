"""One line for each finding, for editors, pipes and people in a hurry."""

from __future__ import annotations

from cudalint.reports.incomplete import listed, paragraph
from cudalint.reports.report import Report
from cudalint.reports.style import Style
from cudalint.reports.text import headline


def render(report: Report, style: Style | None = None) -> str:
    """``path:row:column: severity: message [CODE]``, line by line; what to do stands elsewhere."""
    style = style or Style()
    lines = "".join(f"{headline(one, report, style, brief=True)}\n" for one in listed(report))
    return lines + paragraph(report, style)
