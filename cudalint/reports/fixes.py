"""What is said of fixes: which can be made, which were, and how they look as a diff."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from cudalint.findings.finding import Finding
from cudalint.findings.fix import Applicability
from cudalint.reports.report import Report
from cudalint.reports.style import Style
from cudalint.reports.text import plural

_COLORS = {"+": "green", "-": "red", "@": "cyan"}


def fixable(report: Report, *, unsafe: bool = False) -> str:
    """``2 findings can be fixed with `--fix`, 1 more with `--unsafe-fixes`.``, a line; empty where
    there is nothing."""
    fixes = Counter(
        part.fix.applicability
        for finding in report.active
        for part in (finding, *finding.parts)
        if part.fix is not None
    )
    safe, rest = fixes[Applicability.SAFE], fixes[Applicability.UNSAFE]
    if unsafe:
        safe, rest = safe + rest, 0
    if not safe and not rest:
        return ""
    option = "--fix --unsafe-fixes" if unsafe else "--fix"
    if not safe:
        return f"{plural(rest, 'finding')} can be fixed with `--fix --unsafe-fixes`.\n"
    more = f", {rest} more with `--unsafe-fixes`" if rest else ""
    return f"{plural(safe, 'finding')} can be fixed with `{option}`{more}.\n"


def made(findings: Sequence[Finding], style: Style) -> Iterator[str]:
    """The fixes by file: ``GPU102 Release `d_in` ...``."""
    by_file: dict[str, Counter[str]] = {}
    for finding in findings:
        if finding.fix is not None:
            text = f"{finding.code} {finding.fix.message}"
            by_file.setdefault(finding.filename, Counter())[text] += 1
    for name in sorted(by_file):
        yield f"{style.paint(name, 'bold')}:"
        for text, count in sorted(by_file[name].items()):
            times = f" ({count} times)" if count > 1 else ""
            yield f"    {style.message(text)}{times}"


def summary(findings: Sequence[Finding], *, would: bool = False) -> str:
    """``Fixed 3 findings in 2 files.``"""
    verb = "Would fix" if would else "Fixed"
    files = len({finding.filename for finding in findings})
    return f"{verb} {plural(len(findings), 'finding')} in {plural(files, 'file')}."


def diff(name: str, before: str, after: str, style: Style) -> Iterator[str]:
    """A unified diff of a file, or of a notebook's cell, that ``patch`` understands."""
    for line in _unified(name, before, after):
        color = "bold" if line.startswith(("---", "+++")) else _COLORS.get(line[:1])
        yield style.paint(line, color) if color else line


def _unified(name: str, before: str, after: str) -> Iterable[str]:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for line in difflib.unified_diff(old, new, name, name):
        if line.endswith("\n"):
            yield line.removesuffix("\n")
        else:
            yield f"{line}\n\\ No newline at end of file"
