"""``--show-files``: which files are linted, which are not, and why."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import click

from cudalint.plan import Plan
from cudalint.project.files import Discovery
from cudalint.reports.style import escaped
from cudalint.selection import select


def show_files(found: Discovery, plan: Plan, contents: Mapping[Path, bytes]) -> int:
    """Print one line for each file, by name; 2 where a path that was named cannot be linted."""
    chosen = select(found.files, plan, contents)
    for fate in sorted({*chosen.fates, *found.left_out}):
        verb = "linted" if fate.linted else "left out"
        click.echo(f"{escaped(fate.filename)}: {verb}: {escaped(fate.reason)}")
    errors = sorted({*found.errors, *chosen.errors})
    for error in found.errors:
        print(f"cudalint: {escaped(str(error))}", file=sys.stderr)
    return 2 if any(error.fatal for error in errors) else 0
