"""Objects that own what a pointer that they are given points to: while all that may happen to one
is in sight, its deleter is known to run where it ends.

What they own counts as looked after. One that is moved, copied, captured or passed on is followed
no further.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.engine.domain import Domain
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State, Status
from cudalint.analysis.facts import Site
from cudalint.analysis.shape.symbols import mentioned
from cudalint.analysis.values.values import NULL, Pointer, Value
from cudalint.program import (
    Assign,
    Call,
    Dereference,
    Expression,
    Launch,
    Operation,
    Variable,
    children,
)
from cudalint.source import Span


class Deleter(NamedTuple):
    """The function that ends what an object owns: one of the run, or one that a model tells."""

    name: str
    key: str = ""


@dataclass(frozen=True)
class Adopted:
    """What one object owns."""

    deleter: Deleter
    span: Span
    owed: bool
    """Whether the function owed its release before."""


@dataclass(frozen=True)
class Adoptions:
    """The objects of one path that own something, by their variables, in order."""

    held: tuple[tuple[str, Adopted], ...] = ()

    def join(self, other: Adoptions) -> Adoptions:
        """Those that own the same on both paths."""
        return Adoptions(tuple(one for one in self.held if one in other.held))


NO_ADOPTIONS = Adoptions()


class Shared:
    """The variables of a function that others may reach: by an address or a capture."""

    def __init__(self, run: FunctionRun) -> None:
        self.symbols = set(run.flow.addressed)
        inner = [run.function.key]
        for _ in range(3):
            nested = [one for key in inner for one in run.symbols.nested(key)]
            inner = [one.key for one in nested]
            for one in nested:
                self.symbols |= mentioned(one)


def follows(run: FunctionRun, expression: Expression | None) -> str | None:
    """The variable of an object, if all that happens to it is in sight."""
    if not isinstance(expression, Variable) or run.python:
        return None
    info = run.function.variables.get(expression.symbol)
    if info is None or info.storage != "local" or info.type.kind != "record":
        return None
    return None if expression.symbol in run.log(Shared).symbols else expression.symbol


def adopted(state: State, symbol: str) -> Adopted | None:
    """What an object owns."""
    return dict(state.part(NO_ADOPTIONS).held).get(symbol)


def adopt(state: State, symbol: str, what: Adopted) -> None:
    """An object owns something from here on."""
    leave(state, symbol)
    state.keep(Adoptions((*state.part(NO_ADOPTIONS).held, (symbol, what))))


def leave(state: State, symbol: str) -> None:
    """An object owns nothing any more, or nobody knows what."""
    held = state.part(NO_ADOPTIONS).held
    if any(one == symbol for one, _ in held):
        state.keep(Adoptions(tuple(pair for pair in held if pair[0] != symbol)))


def is_owed(state: State, value: Value) -> bool:
    """Whether some object owns what the function had to release."""
    held = state.part(NO_ADOPTIONS).held
    return any(one.owed and state.values.get((symbol,)) == value for symbol, one in held)


def give_back(state: State, symbol: str) -> None:
    """What an object owned is the function's to release again."""
    owner, value = adopted(state, symbol), state.values.get((symbol,))
    if owner is None or not owner.owed or not isinstance(value, Pointer):
        return
    if state.status(value.resource) is Status.ESCAPED:
        state.set_status(value.resource, Status.OWNED)


def disown(run: FunctionRun, call: Call, state: State) -> Value | None:
    """An object gives back what it owned."""
    place = run.evaluator.location(call.receiver, state) if call.receiver is not None else None
    symbol = follows(run, call.receiver)
    if place is None or (symbol is not None and place not in state.values):
        return None
    if symbol is not None:
        give_back(state, symbol)
        leave(state, symbol)
    value = state.read(place)
    state.write(place, NULL)
    return value


class Followed(Domain):
    """Follows the objects no further that are passed on."""

    def operating(self, run: FunctionRun, operation: Operation, state: State) -> None:
        given: list[Expression] = []
        if isinstance(operation, Assign):
            given = [operation.value]  # a copy of the object, or a reference to it
        elif isinstance(operation, Call | Launch):
            given = [argument.value for argument in operation.arguments]
        if isinstance(operation, Call) and operation.receiver is not None:
            model = run.models.lookup(operation.name)
            if model is None or not (model.adopts or model.disowns or model.aliases == "this"):
                given.append(operation.receiver)  # a method may do anything to it
        _pass_on(run, given, operation.span, state)


def _pass_on(run: FunctionRun, expressions: Iterable[Expression], span: Span, state: State) -> None:
    held = dict(state.part(NO_ADOPTIONS).held)
    for symbol in sorted(held.keys() & set(_objects(expressions))) if held else ():
        value = state.values.get((symbol,))
        if isinstance(value, Pointer) and held[symbol].owed:
            site = Site(run.filename, span, "is moved")
            run.log(Recorder).handed_over(value.resource.origin, site)
            state.escape([value.resource])
        leave(state, symbol)


def _objects(expressions: Iterable[Expression]) -> Iterable[str]:
    """The variables that expressions give access to, but for what those point to."""
    for expression in expressions:
        if isinstance(expression, Variable):
            yield expression.symbol
        elif not isinstance(expression, Dereference):
            yield from _objects(children(expression))
