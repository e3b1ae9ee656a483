"""JSON lines: each finding as soon as a reader has its line, each error, and the summary."""

from __future__ import annotations

import msgspec

from cudalint.reports.json import finding_entry, summary_of
from cudalint.reports.report import Report
from cudalint.reports.schema import ErrorLine, FindingLine, SummaryLine


def render(report: Report) -> str:
    """One object in a line; ``type`` says of what."""
    lines: list[msgspec.Struct] = [
        *(_tagged(FindingLine, finding_entry(finding, report)) for finding in report.told),
        *(ErrorLine(error.filename, error.message) for error in report.errors),
        _tagged(SummaryLine, summary_of(report)),
    ]
    return msgspec.json.Encoder().encode_lines(lines).decode()


def _tagged(kind: type[msgspec.Struct], data: msgspec.Struct) -> msgspec.Struct:
    return kind(**msgspec.structs.asdict(data))
