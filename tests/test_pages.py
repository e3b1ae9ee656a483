"""The *Example* of each rule's page gives the rule's finding, its *Use instead* gives none.

Pages show excerpts: ``pages/<rule>.cu`` and ``.py`` are the programs that they are taken from.
`// @page` (Python: `# @page`) stands for what the page shows, `// @page 2-4` for some of its
lines. What stands between `// @bad` or `// @good` and `// @end` belongs to that program only.
`// also: GPU504` names what else the tool rightly says of them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cudalint.findings.rule import Rule
from cudalint.reports import text
from tests.test_fixtures import FIXTURES, header_cache, options_of, report_of
from tests.test_rules_meta import RULES, examples, sections

__all__ = ["header_cache"]

PAGES = Path(__file__).parent / "pages"
_SUFFIXES = {"cuda": ".cu", "python": ".py"}
_MARK = re.compile(r"(\s*)(?://|#) @(\w+)(?: (\d+)(?:-(\d+))?)?$")
_ALSO = re.compile(r"(?://|#) also: (.+)$", re.MULTILINE)

_BY_RUNS = {"GPU107"}
"""Only a run makes these findings."""
_OFTEN = {"GPU506"}
"""Excerpts leave out how a status is looked at."""

SHOWN = [
    (rule, section, language)
    for rule in RULES
    if rule.code not in _BY_RUNS
    for section in ("Example", "Use instead")
    for language, _ in examples(sections(rule)[section])
    if language in _SUFFIXES
]


def program(frame: str, shown: str, kind: str) -> tuple[str, set[int]]:
    """The text of a frame around what the page shows, and the rows of the latter."""
    lines: list[str] = []
    rows: set[int] = set()
    within = kind
    excerpt = shown.rstrip("\n").split("\n")
    for line in frame.split("\n"):
        mark = _MARK.match(line)
        if mark is None:
            lines += [line] if within == kind else []
        elif mark[2] != "page":
            within = kind if mark[2] == "end" else mark[2]
        elif within == kind:
            first = int(mark[3] or 1)
            last = int(mark[4] or mark[3] or len(excerpt))
            rows |= set(range(len(lines) + 1, len(lines) + last - first + 2))
            lines += [(mark[1] + one).rstrip() for one in excerpt[first - 1 : last]]
    return "\n".join(lines), rows


@pytest.mark.parametrize(
    ("rule", "section", "language"), SHOWN, ids=lambda value: getattr(value, "code", value)
)
def test_page(
    rule: type[Rule],
    section: str,
    language: str,
    tmp_path: Path,
    header_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frame = (PAGES / f"{rule.name}{_SUFFIXES[language]}").read_text(encoding="utf-8")
    shown = dict(examples(sections(rule)[section]))[language]
    kind = "bad" if section == "Example" else "good"
    source, rows = program(frame, shown, kind)
    unit = tmp_path / f"{kind}{_SUFFIXES[language]}"
    unit.write_text(source, encoding="utf-8")
    monkeypatch.chdir(FIXTURES)
    options = (*options_of(unit), "--cache-dir", str(header_cache))
    report = report_of([unit], *options, supervised=False)

    also = {code for match in _ALSO.finditer(frame) for code in match[1].split(", ")}
    own = [finding for finding in report.active if finding.code == rule.code]
    others = {finding.code for finding in report.active} - {rule.code} - _OFTEN - also
    told = any(finding.span.row in rows for finding in own)
    if others or told != (kind == "bad") or (own and not told):
        pytest.fail(f"{source}\n{text.render(report)}", pytrace=False)


def test_each_frame_is_of_a_page() -> None:
    known = {f"{rule.name}{_SUFFIXES[language]}" for rule, _, language in SHOWN}
    assert {path.name for path in PAGES.iterdir()} == known
