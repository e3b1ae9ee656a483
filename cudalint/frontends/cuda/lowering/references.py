"""Lowers names, members and subscripts."""

from __future__ import annotations

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    address,
    children,
    name_of,
    referenced,
    related,
    values_of,
)
from cudalint.frontends.cuda.lowering.names import FUNCTIONS, outermost_template
from cudalint.frontends.cuda.lowering.syntax import MEMBER_NAME, two
from cudalint.frontends.cuda.lowering.variables import IDENTIFIER, named, place_of
from cudalint.program import (
    THIS,
    AddressOf,
    Constant,
    Dereference,
    Expression,
    FunctionReference,
    Index,
    Member,
    Unknown,
)


def name_reference(context: Context, cursor: Cursor) -> Expression:
    """Lower a name."""
    declaration = referenced(cursor)
    if declaration is None:
        values = values_of(cursor)
        if len(values) == 1:
            return context.expression(values[0])  # The argument of a template.
        text = context.positions.text(cursor)
        return named(context, text) if IDENTIFIER.match(text) else Unknown(text)
    kind: int = declaration._kind_id
    if kind == Kind.ENUMERATOR:
        return _enumerator(context, declaration)
    if kind in FUNCTIONS:
        facts = context.names.function(declaration)
        return FunctionReference(facts.name, facts.key)
    if kind == Kind.OVERLOADED:
        candidates = context.names.overloads(declaration)
        if not candidates:
            return FunctionReference(name_of(declaration))
        facts = context.names.function(candidates[0])
        return FunctionReference(facts.name, facts.key if len(candidates) == 1 else None)
    name = name_of(declaration)
    if kind == Kind.FIELD:
        return _field(context, THIS, name, declaration)
    if kind in (
        Kind.VARIABLE,
        Kind.PARAMETER,
        Kind.UNEXPOSED_DECL,
        Kind.VALUE_PARAMETER,
    ):
        return place_of(context, declaration, name)
    return Unknown(name)


def _enumerator(context: Context, declaration: Cursor) -> Expression:
    """The value of an enumerator. In a class template clang gives 0 for each: there it is what is
    written, or one more than the one before."""
    name = name_of(declaration)
    enumeration = related("parent", declaration)
    around = related("parent", enumeration) if enumeration is not None else None
    if enumeration is None or around is None or outermost_template(around) is None:
        return Constant(int(context.library.enumerator(declaration)), name)
    known = context.unit.enumerators
    value: int | None = -1
    for one in children(enumeration):
        if address(declaration) in known:
            break
        if one._kind_id == Kind.ENUMERATOR:
            written = [context.expression(part) for part in values_of(one)[:1]]
            if written:
                number = getattr(written[0], "value", None)
                value = number if isinstance(number, int) else None
            elif value is not None:
                value += 1
            known[address(one)] = value
    value = known.get(address(declaration))
    return Unknown(name) if value is None else Constant(value, name)


def member(context: Context, cursor: Cursor) -> Expression:
    """Lower ``a.b`` and ``a->b``."""
    declaration = referenced(cursor)
    if declaration is not None:
        kind: int = declaration._kind_id
        if kind == Kind.VARIABLE:
            return place_of(context, declaration, name_of(declaration))
        if kind == Kind.ENUMERATOR:
            return _enumerator(context, declaration)
        if kind in FUNCTIONS:
            facts = context.names.function(declaration)
            return FunctionReference(facts.name, facts.key)
    base = member_base(context, cursor)
    name = name_of(cursor)
    if not name:
        if declaration is not None:
            return base  # A member of an unnamed union or struct.
        found = MEMBER_NAME.search(context.positions.text(cursor))
        if found is None:
            return Unknown(context.positions.text(cursor), (base,))
        name = found.group(2)
    return _field(context, base, name, declaration)


def _field(context: Context, base: Expression, name: str, declaration: Cursor | None) -> Expression:
    """A data member: what a reference refers to; one of a union shares the place of its first, but
    a number with a point has other bits than one without; one that hides a base's has a place of
    its own."""
    if declaration is not None and context.types.of(declaration).kind == "reference":
        return Dereference(Member(base, name), implicit=True)
    parent = related("parent", declaration) if declaration is not None else None
    if declaration is None or parent is None or parent._kind_id != Kind.UNION:
        key = context.types.record_key(parent) if parent is not None else None
        return Member(base, name, context.unit.own_place(key, name))
    is_float = context.types.of(declaration).kind == "float"
    fields = [
        name_of(part)
        for part in children(parent)
        if part._kind_id == Kind.FIELD and (context.types.of(part).kind == "float") == is_float
    ]
    return Member(base, name, fields[0] if fields and fields[0] != name else "")


def member_base(context: Context, cursor: Cursor) -> Expression:
    """The object of a member expression: ``*p`` for ``p->m``."""
    bases = values_of(cursor)
    if not bases or bases[0]._kind_id == Kind.OVERLOADED:
        return THIS
    base = context.expression(bases[0])
    if base == THIS:
        return THIS
    kind = context.types.of(bases[0]).kind
    arrow = kind == "pointer"
    if kind in ("other", "record"):
        # A type that depends on a template, or a smart pointer.
        found = MEMBER_NAME.search(context.positions.text(cursor))
        arrow = found is not None and found.group(1) == "->"
    if not arrow:
        return base
    return base.place if isinstance(base, AddressOf) else Dereference(base)


def subscript(context: Context, cursor: Cursor) -> Expression:
    """Lower ``a[b]``."""
    base, index = two(cursor)
    return Index(context.expression(base), context.expression(index))


def this(context: Context, cursor: Cursor) -> Expression:
    """Lower ``this``."""
    return THIS
