"""Lowers the making of objects: constructors, copies, ``dim3``, ``new`` and ``delete``."""

from __future__ import annotations

import re
from typing import Any

from clang.cindex import Cursor

from cudalint.frontends.cuda.lower_base import is_value
from cudalint.frontends.cuda.lower_cursors import (
    Kind,
    children,
    evaluate,
    name_of,
    referenced,
    related,
)
from cudalint.frontends.cuda.lower_expressions import Expressions
from cudalint.frontends.cuda.lower_names import FunctionFacts
from cudalint.program import (
    Argument,
    Assign,
    Call,
    Cast,
    Constant,
    Dereference,
    Expression,
    Tuple,
    Type,
    Unknown,
)
from cudalint.source import Span

DIM3 = "dim3"


class Objects(Expressions):
    """The part of the lowering that makes objects."""

    def arguments(self, operands: list[Cursor]) -> tuple[Argument, ...]:
        """The arguments; a default that is not a constant ends them."""
        lowered = []
        for operand in operands:
            if operand._kind_id == Kind.UNEXPOSED and self._is_default(operand):
                value = evaluate(operand)
                type_ = self.types.of(operand)
                if value is None or type_.kind not in ("integer", "float", "enumeration", "bool"):
                    if type_.kind != "pointer" or value not in (0, None):
                        break
                    if value is None:
                        break
                    lowered.append(Argument(Constant(None)))
                    continue
                lowered.append(Argument(Constant(value)))
                continue
            lowered.append(Argument(self.expression(operand)))
        return tuple(lowered)

    def _is_default(self, operand: Cursor) -> bool:
        return bool(self.library.extent(operand).begin_int_data == 0)

    def _unwrapped(self, cursor: Cursor) -> Cursor:
        while cursor._kind_id in (Kind.UNEXPOSED, Kind.PARENTHESES):
            operands = children(cursor)
            if len(operands) != 1:
                break
            cursor = operands[0]
        return cursor

    def _is_dim3(self, facts: FunctionFacts) -> bool:
        return facts.record is not None and name_of(facts.record) == DIM3 and facts.is_system

    def _is_plain(self, function: Cursor, facts: FunctionFacts) -> bool:
        """A C struct of a system header (``float4``, ``cudaExtent``): copied as a value."""
        return (
            facts.is_system
            and "::" not in facts.name.rpartition("::")[0]
            and not facts.name.startswith(("std::", "thrust::", "cub::", "cuda::"))
            and self.is_implicit(function)
        )

    def is_implicit(self, member: Cursor) -> bool:
        """Whether the compiler wrote the member function: it stands where its class does."""
        parent = related("parent", member)
        if parent is None:
            return False
        here = self.library.location(member).int_data
        return bool(here == self.library.location(parent).int_data)

    def as_dim3(self, value: Expression) -> Expression:
        """A value assigned to a ``dim3``, with its three items."""
        if isinstance(value, Tuple):
            items = [without_cast(item) for item in value.items]
            items += [Constant(1)] * (3 - len(items))
            return Tuple(tuple(items), DIM3)
        return value

    def construct(
        self, cursor: Cursor, receiver: Expression | None, declares: bool = False
    ) -> Expression:
        """Lower a constructor's call into the receiver, or into a new temporary."""
        operands = [child for child in children(cursor) if is_value(child)]
        function = referenced(cursor)
        span = self.positions.span(cursor)
        if function is None:
            return self._other(cursor)
        facts = self.names.function(function)
        copies = bool(self.library.is_copy_constructor(facts.declaration)) and len(operands) > 0
        moves = bool(self.library.is_move_constructor(facts.declaration)) and len(operands) > 0
        if self._is_dim3(facts):
            value = self._dim3(operands, copies or moves)
            if receiver is not None:
                self.graph.emit(Assign(receiver, value, span, declares))
                return receiver
            return value
        type_ = self.types.of(cursor)
        if (copies or moves) and self._is_plain(function, facts):
            value = self.expression(operands[0])
            if receiver is not None:
                self.graph.emit(Assign(receiver, value, span, declares))
                return receiver
            return value
        if not operands and self.is_implicit(function):
            if self._is_trivial(facts):
                place = receiver if receiver is not None else self.temporary(type_)
                self.graph.emit(Assign(place, Unknown("uninitialized"), span, declares))
                return place
            self.unit.use_implicit(facts)
        arguments = self.arguments(operands)
        place = receiver if receiver is not None else self.temporary(type_)
        record = None
        name = facts.name.rpartition("::")[0]
        if facts.record is not None:
            record = self.types.record_key(facts.record)
            name = self.names.qualified(facts.record)
        self.graph.emit(
            Call(
                name,
                arguments,
                span,
                key=facts.key,
                receiver=place,
                kind="copy" if copies else "constructor",
                may_throw=facts.may_throw,
                record=record,
                expansion=self.positions.macro(cursor),
            )
        )
        return place

    def item(self, cursor: Cursor) -> Expression:
        """Lower an item of a list or a capture: an object is copied into it."""
        type_ = self.types.of(cursor)
        value = self.expression(cursor)
        inner = self._unwrapped(cursor)
        if type_.kind != "record" or inner._kind_id not in (Kind.NAME, Kind.MEMBER, Kind.SUBSCRIPT):
            return value
        parts = self.unit.records.get(type_.record or "")
        if parts is None:
            return value  # A class of a library: nobody asks.
        place = self.temporary(type_)
        self.graph.emit(
            Call(
                parts.name,
                (Argument(value),),
                self.positions.span(cursor),
                receiver=place,
                kind="copy",
                record=type_.record,
            )
        )
        return place

    def construct_dependent(
        self, place: Expression, type_: Type, arguments: tuple[Argument, ...], span: Span
    ) -> None:
        """Construct an object of a class that depends on a template's parameters."""
        facts = self.unit.constructor_with(type_.record or "", len(arguments))
        name = facts.name.rpartition("::")[0] if facts else type_.text.partition("<")[0]
        self.graph.emit(
            Call(
                name,
                arguments,
                span,
                key=facts.key if facts else None,
                receiver=place,
                kind="constructor",
                may_throw=facts.may_throw if facts else None,
                record=type_.record,
            )
        )

    def _is_trivial(self, facts: FunctionFacts) -> bool:
        """Whether default construction leaves the object without values."""
        record = facts.record
        if record is None:
            return False
        if facts.is_system:
            return "::" not in self.names.qualified(record)
        return self.unit.is_plain(self.types.record_key(record))

    def _dim3(self, operands: list[Cursor], copies: bool) -> Expression:
        if copies:
            return self.as_dim3(self.expression(operands[0]))
        items: list[Expression] = []
        for operand in operands[:3]:
            if self._is_default(operand):
                items.append(Constant(1))
            else:
                items.append(without_cast(self.expression(operand)))
        items += [Constant(1)] * (3 - len(items))
        return Tuple(tuple(items), DIM3)

    def new(self, cursor: Cursor) -> Expression:
        """Lower ``new``: the allocation, then the constructor."""
        operands = [child for child in children(cursor) if is_value(child)]
        type_ = self.types.of(cursor)
        element = type_.pointee or Type("")
        span = self.positions.span(cursor)
        text = self.positions.text(cursor)
        if not operands and text and self.unit.has_errors:
            # ``new T[UNKNOWN]``: clang keeps only the type.
            name, _, end = self.positions.offsets(cursor)
            rest = self.positions.text_of(name, end, end + 400)
            if rest.startswith("[") and "]" in rest:
                return self.recover(text + rest[: rest.index("]") + 1], span, wanted=True)
        is_array = _is_array_new(text, operands, element)
        placement = _placement(text)
        target: Expression = self.temporary(type_)
        if placement and operands:
            where = operands.pop(0)
            if self.types.of(where).kind in ("pointer", "array"):
                target = self.expression(where)
                placement = False  # The place given: nothing is allocated.
                return self._new_object(operands, target, element, span)
        count: Expression | None = None
        if is_array and operands:
            count = self.expression(operands.pop(0))
        size = Constant(element.bytes) if element.bytes else Unknown(f"sizeof({element.text})")
        self.graph.emit(
            Call(
                "operator new[]" if is_array else "operator new",
                (Argument(count if count is not None else size),),
                span,
                target,
                kind="operator",
                may_throw=False if "nothrow" in text else None,
                template_bytes=element.bytes,
                expansion=self.positions.macro(cursor),
            )
        )
        return self._new_object(operands, target, element, span)

    def _new_object(
        self, operands: list[Cursor], target: Expression, element: Type, span: Any
    ) -> Expression:
        for operand in operands[-1:]:
            if self._is_default(operand) and operand._kind_id != Kind.CALL:
                continue
            inner = self._unwrapped(operand)
            if inner._kind_id == Kind.CALL and self._is_construction(inner):
                self.construct(inner, Dereference(target))
            else:
                value = self.expression(operand)
                self.graph.emit(Assign(Dereference(target), value, span))
        return target

    def _is_construction(self, cursor: Cursor) -> bool:
        function = referenced(cursor)
        return function is not None and function._kind_id == Kind.CONSTRUCTOR

    def delete(self, cursor: Cursor) -> None:
        """Lower ``delete`` and ``delete[]``."""
        operands = [child for child in children(cursor) if is_value(child)]
        if not operands:
            return
        value = self.expression(operands[0])
        pointee = self.types.of(operands[0]).pointee
        is_array = re.match(r"(?:::)?\s*delete\s*\[", self.positions.text(cursor)) is not None
        self.graph.emit(
            Call(
                "operator delete[]" if is_array else "operator delete",
                (Argument(value),),
                self.positions.span(cursor),
                kind="operator",
                may_throw=False,
                record=pointee.record if pointee is not None else None,
                expansion=self.positions.macro(cursor),
            )
        )


def without_cast(value: Expression) -> Expression:
    """A launch's number without its conversion to ``unsigned`` or ``size_t``."""
    return value.operand if isinstance(value, Cast) and value.to.kind == "integer" else value


_NEW = re.compile(r"(?:::\s*)?new\b\s*")


def _after_new(text: str) -> tuple[str, bool]:
    """The text of the type in a new expression, and whether a placement stands before it."""
    found = _NEW.match(text)
    if found is None:
        return "", False
    rest = text[found.end() :]
    if not rest.startswith("("):
        return rest, False
    depth = 0
    for position, character in enumerate(rest):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            after = rest[position + 1 :].lstrip()
            # ``new (int*)[n]`` has its type in parentheses, ``new (where) T`` a placement.
            return (
                (after, True)
                if after and (after[0].isalpha() or after[0] in "_:")
                else (rest, False)
            )
    return rest, False


def _placement(text: str) -> bool:
    return _after_new(text)[1]


def _is_array_new(text: str, operands: list[Cursor], element: Type) -> bool:
    rest, _ = _after_new(text)
    depth = 0
    for character in rest:
        if character == "<":
            depth += 1
        elif character == ">":
            depth -= 1
        elif depth == 0 and character == "[":
            return True
        elif depth == 0 and character in "({;":
            return False
    # From a macro the text does not show it.
    return not rest and bool(operands) and element.kind != "record"
