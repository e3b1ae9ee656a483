"""JUnit XML: for CI servers that show tests and nothing else."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from cudalint.findings.finding import Finding
from cudalint.reports.hosts import told
from cudalint.reports.report import Report
from cudalint.reports.style import Style, escaped
from cudalint.reports.text import details

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def render(report: Report) -> str:
    """A test for each finding: failed, or skipped where a comment suppresses it, or passed with a
    note below the fail level. A run without findings is one test that passed."""
    suite = ElementTree.Element("testsuite", name="cudalint")
    for error in report.errors:
        case = _case(suite, error.filename, "cannot-lint", 1)
        ElementTree.SubElement(case, "error", message=_text(error.message), type="cannot-lint")
    for finding in report.told:
        _finding(suite, finding, report)
    if not len(suite):
        ElementTree.SubElement(suite, "testcase", classname="cudalint", name="no findings")
    counts = {"tests": len(suite)}
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        counts[name] = sum(case.find(tag) is not None for case in suite)
    root = ElementTree.Element("testsuites", name="cudalint")
    for element in (suite, root):
        element.attrib |= {name: str(count) for name, count in counts.items()}
    root.append(suite)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _finding(suite: ElementTree.Element, finding: Finding, report: Report) -> None:
    source = report.sources.get(finding.filename)
    cell, row = source.place(finding.span.row) if source else (None, finding.span.row)
    place = (
        f"{row}:{finding.span.column}"
        if cell is None
        else f"cell {cell}:{row}:{finding.span.column}"
    )
    case = _case(suite, finding.filename, f"{finding.code} {finding.name} at {place}", row)
    if finding.suppressed is not None:
        ElementTree.SubElement(case, "skipped", message=_text(finding.suppressed))
        return
    text = _text("\n".join(details(finding, report, Style())))
    if finding.severity.rank < report.fail_level.rank:
        ElementTree.SubElement(case, "system-out").text = text
        return
    failure = ElementTree.SubElement(
        case, "failure", message=_text(told(finding, report)), type=finding.severity.value
    )
    failure.text = text


def _case(suite: ElementTree.Element, filename: str, name: str, row: int) -> ElementTree.Element:
    path = _text(escaped(filename))
    return ElementTree.SubElement(
        suite, "testcase", classname=path, name=name, file=path, line=str(row)
    )


def _text(text: str) -> str:
    """The text without the characters that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)
