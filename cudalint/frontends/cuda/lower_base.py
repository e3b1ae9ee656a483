"""What all parts of the lowering of one function share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from clang.cindex import Cursor

from cudalint.frontends.cuda.lower_cursors import Kind, evaluate, library, related
from cudalint.frontends.cuda.lower_graph import Graph, Node, Scopes, Symbols
from cudalint.frontends.cuda.lower_types import as_parameter
from cudalint.program import (
    AddressOf,
    Binary,
    Branch,
    Constant,
    Dereference,
    Expression,
    FunctionReference,
    Index,
    Member,
    Type,
    Unary,
    Unknown,
    Variable,
    VariableInfo,
    children,
)
from cudalint.source import Span

if TYPE_CHECKING:
    from cudalint.frontends.cuda.lower_unit import Unit

_WORD = re.compile(r"[A-Za-z_]\w*")
IDENTIFIER = re.compile(r"(?:::)?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*\Z")
_KEYWORDS = frozenset(
    (
        "sizeof", "alignof", "return", "if", "else", "for", "while", "do", "new", "delete", "this",
        "nullptr", "true", "false", "const", "static", "int", "float", "double", "char", "long",
        "short", "unsigned", "signed", "void", "bool", "auto", "struct", "class", "typename",
        "template", "operator", "throw", "reinterpret_cast", "static_cast", "const_cast",
        "dynamic_cast",
    )
)  # fmt: skip
NOT_VALUES = frozenset(
    {
        Kind.TYPE_REFERENCE,
        Kind.BASE,
        Kind.TEMPLATE_REFERENCE,
        Kind.NAMESPACE_REFERENCE,
        Kind.MEMBER_NAME,
        Kind.LABEL_REFERENCE,
        Kind.TYPE_PARAMETER,
        Kind.VALUE_PARAMETER,
        Kind.PARAMETER,
    }
)
"""Children that name types and scopes, not values."""


def is_value(cursor: Cursor) -> bool:
    """Whether a child is an expression."""
    kind: int = cursor._kind_id
    return kind not in NOT_VALUES and not Kind.UNEXPOSED_ATTRIBUTE <= kind < 500


def is_place(expression: Expression) -> bool:
    """Whether the expression can be assigned to."""
    return isinstance(expression, Variable | Member | Index | Dereference)


class Lowering:
    """The state of one function's lowering; its parts call each other through these methods."""

    def __init__(self, unit: Unit, key: str, name: str, symbols: Symbols) -> None:
        self.unit = unit
        self.library = library()
        self.positions = unit.positions
        self.types = unit.types
        self.names = unit.names
        self.key = key
        self.name = name
        self.symbols = symbols
        self.graph = Graph()
        self.scopes = Scopes(self.graph)
        self.variables: dict[str, VariableInfo] = {}
        self.by_name: dict[str, Expression] = {}
        self.lambdas = 0

    # The parts, each in a module of its own.

    def expression(self, cursor: Cursor) -> Expression:
        """Lower an expression: its calls become operations, the rest is returned."""
        raise NotImplementedError

    def discard(self, cursor: Cursor) -> None:
        """Lower an expression whose value nobody wants."""
        raise NotImplementedError

    def call(self, cursor: Cursor, wanted: bool = True) -> Expression:
        """Lower a call, construction or launch."""
        raise NotImplementedError

    def construct(
        self, cursor: Cursor, receiver: Expression | None, declares: bool = False
    ) -> Expression:
        """Lower a constructor's call into the receiver, or into a new temporary."""
        raise NotImplementedError

    def item(self, cursor: Cursor) -> Expression:
        """Lower an item of a list or a capture: an object is copied into it."""
        raise NotImplementedError

    def new(self, cursor: Cursor) -> Expression:
        """Lower ``new``."""
        raise NotImplementedError

    def delete(self, cursor: Cursor) -> None:
        """Lower ``delete``."""
        raise NotImplementedError

    def lambda_(self, cursor: Cursor) -> Expression:
        """Lower a lambda into a function of its own."""
        raise NotImplementedError

    def statement(self, cursor: Cursor) -> None:
        """Lower a statement."""
        raise NotImplementedError

    def statement_expression(self, cursor: Cursor, wanted: bool) -> Expression:
        """Lower ``({ ... })``."""
        raise NotImplementedError

    def throw(self, cursor: Cursor) -> None:
        """Lower ``throw``."""
        raise NotImplementedError

    def initialize(self, place: Expression, value: Cursor, span: Span, declares: bool) -> None:
        """Give a new object its first value."""
        raise NotImplementedError

    def recover(self, text: str, span: Span, wanted: bool) -> Expression:
        """Lower an expression that clang gave up on, from its text."""
        raise NotImplementedError

    # Common helpers.

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
        self.symbols.places[declaration.data[0] or 0] = variable
        if name:
            self.by_name[name] = variable
        return variable

    def place_of(self, declaration: Cursor, name: str) -> Expression:
        """What stands for a declared variable, parameter or constant."""
        if declaration._kind_id == Kind.VARIABLE:
            constant = self.constant_of(declaration, name)
            if constant is not None:
                return constant
        return self.variable_of(declaration, name)

    def variable_of(self, declaration: Cursor, name: str) -> Expression:
        """What stands for a declared variable or parameter, constant or not."""
        place = self.symbols.places.get(declaration.data[0] or 0)
        if place is not None:
            self._note_captured(place)
            return place
        if declaration._kind_id == Kind.VARIABLE and (
            self.library.storage(declaration) != 3 or not self._is_local(declaration)
        ):
            return self.unit.global_variable(declaration)
        # A parameter that no list names, or a static that is used before we met it.
        type_ = self.types.of(declaration)
        if declaration._kind_id == Kind.VALUE_PARAMETER:
            return self.declare(declaration, name, as_parameter(type_), "parameter")
        return self.declare(declaration, name, type_)

    def constant_of(self, declaration: Cursor, name: str) -> Constant | None:
        """The value of a ``const`` or ``constexpr`` variable, where it folds."""
        identity = declaration.data[0] or 0
        constants = self.unit.constants
        if identity not in constants:
            constants[identity] = None
            type_ = self.types.of(declaration)
            if type_.constant and type_.kind in ("integer", "float", "bool", "enumeration"):
                initial = related("initializer", declaration)
                value = evaluate(initial) if initial is not None else None
                if value is not None:
                    folded = bool(value) if type_.kind == "bool" else value
                    constants[identity] = Constant(folded, name)
        return constants[identity]

    def _is_local(self, declaration: Cursor) -> bool:
        parent = related("parent", declaration)
        return parent is not None and parent._kind_id in (
            Kind.FUNCTION,
            Kind.METHOD,
            Kind.CONSTRUCTOR,
            Kind.DESTRUCTOR,
            Kind.FUNCTION_TEMPLATE,
        )

    def _note_captured(self, place: Expression) -> None:
        pending: list[Expression] = [place]
        while pending:
            part = pending.pop()
            if isinstance(part, Variable):
                info = self.symbols.infos.get(part.symbol)
                if info is not None and part.symbol not in self.variables:
                    self.variables[part.symbol] = VariableInfo(
                        info.name, info.type, "captured", info.span, info.constant
                    )
            else:
                pending.extend(children(part))

    def named(self, text: str) -> Expression:
        """A variable by its name alone: where clang did not resolve it."""
        known = self.by_name.get(text)
        if known is not None:
            return known
        known = self.unit.globals_by_name.get(text)
        if known is not None:
            return known
        return Variable(text, f"::{text.removeprefix('::')}")

    def reads(self, text: str) -> tuple[Expression, ...]:
        """The variables in sight that a text mentions."""
        found: dict[Expression, None] = {}
        for word in _WORD.findall(text):
            if word not in _KEYWORDS:
                place = self.by_name.get(word) or self.unit.globals_by_name.get(word)
                if place is not None:
                    found[place] = None
        return tuple(found)

    def unknown(self, cursor: Cursor) -> Unknown:
        """What cannot be lowered, with the variables that its text mentions."""
        text = self.positions.text(cursor)
        return Unknown(text[:200], self.reads(text))

    def branch_on(self, value: Expression, then: Node, otherwise: Node, span: Span) -> None:
        """Branch on a lowered condition, split at ``&&``, ``||`` and ``!``."""
        match value:
            case Constant(value=constant) if not isinstance(constant, str):
                self.graph.jump(then if constant else otherwise)
            case Unary(operator="!", operand=operand):
                self.branch_on(operand, otherwise, then, span)
            case Binary(operator="&&", left=left, right=right):
                middle = self.graph.block()
                self.branch_on(left, middle, otherwise, span)
                self.graph.current = middle
                self.branch_on(right, then, otherwise, span)
            case Binary(operator="||", left=left, right=right):
                middle = self.graph.block()
                self.branch_on(left, then, middle, span)
                self.graph.current = middle
                self.branch_on(right, then, otherwise, span)
            case FunctionReference():
                self.graph.jump(then)
            case AddressOf():
                self.graph.jump(then)
            case _:
                if self.graph.is_open:
                    self.graph.finish(Branch(value, then.number, otherwise.number, span))
