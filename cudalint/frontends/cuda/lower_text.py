"""Lowers expressions from their text, where clang gave up on them: the last resort.

What the small grammar does not cover becomes ``Unknown`` with the variables that the text
mentions.
"""

from __future__ import annotations

import re

from clang.cindex import Cursor

from cudalint.frontends.cuda.lower_calls import Calls
from cudalint.frontends.cuda.lower_graph import can_own
from cudalint.frontends.cuda.lower_reader import Beyond, Reader
from cudalint.program import (
    AddressOf,
    Argument,
    Call,
    Dropped,
    Expression,
    Type,
    Unknown,
    Variable,
    VariableInfo,
)
from cudalint.source import Span

_CALLED = re.compile(r"\s*(?:::)?[A-Za-z_][\w:]*\s*(?:<[^<>;]*>)?\s*\(")


class TextRecovery(Calls):
    """The part of the lowering that reads text."""

    def recover(self, text: str, span: Span, wanted: bool) -> Expression:
        """Lower an expression that clang gave up on, from its text."""
        try:
            reader = Reader(self, text, span)
            value = reader.whole(wanted)
        except (Beyond, IndexError):
            value = Unknown(text[:200], self.reads(text))
            if not wanted:
                self.lost(text, span)
        else:
            reader.flush()
        return value

    def recover_arguments(self, text: str, operands: list[Cursor]) -> tuple[Argument, ...] | None:
        """The arguments from the text of a call; None where the text is beyond us."""
        found = _CALLED.match(text)
        if found is None:
            return None
        try:
            reader = Reader(self, text[found.end() :], Span(1, 1, 1, 1))
            values = reader.list_until(")")
        except (Beyond, IndexError):
            return None
        if reader.emitted or len(values) <= len(operands):
            return None  # Nothing was dropped; calls inside have better positions from clang.
        return tuple(Argument(value) for value in values)

    def declare_text(self, name: str, type_: Type, span: Span) -> Variable:
        """A local whose declaration clang dropped."""
        variable = self.symbols.fresh(name)
        info = VariableInfo(name, type_, "local", span)
        self.variables[variable.symbol] = self.symbols.infos[variable.symbol] = info
        self.by_name[name] = variable
        if can_own(type_):
            self.scopes.declare(variable.symbol)
        return variable

    def lost(self, text: str, span: Span) -> None:
        """Nothing is known of it but the variables that it mentions: they may go anywhere."""
        self.unit.dropped.append(Dropped(span, text[:120], "statement could not be read"))
        reads = tuple(Argument(AddressOf(place)) for place in self.reads(text))
        self.graph.emit(Call("", reads, span, kind="macro"))
