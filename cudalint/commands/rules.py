"""The ``rules`` command: all rules on one screen."""

from __future__ import annotations

import shutil
import sys
from typing import Any

import msgspec

from cudalint import registry
from cudalint.findings.covered import Covered, covered
from cudalint.findings.rule import Rule
from cudalint.reports.style import SEVERITY_COLOR, ColorChoice, Style, use_color

_GAP = "  "


def run_rules(output_format: str, color: ColorChoice) -> int:
    """Print a line for each rule."""
    rules = list(registry.all_rules().values())
    if output_format == "json":
        encoded = msgspec.json.encode([_data(rule) for rule in rules])
        print(msgspec.json.format(encoded, indent=2).decode())
        return 0
    columns = shutil.get_terminal_size((0, 0)).columns if sys.stdout.isatty() else 0
    style = Style(use_color(sys.stdout, color))
    for line in table(rules, style, columns):
        print(line)
    return 0


def table(rules: list[type[Rule]], style: Style, columns: int = 0) -> list[str]:
    """One line for each rule below a head; cut at ``columns`` where there are any."""
    known = covered()
    cells = [
        (
            rule.code,
            rule.name + (" (preview)" if rule.preview else ""),
            rule.severity.value,
            rule.confidence.value,
            "fixable" if _is_fixable(rule) else "",
            ", ".join((one := known.get(rule.code, Covered())).languages),
            ", ".join(one.libraries),
        )
        for rule in rules
    ]
    head = ("code", "name", "severity", "confidence", "fix", "languages", "libraries")
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    taken = sum(width + len(_GAP) for width in widths[:-1])
    widths[-1] = max(columns - taken, len(head[-1])) if columns else widths[-1]
    lines = [style.paint(_line(head, widths), "bold")]
    for rule, row in zip(rules, cells, strict=True):
        code, rest = row[0], _line(row, widths).removeprefix(row[0])
        lines.append(style.paint(code, SEVERITY_COLOR[rule.severity]) + rest)
    return lines


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    *first, last = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    if len(last.rstrip()) > widths[-1]:
        last = last[: widths[-1] - 1] + "…"
    return _GAP.join((*first, last)).rstrip()


def _is_fixable(rule: type[Rule]) -> bool:
    """Whether the rule's page says what is done to mend its findings."""
    return "## Fix" in rule.documentation().splitlines()


def _data(rule: type[Rule]) -> dict[str, Any]:
    one = covered().get(rule.code, Covered())
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.value,
        "confidence": rule.confidence.value,
        "preview": rule.preview,
        "fixable": _is_fixable(rule),
        "summary": rule.documentation().partition("\n")[0],
        "languages": list(one.languages),
        "libraries": list(one.libraries),
    }
