"""Tells memory apart: which buffer an expression leads to, and where it lives."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import NamedTuple

from cudalint.analysis.domains.ordering.log import OrderingLog
from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.domains.ownership.releases import attachment
from cudalint.analysis.domains.transfers import POINTERS
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State, Status
from cudalint.analysis.shape.arguments import named
from cudalint.analysis.shape.operations import operands, operations
from cudalint.analysis.shape.walk import plain
from cudalint.analysis.values.values import (
    Address,
    Array,
    Input,
    Operation,
    Pointer,
    Symbol,
    Value,
    constant,
    integer,
)
from cudalint.program import (
    NUMBERS,
    THIS,
    AddressOf,
    Assign,
    Call,
    Constant,
    Expression,
    Index,
    Member,
    Variable,
    walk,
)

_IN_PLACE = frozenset(("array", *NUMBERS))
"""The kinds of types whose variables are the memory themselves."""
_OF_ONE_TYPE = re.compile(r"(?:const )?([\w:]+)<[^<>,]+>(?: &)?$")
"""A class of a library over one type, and with its usual allocator: with another, its memory may be
pinned."""


class Buffer(NamedTuple):
    """A piece of memory."""

    root: Hashable
    start: Value | None
    """The pointer into it; ``None`` for its beginning."""
    value: Value

    def begins_at(self, other: Value | None) -> bool:
        """Whether it certainly begins where ``other`` points."""
        return self.start == other


def buffer_of(run: FunctionRun, expression: Expression, state: State) -> Buffer | None:
    """The memory that a pointer or an array object leads to."""
    expression = plain(expression)
    if isinstance(expression, Variable):
        made = run.log(OrderingLog).data_of.get(expression.symbol)
        if made is not None:
            location = run.evaluator.location(made, state)
            if location is not None:
                return Buffer(("place", location), None, Address(location))
    if isinstance(expression, AddressOf) and isinstance(expression.place, Index):
        # &v[0] of a container
        base = expression.place.base
        if isinstance(base, Variable) and run.evaluator.kind(base) == "record":
            if integer(run.evaluator.value(expression.place.index, state)) != 0:
                return None
            return Buffer(("place", (base.symbol,)), None, Address((base.symbol,)))
    if isinstance(expression, Variable) and run.evaluator.kind(expression) == "record":
        return Buffer(("place", (expression.symbol,)), None, Address((expression.symbol,)))
    return buffer_at(run.evaluator.value(expression, state))


def buffer_at(value: Value) -> Buffer | None:
    """The memory that a value leads to."""
    match value:
        case Pointer(resource=resource, offset=offset):
            at_start = integer(offset) == 0
            return Buffer(resource, None if at_start else value, value)
        case Address(location=location):
            if location[-1] == "[0]":
                location = location[:-1]
            if any(isinstance(part, str) and part.startswith("[") for part in location):
                return None
            return Buffer(("place", location), None, Address(location))
        case Array(origin=origin, owner=owner):
            return Buffer(origin, None if owner else value, value)
        case Operation(operands=(base,), operator=operator) if operator in POINTERS:
            return buffer_at(base)  # array.ctypes.data, array.data
        case Input(location=("@", Operation() | Array() as base, last)) if last in POINTERS:
            return buffer_at(base)
        case Symbol() | Input():
            return Buffer(value, None, value)
        case _:
            return None


def space_of(run: FunctionRun, buffer: Buffer, state: State) -> str | None:
    """Where a buffer lives: ``host`` (pageable), ``pinned``, ``device``...; ``None`` where it was
    made out of sight, or may have been registered there."""
    value = buffer.value
    families = [name for name, info in run.models.families.items() if info.kind == "memory"]
    if any(isinstance(state.values.get(attachment(value, name)), Pointer) for name in families):
        return "pinned"
    match value:
        case Pointer(resource=resource):
            acquired = run.log(Recorder).of(resource)
            if acquired is None or acquired.ambiguous:
                return None
            space = acquired.info.space
            if space == "host" and state.status(resource) is Status.ESCAPED:
                return None
            return space
        case Address(location=(str() as symbol,)):
            info = run.evaluator.variable(symbol)
            if info is None or info.storage != "local":
                return None
            container = _OF_ONE_TYPE.match(info.type.text)
            pageable = container is not None and container[1] in run.models.pageable
            return "host" if pageable or info.type.kind in _IN_PLACE else None
        case Array(space=space, origin=origin):
            if space == "host" and (
                origin in run.log(OrderingLog).pinned or _is_pinned(run, origin)
            ):
                return "pinned"
            return space
        case Input(location=("this", str() as part)) if not run.python:
            return "host" if _is_pageable_member(run, Member(THIS, part[1:])) else None
        case _:
            return None


def _is_pageable_member(run: FunctionRun, member: Member) -> bool:
    """Whether all that the methods of a class give a member is pageable memory, and none of them
    hands out its address, or registers it."""
    given: list[bool] = []
    for method in run.symbols.class_methods(run.function):
        for at in operations(method.blocks):
            one = at.operation
            about = [part for part in operands(one) if member in walk(part)]
            if any(isinstance(part, AddressOf) and part.place == member for part in walk(*about)):
                return False
            if isinstance(one, Call) and about and _attaches(run, one):
                return False
            if isinstance(one, Assign) and one.target == member:
                value = plain(one.value)
                if isinstance(value, Constant) and value.value is None:
                    continue
                flow = run.symbols.flow(method)
                made = flow.only(value.symbol) if isinstance(value, Variable) else None
                given.append(_makes_pageable(run, made))
            elif isinstance(one, Call) and one.target == member:
                given.append(_makes_pageable(run, one))
    return bool(given) and all(given)


def _makes_pageable(run: FunctionRun, call: object) -> bool:
    model = run.models.lookup(call.name) if isinstance(call, Call) else None
    families = run.models.families
    return (
        model is not None
        and bool(model.acquires)
        and all(families[one.family].space == "host" and not one.pinned for one in model.acquires)
    )


def _attaches(run: FunctionRun, call: Call) -> bool:
    model = run.models.lookup(call.name)
    return model is not None and any(run.models.families[a.family].attached for a in model.acquires)


def _is_pinned(run: FunctionRun, origin: Symbol) -> bool:
    """Whether the library was asked to page-lock the array that it made."""
    call = run.made_by(origin.origin)
    asked = named(call, "pin_memory") if call is not None else None
    return asked is not None and constant(run.evaluator.value(asked, State())) is not False


def at_this_position(run: FunctionRun, root: Hashable) -> bool:
    """Whether a buffer comes from the operation that runs now: it is about to be another one."""
    origin = root.origin if isinstance(root, Symbol) else ""
    return origin.endswith(f"@{run.position.block}.{run.position.index}")
