"""Conditions: which way a branch may go in a state, and what is known after it.

A status is refined: the branch on which a call failed has no resource of it. Everything else is
remembered by its symbolic value, so that the same question gets the same answer along a path.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Container
from dataclasses import replace

from cudalint.analysis.engine.evaluate import STATUS, is_status, is_undeclared
from cudalint.analysis.engine.state import State, Status
from cudalint.analysis.values.arithmetic import apply
from cudalint.analysis.values.values import (
    COMPARISONS,
    NULL,
    ZERO,
    Address,
    Array,
    Bag,
    Const,
    FunctionValue,
    Input,
    Location,
    Operation,
    Pointer,
    Polynomial,
    Sequence,
    Symbol,
    Value,
    bag,
    integer,
    parts,
    resources_in,
)
from cudalint.findings.finding import Step
from cudalint.program import Function

_OPPOSITE = {"!=": "==", ">=": "<", "<=": ">"}
LAST_ERROR = "status:last error:"
"""How the origin of a status starts that speaks for all earlier calls."""
RELEASING = "status:release:"
"""How the origin of a status starts that tells whether a release could be done."""
OF_DEVICE = "status:device:"
"""How the origin of a status starts that only an error of the device makes fail."""
STATUSES = (LAST_ERROR, RELEASING, OF_DEVICE, STATUS)
"""How the origins of all statuses start, the special ones first."""


class Conditions:
    """Assumes conditions; knows which status came from which call."""

    def __init__(self, function: Function, declared: Container[str], python: bool) -> None:
        self._false_is_null = not python
        self._declared = declared
        """The globals of the file."""
        lent = (one.symbol for one in function.parameters if one.by == "reference")
        captured = (name for name, one in function.variables.items() if one.storage == "captured")
        self._lent = {*lent, *captured}
        """What may be a variable of somebody else."""
        self.calls: dict[str, tuple[Step, str, Value]] = {}
        """By a status value's origin: the call's step, its name, and the status of success."""
        self.asked_for: dict[str, Value] = {}
        """By the origin of a status: the memory without which alone the call can fail."""
        self.checked: set[str] = set()
        """Origins of statuses that were looked at."""

    def assume(self, state: State, value: Value, truth: bool) -> list[State]:
        """The states in which ``value`` is true (or false); ``state`` itself may be changed."""
        match value:
            case Const(value=constant):
                return [state] if bool(constant) == truth else []
            case Sequence(items=items):
                return [state] if bool(items) == truth else []
            case FunctionValue() | Address() | Array():
                return [state] if truth else []
            case Operation(operator="more", operands=(Sequence(items=items, kind="tuple"),)):
                return [state] if bool(items) == truth else []
            case Operation(operator="element", operands=(Sequence(items=items) as several,)):
                if self._false_is_null and all(isinstance(item, Input) for item in items):
                    return self._assume_any(state, items, truth)
                held = frozenset(resources_in(several))
                return [state] if truth or not self._any_live(state, bag(held)) else []
            case Operation(operator="!", operands=(inner,)):
                return self.assume(state, inner, not truth)
            case Operation(operator="&&" | "||" as operator, operands=(left, right)):
                return self._assume_logic(state, operator, left, right, truth)
            case Operation(operator="||", operands=several):
                return self._assume_some(state, value, several, truth)
            case Operation(operator=operator, operands=(left, right)) if operator in COMPARISONS:
                if operator in _OPPOSITE:
                    return self._compare(state, _OPPOSITE[operator], left, right, not truth)
                return self._compare(state, operator, left, right, truth)
            case Operation(operator="|", operands=(left, right)) if not truth:
                return [
                    both
                    for one in self.assume(state, left, False)
                    for both in self.assume(one, right, False)
                ]
            case Pointer():
                return self._assume_pointer(state, value, truth)
            case Bag():
                return [state] if truth or not self._any_live(state, value) else []
            case Symbol() if is_status(value):
                return self._compare(state, "==", value, ZERO, not truth)
            case _:
                return self._remember(state, value, truth)

    def remember(self, state: State, value: Value, truth: bool) -> list[State]:
        """The same in one state at most: where there are several ways in which ``value`` is true
        (or false), nobody asks which."""
        ways = self.assume(state.copy(), value, truth)
        if len(ways) > 1:
            state.conditions[value] = truth
            return [state]
        return ways

    def _assume_logic(
        self, state: State, operator: str, left: Value, right: Value, truth: bool
    ) -> list[State]:
        whole = Operation(operator, (left, right))
        if state.conditions.get(whole, truth) != truth:
            return []
        if (operator == "&&") == truth:
            return [
                both
                for one in self.assume(state, left, truth)
                for both in self.assume(one, right, truth)
            ]
        first = self.assume(state.copy(), left, truth)
        second = [
            both
            for one in self.assume(state, left, not truth)
            for both in self.assume(one, right, truth)
        ]
        for either in first + second:
            either.conditions[whole] = truth  # still known where the two ways meet again
        return first + second

    def _assume_some(
        self, state: State, whole: Value, several: tuple[Value, ...], truth: bool
    ) -> list[State]:
        """One of more than two is true, and nobody asks which, if there is more than one left; or
        none of them is."""
        if not truth:
            states = [state]
            for one in several:
                states = [after for each in states for after in self.assume(each, one, False)]
            return states
        possible = [one for one in several if self.assume(state.copy(), one, True)]
        if len(possible) > 1:
            return self._remember(state, whole, True)
        return [after for one in possible for after in self.assume(state, one, True)]

    def _assume_pointer(self, state: State, pointer: Pointer, truth: bool) -> list[State]:
        status = state.status(pointer.resource)
        if status is Status.REQUESTED:
            self.mark_checked(state, pointer.resource)
            holding = state.resources[pointer.resource]
            if holding.condition is not None and is_status(holding.condition):
                return self.settle(state, holding.condition, truth)
            state.set_status(pointer.resource, Status.OWNED if truth else Status.ABSENT)
            return [state]
        if status is Status.ABSENT:
            return [] if truth else [state]
        if status in (Status.OWNED, Status.RELEASED):
            return [state] if truth else []
        return self._remember(state, pointer, truth)

    def _assume_any(self, state: State, items: tuple[Value, ...], truth: bool) -> list[State]:
        """One of some values is true; or one is false, as the others are then."""
        if truth:
            return [state] if any(self.assume(state.copy(), one, True) for one in items) else []
        return [state] if all(self.assume(state, one, False) for one in items) else []

    @staticmethod
    def _any_live(state: State, several: Bag) -> bool:
        return any(state.status(r) in (Status.OWNED, Status.REQUESTED) for r in several.resources)

    def _compare(
        self, state: State, operator: str, left: Value, right: Value, truth: bool
    ) -> list[State]:
        left = state.equal.get(left, left)
        right = state.equal.get(right, right)
        is_right = is_status(right) and not is_status(left)
        if is_right or (isinstance(left, Const) and not isinstance(right, Const)):
            left, right = right, left
            operator = {"<": ">", ">": "<"}.get(operator, operator)
        if isinstance(left, Const) and isinstance(right, Const):
            return [state] if _holds(operator, left, right) == truth else []
        choices = state.among.get(left)
        if choices and operator == "==" and isinstance(right, Const):
            rest = {choice for choice in choices if not _holds("==", choice, right)}
            if (len(rest) == len(choices)) if truth else not rest:
                return []
            state.among.pop(left)
            if not truth and len(rest) > 1:
                state.among[left] = frozenset(rest)
            elif not truth:
                state.equal[left] = next(iter(rest))
        if operator == "==" and right == NULL:
            if isinstance(left, Pointer | Bag | Address | Array | FunctionValue | Sequence):
                return self.assume(state, left, not truth)
            known = state.conditions.get(left)
            if known or (known is False and self._false_is_null):
                return [state] if known != truth else []
        elif isinstance(left, Address) and isinstance(right, Address) and operator == "==":
            same = self._are_same(left.location, right.location)
            if same is not None:
                return [state] if same == truth else []
        elif is_status(left) and isinstance(right, FunctionValue) and operator == "==" and truth:
            return self.settle(state, left, False)  # the name of an error
        elif is_status(left) and self._is_undeclared(right) and operator == "==":
            return self.settle(state, left, truth)  # a name of success that nothing declares
        elif is_status(left) and isinstance(right, Const):
            return self._compare_status(state, operator, left, right, truth)
        elif (
            operator == "=="
            and right == ZERO
            and (
                isinstance(left, Pointer | Address)
                or (isinstance(left, Operation) and left.operator == "|")
            )
        ):
            return self.assume(state, left, not truth)
        elif isinstance(right, Const) and isinstance(right.value, bool) and operator == "==":
            return self.assume(state, left, right.value == truth)
        elif operator == "==" and truth and (fresh := _fresh(state, left, right)) is not None:
            if state.status(fresh) is Status.OWNED:
                return []
            state.set_status(fresh, Status.ABSENT)  # it is null, as the other is
        return self._remember(state, Operation(operator, (left, right)), truth)

    def _are_same(self, one: Location, other: Location) -> bool | None:
        """Whether two places are one: a variable of the function itself is no other variable."""
        if one[0] == other[0] or "@" in (one[0], other[0]):
            return True if one == other else None
        own = (
            root != "this" and root not in self._lent and not root.startswith("::")
            for root in (one[0], other[0])
        )
        return False if any(own) else None

    def _compare_status(
        self, state: State, operator: str, status: Symbol, right: Const, truth: bool
    ) -> list[State]:
        success = self.calls[status.origin][2] if status.origin in self.calls else ZERO
        if operator == "==" and integer(right) == integer(success):
            return self.settle(state, status, truth)
        if operator == "==" and truth:
            return self.settle(state, status, False)
        if operator in ("<", ">") and integer(right) == integer(success) == 0:
            return self.settle(state, status, not truth)
        return self._remember(state, Operation(operator, (status, right)), truth)

    def settle(self, state: State, status: Value, succeeded: bool) -> list[State]:
        """The call whose status this is succeeded, or failed."""
        if not isinstance(status, Symbol):
            return [state]
        self.checked.add(status.origin)
        earlier = state.conditions.get(status)
        if earlier is not None:
            return [state] if earlier == succeeded else []
        if not succeeded and status.origin.startswith(RELEASING):
            return []  # a release that fails leaves nothing that anybody could do
        state.conditions[status] = succeeded
        last = status.origin.startswith(LAST_ERROR)
        for resource, holding in list(state.resources.items()):
            if holding.status is Status.REQUESTED and (last or holding.condition == status):
                self.mark_checked(state, resource)
                failed = Status.ESCAPED if last else Status.ABSENT
                state.set_status(resource, Status.OWNED if succeeded else failed)
        if not succeeded:
            self._record_failure(state, status)
        return [state]

    def _record_failure(self, state: State, status: Symbol) -> None:
        call = self.calls.get(status.origin)
        if call is not None:
            step, name, _ = call
            failed = replace(step, message=f"`{name}` fails")
            state.failure = state.record(
                "failure",
                failed,
                sticky=status.origin.startswith(OF_DEVICE),
                asked_for=self.asked_for.get(status.origin),
            )

    def looked_at(self, name: str, block: int, index: int) -> bool:
        """Whether the status of the call at a place was looked at."""
        return any(f"{kind}{name}@{block}.{index}" in self.checked for kind in STATUSES)

    def mark_checked(self, state: State, resource: Symbol) -> None:
        """The outcome of an acquisition was looked at."""
        self.checked.add(resource.origin)
        holding = state.resources.get(resource)
        if holding and isinstance(holding.condition, Symbol):
            self.checked.add(holding.condition.origin)

    def _remember(self, state: State, value: Value, truth: bool) -> list[State]:
        not_understood = isinstance(value, Operation) and value.operator.startswith("unknown:")
        if not_understood and not parts(value):
            return [state]  # not understood: the next time it may be another answer
        earlier = state.conditions.get(value)
        if earlier is not None:
            return [state] if earlier == truth else []
        if _excluded(state.conditions, value, truth):
            return []
        if isinstance(value, Operation) and len(value.operands) == 2:
            left, right = value.operands
            if not _consistent(state, value.operator, left, right, truth):
                return []
            if value.operator == "==" and truth and self._is_another(state, left, right):
                return []
            if value.operator == "==" and truth and isinstance(right, Const):
                state.equal[left] = right
            elif value.operator == "==" and truth:
                _share(state, left, right)
        elif not truth and state.conditions.get(Operation("==", (value, NULL))) is False:
            return []  # a false scalar is null or zero
        elif not truth and not _consistent(state, "==", value, ZERO, True):
            return []
        state.conditions[value] = truth
        return [state]

    def _is_another(self, state: State, value: Value, constant: Value) -> bool:
        """Whether a value is known to be a constant of another name: two that nothing declares, or
        one of these and a number, differ."""
        return any(
            held
            and isinstance(known, Operation)
            and known.operator == "=="
            and known.operands[0] == value
            and known.operands[1] != constant
            and self._is_named(known.operands[1])
            and (self._is_named(constant) or integer(constant) is not None)
            for known, held in state.conditions.items()
        )

    def _is_undeclared(self, value: Value) -> bool:
        """Whether a value is that of a name which nothing declares, in a macro's text or else."""
        if isinstance(value, Operation):
            return value.operator.startswith("unknown:") and not value.operands
        return is_undeclared(value, self._declared)

    def _is_named(self, value: Value) -> bool:
        return isinstance(value, FunctionValue) or is_undeclared(value, self._declared)


def literal(value: Value, truth: bool) -> Value:
    """The condition that a value is true, or false."""
    return value if truth else Operation("!", (value,))


def _excluded(conditions: dict[Value, bool], value: Value, truth: bool) -> bool:
    """Whether a value cannot be so, because of what is known of it and others together."""
    opposite = literal(value, not truth)
    return any(
        held
        and isinstance(clause, Operation)
        and clause.operator == "||"
        and opposite in clause.operands
        and all(is_known(conditions, one, False) for one in clause.operands if one != opposite)
        for clause, held in conditions.items()
    )


def is_known(conditions: dict[Value, bool], condition: Value, truth: bool) -> bool:
    """Whether a condition, or its opposite, is known to be so."""
    if isinstance(condition, Operation) and condition.operator == "!":
        return conditions.get(condition.operands[0]) is (not truth)
    return conditions.get(condition) is truth


def _fresh(state: State, left: Value, right: Value) -> Symbol | None:
    """The resource of which one of two values is the pointer while the other one is older than it:
    memory that was there before is another block."""
    for mine, other in ((left, right), (right, left)):
        if isinstance(mine, Pointer) and mine.offset == ZERO and isinstance(other, Input):
            holding = state.resources.get(mine.resource)
            waits = holding is not None and holding.status in (Status.REQUESTED, Status.OWNED)
            if waits and not (_is_stored(other) and _may_be_stored(state, mine.resource)):
                return mine.resource
    return None


def _may_be_stored(state: State, resource: Symbol) -> bool:
    """Whether a resource may stand in an object that is not this call's own."""
    return bool(state.resources[resource].lent) or any(
        _is_stored(Input(location)) and resource in resources_in(value)
        for location, value in state.values.items()
    )


def _share(state: State, left: Value, right: Value) -> None:
    """Two values are the same: a pointer that stands somewhere else too is not lost here."""
    for mine, other in ((left, right), (right, left)):
        if _is_stored(other):
            state.escape(resources_in(mine))
            state.keep_inputs([mine])


def _is_stored(value: Value) -> bool:
    """Whether a value was read from an object that is not this call's own."""
    if isinstance(value, Input):
        return len(value.location) > 1 or value.location[0].startswith("::")
    return isinstance(value, Operation) and any(_is_stored(part) for part in value.operands)


def forget(state: State, condition: Value) -> None:
    """The condition may be true or false from now on, whatever it was."""
    state.conditions.pop(condition, None)
    match condition:
        case Operation(operator="!", operands=(inner,)):
            forget(state, inner)
        case Operation(operator="&&" | "||", operands=(left, right)):
            forget(state, left)
            forget(state, right)
        case Operation(operator=operator, operands=operands) if operator in _OPPOSITE:
            state.conditions.pop(Operation(_OPPOSITE[operator], operands), None)


def _holds(operator: str, left: Const, right: Const) -> bool:
    a, b = left.value, right.value
    if operator == "==":
        if (a is None or b is None) and not (isinstance(a, str) or isinstance(b, str)):
            return (a or 0) == (b or 0) and type(a) is not bool and type(b) is not bool
        return a == b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return a < b if operator == "<" else a > b
    return False


def _consistent(state: State, operator: str, left: Value, right: Value, truth: bool) -> bool:
    """Whether a comparison of numbers agrees with what is known of the same values."""
    asked = _bounds(Operation(operator, (left, right)))
    if asked is None:
        return True
    subject = asked[0]
    comparisons = [(*asked[1:], truth)]
    for value, held in state.conditions.items():
        if not held and value == subject:
            comparisons.append(("==", 0, True))
        if type(value) is Operation and len(value.operands) == 2:
            known = _bounds(value)
            if known is not None and known[0] == subject:
                comparisons.append((*known[1:], held))
    low, high = -math.inf, math.inf
    excluded: set[float] = set()
    for name, limit, held in comparisons:
        if name == "==" and held:
            low, high = max(low, limit), min(high, limit)
        elif name == "==":
            excluded.add(limit)
        elif name == "<":
            low, high = (low, min(high, limit - 1)) if held else (max(low, limit), high)
        elif name == ">":
            low, high = (max(low, limit + 1), high) if held else (low, min(high, limit))
    return low <= high and not (low == high and low in excluded)


_MIRROR = {"<": ">", ">": "<", "==": "=="}


@functools.lru_cache(maxsize=1 << 14)
def _bounds(comparison: Operation) -> tuple[Value, str, float] | None:
    """A comparison of numbers as one of a value, or of a sum without its constant, with a number:
    `i + 1 < n` is `n - i > 1`."""
    name = comparison.operator
    left, right = comparison.operands
    if name not in _MIRROR:
        return None
    if not isinstance(right, Const):
        if not (_may_be_number(left) and _may_be_number(right)):
            return None
        left, right = apply("-", left, right), ZERO
    number = right.value
    if not isinstance(number, int | float) or isinstance(number, bool):
        return None
    if not isinstance(left, Polynomial):
        return left, name, number
    terms = [term for term in left.terms if term[0]]
    number -= sum(coefficient for factors, coefficient in left.terms if not factors)
    sign = 1 if terms[0][1] > 0 else -1
    total: Value = ZERO
    for term in terms:
        total = apply("+", total, Polynomial(((term[0], sign * term[1]),)))
    return total, name if sign > 0 else _MIRROR[name], sign * number


def _may_be_number(value: Value) -> bool:
    if isinstance(value, Operation):
        return value.operator not in COMPARISONS | {"&&", "||", "!"}
    return isinstance(value, Symbol | Input | Polynomial)
