"""The formats of reports: one renderer per file, each found here and nowhere else."""

from __future__ import annotations

import importlib
from typing import NamedTuple

from cudalint.reports.report import Report
from cudalint.reports.style import Style


class Format(NamedTuple):
    """A format: the module that renders it, and who reads it."""

    module: str
    machine: bool = True
    """A program reads it as a whole: nothing else may stand where it is written."""
    styled: bool = False
    """People read it: in colours, and as wide as their terminal."""


FORMATS = {
    "full": Format("text", machine=False, styled=True),
    "concise": Format("concise", machine=False, styled=True),
    "json": Format("json"),
    "json-lines": Format("json_lines"),
    "sarif": Format("sarif"),
    "github": Format("github", machine=False),
    "gitlab": Format("gitlab"),
    "junit": Format("junit"),
    "markdown": Format("markdown"),
    "html": Format("html"),
}
"""By the names that ``--output`` knows (``OutputFormat`` of the settings lists the same)."""


def render(kind: str, report: Report, style: Style) -> str:
    """The report in a format. ``style`` is for people only."""
    chosen = FORMATS[kind]
    module = importlib.import_module(f"cudalint.reports.{chosen.module}")
    text: str = module.render(report, style) if chosen.styled else module.render(report)
    return text
