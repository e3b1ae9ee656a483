"""Lowers one function, method, constructor, destructor or lambda."""

from __future__ import annotations

from typing import Any, Literal

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.arguments import item
from cudalint.frontends.cuda.lowering.blocks import end_span, lower_braces
from cudalint.frontends.cuda.lowering.context import Context, Parts
from cudalint.frontends.cuda.lowering.graph import Symbols
from cudalint.frontends.cuda.lowering.initialization import bound, initialize
from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    Storage,
    address,
    children,
    evaluate,
    initializer,
    is_value,
    library,
    name_of,
    referenced,
    related,
)
from cudalint.frontends.cuda.lowering.names import RECORDS
from cudalint.frontends.cuda.lowering.objects import construct
from cudalint.frontends.cuda.lowering.syntax import construction_in
from cudalint.frontends.cuda.lowering.types import as_parameter
from cudalint.frontends.cuda.lowering.unit import Body, Unit
from cudalint.frontends.cuda.lowering.variables import own_member
from cudalint.program import (
    THIS,
    Assign,
    Constant,
    Expression,
    Function,
    FunctionReference,
    Parameter,
    Type,
    Variable,
)
from cudalint.source import Span

_NO_THROW = (1, 4, 5, 9)

_KINDS: dict[int, Any] = {
    Kind.METHOD: "method",
    Kind.CONVERSION: "method",
    Kind.CONSTRUCTOR: "constructor",
    Kind.DESTRUCTOR: "destructor",
}

_BODIES = (Kind.COMPOUND, Kind.TRY)


def lambda_(context: Context, cursor: Cursor) -> Expression:
    """Lower a lambda into a function of its own."""
    context.lambdas += 1
    key = f"{context.key}@lambda{context.lambdas}"
    declaration = context.library.type_declaration(context.library.type(cursor))
    declaration._tu = cursor._tu
    context.unit.lambdas[address(declaration)] = key
    parts = children(cursor)
    for part in parts:
        if part._kind_id == Kind.VARIABLE_NAME:
            _capture(context, part)
        elif is_value(part) and part._kind_id not in _BODIES and part._kind_id < 200:
            item(context, part)  # Captured by copy.
    name = f"{context.name}::<lambda>"
    inner = Context(context.parts, context.unit, key, name, context.symbols, context.record)
    inner.by_name = dict(context.by_name)
    bodily = (part for part in children(declaration) if part._kind_id == Kind.METHOD)
    inner.refers = any(context.types.result(part).kind == "reference" for part in bodily)
    bodies = [part for part in parts if part._kind_id in _BODIES]
    parameters = [part for part in parts if part._kind_id == Kind.PARAMETER]
    span = context.positions.span(cursor)
    function = _function(
        inner,
        span,
        context.positions.filename_of(cursor),
        parameters,
        bodies[-1:],
        kind="lambda",
        parent=context.key,
        in_macro=context.positions.from_macro(cursor),
    )
    context.unit.functions[key] = function
    return FunctionReference("<lambda>", key)


def _capture(context: Context, name: Cursor) -> None:
    """``[copy = value]`` declares a variable; other captures are the parent's variables."""
    declaration = referenced(name)
    if declaration is None or declaration._kind_id != Kind.VARIABLE:
        return
    if address(declaration) in context.symbols.places:
        return
    initial = initializer(declaration)
    parent = related("parent", declaration)
    if initial is None or (parent is not None and parent._kind_id == Kind.NAMESPACE):
        return
    if context.library.storage(declaration) in (Storage.EXTERN, Storage.STATIC):
        return
    variable = context.declare(declaration, name_of(name), context.types.of(declaration))
    initialize(context, variable, initial, context.positions.span(name), declares=True)


def _function(
    context: Context,
    span: Span,
    filename: str,
    parameters: list[Cursor],
    bodies: list[Cursor],
    members: list[Cursor] | None = None,
    **facts: Any,
) -> Function:
    """The function with its parameters and body; ``members``: a constructor's own part."""
    lowered = tuple(_parameter(context, parameter) for parameter in parameters)
    if members is not None:
        _member_initializers(context, members)
    for part in bodies:
        if part._kind_id == Kind.COMPOUND:
            lower_braces(context, part)
        else:
            context.statement(part)
    context.jumps.finish(end_span(context, bodies[-1]) if bodies else span)
    return Function(
        context.key,
        context.name,
        filename,
        span,
        lowered,
        context.graph.finished(),
        context.variables,
        record=context.record,
        **facts,
    )


def _parameter(context: Context, cursor: Cursor) -> Parameter:
    name, type_ = name_of(cursor), as_parameter(context.types.of(cursor))
    variable = context.declare(cursor, name, type_, "parameter")
    by: Any = type_.kind if type_.kind in ("reference", "pointer") else "value"
    default = None
    initial = initializer(cursor)
    if initial is not None:
        value = evaluate(initial)
        default = Constant(value) if value is not None else None
    return Parameter(name, variable.symbol, type_, by, default)


def _member_initializers(context: Context, parts: list[Cursor]) -> None:
    """Members get their values: by the list, else by their default initialiser."""
    given: dict[str, tuple[Cursor, Cursor | None]] = {}
    bases: list[Cursor] = []
    number = 0
    while number < len(parts):
        part = parts[number]
        following = parts[number + 1] if number + 1 < len(parts) else None
        value = following if following is not None and is_value(following) else None
        if part._kind_id == Kind.MEMBER_NAME:
            given[name_of(part)] = (part, value)
        elif value is not None and (base := construction_in(context, value)) is not None:
            bases.append(base)
        number += 1
    delegates = False
    for base in bases:
        construct(context, base, THIS)
        function = referenced(base)
        parent = related("parent", function) if function is not None else None
        delegates = delegates or (
            parent is not None and context.types.record_key(parent) == context.record
        )
    if not delegates:
        _fields(context, given)
    for name, (part, value) in given.items():
        _initialize_member(context, name, part, value)


def _fields(context: Context, given: dict[str, tuple[Cursor, Cursor | None]]) -> None:
    """Members that no initialiser names keep their default."""
    record = context.unit.records.get(context.record or "")
    types = {one.name: one.type for one in record.fields} if record is not None else {}
    for name, value, place in context.unit.defaults_of(context.record or ""):
        if name not in given:
            member = own_member(context, name)
            initialize(context, member, value, place, declares=False, type_=types.get(name))


def _initialize_member(context: Context, name: str, part: Cursor, value: Cursor | None) -> None:
    place = own_member(context, name)
    span = context.positions.span(part)
    declaration = referenced(part)
    type_ = context.types.of(declaration) if declaration is not None else Type("")
    if value is not None and type_.kind == "reference":
        context.graph.emit(Assign(place, bound(context, value), span))
        return
    if value is not None:
        initialize(context, place, value, span, declares=False, type_=type_)
        return
    zero: Expression = Constant(None if type_.kind == "pointer" else 0)
    if type_.kind in ("pointer", "integer", "float", "bool", "enumeration"):
        context.graph.emit(Assign(place, zero, span))


def lower_global_lambda(parts: Parts, unit: Unit, variable: Variable, cursor: Cursor) -> None:
    """A lambda that a variable outside of functions holds."""
    lambda_(Context(parts, unit, variable.symbol, variable.name, Symbols()), cursor)


def lower_implicit_constructor(
    parts: Parts, unit: Unit, key: str, name: str, record: Cursor
) -> Function:
    """The default constructor that the compiler writes for a class."""
    context = Context(parts, unit, key, name, Symbols(), unit.types.record_key(record))
    span, filename = unit.positions.span(record), unit.positions.filename_of(record)
    return _function(context, span, filename, [], [], [], kind="constructor")


def _named_by(key: str) -> Literal["any", "file", "instances"]:
    """Who can call a function, by its USR: that of a template says so, and where others cannot link
    to it, it has the name of its file."""
    if "@FT@" in key or "@ST>" in key or "@SP>" in key:
        return "instances"
    return "any" if key.startswith("c:@") or not key.startswith("c:") else "file"


def lower_function(lower: Parts, unit: Unit, body: Body) -> Function:
    """Lower a function's definition."""
    functions = library()
    cursor, record = body.cursor, body.record
    kind = cursor._kind_id
    if kind == Kind.FUNCTION_TEMPLATE:
        kind = functions.template_kind(cursor)
    name = unit.names.qualified(cursor)
    parts = children(cursor)
    parameters = [part for part in parts if part._kind_id == Kind.PARAMETER]
    bodies = [part for part in parts if part._kind_id in _BODIES]
    parent = related("parent", cursor)
    if record is None and parent is not None and parent._kind_id in RECORDS:
        record = unit.types.record_key(parent)
    members = None
    if kind == Kind.CONSTRUCTOR:
        members = [part for part in parts if part._kind_id not in (Kind.PARAMETER, *_BODIES)]
    exceptions = functions.exceptions(cursor)
    returns = unit.types.result(cursor)
    context = Context(lower, unit, body.key, name, Symbols(), record)
    context.refers = returns.kind == "reference"
    return _function(
        context,
        unit.positions.span(unit.templates.pattern(cursor)),
        unit.positions.filename_of(cursor),
        parameters,
        bodies[-1:],
        members,
        kind=_KINDS.get(kind, "function"),
        is_main=name == "main" and record is None,
        is_noexcept=exceptions in _NO_THROW or kind == Kind.DESTRUCTOR,
        is_static=kind == Kind.METHOD and bool(functions.is_static(cursor)),
        returns=returns if returns.text else None,
        in_macro=unit.positions.from_macro(cursor),
        for_device=any(part._kind_id == Kind.DEVICE for part in parts),
        named_by=_named_by(body.key),
    )
