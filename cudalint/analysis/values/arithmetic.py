"""Arithmetic over abstract values: integers fold into polynomials over symbols, which is enough for
sizes; everything else stays an uninterpreted operation."""

from __future__ import annotations

import functools
import operator
import zlib
from collections.abc import Callable
from typing import Any

import msgspec

from cudalint.analysis.values.addresses import is_element, is_same
from cudalint.analysis.values.elements import is_any_element
from cudalint.analysis.values.values import (
    CLOSED,
    NULL,
    ZERO,
    Address,
    Array,
    Bag,
    Const,
    Input,
    Location,
    Operation,
    Pointer,
    Polynomial,
    Sequence,
    Symbol,
    Value,
    bag,
    inside,
    integer,
    parts,
    resources_in,
)


def rewrite(value: Value, change: Callable[[Value], Value | None]) -> Value:
    """The value with every part replaced for which ``change`` returns another one."""
    made = type(value)
    if made in CLOSED:
        return value
    replaced = change(value)
    if replaced is not None:
        return replaced
    if made is Symbol:
        return value
    match value:
        case Operation(operator=name, operands=operands):
            new = tuple([rewrite(part, change) for part in operands])
            return value if new == operands else apply(name, *new)
        case Polynomial(terms=terms):
            changed = [tuple([rewrite(f, change) for f in factors]) for factors, _ in terms]
            return value if changed == [factors for factors, _ in terms] else _sum(terms, changed)
        case Pointer(resource=resource, offset=offset):
            inner = rewrite(resource, change)
            if isinstance(inner, Symbol):
                return Pointer(inner, rewrite(offset, change))
            return inner
        case Bag(resources=resources):
            return bag(inner for r in resources if isinstance(inner := rewrite(r, change), Symbol))
        case Sequence(items=items, kind=kind):
            return Sequence(tuple(rewrite(part, change) for part in items), kind)
        case Array(shape=shape, origin=origin):
            inner = rewrite(origin, change)
            return msgspec.structs.replace(
                value,
                shape=None if shape is None else tuple(rewrite(part, change) for part in shape),
                origin=inner if isinstance(inner, Symbol) else origin,
            )
        case Address(location=location):
            return Address(rewrite_location(location, change))
        case Input(location=location):
            return Input(rewrite_location(location, change))
        case _:
            return value


def rewrite_location(location: Location, change: Callable[[Value], Value | None]) -> Location:
    """The location with the values in it rewritten."""
    if location[0] != "@":
        return location  # a variable's: there is no value in it
    return tuple(part if isinstance(part, str) else rewrite(part, change) for part in location)


# Operations -------------------------------------------------------------------------------------

_COMPARE: dict[str, Callable[[object, object], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,  # type: ignore[dict-item]
    "<=": operator.le,  # type: ignore[dict-item]
    ">": operator.gt,  # type: ignore[dict-item]
    ">=": operator.ge,  # type: ignore[dict-item]
}
_OF_NUMBERS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "true/": operator.truediv, "//": operator.floordiv,
}  # fmt: skip
_OF_BITS: dict[str, Callable[[Any, Any], int]] = {
    "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_, "|": operator.or_,
    "^": operator.xor,
}  # fmt: skip
_MIRROR = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
_LARGEST = 1 << 128  # beyond this a folded value means nothing, and costs time


def apply(name: str, *operands: Value) -> Value:
    """The value of an operation: folded where the operands allow it, else an ``Operation``."""
    overflow = next((o.overflow for o in operands if isinstance(o, Const) and o.overflow), None)
    result = _fold(name, operands)
    if overflow and isinstance(result, Const) and not isinstance(result.value, bool):
        return Const(result.value, overflow)
    return bounded(result)


_MOST_PARTS = 24
"""Values inside a value, beyond which it is as good as a name."""


def bounded(value: Value) -> Value:
    """The value, or, where it has grown too large to be looked through, a symbol for it."""
    if not isinstance(value, Operation | Polynomial):
        return value
    if _size(value) > _MOST_PARTS:
        return Symbol(f"term:{zlib.crc32(repr(value).encode()):x}")
    return value


@functools.lru_cache(maxsize=1 << 16)
def _size(value: Value) -> int:
    """The number of values in a value, itself included."""
    return 1 + sum(map(_size, parts(value)))


def _fold(name: str, operands: tuple[Value, ...]) -> Value:
    if len(operands) == 1:
        return _fold_unary(name, operands[0])
    if name == "slice" and len(operands) == 3:
        return _slice(*operands)
    if len(operands) != 2:
        return Operation(name, operands)
    left, right = operands
    if isinstance(left, Const) and isinstance(right, Const):
        folded = _fold_constants(name, left.value, right.value)
        if folded is not None:
            return folded
    if name in ("+", "-", "*"):
        total = _polynomial(name, left, right)
        if total is not None:
            return total
    if name in ("/", "//") and integer(right) == 1:
        return left
    if name in ("/", "//") and isinstance(left, Polynomial) and (divisor := integer(right)):
        quotient = divide(left, Const(divisor))
        if quotient is not None:
            return quotient
    if name in ("<<",) and (shift := integer(right)) is not None and 0 <= shift < 64:
        return apply("*", left, Const(1 << shift))
    if name in ("&&", "||"):
        return _fold_logic(name, left, right)
    if name == "&" and (mask := integer(right)) and _has_bits(left, mask):
        return right
    if name in ("==", "!=") and (same := is_same(left, right)) is not None:
        return Const(same == (name == "=="))
    if name in _COMPARE:
        if left == right and not isinstance(left, Const) and not _may_differ(left):
            return Const(name in ("==", "<=", ">="))
        if isinstance(left, Const) and not isinstance(right, Const):
            return Operation(_MIRROR[name], (right, left))
    return Operation(name, operands)


def _has_bits(value: Value, mask: int) -> bool:
    """Whether all bits of a mask are set in a value, because somebody has set them."""
    return (
        isinstance(value, Operation)
        and value.operator == "|"
        and any(mask & (integer(one) or 0) == mask for one in value.operands)
    )


def _fold_unary(name: str, value: Value) -> Value:
    if name == "!":
        if isinstance(value, Const):
            return Const(not value.value)
        if isinstance(value, Operation) and value.operator == "!":
            return value.operands[0]
    if name == "-":
        return apply("*", Const(-1), value)
    if name == "~" and (number := integer(value)) is not None:
        return Const(~number)
    if name == "more" and isinstance(value, Sequence) and not value.items:
        return Const(False)
    if name == "len":
        if isinstance(value, Sequence):
            return Const(len(value.items))
        if isinstance(value, Const) and isinstance(value.value, str):
            return Const(len(value.value))
        if isinstance(value, Array) and value.shape:
            return value.shape[0]
    if name.startswith("[") and isinstance(value, Sequence) and name[1:-1].lstrip("-").isdigit():
        position = int(name[1:-1])
        if -len(value.items) <= position < len(value.items):
            return value.items[position]
    return Operation(name, (value,))


def _slice(base: Value, lower: Value, upper: Value) -> Value:
    """``base[lower:upper]``; ``NULL`` for a bound that is left out."""
    if isinstance(base, Sequence):
        start = 0 if lower == NULL else integer(lower)
        stop = len(base.items) if upper == NULL else integer(upper)
        if start is not None and stop is not None:
            return Sequence(base.items[start:stop], base.kind)
        found = frozenset(resources_in(base))
        return bag(found) if found else Operation("slice", (base, lower, upper))
    if isinstance(base, Bag):
        return base
    return Operation("slice", (base, lower, upper))


def _fold_logic(name: str, left: Value, right: Value) -> Value:
    deciding = name == "||"
    for first, second in ((left, right), (right, left)):
        if isinstance(first, Const):
            return Const(deciding) if bool(first.value) == deciding else second
    return Operation(name, (left, right))


def _fold_constants(name: str, left: object, right: object) -> Const | None:
    if name == "==" or name == "!=":
        return Const(_COMPARE[name](left, right))
    if isinstance(left, str) and isinstance(right, str) and name == "+":
        return Const(left + right) if len(left) + len(right) < 100_000 else None
    if name in ("&&", "||"):
        return Const(bool(left) and bool(right) if name == "&&" else bool(left) or bool(right))
    if not isinstance(left, int | float) or not isinstance(right, int | float):
        return None
    if name in _COMPARE:
        return Const(_COMPARE[name](left, right))
    try:
        number = _arithmetic(name, left, right)
    except (ArithmeticError, ValueError, TypeError):
        return None
    if number is None or (isinstance(number, int) and abs(number) > _LARGEST):
        return None
    return Const(number)


def _arithmetic(name: str, left: float, right: float) -> int | float | None:
    whole = isinstance(left, int) and isinstance(right, int)
    found: int | float | None = None
    match name:
        case "/" if whole:
            quotient = abs(int(left)) // abs(int(right))
            found = quotient if (left < 0) == (right < 0) else -quotient
        case "%" if whole:
            found = int(left) - int(right) * int(left / right) if right else None
        case "**" if abs(right) < 200 and abs(left) < 2**64:
            found = left**right
        case "<<" | ">>" if whole and 0 <= right < 128:
            found = _OF_BITS[name](left, right)
        case "&" | "|" | "^" if whole:
            found = _OF_BITS[name](left, right)
        case _ if name in _OF_NUMBERS:
            found = _OF_NUMBERS[name](left, right)
    return found


def _terms(value: Value) -> dict[tuple[Value, ...], int] | None:
    if isinstance(value, Polynomial):
        return dict(value.terms)
    if isinstance(value, Const):
        number = integer(value)
        return None if number is None else ({(): number} if number else {})
    if isinstance(value, Symbol | Input | Operation | Address):
        return {(value,): 1}
    return None


def _polynomial(name: str, left: Value, right: Value) -> Value | None:
    if name in ("+", "-") and isinstance(left, Pointer):
        return Pointer(left.resource, apply(name, left.offset, right))
    if name in ("+", "-") and isinstance(left, Bag):
        return left
    if name == "+" and isinstance(right, Pointer):
        return Pointer(right.resource, apply(name, right.offset, left))
    first, second = _terms(left), _terms(right)
    if first is None or second is None:
        return None
    total: dict[tuple[Value, ...], int] = {}
    if name == "*":
        if len(first) * len(second) > 16:
            return None
        for a, x in first.items():
            for b, y in second.items():
                key = tuple(sorted((*a, *b), key=repr)) if a and b else a or b
                if len(key) > 6:
                    return None
                total[key] = total.get(key, 0) + x * y
    else:
        total = dict(first)
        for key, number in second.items():
            if not _add(total, key, number if name == "+" else -number):
                return None
    return _from_terms(total)


def _add(total: dict[tuple[Value, ...], int], key: tuple[Value, ...], number: int) -> bool:
    """Add a term to a sum, unless it would take away from what may be another element's:
    ``offsets[i + 1] - offsets[i]``."""
    earlier = total.get(key, 0)
    if earlier and (earlier < 0) != (number < 0) and any(map(_may_differ, key)):
        return False
    total[key] = earlier + number
    return True


def _may_differ(value: Value) -> bool:
    """Whether a value stands for what any element holds: twice, it need not be the same."""
    return is_element(value) or any(map(is_any_element, inside(value)))


def _from_terms(total: dict[tuple[Value, ...], int]) -> Value | None:
    """The value that is the sum of some terms, in its simplest form; ``None`` if too long."""
    total = {key: number for key, number in total.items() if number}
    if not total:
        return ZERO
    if len(total) == 1:
        [(key, number)] = total.items()
        if not key:
            return Const(number)
        if number == 1 and len(key) == 1:
            return key[0]
    if len(total) > 8:
        return None
    return Polynomial(_in_order(total))


def _sum(
    terms: tuple[tuple[tuple[Value, ...], int], ...], changed: list[tuple[Value, ...]]
) -> Value:
    """The sum of some terms with other factors; what stays the same is not multiplied again."""
    products = [
        factors[0]  # a pointer, maybe, by which nothing can be multiplied
        if len(factors) == 1 and term[1] == 1
        else Polynomial((term,))
        if factors == term[0]
        else _product(factors, term[1])
        for term, factors in zip(terms, changed, strict=True)
    ]
    total: dict[tuple[Value, ...], int] = {}
    for product in products:
        inner = _terms(product)
        if inner is None or (isinstance(product, Const) and product.overflow):
            break
        if not all(_add(total, key, number) for key, number in inner.items()):
            break
    else:
        found = _from_terms(total)
        if found is not None:
            return bounded(found)
    result: Value = ZERO
    for product in products:
        result = apply("+", result, product)
    return result


def _product(factors: tuple[Value, ...], coefficient: int) -> Value:
    product: Value = Const(coefficient)
    for factor in factors:
        product = apply("*", product, factor)
    return product


def _in_order(total: dict[tuple[Value, ...], int]) -> tuple[tuple[tuple[Value, ...], int], ...]:
    """The terms in an order that depends on nothing but the terms; the constant comes first."""
    if len(total) == 2 and () in total:
        return (((), total.pop(())), *total.items())  # spares the text of large values
    return tuple(sorted(total.items(), key=repr))


def divide(value: Value, divisor: Value) -> Value | None:
    """The exact quotient, or ``None`` where the division leaves a remainder or is not decidable.

    >>> divide(apply("*", Symbol("n"), Const(4)), Symbol("n"))
    Const(value=4, overflow=None)
    """
    above, below = _terms(value), _terms(divisor)
    if not above or not below or len(below) != 1:
        return None
    [(factors, number)] = below.items()
    total: Value = ZERO
    for key, coefficient in above.items():
        rest = list(key)
        for factor in factors:
            if factor not in rest:
                return None
            rest.remove(factor)
        if coefficient % number:
            return None
        product: Value = Const(coefficient // number)
        for factor in rest:
            product = apply("*", product, factor)
        total = apply("+", total, product)
    return total


def wrap(value: Const, text: str, bits: int, signed: bool, type_text: str) -> Const:
    """A constant converted to an integer type, marked if it does not fit."""
    number = integer(value)
    if number is None:
        return value
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    if low <= number <= high:
        return Const(number, value.overflow)
    wrapped = number & ((1 << bits) - 1)
    if signed and wrapped > high:
        wrapped -= 1 << bits
    # A negative constant in an unsigned type (-1 as "all ones") is an idiom, not an overflow.
    mark = value.overflow or (None if number < 0 else (text, number, type_text))
    return Const(wrapped, mark)
