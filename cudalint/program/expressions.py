"""Expressions of the program model: pure, without calls.

A frontend lowers every call to a ``Call`` operation whose result lands in a temporary variable, so
that an expression can be evaluated any number of times. An expression that can be assigned to is a
*place*: ``Variable``, ``Member``, ``Index`` or ``Dereference``.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator
from typing import Union

import msgspec

FIELDS = "fields"
"""The kind of a ``Tuple`` that is a class object made of values: names and values by turns."""
NUMBERS = frozenset(("integer", "float", "bool", "enumeration"))
"""The kinds of types whose variables hold one number."""


class Type(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """What the engine must know of a type; sizes in bytes, ``None`` where unknown."""

    text: str
    kind: str = "other"
    """pointer, reference, integer, float, bool, array, record, enumeration, function, void, other
    (Python values: other)."""
    bytes: int | None = None
    signed: bool = True
    pointee: Type | None = None
    """Of a pointer, a reference or an array: the type of what it points to or of one element."""
    elements: int | None = None
    """Of an array, and of a class that is one: how many elements."""
    record: str | None = None
    """Of a record: the key of its ``Record`` (clang's USR)."""
    constant: bool = False
    arguments: tuple[Type, ...] = ()
    """Of a record that is made of a template: the types among the template's arguments, of records
    their names and keys alone."""


class Constant(msgspec.Struct, frozen=True, tag="constant"):
    """A literal, or a constant that the frontend folded (enumerator, macro, ``sizeof``).

    ``text`` keeps the spelling where it matters (``cudaSuccess``, ``cudaMemcpyHostToDevice``).
    ``None`` is the null pointer in C++ and ``None`` in Python.
    """

    value: int | float | str | bool | None
    text: str = ""


class Variable(msgspec.Struct, frozen=True, tag="variable"):
    """A variable. ``symbol`` is unique within its function (shadowed names differ: ``n``, ``n#2``).

    Temporaries are ``%1``, ``%2``...; globals and statics start with ``::`` and are the same in
    every function of the file; the receiver is ``this`` in both languages (also for ``self``).
    Python module variables are ``::name``.
    """

    name: str
    symbol: str


class Member(msgspec.Struct, frozen=True, tag="member"):
    """``base.field``. ``p->field`` is ``Member(Dereference(p), field)``; the receiver's own member
    is ``Member(this, field)`` in both languages (never ``Member(Dereference(this), field)``)."""

    base: Expression
    field: str
    shares: str = ""
    """The first field of a union, whose place this other one of it has too; of a member that hides
    one of a base, its name with the class. Without ``field``: what the base holds, where the source
    names it by the base alone (``table[key]``, ``*optional``)."""

    @property
    def place(self) -> str:
        """The field by whose name the value is kept."""
        return self.shares or self.field


class Index(msgspec.Struct, frozen=True, tag="index"):
    """``base[index]``, in both languages; ``base.*member`` where the index is a
    ``FunctionReference`` to a field; the element of an iteration is
    ``Index(iterable, EACH)``."""

    base: Expression
    index: Expression


class Slice(msgspec.Struct, frozen=True, tag="slice"):
    """Python's ``base[lower:upper:step]``: a view."""

    base: Expression
    lower: Expression | None = None
    upper: Expression | None = None
    step: Expression | None = None
    subscripts: tuple[Expression, ...] = ()
    """All subscripts where there are several (``a[:, None, 2:5]``): slices, whose base means
    nothing, ``None``, ``Unknown("...")`` and indices."""


class Dereference(msgspec.Struct, frozen=True, tag="dereference"):
    """``*pointer``."""

    pointer: Expression
    implicit: bool = False
    """Of a reference, which is lowered as the pointer to what it is bound to."""


class AddressOf(msgspec.Struct, frozen=True, tag="address"):
    """``&place``."""

    place: Expression


class Unary(msgspec.Struct, frozen=True, tag="unary"):
    """Operators ``-  ~  !`` (also Python's ``not``), ``len`` (elements), and ``more``: whether the
    iteration over the operand goes on (the condition of a Python ``for`` or a C++ range-for)."""

    operator: str
    operand: Expression


class Binary(msgspec.Struct, frozen=True, tag="binary"):
    """C's spelling in both languages: ``+ - * / % << >> & | ^ == != < <= > >= && ||``; Python adds
    ``// ** in is @``. ``&&`` and ``||`` only where neither side contains a call, else the frontend
    lowers to branches. ``result`` is the integer type in which C++ computes it (GPU505)."""

    operator: str
    left: Expression
    right: Expression
    result: Type | None = None


class Conditional(msgspec.Struct, frozen=True, tag="conditional"):
    """``condition ? then : otherwise`` without calls in it."""

    condition: Expression
    then: Expression
    otherwise: Expression


class Cast(msgspec.Struct, frozen=True, tag="cast"):
    """An explicit or a value-changing implicit conversion (integer width, float to int, pointer to
    integer). Pointer-to-pointer casts are transparent and not written."""

    to: Type
    operand: Expression


class Tuple(msgspec.Struct, frozen=True, tag="tuple"):
    """A tuple or list display, an initialiser list, a ``dim3``: a fixed number of items."""

    items: tuple[Expression, ...]
    kind: str = "tuple"
    """tuple, list, set, dict (items alternate key, value), fields (names and values alternate),
    initializer, dim3."""

    @property
    def fields(self) -> Iterator[tuple[str, Expression]]:
        """The names and values of the members of an aggregate."""
        if self.kind == FIELDS:
            for name, value in zip(self.items[::2], self.items[1::2], strict=True):
                yield str(getattr(name, "value", "")), value


class FunctionReference(msgspec.Struct, frozen=True, tag="function"):
    """A function, lambda, class, field or API name used as a value. ``key`` links to
    ``Function.key`` (or ``Record.key``); ``name`` is the API name (``cudaFree``,
    ``cupy.asarray``)."""

    name: str
    key: str | None = None


class Unknown(msgspec.Struct, frozen=True, tag="unknown"):
    """What could not be lowered. ``reads`` are places whose value flows into it: they are used, and
    a resource among them escapes if the unknown value is stored."""

    text: str = ""
    reads: tuple[Expression, ...] = ()


EACH = Unknown("each")
"""The index of an element that a loop over a container hands out."""
RAISES = Unknown("raises")
"""Whether what follows, which calls nothing, raises all the same: an element is missing, say."""


class Caught(msgspec.Struct, frozen=True, tag="caught"):
    """Whether a handler takes the exception that is under way. ``kinds``: the classes that it
    names, imports resolved; empty where they are not known."""

    text: str
    kinds: tuple[str, ...] = ()


Expression = Union[
    Constant, Variable, Member, Index, Slice, Dereference, AddressOf, Unary, Binary, Conditional,
    Cast, Tuple, FunctionReference, Unknown, Caught,
]  # fmt: skip
Place = Union[Variable, Member, Index, Dereference]

THIS = Variable("this", "this")


def children(expression: Expression) -> tuple[Expression, ...]:
    """The direct operands of an expression, left to right."""
    match expression:
        case Member(base=base):
            return (base,)
        case Index(base=base, index=index):
            return (base, index)
        case Slice(base=base, lower=lower, upper=upper, step=step, subscripts=subscripts):
            bounds = (part for part in (lower, upper, step) if part is not None)
            return (base, *bounds, *subscripts)
        case Dereference(pointer=operand) | AddressOf(place=operand):
            return (operand,)
        case Unary(operand=operand) | Cast(operand=operand):
            return (operand,)
        case Binary(left=left, right=right):
            return (left, right)
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            return (condition, then, otherwise)
        case Tuple(items=items) | Unknown(reads=items):
            return items
        case _:
            return ()


def walk(*expressions: Expression) -> Iterator[Expression]:
    """Some expressions and all that they are made of."""
    pending = list(expressions)
    while pending:
        current = pending.pop()
        yield current
        pending.extend(children(current))


def variables(expression: Expression) -> set[str]:
    """The symbols of all variables that an expression reads."""
    return {part.symbol for part in walk(expression) if isinstance(part, Variable)}


_LONG_NUMBER = 10
"""Digits: more are no number of single precision that somebody wrote."""
_LEVELS = (
    "||", "&&", "|", "^", "&", "== != in is", "< <= > >=", "<< >>", "+ -", "* / % // @", "**",
)  # fmt: skip
_PRECEDENCE = {
    operator: level for level, operators in enumerate(_LEVELS) for operator in operators.split()
}
BINARY_OPERATORS = frozenset(_PRECEDENCE)
_TIGHTEST = len(_LEVELS)
_BEHIND = _TIGHTEST + 1
"""Of what stands behind its operand: a member, a subscript, a call."""


def _grouped(expression: Expression, level: int) -> str:
    """An operand, in parentheses where it binds less than its operator does."""
    text = render(expression)
    match expression.operand if isinstance(expression, Cast) else expression:
        case Conditional():
            own = 0
        case Binary(operator=operator):
            own = _PRECEDENCE.get(operator, _TIGHTEST)
        case Unary(operator=operator) if operator not in ("len", "more"):
            own = _TIGHTEST
        case Dereference(implicit=False) | AddressOf():
            own = _TIGHTEST
        case _:
            return text
    return f"({text})" if own < level else text


def _number(value: object) -> str:
    """A constant; a number of single precision with no more digits than make it."""
    if isinstance(value, float) and len(text := repr(value)) > _LONG_NUMBER:
        with contextlib.suppress(OverflowError):
            single = struct.pack("f", value)
            if struct.unpack("f", single)[0] == value:
                shorter = (f"{value:.{digits}g}" for digits in range(1, 10))
                return next(
                    (one for one in shorter if struct.pack("f", float(one)) == single), text
                )
    return str(value)


def _bounds(subscript: Expression) -> str:
    if not isinstance(subscript, Slice):
        return "None" if subscript == Constant(None) else render(subscript)
    left = render(subscript.lower) if subscript.lower is not None else ""
    right = render(subscript.upper) if subscript.upper is not None else ""
    return f"{left}:{right}"


def render(expression: Expression) -> str:
    """The expression as a person would write it, for messages."""
    match expression:
        case Constant(value=value, text=text):
            return text or ("nullptr" if value is None else _number(value))
        case Variable(name=name):
            return name
        case Member(base=base, field=""):
            return render(base)
        case Dereference(pointer=pointer, implicit=True):
            return render(pointer)
        case Member(base=Dereference(pointer=pointer, implicit=False), field=field):
            return f"{_grouped(pointer, _BEHIND)}->{field}"
        case Member(base=Variable(symbol="this", name=name), field=field):
            return f"{name}.{field}" if name != "this" else field
        case Member(base=base, field=field):
            return f"{_grouped(base, _BEHIND)}.{field}"
        case Index(base=base, index=index) if index == EACH:
            return f"{_grouped(base, _BEHIND)}[...]"
        case Index(base=base, index=Constant(value=str() as key, text="")):
            return f'{render(base)}["{key}"]'
        case Index(base=base, index=index):
            return f"{_grouped(base, _BEHIND)}[{render(index)}]"
        case Slice(base=base, subscripts=subscripts):
            parts = [_bounds(part) for part in subscripts or (expression,)]
            return f"{render(base)}[{', '.join(parts)}]"
        case Dereference(pointer=pointer):
            return f"*{_grouped(pointer, _TIGHTEST)}"
        case AddressOf(place=place):
            return f"&{render(place)}"
        case Unary(operator=operator, operand=operand):
            if operator in ("len", "more"):
                return f"{operator}({render(operand)})"
            return f"{operator}{_grouped(operand, _TIGHTEST)}"
        case Binary(operator=operator, left=left, right=right):
            level = _PRECEDENCE.get(operator, _TIGHTEST)
            return f"{_grouped(left, level)} {operator} {_grouped(right, level + 1)}"
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            return f"{render(condition)} ? {render(then)} : {render(otherwise)}"
        case Cast(operand=operand):
            return render(operand)
        case Tuple(items=items, kind=kind):
            shown = items[1::2] if kind == FIELDS else items
            return f"({', '.join(render(item) for item in shown)})"
        case FunctionReference(name=name):
            return name
        case Unknown(text=text) | Caught(text=text):
            return text or "?"
