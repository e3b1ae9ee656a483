"""``check --fix`` and ``check --diff``: what is written, and what is said of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from cudalint.fixing import Fixed
from cudalint.loading import load
from cudalint.plan import Plan
from cudalint.project.config import ConfigurationError
from cudalint.project.files import SourceFile
from cudalint.project.writing import UnwritableError, rewrite
from cudalint.reports import fixes
from cudalint.reports.style import ColorChoice, Style, use_color
from cudalint.source import Cell, Source


class FixOptions(Protocol):
    """What of the command's options decides what is said."""

    @property
    def diff(self) -> bool: ...  # noqa: D102
    @property
    def show_fixes(self) -> bool: ...  # noqa: D102
    @property
    def quiet(self) -> bool: ...  # noqa: D102
    @property
    def color(self) -> ColorChoice: ...  # noqa: D102


def write(fixed: Fixed, files: Sequence[SourceFile], held: Mapping[Path, bytes]) -> None:
    """Write what has changed; standard input, changed or not, goes to standard output."""
    for file in files:
        if file.path in held:
            sys.stdout.flush()
            sys.stdout.buffer.write(fixed.contents.get(file.path, held[file.path]))
            sys.stdout.buffer.flush()
        elif file.path in fixed.contents:
            try:
                rewrite(file.path, fixed.originals[file.path], fixed.contents[file.path])
            except UnwritableError as error:
                raise ConfigurationError(f"{file.filename}: {error}") from None


def show_diff(
    fixed: Fixed,
    files: Sequence[SourceFile],
    plan: Plan,
    color: ColorChoice,
) -> None:
    """Print the diffs of all files that would change."""
    style = Style(use_color(sys.stdout, color))
    for file in files:
        if file.path in fixed.contents:
            versions = fixed.originals[file.path], fixed.contents[file.path]
            before, after = (_text(file, data, plan) for data in versions)
            for name, one, other in _pieces(before, after):
                for line in fixes.diff(name, one, other, style):
                    print(line)


def _pieces(before: Source, after: Source) -> Iterator[tuple[str, str, str]]:
    """A file's text before and after, a notebook's by cells, with what it is called."""
    if not before.cells:
        yield before.filename, before.text, after.text
    for one, other in zip(before.cells, after.cells, strict=True):
        name = f"{before.filename}:cell {one.number}"
        yield name, _code(before, one), _code(after, other)


def _code(source: Source, cell: Cell) -> str:
    rows = range(cell.first_row, cell.first_row + cell.rows)
    return "".join(f"{source.shown_line(row)}\n" for row in rows)


def _text(file: SourceFile, data: bytes, plan: Plan) -> Source:
    loaded = load(file, data, plan.max_file_size)
    assert loaded is not None
    return loaded.source


def tell(fixed: Fixed, say: Callable[[str], None], options: FixOptions) -> None:
    """Which fixes were not made and why, how many were, and if asked for which."""
    if not options.quiet:
        for refusal in fixed.refused:
            say(f"note: {refusal}")
    if options.show_fixes:
        for line in fixes.made(fixed.made, Style(use_color(sys.stderr, options.color))):
            print(line, file=sys.stderr)
    if not options.quiet and (fixed.made or options.diff):
        print(fixes.summary(fixed.made, would=options.diff), file=sys.stderr)
