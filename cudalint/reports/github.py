"""GitHub's annotations: workflow commands on standard output, which show findings in the diff.

A step shows ten errors, ten warnings and ten notices. The gravest and most certain come first;
the others are lines of the log, and one notice sums them up.
"""

from __future__ import annotations

from collections import Counter

from cudalint.findings.finding import Finding, Severity
from cudalint.reports.hosts import gravest_first, host_place, told
from cudalint.reports.incomplete import listed, paragraph
from cudalint.reports.report import Report
from cudalint.reports.style import Style, escaped
from cudalint.reports.text import headline, plural

_MOST = 10
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report) -> str:
    """A command in a line for what is shown, a plain line for the rest."""
    errors = [
        _command(
            "error",
            f"cannot lint: {error.message}",
            {"file": report.repository_name(error.filename)},
        )
        for error in report.errors
    ]
    left = dict.fromkeys(Severity, _MOST)
    left[Severity.ERROR] -= min(len(errors), _MOST)
    left[Severity.INFO] -= 1  # the one that sums up
    lines, rest = errors, []
    for finding in gravest_first(listed(report)):
        if left[finding.severity]:
            left[finding.severity] -= 1
            lines.append(_annotation(finding, report))
        else:
            rest.append(finding)
    lines += [_plain(headline(finding, report, Style())) for finding in rest]
    lines += [_plain(line) for line in paragraph(report, Style()).splitlines()]
    if rest:
        counts = Counter(finding.code for finding in rest).most_common()
        codes = ", ".join(f"{code} {count}" for code, count in counts)
        lines.append(
            _command("notice", f"{plural(len(rest), 'further finding')} in the log: {codes}", {})
        )
    return "".join(f"{line}\n" for line in lines)


def _annotation(finding: Finding, report: Report) -> str:
    place = host_place(finding.filename, finding.span, report)
    properties: dict[str, str | int] = {
        "title": f"{finding.code} {finding.name}",
        "file": place.path,
        "line": place.row,
        "endLine": place.end_row,
    }
    if place.end_row == place.row:  # columns are understood within one line only
        properties |= {"col": place.column, "endColumn": place.end_column}
    return _command(_COMMANDS[finding.severity], told(finding, report), properties)


def _command(name: str, message: str, properties: dict[str, str | int]) -> str:
    given = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{name}{' ' if given else ''}{given}::{_data(message)}"


def _data(text: str) -> str:
    """A message; ``escaped`` leaves no end of line in it."""
    return escaped(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _plain(line: str) -> str:
    """A line of the log that is no command, whatever a file is called. (Old ones, ``##[error]``,
    are obeyed anywhere in a line.)"""
    return f"- {line.replace('##[', '## [')}"
