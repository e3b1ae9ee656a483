"""What the parts of the lowering share: what is known of the file, and one function being built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import libcst as cst

from cudalint.frontends.python.constants import encodable
from cudalint.frontends.python.declarations import Declarations
from cudalint.frontends.python.embedded.sources import EmbeddedSources
from cudalint.frontends.python.graph import Graph, OpenBlock
from cudalint.frontends.python.inference import Held, Inference
from cudalint.frontends.python.kernels import Kernels
from cudalint.frontends.python.module import OBJECT
from cudalint.frontends.python.scopes import Local, Scope
from cudalint.program.expressions import Expression, Unknown, Variable
from cudalint.program.functions import (
    Argument,
    Assign,
    Call,
    Dropped,
    Function,
    Handler,
    Record,
    VariableInfo,
)
from cudalint.source import Span

_LONGEST_TEXT = 80


@dataclass(frozen=True, slots=True)
class LoopFrame:
    """Where ``break`` and ``continue`` lead."""

    after: OpenBlock
    again: OpenBlock


@dataclass(frozen=True, slots=True)
class CleanupFrame:
    """Code that runs on every way out: a ``finally`` body or a context manager's exit."""

    write: Callable[[], None]
    unwind: OpenBlock | None
    """Where exceptions of the clean-up code itself go."""


Frame = LoopFrame | CleanupFrame


class Parts(Protocol):
    """What the parts of the lowering ask of each other, whichever stands above."""

    def expression(self, context: Context, node: cst.BaseExpression) -> Expression:
        """Lower an expression: its calls become operations, the rest is the result."""

    def call(
        self, context: Context, node: cst.Call, target: Expression | None, wanted: bool
    ) -> Expression:
        """Lower a call. The result is its target: the given one, or a temporary if wanted."""

    def statement(self, context: Context, node: cst.CSTNode) -> None:
        """Lower one statement, simple or compound."""


class FileContext:
    """What is known of a file, and what has been made of it."""

    def __init__(
        self, declarations: Declarations, sources: EmbeddedSources | None, parts: Parts
    ) -> None:
        text = declarations.module.source.text
        self.declarations = declarations
        self.module = declarations.module
        self.kernels = Kernels(declarations)
        self.sources = sources
        """Where the file may hold CUDA sources in its strings."""
        self.inference = Inference(declarations, self.kernels, sources)
        self.parts = parts
        self.uses_numba = "numba" in text and "cuda" in text
        self.functions: list[Function] = []
        self.records: list[Record] = []
        self.dropped: list[Dropped] = []
        self.lambda_keys: dict[int, str] = {}
        self._begun: set[int] = set()

    def begin(self, node: cst.FunctionDef | cst.ClassDef) -> bool:
        """Whether a definition is lowered for the first time. (A ``finally`` body is written out
        several times.)"""
        if id(node) in self._begun:
            return False
        self._begun.add(id(node))
        return True


class Context:
    """One function (or module body) under construction: the context of all parts."""

    def __init__(self, file: FileContext, scope: Scope, key: str) -> None:
        self.file = file
        self.module = file.module
        self.span = self.module.span
        self.scope = scope
        self.body_scope = scope
        self.key = key
        self.graph = Graph()
        self.frames: list[Frame] = []
        self.variables: dict[str, VariableInfo] = {}
        self.handlers: list[Handler] = []
        self.caught: list[str] = []
        """What the handlers around this call the exception that they have taken."""
        self.is_generator = False
        self.known_texts: dict[str, str] = {}
        """Loop variables of unrolled loops that hold a string now."""

    # -- other parts -----------------------------------------------------------------------------

    def lower(self, node: cst.BaseExpression) -> Expression:
        """Lower an expression: its calls become operations, the rest is the result."""
        return self.file.parts.expression(self, node)

    def call(
        self, node: cst.Call, target: Expression | None = None, wanted: bool = True
    ) -> Expression:
        """Lower a call. The result is its target: the given one, or a temporary if wanted."""
        return self.file.parts.call(self, node, target, wanted)

    def body(self, statements: Sequence[cst.CSTNode]) -> None:
        """Lower statements in order."""
        for statement in statements:
            self.file.parts.statement(self, statement)

    def held(self, node: cst.CSTNode) -> Held | None:
        """What an expression's value is, if the file says so plainly."""
        return self.file.inference.held(node, self.scope)

    # -- variables -------------------------------------------------------------------------------

    def temporary(self) -> Variable:
        """A new temporary variable."""
        number = self.scope.taken.get("%", 0) + 1
        self.scope.taken["%"] = number
        symbol = f"%{number}"
        self.variables[symbol] = VariableInfo(symbol, OBJECT, "temporary")
        return Variable(symbol, symbol)

    def note(self, local: Local) -> Variable:
        """Note that the function uses a variable."""
        variable = local.variable
        if variable.symbol not in self.variables and not variable.symbol.startswith("::"):
            bindings = local.scope.bindings.names.get(variable.name)
            span = self.span(bindings[0].node) if bindings else None
            parameter = bool(bindings) and bindings is not None and bindings[0].kind == "parameter"
            home = local.scope.function_scope
            if home is not self.body_scope.function_scope:
                info = VariableInfo(variable.name, OBJECT, "captured", span)
            elif parameter:
                info = VariableInfo(variable.name, OBJECT, "parameter", span)
            else:
                info = VariableInfo(variable.name, OBJECT, "local", span)
            self.variables[variable.symbol] = info
        return variable

    # -- operations ------------------------------------------------------------------------------

    def store(self, target: Expression, value: Expression, span: Span) -> None:
        """Emit ``target = value``."""
        self.graph.emit(Assign(target, value, span))

    def keep(self, value: Expression, span: Span) -> Variable:
        """A temporary that holds a value; a temporary itself is returned as it is."""
        if isinstance(value, Variable) and value.symbol.startswith("%"):
            return value
        target = self.temporary()
        self.store(target, value, span)
        return target

    def method_call(
        self,
        name: str,
        receiver: Expression,
        span: Span,
        arguments: tuple[Argument, ...] = (),
        target: Expression | None = None,
        may_throw: bool | None = None,
        key: str | None = None,
        record: str | None = None,
    ) -> None:
        """Emit a call of a method by its name."""
        self.graph.emit(
            Call(
                name,
                arguments,
                span,
                target=target,
                key=key,
                receiver=receiver,
                kind="method",
                may_throw=may_throw,
                record=record,
            )
        )

    def unknown(self, node: cst.CSTNode, *reads: Expression) -> Unknown:
        """An expression that the model has no form for, with what it reads."""
        return Unknown(self.short_text(node), reads)

    def short_text(self, node: cst.CSTNode) -> str:
        """The source of a node, cut to what a message takes."""
        text = " ".join(self.module.text(node)[: 2 * _LONGEST_TEXT].split())
        return encodable(text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 3] + "...")

    # -- ways out --------------------------------------------------------------------------------

    def leave(self, depth: int) -> None:
        """Write the clean-up code of the frames beyond a depth, as a jump out of them runs it.

        The frames stay for the code that follows in the source; the caller ends the block.
        """
        frames = self.frames
        for position in range(len(frames) - 1, depth - 1, -1):
            frame = frames[position]
            if isinstance(frame, CleanupFrame):
                self.frames = frames[:position]
                self.graph.set_unwind(frame.unwind)
                frame.write()
        self.frames = frames

    def leave_to(self, depth: int, target: OpenBlock) -> None:
        """Leave the frames beyond a depth and jump."""
        unwind = self.graph.unwind
        self.leave(depth)
        self.graph.jump(target)
        self.graph.set_unwind(unwind)

    def has_cleanup(self) -> bool:
        """Whether a return from here runs clean-up code."""
        return any(isinstance(frame, CleanupFrame) for frame in self.frames)
