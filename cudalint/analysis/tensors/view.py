"""One solved function as the finders look at it: its loops, its names, who defines what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from cudalint.analysis.facts.resources import Site
from cudalint.analysis.shape.loops import around
from cudalint.analysis.shape.operations import operations
from cudalint.analysis.shape.places import is_inside, place
from cudalint.analysis.shape.reach import closure
from cudalint.analysis.shape.subjects import uses_device
from cudalint.analysis.shape.wording import substitute, written_calls
from cudalint.analysis.tensors.knowledge import Known
from cudalint.analysis.tensors.lattice import Gradient, State, Value
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
    THIS,
    Assign,
    Binary,
    Branch,
    Call,
    Delete,
    Expression,
    Function,
    FunctionReference,
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
        self.evidence = known.evidence
        self.transfer = Transfer(self.function, run)
        self._written = written_calls(self.function, short=True)
        self._states: dict[int, list[State]] = {}
        """Before each operation of a block, as far as was asked."""

    def operations(self) -> Iterator[tuple[int, int, Operation]]:
        """All reachable operations: origin, block, operation."""
        for block, index, operation in operations(self.function):
            if block in self.solution.states:
                yield origin_at(block, index), block, operation

    def effect(self, call: Call) -> TensorEffect | None:
        """What an API call does to tensors."""
        effect = self.run.models.tensor_effect(call.name)
        return None if effect is not None and gives_gradients(call, effect) else effect

    def state_before(self, origin: int) -> State:
        """What is known just before an operation."""
        block, index = position_of(origin)
        start = self.solution.states[block]
        # The operations of a block are asked for one after the other: none is followed twice.
        states = self._states.setdefault(block, [start])
        operations_here = self.function.blocks[block].operations[len(states) - 1 : index]
        for position, operation in enumerate(operations_here, len(states) - 1):
            states.append(self.transfer.operation(states[-1], operation, block, position))
        return states[min(index, len(states) - 1)]

    def value(self, origin: int, expression: Expression) -> Value:
        """The value of an expression just before an operation."""
        return self.transfer.value(self.state_before(origin), expression)

    def returned(self) -> Iterator[tuple[int, Expression]]:
        """What the function returns: the end of each block that does, and the expression."""
        for number in self.solution.states:
            block = self.function.blocks[number]
            if isinstance(block.terminator, Return) and block.terminator.value is not None:
                yield origin_at(number, len(block.operations)), block.terminator.value

    def of(self, function: Function) -> View | None:
        """The same look at another function of the run."""
        known = self.run.known(function)
        solution = self.run.solution(known)
        return None if solution is None else View(known, solution, self.run)

    @cached_property
    def users(self) -> dict[int, list[int]]:
        """The operations that work with what an operation made."""
        found: dict[int, list[int]] = defaultdict(list)
        for user, record in self.records.items():
            for origin in dict.fromkeys(record.sources):
                if origin != user:
                    found[origin].append(user)
        return found

    def derived(self, origins: Iterable[int], passes: Callable[[Record], object]) -> set[int]:
        """What some operations gave, and what is computed of it by operations that pass it on."""
        return closure(
            origins, lambda one: (o for o in self.users.get(one, ()) if passes(self.records[o]))
        )

    @cached_property
    def may_use_device(self) -> bool:
        """Whether the file of the function, or that of a caller, has anything that goes to a
        device."""
        symbols = self.run.symbols
        files = {self.function.filename, *(one.caller.filename for one in self.known.callers)}
        programs = [symbols.programs.get(file) for file in sorted(files)]
        models = symbols.models("python")
        return any(one is None or uses_device(one, models) for one in programs)

    def effects(self, loop: Loop) -> Iterator[tuple[int, Record, TensorEffect]]:
        """The calls in a loop that do something to tensors."""
        for origin, record in self.records.items():
            if record.effect is not None and record.block in loop.body:
                yield origin, record, record.effect

    def updates(self, loop: Loop) -> bool:
        """Whether an optimizer updates weights in a loop."""
        return any(effect.steps for _, _, effect in self.effects(loop))

    def calls_backward(self, loop: Loop) -> bool:
        """Whether a function of the run that a loop calls computes gradients."""
        callees = (
            self.run.callee(self.function, record.operation)
            for record in self.records.values()
            if record.block in loop.body and isinstance(record.operation, Call)
        )
        return any(one is not None and self.run.scan(one).calls_backward for one in callees)

    def site(self, span: Span, text: str = "") -> Site:
        """A place in this function's file."""
        return Site(self.function.filename, span, text)

    # Loops ------------------------------------------------------------------------------------

    @cached_property
    def loops(self) -> dict[int, Loop]:
        """The loops, by header."""
        return {
            header: Loop(
                header,
                body,
                self.site(self.flow.head(header) or self.function.span),
                self._is_bounded(header),
            )
            for header, body in self.flow.loops.items()
        }

    def loops_around(self, block: int) -> list[Loop]:
        """The loops that a block is in, innermost first."""
        return [self.loops[header] for header in around(self.flow, block)]

    def _is_bounded(self, header: int) -> bool:
        match self.function.blocks[header].terminator:
            case Branch(condition=Unary(operator="more", operand=over)):
                pass
            case _:
                return False
        if isinstance(over, FunctionReference):
            return False  # no function: what another module holds
        if not isinstance(over, Variable | Member | Index):
            return True
        call = self.defining_call(over)
        if call is not None:
            effect = self.effect(call)
            if effect is not None and effect.module:
                return True
            if call.name == "builtins.range":
                numbers = (getattr(one.value, "value", None) for one in call.arguments)
                return all(isinstance(number, int) and number <= FEW for number in numbers)
        name = place(over)
        return (
            name is not None
            and self.run.kind_of(self.function, name) is not None
            and not (isinstance(over, Variable) and over.symbol.startswith("%"))
        )

    def assigned_in(self, loop: Loop, name: str) -> bool:
        """Whether a variable is assigned anew in a loop."""
        return name in self.flow.assigned[loop.header]

    # Names ------------------------------------------------------------------------------------

    def defining_call(self, expression: Expression) -> Call | None:
        """The call whose result a variable is, if it is one for certain."""
        for _ in range(8):
            if not isinstance(expression, Variable):
                return None
            made = self.flow.only(expression.symbol)
            if not isinstance(made, Assign):
                return made if isinstance(made, Call) else None
            expression = made.value
        return None

    def text(self, expression: Expression) -> str:
        """An expression as the code writes it: temporaries by what they are the result of."""
        return render(substitute(expression, self._written))

    def variable(self, origin: int, expression: Expression) -> str:
        """The named tensor that an expression has its graph from, by arithmetic and methods of
        tensors; empty where it has no name, or several may have one."""
        for _ in range(12):
            inner: Expression | None = None
            match expression:
                case Variable(symbol=symbol, name=name) if not symbol.startswith("%"):
                    return name
                case Member() | Index():
                    text = self.text(expression)
                    return "" if "%" in text else text
                case Binary(left=left, right=right):
                    inner = self._with_graph(origin, left, right)
                case Unary(operand=operand):
                    inner = operand
                case _:
                    call = self.defining_call(expression)
                    effect = self.effect(call) if call is not None else None
                    if call is not None and effect is not None and effect.gradient == "follows":
                        inner = call.receiver
            if inner is None or inner == THIS:
                return ""
            expression = inner
        return ""

    def _with_graph(self, origin: int, *parts: Expression) -> Expression | None:
        """The one of several expressions that has a graph, or else the one that may have it."""
        values = [(part, self.value(origin, part)) for part in parts]
        sure = [part for part, value in values if value.may_attach]
        unsure = [
            part
            for part, value in values
            if value.gradient & Gradient.UNKNOWN and not value.is_number
        ]
        found = sure or unsure
        return found[0] if len(found) == 1 else None

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
                resets = self.run.resets(callee) if callee is not None else ()
                if any(is_inside(name, f"{receiver}.{member}") for member in resets):
                    return True
        return False


def _cut(target: Expression) -> str | None:
    while isinstance(target, Slice | Index):
        target = target.base
    return place(target)
