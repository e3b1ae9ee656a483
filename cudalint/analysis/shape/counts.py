"""Which amounts count elements and which count bytes: by the sizes that a function multiplies them
with, or divides them by."""

from __future__ import annotations

from collections.abc import Iterable

from cudalint.analysis.shape.flow import Flow
from cudalint.analysis.shape.operations import expressions, operations
from cudalint.analysis.shape.symbols import Identity, Symbols, identity
from cudalint.analysis.shape.walk import plain
from cudalint.program import (
    Assign,
    Binary,
    Call,
    Constant,
    Expression,
    Function,
    Member,
    Operation,
    render,
    variables,
    walk,
)

_Factors = tuple[str, ...]
_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})


class Counts:
    """What the functions of a run count, each looked through once."""

    def __init__(self, _: Symbols) -> None:
        self._known: dict[Identity, tuple[set[_Factors], set[_Factors]]] = {}

    def elements(self, amount: Expression, function: Function) -> bool:
        """Whether an amount is a number of elements, for all that its function does with it."""
        if _is_scaled(amount):
            return False
        which = identity(function)
        if which not in self._known:
            self._known[which] = _scaled(function)
        multiplied, divided = self._known[which]
        factors = _plain_factors(amount)
        return factors in multiplied and factors not in divided


def is_bounded(symbols: set[str], flow: Flow, expressions: Iterable[Expression]) -> bool:
    """Whether one of some variables is compared with a constant, or made a remainder or a masked
    part, or what a call makes of itself (``n = min(n, 100)``)."""
    made = ((symbol, one) for symbol in symbols for one in flow.definitions.get(symbol, ()))
    return any(_bounds(symbol, one) for symbol, one in made) or any(
        _limits(part, symbols) for expression in expressions for part in walk(expression)
    )


def _bounds(symbol: str, operation: Operation) -> bool:
    if isinstance(operation, Call):
        return any(symbol in variables(argument.value) for argument in operation.arguments)
    value = plain(operation.value) if isinstance(operation, Assign) else None
    return isinstance(value, Binary) and value.operator in ("%", "&")


def _limits(part: Expression, symbols: set[str]) -> bool:
    if not isinstance(part, Binary) or part.operator not in _COMPARISONS:
        return False
    return any(
        isinstance(limit := plain(one), Constant)
        and isinstance(limit.value, int)
        and limit.value > 1
        and not symbols.isdisjoint(variables(other))
        for one, other in ((part.left, part.right), (part.right, part.left))
    )


def _scaled(function: Function) -> tuple[set[_Factors], set[_Factors]]:
    """The amounts that are multiplied with the size of an element, and those that are bytes."""
    multiplied: set[_Factors] = set()
    divided: set[_Factors] = set()
    for at in operations(function):
        if isinstance(at.operation, Assign) and _is_scaled(at.operation.value):
            divided.add(_plain_factors(at.operation.target))
        if isinstance(at.operation, Call) and at.operation.kind == "operator":
            # `new float[n]` multiplies what it is given, too.
            counts = (one.value for one in at.operation.arguments if at.operation.template_bytes)
            multiplied.update(_plain_factors(count) for count in counts if variables(count))
    for expression in expressions(function):
        for part in walk(expression):
            match part:
                case Binary(operator="*"):
                    if _is_scaled(part):
                        counted = [one for one in factors(part) if not _is_element_size(one)]
                        multiplied.add(_key(counted))
                case Binary(operator="/" | "//", left=amount, right=size) if _is_element_size(
                    plain(size)
                ):
                    divided.add(_plain_factors(amount))
    return multiplied, divided


def element_sizes(amount: Expression) -> list[Constant]:
    """The sizes of elements that an amount is a multiple of."""
    found = (one for one in factors(amount) if _is_element_size(one))
    return [one for one in found if isinstance(one, Constant)]


def _is_scaled(amount: Expression) -> bool:
    return any(_is_element_size(factor) for factor in factors(amount))


def factors(expression: Expression) -> list[Expression]:
    """What an amount is the product of."""
    expression = plain(expression)
    if isinstance(expression, Binary) and expression.operator == "*":
        return [*factors(expression.left), *factors(expression.right)]
    return [expression]


def _plain_factors(expression: Expression) -> _Factors:
    return _key(factors(expression))


def _key(factors: list[Expression]) -> _Factors:
    return tuple(sorted(render(factor) for factor in factors))


def _is_element_size(expression: Expression) -> bool:
    match expression:
        case Constant(text=text):
            return text.startswith("sizeof")
        case Member(field=field):
            return field == "itemsize"
        case _:
            return False
