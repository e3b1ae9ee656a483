"""Mends text that the parser refuses: broken statements are blanked, the rest keeps its place."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from cudalint.frontends.python.lines import (
    DEEPEST_BLOCKS,
    LONGEST_ELIF,
    LogicalLine,
    beyond_bounds,
    logical_lines,
)

_CLAUSES = frozenset(["elif", "else", "except", "finally", "case"])
_TOO_DEEP = "nested too deeply"
_PARSES = 30
"""How often a text's length the parser is given while it is mended; then the rest is dropped."""

_PYTHON_2 = (
    (re.compile(r"\b(print|exec)[ \t](?=[ \t]*[^ \t\r\n(=.,)\]>])"), r"\1,"),
    (re.compile(r"\b(print|exec)[ \t](?=[ \t]*\([^\r\n]*\)[ \t]*[%,])"), r"\1,"),
    (re.compile(r"<>"), "!="),
    (re.compile(r"`([^`\r\n]*)`"), r"(\1)"),
    (re.compile(r"\b(0[xX][0-9a-fA-F]+|\d+)[lL]\b"), r"\1 "),
    (re.compile(r"\b0(?=[0-7]+\b)"), " "),
    (re.compile(r"\b[uU][rR](?=['\"])"), " r"),
    # A keyword since Python 3.7: `tensor.cuda(async=True)`.
    (re.compile(r"\basync(?=[ \t]*=[^=])"), "asynk"),
)
_PYTHON_2_EXCEPT = re.compile(r"(except[ \t]+(?:[\w.]+|\([^()]*\)))([ \t]*,[ \t]*\w+)(?=[ \t]*:)")
_PYTHON_2_RAISE = re.compile(r"(raise[ \t]+[\w.]+)([ \t]*,[^\r\n]*)")


@dataclass(frozen=True, slots=True)
class Loss:
    """What was left out: offsets of the text, and why."""

    start: int
    end: int
    what: str
    reason: str


@dataclass(slots=True)
class Chunk:
    """A statement: its clauses, each a header line with the statements of its block."""

    clauses: list[tuple[LogicalLine, list[Chunk]]] = field(default_factory=list)
    decorators: list[LogicalLine] = field(default_factory=list)

    @property
    def start(self) -> int:
        """The offset of its first character."""
        return self.decorators[0].start if self.decorators else self.clauses[0][0].start

    @property
    def end(self) -> int:
        """The offset behind its last character."""
        header, block = self.clauses[-1]
        return block[-1].end if block else header.end

    @property
    def indent(self) -> int:
        """How far its first line is indented."""
        return (self.decorators[0] if self.decorators else self.clauses[0][0]).indent

    @property
    def last_header(self) -> LogicalLine:
        """The line of its last clause."""
        return self.clauses[-1][0]


def chunks(lines: list[LogicalLine]) -> list[Chunk]:
    """Statements from logical lines, by indentation."""
    top: list[Chunk] = []
    levels: list[tuple[int, list[Chunk]]] = [(-1, top)]
    decorators: list[LogicalLine] = []
    for line in lines:
        while len(levels) > 1 and line.indent < levels[-1][0]:
            levels.pop()
        indent, siblings = levels[-1]
        if indent < line.indent:
            parent = siblings[-1] if siblings else None
            if parent is not None and parent.last_header.opens_block:
                siblings = parent.clauses[-1][1]
                levels.append((line.indent, siblings))
            elif indent == -1:
                levels[-1] = (line.indent, siblings)
        if line.first == "@":
            decorators.append(line)
        elif line.first in _CLAUSES and siblings and line.opens_block and not decorators:
            siblings[-1].clauses.append((line, []))
        else:
            siblings.append(Chunk([(line, [])], decorators))
            decorators = []
    return top


class Mender:
    """Mends one text. ``parses`` gives the parser's reason against a text, or ``None``."""

    def __init__(self, text: str, parses: Callable[[str], str | None]) -> None:
        self.text = text
        self.losses: list[Loss] = []
        self._parses = parses
        self._allowance = _PARSES * len(text) + 100_000
        self._repairs = 0
        self._repaired: LogicalLine | None = None

    def bound(self) -> None:
        """Blank the statements that the parser must not be given: they are too much for it."""
        branches = 0
        blocks: list[int] = []
        dropping: tuple[int, int, int] | None = None
        for line in list(logical_lines(self.text, resilient=False)):
            if dropping is not None:
                # What stands deeper goes with its header.
                if line.indent >= dropping[0]:
                    dropping = (dropping[0], dropping[1], line.end)
                    continue
                self._lose(dropping[1], dropping[2], "statement", _TOO_DEEP)
                dropping = None
            while blocks and line.indent <= blocks[-1]:
                blocks.pop()
            if line.opens_block:
                blocks.append(line.indent)
                branches = branches + 1 if line.first == "elif" else 0
            reason = beyond_bounds(line)
            if len(blocks) > DEEPEST_BLOCKS or branches > LONGEST_ELIF:
                dropping = (line.indent, line.start, line.end)
            elif reason is not None:
                self._lose(line.start, line.end, "statement", reason)
        if dropping is not None:
            self._lose(dropping[1], dropping[2], "statement", _TOO_DEEP)

    def mend(self) -> None:
        """Repair or blank statements until the parser takes what is left."""
        self._mend_all(chunks(list(logical_lines(self.text, resilient=True))), 0)
        if self._repaired is not None:
            count = f"{self._repairs} statement{'s' if self._repairs > 1 else ''}"
            start, end = self._repaired.start, self._repaired.end
            self.losses.append(Loss(start, end, "Python 2 code", f"{count} read as Python 3"))
        reason = self._refusal(self.text)
        if reason is not None:
            self._lose(0, len(self.text), "module", reason)

    # -- pieces ----------------------------------------------------------------------------------

    def _refusal(self, text: str) -> str | None:
        self._allowance -= len(text) + 100
        if self._allowance < 0:
            return "too many syntax errors"
        return self._parses(text)

    def _refused(self, chunk: Chunk) -> str | None:
        """Why the parser does not take a statement by itself."""
        piece = self.text[chunk.start : chunk.end]
        if chunk.indent:
            margin = self.text[chunk.start - chunk.indent : chunk.start]
            piece = f"if 1:\n{margin}{piece}"
        return self._refusal(piece + "\n")

    def _mend_all(self, siblings: list[Chunk], indent: int) -> None:
        for chunk in siblings:
            if chunk.indent != indent:
                self._lose(chunk.start, chunk.end, self._name(chunk), "unexpected indent", "")
            else:
                self._mend(chunk)

    def _mend(self, chunk: Chunk) -> None:
        reason = self._refused(chunk)
        if reason is None:
            return
        for _, block in chunk.clauses:
            if block:
                self._mend_all(block, block[0].indent)
        for header, _ in chunk.clauses:
            self._repair_python_2(header)
        reason = self._refused(chunk)
        if reason is not None:
            self._lose(chunk.start, chunk.end, self._name(chunk), reason)

    def _name(self, chunk: Chunk) -> str:
        """How a report names a statement: by its first line."""
        header = chunk.clauses[0][0]
        line = self.text[header.start : header.end].partition("\n")[0]
        return line.strip().rstrip(":")[:60]

    def _repair_python_2(self, line: LogicalLine) -> None:
        """Turn Python 2's own statements into Python 3 of the same length."""
        piece = self.text[line.start : line.end]
        mended = _python_3(piece, line.first)
        if mended == piece:
            return
        # A header stands alone for the test: with something for its block and its own statement.
        alone = mended + (" 0\n" if mended.rstrip().endswith(":") else "\n")
        alone = {"except": "try: 0\n", "elif": "if 0: 0\n"}.get(line.first, "") + alone
        if self._refusal(alone) is None:
            self.text = f"{self.text[: line.start]}{mended}{self.text[line.end :]}"
            self._repairs += 1
            self._repaired = self._repaired or line

    def _lose(self, start: int, end: int, what: str, reason: str, stub: str = "0") -> None:
        """Blank a piece and leave an expression that does nothing, so that blocks stay blocks."""
        self.losses = [loss for loss in self.losses if not start <= loss.start < end]
        self.losses.append(Loss(start, end, what, reason))
        blank = re.sub(r"[^\r\n]", " ", self.text[start:end])
        self.text = f"{self.text[:start]}{stub}{blank[len(stub) :]}{self.text[end:]}"


def _python_3(piece: str, first: str) -> str:
    mended = piece
    if first == "except":
        mended = _PYTHON_2_EXCEPT.sub(lambda m: m[1] + " " * len(m[2]), mended)
    elif first == "raise" and "\n" not in piece:
        mended = _PYTHON_2_RAISE.sub(lambda m: m[1] + " " * len(m[2]), mended)
    if "'''" in piece or '"""' in piece:
        return mended
    for pattern, replacement in _PYTHON_2:
        mended = pattern.sub(replacement, mended)
    return mended
