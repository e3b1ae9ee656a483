"""What becomes of a value: whether all that comes of it are numbers, or something keeps it."""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import chain

from cudalint.analysis.shape.places import holder, place
from cudalint.analysis.tensors.lattice import Kind, Value
from cudalint.analysis.tensors.records import Form, Record, handed
from cudalint.analysis.tensors.view import View
from cudalint.program import (
    Call,
    Conditional,
    Expression,
    Function,
    Index,
    Member,
    Slice,
    Tuple,
    Use,
)

MOST_DEPTH = 4


class Fate(enum.IntFlag):
    """What may become of a value."""

    NUMBERS = 0
    PASSED_ON = enum.auto()
    """What is computed of it still has its graph, and goes to the caller."""
    ESCAPES = enum.auto()
    """It is stored, handed to something out of sight, or its gradient is computed."""


@dataclass(frozen=True)
class Consumption:
    """What becomes of a value in one function."""

    fate: Fate
    ends: tuple[Record, ...] = ()
    """The operations that make a number of it, or let go of its graph."""


def fate(view: View, origins: Collection[int], depth: int = 0) -> Fate:
    """What may become of what some operations made, and of what is computed of it."""
    makers = [view.records[origin].operation for origin in origins if origin in view.records]
    if any(is_outside(view.function, getattr(one, "target", None)) for one in makers):
        return Fate.ESCAPES
    return consumption(view, origins, depth).fate


def consumption(view: View, origins: Iterable[int], depth: int = 0) -> Consumption:
    """The same, with the operations at which it ends."""
    reached = set(origins)
    for origin in tuple(reached & view.records.keys()):
        reached |= _written_into(view, origin, view.records[origin])
    pending = list(reached)
    ends: dict[int, Record] = {}
    while pending:
        for user in view.users.get(pending.pop(), ()):
            record = view.records[user]
            if record.effect is not None and record.effect.backward:
                return Consumption(Fate.ESCAPES)
            if _is_done(record.result) or _is_given_done(record, reached):
                ends[user] = record
                continue
            after = _passed(view, record, reached, depth)
            if after & Fate.ESCAPES:
                return Consumption(Fate.ESCAPES)
            into = {user, *_written_into(view, user, record)} if after else set()
            pending += into - reached
            reached |= into
    return Consumption(_leaves(view, reached), tuple(ends[one] for one in sorted(ends)))


def _is_done(value: Value) -> bool:
    """It is a number, or a tensor without a graph."""
    return value.is_number or (value.is_detached and value.kind == Kind.TENSOR)


def _is_given_done(record: Record, reached: set[int]) -> bool:
    """Whether all that an operation gets of what was reached has let go of its graph already
    (``save(scores.data)``)."""
    given = [operand for operand in record.operands if operand.origins & reached]
    return bool(given) and all(map(_is_done, given))


def _written_into(view: View, origin: int, record: Record) -> frozenset[int]:
    """What was there before and holds the value now: ``out[:, 0] = scores``, ``out.add_(scores)``,
    ``found.append(scores)``."""
    operation = record.operation
    into: Expression | None = getattr(operation, "target", None)
    if isinstance(operation, Call) and into is None:
        into = operation.receiver
    else:
        into = into.base if isinstance(into, Index | Member | Slice) else None
    return view.value(origin, into).origins if into is not None else frozenset()


def _passed(view: View, record: Record, reached: set[int], depth: int) -> Fate:
    """Whether an operation lets a value go, passes it on or keeps it."""
    call = record.operation
    if not isinstance(call, Call):
        target = getattr(call, "target", None)
        return Fate.ESCAPES if is_outside(view.function, target) else Fate.PASSED_ON
    if is_outside(view.function, call.target):
        return Fate.ESCAPES
    effect = record.effect
    if effect is not None and effect.inserts:
        return Fate.ESCAPES if is_outside(view.function, call.receiver) else Fate.PASSED_ON
    if record.form is not Form.CALL or (effect is not None and effect.passes):
        return Fate.PASSED_ON
    own = call.receiver is not None and bool(record.operands[0].origins & reached)
    callee = view.run.callee(
        view.function, call, record.operands[0].records if record.operands else frozenset()
    )
    inner = view.of(callee) if callee is not None else None
    if callee is None or inner is None or depth >= MOST_DEPTH:
        return Fate.PASSED_ON if own and not _is_given(record, reached) else Fate.ESCAPES
    into = [
        -number - 1 for number, value in handed(record, callee).items() if value.origins & reached
    ]
    return fate(inner, into, depth + 1)


def _is_given(record: Record, reached: set[int]) -> bool:
    """Whether an argument may be what was reached."""
    offset = 0 if getattr(record.operation, "receiver", None) is None else 1
    return any(operand.origins & reached for operand in record.operands[offset:])


def is_outside(function: Function, target: Expression | None) -> bool:
    """Whether a place is there after the call: a member, a global, a part of a parameter."""
    name = place(target)
    if target is None or name is None:
        return target is not None
    outer = holder(target) or ""
    if outer.startswith(("this", "::")):
        return True
    info = function.variables.get(outer)
    return name != outer and info is not None and info.storage not in ("local", "temporary")


def _leaves(view: View, reached: set[int]) -> Fate:
    """Whether the function returns or yields any of it."""
    yielded = (
        (origin, operation.value)
        for origin, _, operation in view.operations()
        if isinstance(operation, Use) and operation.reason == "yield"
    )
    handed = chain(view.returned(), yielded)
    among = any(_is_among(view, origin, value, reached) for origin, value in handed)
    return Fate.PASSED_ON if among else Fate.NUMBERS


def _is_among(view: View, origin: int, expression: Expression, reached: set[int]) -> bool:
    match expression:
        case Tuple(items=items):
            return any(_is_among(view, origin, item, reached) for item in items)
        case Conditional(then=then, otherwise=otherwise):
            return any(_is_among(view, origin, one, reached) for one in (then, otherwise))
    value = view.value(origin, expression)
    return bool(value.origins & reached) and not _is_done(value)
