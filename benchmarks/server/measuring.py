"""Latency of a live server, and whether what it shows is what a fresh run finds."""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.server.client import Editor
from benchmarks.server.texts import edits, place, replaced
from cudalint.linter import lint
from cudalint.plan import Plan
from cudalint.project.files import SourceFile, language_of
from cudalint.project.reading import encode
from cudalint.reports.defects import told_once
from cudalint.source import Source

_REAPED_SECONDS = 0.1
"""After so long a worker that has ended is counted to who started it."""
Shown = tuple[str, str, int, int, int, int]
"""Code, message, and the range."""


@dataclass(frozen=True)
class Latency:
    """Seconds from a change to its diagnostics."""

    seconds: Sequence[float]
    computed: Sequence[float]
    """Seconds that processors computed for each: the same however busy the machine is."""


def at(share: float, seconds: Sequence[float]) -> float:
    """The time that a share of the changes needed at most."""
    ordered = sorted(seconds)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def latency(editor: Editor, path: Path, text: str, changes: int, seed: int = 0) -> Latency:
    """Type at random lines, one key at a time, and wait for the diagnostics of each."""
    chance = random.Random(seed)
    uri = editor.open(path, text)
    editor.shown(uri, 300)
    editor.settle(2)
    taken, computed = [], []
    for _ in range(changes):
        # A digit in a statement: neither a comment, which changes nothing, nor a broken program.
        numbers = [place for place, one in enumerate(text) if one.isdigit()]
        start = chance.choice(numbers)
        text, change = replaced(text, start, start + 1, str(chance.randrange(10)))
        before, used = time.monotonic(), _computed(editor)
        editor.change(uri, change)
        found = editor.shown(uri, 300)
        assert all("code" in one for one in found), found  # it was linted
        taken.append(time.monotonic() - before)
        time.sleep(_REAPED_SECONDS)
        computed.append(_computed(editor) - used)
    editor.close(uri)
    return Latency(taken, computed)


def _computed(editor: Editor) -> float:
    """Seconds of processors that a server has used so far, with all that it started."""
    assert editor.process is not None
    ticks: dict[int, int] = {}
    parents: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The name, in parentheses, may hold anything.
            fields = status.read_text().rpartition(")")[2].split()
            number = int(status.parent.name)
            parents[number] = int(fields[1])
            ticks[number] = sum(map(int, fields[11:15]))
    own = {editor.process.pid}
    while more := {one for one, parent in parents.items() if parent in own} - own:
        own |= more
    return sum(ticks.get(number, 0) for number in own) / os.sysconf("SC_CLK_TCK")


def storm(
    editor: Editor, path: Path, text: str, plan: Plan, count: int, every: int, seed: int = 0
) -> int:
    """Make random edits in bursts, and compare after each burst with a fresh run. Returns how many
    times they were compared; ``AssertionError`` where they differ."""
    uri = editor.open(path, text)
    compared = 0
    steps = edits(text, random.Random(seed), count)
    for number, (text, change) in enumerate(steps, start=1):
        editor.change(uri, change)
        if number % every == 0 or number == count:
            found = sorted(map(of_editor, editor.shown(uri, 300)))
            expected = fresh(path, text, plan)
            assert found == expected, (number, text, found, expected)
            compared += 1
    editor.close(uri)
    return compared


def of_editor(diagnostic: dict[str, Any]) -> Shown:
    """A diagnostic as it came."""
    start, end = diagnostic["range"]["start"], diagnostic["range"]["end"]
    lines = start["line"], start["character"], end["line"], end["character"]
    return (diagnostic.get("code", ""), diagnostic["message"], *lines)


def fresh(path: Path, text: str, plan: Plan) -> list[Shown]:
    """The same, found by a run of its own."""
    if not text.strip():
        return []
    language = language_of(path)
    assert language is not None
    file = SourceFile(str(path), path, language)
    report = told_once(lint([file], plan, contents={path: encode(text, language)}))
    source = Source(str(path), text)
    found = []
    for one in report.active:
        if one.filename == str(path):
            first = _place(source, one.span.row, one.span.column)
            last = _place(source, one.span.end_row, one.span.end_column)
            found.append((one.code, one.message, *first, *max(first, last)))
    found += [("", error.message, 0, 0, 0, 0) for error in report.errors]
    return sorted(found)


def _place(source: Source, row: int, column: int) -> tuple[int, int]:
    column = min(max(column, 1), len(source.line(row)) + 1)
    starts = source.line_starts
    offset = starts[row - 1] + column - 1 if row <= len(starts) else len(source.text)
    found = place(source.text, offset)
    return found["line"], found["character"]
