"""What the parts of one function's lowering share: what is read, and what is being built."""

from __future__ import annotations

from typing import Any, Protocol

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.graph import Graph, Node, Scopes, Symbols
from cudalint.frontends.cuda.lowering.jumps import Jumps
from cudalint.frontends.cuda.lowering.libclang import address, library, name_of
from cudalint.frontends.cuda.lowering.unit import Unit
from cudalint.program import (
    Dereference,
    Expression,
    Index,
    Member,
    Type,
    Variable,
    VariableInfo,
)


class Parts(Protocol):
    """The parts that contain each other in C++: expressions, statements, and both in lambdas.

    Every other part is imported by those above it.
    """

    def expression(self, context: Context, cursor: Cursor) -> Expression:
        """Lower an expression: its calls become operations, the rest is returned."""
        ...

    def discard(self, context: Context, cursor: Cursor) -> None:
        """Lower an expression whose value nobody wants."""
        ...

    def statement(self, context: Context, cursor: Cursor) -> None:
        """Lower a statement."""
        ...


class Context:
    """One function being lowered."""

    def __init__(
        self,
        parts: Parts,
        unit: Unit,
        key: str,
        name: str,
        symbols: Symbols,
        record: str | None = None,
    ) -> None:
        self.parts = parts
        self.unit = unit
        self.library = library()
        self.positions = unit.positions
        self.types = unit.types
        self.names = unit.names
        self.key = key
        self.name = name
        self.record = record
        """The class of a method, and of the lambdas in it."""
        self.symbols = symbols
        self.graph = Graph()
        self.scopes = Scopes(self.graph)
        self.jumps = Jumps(self.graph, self.scopes)
        self.variables: dict[str, VariableInfo] = {}
        self.by_name: dict[str, Expression] = {}
        self.lambdas = 0
        self.expanded: dict[tuple[Node, str, int, int], Expression] = {}
        """What calls in arguments of macros gave: by block, file and byte offsets."""
        self.refers = False
        """Whether the function returns a reference."""

    def expression(self, cursor: Cursor) -> Expression:
        """Lower an expression: its calls become operations, the rest is returned."""
        return self.parts.expression(self, cursor)

    def discard(self, cursor: Cursor) -> None:
        """Lower an expression whose value nobody wants."""
        self.parts.discard(self, cursor)

    def statement(self, cursor: Cursor) -> None:
        """Lower a statement."""
        self.parts.statement(self, cursor)

    def temporary(self, type_: Type) -> Variable:
        """A new temporary."""
        variable = self.symbols.temporary()
        self.variables[variable.symbol] = VariableInfo(variable.name, type_, "temporary")
        return variable

    def declare(
        self, declaration: Cursor, name: str, type_: Type, storage: Any = "local"
    ) -> Variable:
        """A new variable of this function for a declaration."""
        variable = self.symbols.fresh(name)
        span = self.positions.span(declaration)
        info = VariableInfo(variable.name, type_, storage, span)
        self.variables[variable.symbol] = self.symbols.infos[variable.symbol] = info
        self.stand_for(declaration, variable)
        return variable

    def stand_for(self, declaration: Cursor, place: Expression) -> None:
        """A declared name means this place."""
        self.symbols.places[address(declaration)] = place
        if name := name_of(declaration):
            self.by_name[name] = place


def is_place(expression: Expression) -> bool:
    """Whether the expression can be assigned to."""
    return isinstance(expression, Variable | Member | Index | Dereference)


def stays(place: Expression) -> bool:
    """Whether a place is the same whatever becomes of the variables that lead to it."""
    if isinstance(place, Member):
        return stays(place.base)
    if isinstance(place, Dereference):
        return place.implicit and stays(place.pointer)
    return isinstance(place, Variable)
