"""One solved function as the finders look at it: its loops, its names, who defines what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from cudalint.analysis.facts.resources import Site
from cudalint.analysis.shape.operations import operations
from cudalint.analysis.shape.places import is_inside, place
from cudalint.analysis.tensors.knowledge import Evidence, Known
from cudalint.analysis.tensors.lattice import NOTHING, State, Value
from cudalint.analysis.tensors.records import (
    Record,
    gives_gradients,
    origin_at,
    position_of,
)
from cudalint.analysis.tensors.run import TensorRun
from cudalint.analysis.tensors.solver import Solution
from cudalint.analysis.tensors.transfer import Transfer
from cudalint.apis.model import TensorEffect
from cudalint.program import (
    Assign,
    Binary,
    Branch,
    Call,
    Constant,
    Delete,
    Expression,
    Function,
    Index,
    Member,
    Operation,
    Return,
    Slice,
    Unary,
    Variable,
    render,
)
from cudalint.source import Span

FEW = 16
"""A loop of at most so many iterations, known for certain, is bounded."""


@dataclass(frozen=True)
class Loop:
    """A loop of the function."""

    header: int
    body: frozenset[int]
    site: Site
    bounded: bool
    """It runs over a few constants, or over the layers of a module."""


class View:
    """A solved function."""

    def __init__(self, known: Known, solution: Solution, run: TensorRun) -> None:
        self.known = known
        self.run = run
        self.function = known.function
        self.solution = solution
        self.flow = solution.flow
        self.records = solution.records
        self.evidence: Evidence = known.evidence
        self.transfer = Transfer(self.function, run)
        self._states: dict[int, list[State]] = {}
        """Before each operation of a block, as far as was asked."""

    def operations(self) -> Iterator[tuple[int, int, Operation]]:
        """All reachable operations: origin, block, operation."""
        for block, index, operation in operations(self.function):
            if block in self.solution.states:
                yield origin_at(block, index), block, operation

    def effect(self, call: Call) -> TensorEffect | None:
        """What an API call does to tensors."""
        effect = self.run.effect(call.name)
        return None if effect is not None and effect.backward and gives_gradients(call) else effect

    def state_before(self, origin: int) -> State:
        """What is known just before an operation."""
        block, index = position_of(origin)
        start = self.solution.states.get(block)
        if start is None:
            return State({})
        # The operations of a block are asked for one after the other: none is followed twice.
        states = self._states.setdefault(block, [start])
        operations_here = self.function.blocks[block].operations[len(states) - 1 : index]
        for position, operation in enumerate(operations_here, len(states) - 1):
            states.append(self.transfer.operation(states[-1], operation, block, position))
        return states[min(index, len(states) - 1)]

    def value(self, origin: int, expression: Expression | None) -> Value:
        """The value of an expression just before an operation."""
        if expression is None:
            return NOTHING
        return self.transfer.value(self.state_before(origin), expression)

    def returned(self) -> Iterator[tuple[int, Expression]]:
        """What the function returns: the end of each block that does, and the expression."""
        for number in self.solution.states:
            block = self.function.blocks[number]
            if isinstance(block.terminator, Return) and block.terminator.value is not None:
                yield origin_at(number, len(block.operations)), block.terminator.value

    def site(self, span: Span, text: str = "") -> Site:
        """A place in this function's file."""
        return Site(self.function.filename, span, text)

    # Loops ------------------------------------------------------------------------------------

    @cached_property
    def loops(self) -> dict[int, Loop]:
        """The loops, by header."""
        return {
            header: Loop(header, body, self._loop_site(header), self._is_bounded(header))
            for header, body in self.flow.loops.items()
        }

    def loops_around(self, block: int) -> list[Loop]:
        """The loops that a block is in, innermost first."""
        around = [loop for loop in self.loops.values() if block in loop.body]
        return sorted(around, key=lambda loop: len(loop.body))

    def _loop_site(self, header: int) -> Site:
        return self.site(self.flow.head(header) or self.function.span)

    def iterated(self, header: int) -> Expression | None:
        """What a loop runs over."""
        terminator = self.function.blocks[header].terminator
        if isinstance(terminator, Branch) and isinstance(terminator.condition, Unary):
            return terminator.condition.operand if terminator.condition.operator == "more" else None
        return None

    def _is_bounded(self, header: int) -> bool:
        over = self.iterated(header)
        if over is None:
            return False
        if not isinstance(over, Variable | Member | Index):
            return True
        call = self.defining_call(over)
        if call is not None:
            effect = self.effect(call)
            if effect is not None and effect.module:
                return True
            numbers = [argument.value for argument in call.arguments]
            if call.name == "builtins.range":
                return all(
                    isinstance(number, Constant)
                    and isinstance(number.value, int)
                    and number.value <= FEW
                    for number in numbers
                )
        name = place(over)
        return (
            name is not None
            and self.run.kind_of(self.function, name) is not None
            and not (isinstance(over, Variable) and over.symbol.startswith("%"))
        )

    def assigned_in(self, loop: Loop, name: str) -> bool:
        """Whether a variable is assigned anew in a loop."""
        return name in self.flow.assigned[loop.header]

    def is_in(self, loop: Loop, operation: Operation) -> bool:
        """Whether an operation stands in a loop."""
        return any(operation in self.function.blocks[number].operations for number in loop.body)

    # Names ------------------------------------------------------------------------------------

    def defining_call(self, expression: Expression) -> Call | None:
        """The call whose result a variable is, if it is one for certain."""
        for _ in range(8):
            if not isinstance(expression, Variable):
                return None
            made = self.flow.definitions.get(expression.symbol, [])
            if len(made) != 1:
                return None
            if isinstance(made[0], Call):
                return made[0]
            if not isinstance(made[0], Assign):
                return None
            expression = made[0].value
        return None

    def text(self, expression: Expression) -> str:
        """An expression as the code writes it: temporaries by what they are the result of."""
        if isinstance(expression, Variable) and expression.symbol == "this":
            return "self"
        if isinstance(expression, Variable) and expression.symbol.startswith("%"):
            call = self.defining_call(expression)
            if call is None:
                for made in self.flow.definitions.get(expression.symbol, ()):
                    if isinstance(made, Assign):
                        return self.text(made.value)
                return "the result"
            if call.receiver is not None and call.name.startswith("."):
                dots = "..." if call.arguments else ""
                return f"{self.text(call.receiver)}{call.name}({dots})"
            if call.callee is not None:
                return f"{self.text(call.callee)}(...)"
            return f"{call.name.rpartition('.')[2]}(...)"
        if isinstance(expression, Member) and isinstance(expression.base, Variable):
            base = "self" if expression.base.symbol == "this" else self.text(expression.base)
            return f"{base}.{expression.field}"
        if isinstance(expression, Member):
            return f"{self.text(expression.base)}.{expression.field}"
        if isinstance(expression, Index):
            key = expression.index
            shown = (
                f'"{key.value}"'
                if isinstance(key, Constant) and isinstance(key.value, str)
                else render(key)
            )
            return f"{self.text(expression.base)}[{shown if '%' not in shown else '...'}]"
        shown = render(expression)
        if "%" in shown:
            for symbol in sorted(self.flow.definitions, key=len, reverse=True):
                if symbol.startswith("%") and symbol in shown:
                    shown = shown.replace(symbol, self.text(Variable(symbol, symbol)))
        return shown

    def variable(self, expression: Expression) -> str:
        """The named variable that a chain of methods starts from; empty where there is none."""
        for _ in range(12):
            if isinstance(expression, Variable) and not expression.symbol.startswith("%"):
                return expression.name
            if isinstance(expression, Member):
                return self.text(expression)
            if isinstance(expression, Index):
                expression = expression.base
                continue
            if isinstance(expression, Binary):
                left = self.variable(expression.left)
                expression = expression.right
                if left:
                    return left
                continue
            call = self.defining_call(expression)
            if call is None or call.receiver is None:
                return ""
            expression = call.receiver
        return ""

    # Places that are emptied ------------------------------------------------------------------

    def is_emptied(self, blocks: frozenset[int] | None, name: str, but: set[int]) -> bool:
        """Whether a place, or what it is in, is emptied, cut or replaced in some blocks."""
        for origin, block, operation in self.operations():
            if origin in but or (blocks is not None and block not in blocks):
                continue
            match operation:
                case Assign(target=target) | Call(target=target) if target is not None:
                    written = place(target)
                    if written is not None and is_inside(name, written):
                        return True
                case Delete(place=target):
                    cut = _cut(target)
                    if cut is not None and is_inside(name, cut):
                        return True
            if isinstance(operation, Call) and operation.receiver is not None:
                effect = self.effect(operation)
                receiver = place(operation.receiver)
                if receiver is None:
                    continue
                if effect is not None and effect.clears and is_inside(name, receiver):
                    return True
                records = self.value(origin, operation.receiver).records
                callee = self.run.callee(self.function, operation, records)
                if callee is not None and self._callee_empties(callee, receiver, name):
                    return True
        return False

    def _callee_empties(self, callee: Function, receiver: str, name: str) -> bool:
        scan = self.run.scan(callee)
        return any(
            is_inside(name, receiver + other.removeprefix("this"))
            for other in scan.clears | set(scan.assigned)
            if other.startswith("this.")
        )

    def record_of(self, origin: int) -> Record | None:
        """What an operation did."""
        return self.records.get(origin)


def _cut(target: Expression) -> str | None:
    while isinstance(target, Slice | Index):
        target = target.base
    return place(target)
