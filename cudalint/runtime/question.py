"""What a finding asks of a run: its lines, and those of its steps."""

from __future__ import annotations

import functools
import linecache
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from cudalint.findings.finding import Finding
from cudalint.runtime.events import Frame
from cudalint.source import Span

_FAILS = re.compile(r"\b(?:fails|throws)\b")
_SOMETIMES = re.compile(r"\bis not always (?:released|destroyed|closed)\b")
_OTHER_WAYS = re.compile(r", nor on the way out at lines? ([\d, and-]+)(more)?")
_NEVER = re.compile(r"\bis never (?:released|destroyed|closed|left)\b")


def real_path(name: str) -> str:
    """A path that can be compared with a frame's."""
    return _real_path(os.path.join(os.getcwd(), name))  # noqa: PTH109, PTH118


@functools.lru_cache(maxsize=8192)
def _real_path(name: str) -> str:
    return os.path.realpath(name)


@dataclass(frozen=True)
class Place:
    """Lines of a file."""

    filename: str
    first: int
    last: int

    @classmethod
    def of(cls, filename: str, span: Span) -> Place:
        """The lines of a span."""
        path = real_path(filename)
        return cls(path, _call_start(path, span.row), max(span.row, span.end_row))

    def holds(self, frame: Frame) -> bool:
        """Whether a frame is on these lines."""
        return self.first <= frame.line <= self.last and real_path(frame.filename) == self.filename

    def shares(self, frame: Frame, function: str) -> bool:
        """Whether a frame is in the same file and in a function of that name."""
        return (
            frame.function.partition("<")[0] == function
            and real_path(frame.filename) == self.filename
        )

    def index(self, stack: Sequence[Frame]) -> int | None:
        """Which frame of a stack is on these lines: the outermost, whose function is meant."""
        found = None
        for number, frame in enumerate(stack):
            if self.holds(frame):
                found = number
        return found


_TEXT = re.compile(r'//.*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'')
_MOST_LINES_OF_A_CALL = 12
_ROWS_OF_A_CHECK = 4
_ASSIGNED = re.compile(r"(\w+)\s*=[^=]")


def _call_start(path: str, row: int) -> int:
    """Where the call begins whose arguments a row stands in: a compiler gives the whole of a macro
    the line on which it begins."""
    start, depth = row, 0
    for above in range(row - 1, max(0, row - _MOST_LINES_OF_A_CALL), -1):
        text = _TEXT.sub("", linecache.getline(path, above))
        depth += text.count("(") - text.count(")")
        if depth > 0:
            start, depth = above, 0
    return start


def _check_start(path: str, row: int) -> int:
    """Where that begins which decides whether a function is left at a row: the `if` above it, or
    what has given the status that the `if` asks."""
    for above in range(row, max(0, row - _ROWS_OF_A_CHECK), -1):
        text = _TEXT.sub("", linecache.getline(path, above))
        if re.search(r"\bif\b", text):
            before = _ASSIGNED.search(_TEXT.sub("", linecache.getline(path, above - 1)))
            asked = before is not None and re.search(rf"\b{before[1]}\b", text)
            return above - 1 if asked else above
    return row


@dataclass(frozen=True)
class Question:
    """A finding, with its places looked up."""

    finding: Finding
    place: Place
    steps: tuple[Place, ...]

    @classmethod
    def of(cls, finding: Finding) -> Question:
        """The question that a finding asks of a run."""
        return cls(
            finding,
            Place.of(finding.filename, finding.span),
            tuple(Place.of(step.filename, step.span) for step in finding.steps),
        )

    @property
    def failing(self) -> tuple[Place, ...]:
        """Where a call must fail for its path to be taken, as its steps say."""
        steps = zip(self.finding.steps, self.steps, strict=True)
        return tuple(place for step, place in steps if _FAILS.search(step.message))

    @property
    def never(self) -> bool:
        """Whether it says that nothing releases it at all, on no way."""
        return self.finding.code == "GPU101" or _NEVER.search(self.finding.message) is not None

    @property
    def sometimes(self) -> bool:
        """Whether it says that some ways past the release exist, not all."""
        return _SOMETIMES.search(self.finding.message) is not None

    @property
    def other_ways(self) -> tuple[Place, ...] | None:
        """The other ways out that it names, each with what is asked before it; ``None`` where it
        does not name all of them."""
        found = _OTHER_WAYS.search(self.finding.message)
        if found is None:
            return ()
        if found[2]:
            return None
        path = real_path(self.finding.filename)
        rows = [
            row
            for first, last in re.findall(r"(\d+)(?:-(\d+))?", found[1])
            for row in range(int(first), int(last or first) + 1)
        ]
        return tuple(Place(path, _check_start(path, row), row) for row in rows)

    @property
    def places(self) -> tuple[Place, ...]:
        """All lines that it speaks of, its own first."""
        return (self.place, *self.steps)
