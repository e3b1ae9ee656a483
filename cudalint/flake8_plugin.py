"""The flake8 plugin: the Python rules, with the codes and the settings that they always have.

flake8 looks at one file at a time and in its own process: nothing is linked across files, and
nothing supervises the work. What it imports at every start must be cheap.
"""

from __future__ import annotations

import ast
import functools
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cudalint import __version__

if TYPE_CHECKING:
    from cudalint.findings.finding import Finding
    from cudalint.plan import Plan

Violation = tuple[int, int, str, type[Any]]


class Plugin:
    """What flake8 calls for each file that parses."""

    name = "cudalint"
    version = __version__
    disable_noqa: ClassVar[bool] = False

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        self.filename = filename
        self.text = "".join(lines)

    @classmethod
    def parse_options(cls, options: Any) -> None:
        """Take over what flake8's own options decide."""
        cls.disable_noqa = bool(getattr(options, "disable_noqa", False))

    def run(self) -> Iterator[Violation]:
        """Yield row, column (from 0), text and type of each violation."""
        from cudalint.frontends.python.prefilter import mentions_cuda
        from cudalint.project.reading import encode

        data = encode(self.text, "python")
        if not mentions_cuda(data):
            return
        path = Path(os.path.abspath(self.filename))  # noqa: PTH100  (links are kept)
        plan = _plan(path.parent)
        for finding in _findings(path, data, plan):
            if self._is_shown(finding) and finding.severity.rank >= plan.fail_level.rank:
                text = f"{finding.code} {finding.message}"
                yield finding.span.row, finding.span.column - 1, text, type(self)

    def _is_shown(self, finding: Finding) -> bool:
        suppressed = finding.suppressed
        return suppressed is None or (self.disable_noqa and "noqa" in suppressed.lower())


@functools.lru_cache(maxsize=256)
def _plan(folder: Path) -> Plan:
    """The settings that hold in a folder; folders below one configuration share a plan."""
    from cudalint.project.config import find_config

    return _plan_of(find_config(folder))


@functools.lru_cache(maxsize=16)
def _plan_of(file: Path | None) -> Plan:
    from cudalint.plan import make_plan
    from cudalint.project.config import load

    if file is None:
        # No project whose folder could hold a cache.
        return make_plan(load([], isolated=True, overrides={"cache": False}))
    return make_plan(load([], config=[str(file)]))


def _findings(path: Path, data: bytes, plan: Plan) -> Sequence[Finding]:
    from cudalint.linter import lint
    from cudalint.project.files import SourceFile
    from cudalint.project.paths import display_name

    file = SourceFile(display_name(path), path, "python")
    limit = sys.getrecursionlimit()
    try:
        report = lint([file], plan, contents={path: data}, supervised=False)
    except Exception as error:
        return [_failure(file.filename, f"internal error: {type(error).__name__}: {error}")]
    finally:
        sys.setrecursionlimit(limit)
    return [*report.findings, *(_failure(file.filename, one.message) for one in report.errors)]


def _failure(filename: str, reason: str) -> Finding:
    """A file that could not be linted must not read as clean."""
    from cudalint.findings.finding import Confidence, Finding, Severity
    from cudalint.source import Span

    return Finding(
        code="GPU002",
        name="incomplete-parse",
        severity=Severity.ERROR,
        confidence=Confidence.HIGH,
        message=reason,
        filename=filename,
        span=Span(1, 1, 1, 1),
    )
