"""The small languages inside API models: paths, amounts, shapes, element types.

- A *path* is ``arg0``, ``*arg0``, a parameter's name, ``return``, ``this``, each with steps:
  ``return[1]``, ``this.handle``. ``*arg0.ptr`` is the field ``ptr`` of what argument 0 points to.
  ``current`` is the resource of the release's families that was acquired last, whatever holds it
  (PyCUDA's ``Context.pop()``).
- An *amount* is arithmetic (``+ - * / //``, parentheses) over numbers, paths, ``template_bytes``
  (the size of the first template argument) and the functions of ``FUNCTIONS``.
- A *shape* is ``args`` (the positional arguments, or the one sequence among them), ``like PATH``,
  ``range(PATH, ...)`` (as Python's ``range`` counts), one of ``SHAPE_FUNCTIONS`` of paths
  (``reduce(a, axis, keepdims)``) or amounts with commas between them, each with an optional
  default: ``N, M|N``.
- An *element type* is a literal (``float64``), ``like PATH``, one of ``DTYPE_FUNCTIONS`` of paths
  (``promote(a, b)``), or ``PATH|default``, where the default may be any of these but a path.
- A *direction* is a literal (``host-to-device``), or ``PATH|default``.

All results are frozen and cached: the analysis may parse the same text again at no cost.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Literal, Union, get_args

import msgspec

from cudalint.apis.model import Direction

FUNCTIONS = frozenset(
    {
        "product",  # elements of a shape: an int or a sequence of ints
        "itemsize",  # bytes of one element of a dtype (or of an array)
        "nbytes",  # bytes of an array
        "count",  # elements of an array
    }
)
"""The functions of amounts, each of one argument."""

DTYPES = frozenset(
    {
        *("bool", "bool_", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"),
        *("uint64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
        *("float8_e4m3fn", "float8_e5m2", "intp", "uintp", "half", "single", "double"),
    }
)
"""Literal element types."""


SHAPE_FUNCTIONS = frozenset(
    {
        "broadcast",  # of an elementwise operation on arrays
        "reduce",  # array, axis, keepdims
        "matmul",  # left, right
        "concatenate",  # sequence of arrays, axis
        "stack",  # sequence of arrays, axis
        "transpose",  # array, axes: all reversed where there are none (PyTorch: two that swap)
        "permute",  # array, axes: all reversed where there are none
        "swap",  # array, axis, axis
        "squeeze",  # array, axis
        "unsqueeze",  # array, axis
        "flatten",  # array: one axis
        "outer",  # left, right
        "repeat",  # array, times, axis
        "tile",  # array, times for each axis
        "resize",  # array, extent, axis
        "expand",  # array, extents (-1: as it is)
        "select",  # condition, one, other: as broadcast; unknown with the condition alone
    }
)
DTYPE_FUNCTIONS = frozenset(
    {
        "promote",  # of an elementwise operation on arrays and numbers
        "floating",  # as promote; integers become the library's default float
        "accumulated",  # of a sum: small integers grow
        "real",  # complex numbers become real ones
    }
)


class Path(msgspec.Struct, frozen=True):
    """Where a value stands in a call."""

    root: Literal["argument", "return", "this", "current", "template_bytes"]
    index: int | None = None
    """Position of the argument; ``None`` where it can only be given by keyword."""
    name: str | None = None
    """Name of the parameter, if the model names it."""
    dereference: bool = False
    steps: tuple[str | int, ...] = ()
    """Fields and constant subscripts, outermost last."""


class Number(msgspec.Struct, frozen=True):
    """A literal number."""

    value: int | float


class Arithmetic(msgspec.Struct, frozen=True):
    """``left operator right``; the operator is one of ``+ - * / //``."""

    operator: str
    left: Amount
    right: Amount


class Apply(msgspec.Struct, frozen=True):
    """A call of one of ``FUNCTIONS``."""

    function: str
    argument: Amount


Amount = Union[Number, Path, Arithmetic, Apply]


def paths_in(amount: Amount) -> Iterator[Path]:
    """The paths that an amount is computed from."""
    match amount:
        case Path():
            yield amount
        case Arithmetic(left=left, right=right):
            yield from (*paths_in(left), *paths_in(right))
        case Apply(argument=argument):
            yield from paths_in(argument)


class Dimension(msgspec.Struct, frozen=True):
    """One item of a shape, and what it is where the caller leaves it out."""

    amount: Amount
    default: Amount | None = None


class Shape(msgspec.Struct, frozen=True):
    """``kind`` is ``arguments``, ``like``, ``range``, ``function`` or ``dimensions``. One dimension
    may also turn out to be a sequence: the whole shape."""

    kind: Literal["arguments", "like", "range", "function", "dimensions"]
    like: Path | None = None
    dimensions: tuple[Dimension, ...] = ()
    function: str = ""
    paths: tuple[Path, ...] = ()


class ElementType(msgspec.Struct, frozen=True):
    """The element type at ``path`` (``like``: of the array there), else ``default``, else what
    ``function`` makes of the arrays at ``paths``."""

    path: Path | None = None
    like: bool = False
    default: str | None = None
    function: str = ""
    paths: tuple[Path, ...] = ()


class CopyDirection(msgspec.Struct, frozen=True):
    """The ``cudaMemcpyKind`` at ``path``, else ``default``."""

    path: Path | None = None
    default: Direction | None = None


Parameters = tuple[str, ...]

_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?)|([A-Za-z_]\w*)|(//|[-+*/(),.\[\]]))")
_ARGUMENT = re.compile(r"arg(\d+)")


class _Parser:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str, parameters: Parameters) -> None:
        self.text = text
        self.parameters = parameters
        self.tokens: list[str] = []
        position = 0
        while position < len(text.rstrip()):
            match = _TOKEN.match(text, position)
            if match is None:
                raise ValueError(f"`{text}`: unexpected `{text[position:].strip()[0]}`")
            self.tokens.append(match.group().strip())
            position = match.end()
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def next(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def accept(self, *tokens: str) -> str:
        return self.next() if self.peek() in tokens else ""

    def expect(self, token: str) -> None:
        if not self.accept(token):
            found = self.peek() or "the end"
            raise ValueError(f"`{self.text}`: expected `{token}`, found `{found}`")

    def finish(self) -> None:
        if self.peek():
            raise ValueError(f"`{self.text}`: unexpected `{self.peek()}`")

    def path(self) -> Path:
        dereference = bool(self.accept("*"))
        name = self.next()
        if not name.isidentifier():
            raise ValueError(f"`{self.text}`: expected a path, found `{name or 'the end'}`")
        root = self.root(name)
        steps: list[str | int] = []
        while separator := self.accept(".", "["):
            step = self.next()
            if separator == "." and step.isidentifier():
                steps.append(step)
            elif separator == "[" and step.isdigit():
                self.expect("]")
                steps.append(int(step))
            else:
                raise ValueError(f"`{self.text}`: `{separator}{step}` is no field or subscript")
        return msgspec.structs.replace(root, dereference=dereference, steps=tuple(steps))

    def root(self, name: str) -> Path:
        if name in positions(self.parameters):
            return Path("argument", positions(self.parameters)[name], name)
        if name in ("return", "this", "current", "template_bytes"):
            return Path(name)  # type: ignore[arg-type]
        if match := _ARGUMENT.fullmatch(name):
            index = int(match[1])
            by_position = [n for n, place in positions(self.parameters).items() if place == index]
            return Path("argument", index, by_position[0] if by_position else None)
        known = ", ".join((*positions(self.parameters), "argN", "return", "this"))
        raise ValueError(f"`{self.text}`: `{name}` is none of {known}")

    def amount(self) -> Amount:
        left = self.term()
        while operator := self.accept("+", "-"):
            left = Arithmetic(operator, left, self.term())
        return left

    def term(self) -> Amount:
        left = self.factor()
        while operator := self.accept("*", "/", "//"):
            left = Arithmetic(operator, left, self.factor())
        return left

    def factor(self) -> Amount:
        token = self.peek()
        if self.accept("-"):
            return Arithmetic("-", Number(0), self.factor())
        if self.accept("("):
            inside = self.amount()
            self.expect(")")
            return inside
        if token[:1].isdigit():
            self.next()
            return Number(float(token) if "." in token else int(token))
        if self.tokens[self.at + 1 : self.at + 2] == ["("]:
            return self.application()
        return self.path()

    def application(self) -> Apply:
        function = self.next()
        if function not in FUNCTIONS:
            known = ", ".join(sorted(FUNCTIONS))
            raise ValueError(f"`{self.text}`: there is no function `{function}` (only {known})")
        self.expect("(")
        argument = self.amount()
        self.expect(")")
        return Apply(function, argument)


@functools.cache
def positions(parameters: Parameters) -> dict[str, int | None]:
    """Parameter names with their positions. What follows ``*`` or ``*args`` is by keyword only."""
    found: dict[str, int | None] = {}
    keyword_only = False
    for index, name in enumerate(parameters):
        if name.startswith("*"):
            keyword_only = True
            if name.lstrip("*"):
                found[name.lstrip("*")] = index
        else:
            found[name] = None if keyword_only else index
    return found


@functools.cache
def parse_path(text: str, parameters: Parameters = ()) -> Path:
    """Parse a path; ``ValueError`` says what is wrong with it."""
    parser = _Parser(text, parameters)
    path = parser.path()
    parser.finish()
    if path.root == "template_bytes":
        raise ValueError(f"`{text}` is an amount, not a path")
    return path


@functools.cache
def parse_amount(text: str, parameters: Parameters = ()) -> Amount:
    """Parse an amount; ``ValueError`` says what is wrong with it."""
    parser = _Parser(text, parameters)
    amount = parser.amount()
    parser.finish()
    return amount


@functools.cache
def parse_shape(text: str, parameters: Parameters = ()) -> Shape:
    """Parse a shape; ``ValueError`` says what is wrong with it."""
    text = text.strip()
    if text == "args":
        return Shape("arguments")
    if text.startswith("like "):
        return Shape("like", like=parse_path(text.removeprefix("like ").strip(), parameters))
    if text.startswith("range(") and text.endswith(")"):
        items = text[len("range(") : -1]
        return Shape("range", dimensions=_dimensions(items, parameters))
    function, paths = _function(text, parameters, SHAPE_FUNCTIONS)
    if function:
        return Shape("function", function=function, paths=paths)
    return Shape("dimensions", dimensions=_dimensions(text, parameters))


def _function(
    text: str, parameters: Parameters, known: frozenset[str]
) -> tuple[str, tuple[Path, ...]]:
    """``name(path, path)``, if it is one of those known."""
    name, bracket, rest = text.partition("(")
    if not bracket or name not in known or not rest.endswith(")"):
        return "", ()
    return name, tuple(parse_path(part.strip(), parameters) for part in rest[:-1].split(","))


def _dimensions(text: str, parameters: Parameters) -> tuple[Dimension, ...]:
    found = []
    for item in text.split(","):
        amount, bar, default = item.partition("|")
        found.append(
            Dimension(
                parse_amount(amount.strip(), parameters),
                parse_amount(default.strip(), parameters) if bar else None,
            )
        )
    return tuple(found)


@functools.cache
def parse_dtype(text: str, parameters: Parameters = ()) -> ElementType:
    """Parse an element type; ``ValueError`` says what is wrong with it."""
    text = text.strip()
    if text.startswith("like "):
        return ElementType(parse_path(text.removeprefix("like ").strip(), parameters), like=True)
    if text in DTYPES and text not in parameters:
        return ElementType(default=text)
    function, paths = _function(text, parameters, DTYPE_FUNCTIONS)
    if function:
        return ElementType(function=function, paths=paths)
    path, bar, default = (part.strip() for part in text.partition("|"))
    function, paths = _function(default, parameters, DTYPE_FUNCTIONS)
    if function:
        return ElementType(parse_path(path, parameters), function=function, paths=paths)
    if default.startswith("like "):
        return ElementType(
            parse_path(path, parameters),
            function="promote",
            paths=(parse_path(default.removeprefix("like ").strip(), parameters),),
        )
    if bar and default not in DTYPES:
        raise ValueError(f"`{text}`: `{default}` is no element type")
    return ElementType(parse_path(path, parameters), default=default or None)


@functools.cache
def parse_direction(text: str, parameters: Parameters = ()) -> CopyDirection:
    """Parse a copy's direction; ``ValueError`` says what is wrong with it."""
    path, bar, default = (part.strip() for part in text.partition("|"))
    if not bar and path in get_args(Direction):
        return CopyDirection(default=path)  # type: ignore[arg-type]
    if bar and default not in get_args(Direction):
        raise ValueError(f"`{text}`: `{default}` is none of {', '.join(get_args(Direction))}")
    return CopyDirection(parse_path(path, parameters), default or None)  # type: ignore[arg-type]
