"""Abstract values: what the path engine knows of a variable.

Values are immutable and compare by structure, so that two evaluations of the same expression over
unchanged variables are equal: that is what correlates ``if (gpu)`` with a later ``if (gpu)``.
What is computed with them: ``arithmetic``.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any, Union

import msgspec

from cudalint.program import FIELDS

Location = tuple[Any, ...]
"""Where a value is stored: a root and a path. Roots are a variable's symbol (``("d_a",)``,
``("this", ".d_a")``) or ``"@"`` and the value that points there (``("@", Input(("p",)), ".d_a")``).
Path parts are ``.field``, ``[3]``, and ``[]`` for any element."""


class Const(msgspec.Struct, frozen=True):
    """A known value. ``None`` is null. ``overflow`` holds the text, the mathematical value and the
    type of an integer computation on the way that did not fit."""

    value: int | float | str | bool | None
    overflow: tuple[str, int, str] | None = None


class Symbol(msgspec.Struct, frozen=True, order=True, cache_hash=True):
    """An unknown value by its origin (an operation of the function).

    When a loop runs the operation again, the value of the earlier iterations becomes ``older``.
    """

    origin: str
    older: bool = False


class Input(msgspec.Struct, frozen=True, cache_hash=True):
    """The value that a location held when the function was entered."""

    location: tuple[Any, ...]


class Operation(msgspec.Struct, frozen=True, cache_hash=True):
    """An uninterpreted operation over values."""

    operator: str
    operands: tuple[Value, ...]


class Polynomial(msgspec.Struct, frozen=True, cache_hash=True):
    """A sum of integer multiples of products of values; the empty product is the constant."""

    terms: tuple[tuple[tuple[Value, ...], int], ...]


class Pointer(msgspec.Struct, frozen=True, cache_hash=True):
    """The pointer to, or handle of, a resource of this function; ``offset`` in elements or bytes,
    only compared with zero."""

    resource: Symbol
    offset: Value


class Bag(msgspec.Struct, frozen=True, cache_hash=True):
    """One of several resources: an element of an array or container. ``bag`` makes one."""

    resources: tuple[Symbol, ...]
    """Each once, in order."""


def bag(resources: Iterable[Symbol]) -> Bag:
    """The value that stands for any of some resources."""
    return Bag(tuple(sorted(set(resources))))


class Address(msgspec.Struct, frozen=True, cache_hash=True):
    """The address of a variable or of a part of it."""

    location: tuple[Any, ...]


class Sequence(msgspec.Struct, frozen=True, cache_hash=True):
    """A tuple, list, initialiser or ``dim3`` of known length."""

    items: tuple[Value, ...]
    kind: str = "tuple"

    @property
    def fields(self) -> Iterator[tuple[str, Value]]:
        """The parts of a location by which the members of an aggregate are told, and these."""
        if self.kind == FIELDS:
            for name, value in zip(self.items[::2], self.items[1::2], strict=True):
                yield f".{constant(name)}", value


class FunctionValue(msgspec.Struct, frozen=True):
    """A function or a name of an API module (``numpy.float32``)."""

    name: str
    key: str | None = None


class Array(msgspec.Struct, frozen=True, cache_hash=True):
    """An array object of a Python library. ``items`` is the number of elements."""

    space: str | None
    shape: tuple[Value, ...] | None
    item_bytes: int | None
    origin: Symbol
    owner: bool = True
    """False for a view of a part."""


class Uninitialized(msgspec.Struct, frozen=True):
    """The content of a local variable that nothing was assigned to."""

    name: str


Value = Union[
    Const, Symbol, Input, Operation, Polynomial, Pointer, Bag, Address, Sequence, FunctionValue,
    Array, Uninitialized,
]  # fmt: skip

ZERO = Const(0)
NULL = Const(None)
COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
NUMERIC = COMPARISONS | {"/", "true/", "//", "%", "**"}
"""What these give is a number, or true or false: it leads to no pointer."""
CLOSED = frozenset({Const, FunctionValue, Uninitialized})
"""Values with nothing inside: no resource, nothing unknown, nothing that could be rewritten."""


def constant(value: Value | None) -> int | float | str | bool | None:
    """The Python value of a constant, else ``None``."""
    return value.value if isinstance(value, Const) else None


def integer(value: Value | None) -> int | None:
    """The integer of a constant (a float with an integral value counts), else ``None``."""
    number = constant(value)
    if isinstance(number, bool | int):
        return int(number)
    if isinstance(number, float) and number.is_integer():
        return int(number)
    return None


def parts(value: Value) -> tuple[Value, ...]:
    """The values directly inside a value."""
    if type(value) in CLOSED:
        return ()
    match value:
        case Operation(operands=operands):
            return operands
        case Polynomial(terms=terms):
            return tuple(factor for factors, _ in terms for factor in factors)
        case Pointer(resource=resource, offset=offset):
            return (resource, offset)
        case Bag(resources=resources):
            return resources
        case Sequence(items=items):
            return items
        case Array(shape=shape, origin=origin):
            return (*(shape or ()), origin)
        case Address(location=location) | Input(location=location):
            return tuple(part for part in location if not isinstance(part, str))
        case _:
            return ()


def inside(*values: Value) -> Iterator[Value]:
    """Some values and all that are inside them."""
    pending = list(values)
    while pending:
        value = pending.pop()
        yield value
        pending.extend(parts(value))


def mentions(value: Value, symbol: Symbol) -> bool:
    """Whether a symbol occurs anywhere in a value."""
    return symbol in inside(value)


_NO_SYMBOLS: frozenset[Symbol] = frozenset()


@functools.lru_cache(maxsize=1 << 16)
def symbols_in(value: Value) -> frozenset[Symbol]:
    """All symbols anywhere in a value."""
    # States are searched at every block, and hold the same values nearly everywhere.
    if isinstance(value, Symbol):
        return frozenset((value,))
    return _NO_SYMBOLS.union(*map(symbols_in, parts(value)))


def resources_in(value: Value) -> tuple[Symbol, ...]:
    """The resources that a value gives access to."""
    kind = type(value)
    if kind in CLOSED or kind is Symbol or kind is Input:
        return ()
    match value:
        case Pointer(resource=resource):
            return (resource,)
        case Bag(resources=resources):
            return resources
        case Array(origin=origin):
            return (origin,)
        case Sequence() | Operation() | Polynomial() | Address():
            return _resources_in(value)
        case _:
            return ()


@functools.lru_cache(maxsize=1 << 16)
def _resources_in(value: Value) -> tuple[Symbol, ...]:
    if isinstance(value, Operation) and value.operator in COMPARISONS:
        return ()  # true or false
    return tuple(resource for part in parts(value) for resource in resources_in(part))
