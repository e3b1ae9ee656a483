"""What a harness passes to a function: an expression for each type."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from typing import Any

from clang.cindex import AccessSpecifier, CursorKind, TypeKind

from cudalint.runtime.harness.asked import Asked
from cudalint.runtime.harness.handles import HandleMaker, name_of_handle
from cudalint.runtime.harness.standins import stand_in
from cudalint.runtime.harness.subjects import (
    CLASSES,
    HarnessError,
    Unit,
    is_plain,
    is_public,
    name_of,
)

_DEEPEST = 4
_MOST_MAKERS = 3
_MOST_CONSTRUCTORS = 2
_MOST_ACQUIRED = 2
"""Handles that another one is made of."""
_POINTERS = (TypeKind.POINTER, TypeKind.INCOMPLETEARRAY, TypeKind.CONSTANTARRAY)
_REFERENCES = (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)
_FLOATS = (TypeKind.FLOAT, TypeKind.DOUBLE, TypeKind.LONGDOUBLE)
_FUNCTIONS = (TypeKind.FUNCTIONPROTO, TypeKind.FUNCTIONNOPROTO)
_ORDINAL = re.compile(r"(?i)(dev|device|gpu|rank|id|idx|index|root)(_?id)?$")
_ANONYMOUS = re.compile(r"\(anonymous(?: \w+)?\)::")
_TEXT = re.compile(r"^(?:const )?std::(?:\w+::)*(?:basic_string<char\b|path$)")
_FLAGS = re.compile(r"(?i)flags?$")
_HANDLES = {
    "_IO_FILE": "tmpfile()",
    "curandGenerator_st": "made<curandGenerator_t>([](curandGenerator_t *made)"
    " { return curandCreateGenerator(made, CURAND_RNG_PSEUDO_DEFAULT); })",
}
"""Those that no acquiring function's arguments, made as any others, would give."""


class Values:
    """Makes the arguments of one harness."""

    def __init__(
        self,
        unit: Unit,
        templated: frozenset[str] = frozenset(),
        asked: Asked | None = None,
        *,
        may_stand_in: bool = True,
    ) -> None:
        """``unit`` has the classes that derive from abstract ones; ``templated``: the type
        parameters, which the harness gives a meaning; ``asked``: what the code compares things
        with; ``may_stand_in``: whether classes can be written for abstract ones."""
        self._unit = unit
        self._asked = asked or {}
        self.choices = 0
        """How many of the values that it is compared with a thing can be given."""
        self.lines: list[str] = []
        self.types: list[str] = []
        """The classes that stand in for what derives from abstract ones."""
        self._templated = templated
        self._may_stand_in = may_stand_in
        self._filling: dict[str, str] = {}
        """The structs whose fields are being set, with the variables that hold them."""
        self._acquiring: list[str] = []
        """The handles that are being acquired, each for the one before it."""

    def arguments(self, function: Any, depth: int = 0) -> str:
        """The arguments of a call; those with defaults are left to these."""
        return ", ".join(self.of(one.type, one.spelling, depth) for one in needed(function))

    def concrete(self, declaration: Any) -> tuple[str, Any]:
        """A class that derives from an abstract one and can be constructed: its name, and whose
        constructors it has. Where the source has none, one that stands in."""
        for one in self._unit.derived(declaration):
            return f"::{name_of(one)}", one
        if declaration.kind == CursorKind.CLASS_TEMPLATE or not self._may_stand_in:
            raise HarnessError(f"`{name_of(declaration)}` is abstract")
        name = f"StandIn{len(self.types)}"
        text = stand_in(name, declaration, self._given_back, self._exactly, self._is_handle)
        self.types.append(text)
        return name, declaration

    def _is_handle(self, kind: Any) -> bool:
        return bool(self._unit.handles.makers(name_of_handle(kind)))

    def _given_back(self, kind: Any) -> str:
        """What a method of a class that stands in returns: it has no locals, and no other class
        stands in for its sake (a `clone()` would need one of its own kind)."""
        alone = Values(self._unit, self._templated, self._asked, may_stand_in=False)
        made = alone.of(kind)
        if alone.lines:
            raise HarnessError(f"a `{kind.spelling}` cannot be made in one expression")
        return made

    def of(self, kind: Any, name: str = "", depth: int = 0) -> str:
        """An expression of a type."""
        meant = kind.get_canonical()
        if meant.kind in _REFERENCES:
            held = self.held(meant.get_pointee(), name, depth)
            return f"std::move({held})" if meant.kind == TypeKind.RVALUEREFERENCE else held
        if meant.kind in _POINTERS:
            return self._pointer(kind, meant, name, depth)
        if self._is_number(meant):
            return self._handle(kind, depth) or self._number(kind, meant, name)
        if meant.kind == TypeKind.RECORD:
            return self._record(meant, depth)
        raise HarnessError(f"a `{kind.spelling}` cannot be constructed")

    def held(self, kind: Any, name: str = "", depth: int = 0) -> str:
        """An object that the harness keeps until it ends."""
        spelled = self.spelled(kind)
        meant = kind.get_canonical()
        declaration = meant.get_declaration()
        if needs_another(declaration):
            return f"held<{spelled}>({self._new(declaration, depth)})"
        if spelled in self._filling:  # a node's owner, its parent
            return self._filling[spelled]
        if meant.kind == TypeKind.RECORD and is_plain(declaration):
            local = f"value{len(self.lines)}"
            self.lines.append(f"auto& {local} = held(new {spelled}());")
            self._filling[spelled] = local
            if not self._acquiring:  # Nothing asked for is what a library calls its defaults.
                self._fill(local, declaration, depth)
            del self._filling[spelled]
            return local
        return f"held(new {spelled}({self._inside(kind, name, depth)}))"

    def _new(self, declaration: Any, depth: int) -> str:
        """What makes an object of a class, or of one that derives from it."""
        name, one = f"::{name_of(declaration)}", declaration
        if needs_another(declaration):
            name, one = self.concrete(declaration.get_definition())
        return f"new {name}({self.constructor_arguments(one, depth)})"

    def _pointed(self, kind: Any, depth: int) -> str:
        """What a smart pointer points to; nothing where that cannot be made."""
        meant = kind.get_template_argument_type(0).get_canonical()
        declaration = meant.get_declaration()
        known = meant.kind == TypeKind.RECORD and declaration.get_definition() is not None
        if not known or "<" in meant.spelling:  # an instance of a template has another name
            return ""
        before = len(self.lines)
        try:
            return self._new(declaration, depth + 1)
        except HarnessError:
            del self.lines[before:]
            return ""

    def _fill(self, whole: str, declaration: Any, depth: int) -> None:
        """Sets the fields of a plain struct, and of those that it holds."""
        for field in _fields(declaration):
            place, meant = f"{whole}.{field.spelling}", field.type.get_canonical()
            if not field.spelling or field.is_bitfield() or _is_link(field):
                continue
            if _is_filled(field.type):
                self.lines.append(f"{place} = {self.of(field.type, field.spelling, depth + 1)};")
            elif meant.kind == TypeKind.CONSTANTARRAY and _is_filled(meant.element_type):
                made = self.of(meant.element_type, field.spelling, depth + 1)
                self.lines.append(f"for (auto& one : {place}) one = {made};")
            elif (
                meant.kind == TypeKind.RECORD
                and depth < _DEEPEST
                and is_plain(meant.get_declaration())
            ):
                self._fill(place, meant.get_declaration(), depth + 1)

    def spelled(self, kind: Any) -> str:
        """How a type is written outside of the source's own scopes."""
        return self._exactly(kind).removeprefix("const ").removesuffix("const").strip()

    def _exactly(self, kind: Any) -> str:
        text = kind.spelling if self._templated else kind.get_canonical().spelling
        return _ANONYMOUS.sub("", text)

    def _inside(self, kind: Any, name: str, depth: int) -> str:
        meant = kind.get_canonical()
        if meant.kind != TypeKind.RECORD:
            return self.of(kind, name, depth)
        return self.constructor_arguments(meant.get_declaration(), depth, meant)

    def _pointer(self, kind: Any, meant: Any, name: str, depth: int) -> str:
        target = (
            meant.get_pointee()
            if meant.kind == TypeKind.POINTER
            else meant.get_array_element_type()
        )
        aimed = target.get_canonical()
        spelled = self.spelled(kind)
        if meant.kind != TypeKind.POINTER:
            spelled = f"{self.spelled(target)} *"
        if aimed.kind in _FUNCTIONS:
            return f"({spelled}){_function(aimed.get_result(), self.spelled)}"
        if aimed.kind in (TypeKind.CHAR_S, TypeKind.CHAR_U) and aimed.is_const_qualified():
            return self._text("text()")
        if aimed.kind == TypeKind.RECORD:
            declaration = aimed.get_declaration()
            known = _HANDLES.get(declaration.spelling) or self._handle(kind, depth)
            if known:
                return known
            if declaration.get_definition() is None:  # whose users can only hand it on
                return f"({spelled})block()"
            if not (is_plain(declaration) and not _has_pointers(declaration)):
                return f"&{self.held(target, name, depth + 1)}"
            if not declaration.location.is_in_system_header and depth < _DEEPEST:
                self.choices = max(self.choices, 1)
                return f"({spelled})array({self.held(target, name, depth + 1)})"
        elif aimed.kind in _POINTERS:
            inner = aimed.get_pointee().get_canonical()
            known = inner.kind == TypeKind.RECORD and self._handle(target, depth)
            return f"&held(new {self.spelled(target)}({known}))" if known else f"({spelled})table()"
        return f"({spelled})block()"

    def _handle(self, kind: Any, depth: int) -> str:
        """What acquires a handle; empty where no function is known to."""
        name = name_of_handle(kind)
        if name in self._acquiring or len(self._acquiring) == _MOST_ACQUIRED:
            return ""
        self._acquiring.append(name)
        spelled = self.spelled(kind)
        calls: list[str] = []
        for maker in self._unit.handles.makers(name)[:_MOST_MAKERS]:
            with contextlib.suppress(HarnessError):
                given = self._given_to(maker, depth)
                call = f"::{maker.function.spelling}({given})"
                calls.append(f"[&]({spelled} *made) {{ return {call}; }}")
        self._acquiring.remove(name)
        return f"made<{spelled}>({', '.join(calls)})" if calls else ""

    def _given_to(self, maker: HandleMaker, depth: int) -> str:
        given = [
            "made"
            if place == maker.place
            else "block_bytes()"
            if place == maker.bytes
            else self.of(one.type, one.spelling, depth + 1)
            for place, one in enumerate(needed(maker.function))
        ]
        return ", ".join(given)

    def _is_number(self, meant: Any) -> bool:
        return (
            meant.kind in _numbers()
            or meant.spelling in self._templated
            or (bool(self._templated) and meant.kind == TypeKind.UNEXPOSED)
        )

    def _number(self, kind: Any, meant: Any, name: str) -> str:
        spelled = self.spelled(kind)
        if meant.kind == TypeKind.BOOL:
            return "flag()"
        if meant.kind == TypeKind.ENUM:
            first = next(
                (one.enum_value for one in meant.get_declaration().get_children()
                 if one.kind == CursorKind.ENUM_CONSTANT_DECL),
                0,
            )  # fmt: skip
            return f"({spelled}){self._chosen(str(first), meant.spelling)}"
        if meant.kind in _FLOATS:
            return f"({spelled})1"
        none = _ORDINAL.search(name) or _FLAGS.search(name)
        return f"({spelled}){self._chosen('0' if none else 'number()', name)}"

    def _chosen(self, usual: str, name: str) -> str:
        """A number, or one of those that the code compares it with."""
        values = self._asked.get(name, ())
        self.choices = max(self.choices, len(values))
        return f"chosen({usual}, {{{', '.join(map(str, values))}}})" if values else usual

    def _text(self, usual: str) -> str:
        """A text, or the name of a file: one with nothing in it, one with a module."""
        self.choices = max(self.choices, 2)
        return usual

    def _record(self, meant: Any, depth: int) -> str:
        if is_plain(meant.get_declaration()):
            return self.held(meant, depth=depth)
        if needs_another(meant.get_declaration()):
            raise HarnessError(f"`{name_of(meant.get_declaration())}` has no public constructor")
        spelled = self.spelled(meant)
        return f"{spelled}({self.constructor_arguments(meant.get_declaration(), depth, meant)})"

    def constructor_arguments(self, declaration: Any, depth: int = 0, kind: Any = None) -> str:
        """The arguments with which a class is constructed most simply; ``kind`` is the type, which
        tells the arguments of a template."""
        if depth > _DEEPEST:
            raise HarnessError(f"what `{name_of(declaration)}` needs is too deep")
        name = name_of(declaration)
        if name.startswith("std::"):
            if declaration.spelling in ("vector", "valarray", "deque", "list"):
                return "number()"
            if declaration.spelling in ("shared_ptr", "unique_ptr") and kind is not None:
                return self._pointed(kind, depth)
            if declaration.spelling == "function" and kind is not None:
                result = kind.get_template_argument_type(0).get_result()
                return _function(result, self.spelled)
            text = kind is not None and _TEXT.search(kind.spelling)
            return self._text("words()") if text else ""
        constructors = _constructors(declaration)
        if not constructors:
            return ""
        failed = HarnessError(f"`{name}` has no public constructor")
        for one in _usable(declaration, constructors):
            try:
                return self.arguments(one, depth + 1)
            except HarnessError as error:
                failed = error
        raise failed

    def other_objects(self, declaration: Any, name: str, first: str) -> list[str]:
        """Expressions that construct a class by its other constructors; ``first`` are the arguments
        of the simplest. Each makes what it needs only where it is chosen."""
        found: list[str] = []
        for one in _usable(declaration, _constructors(declaration)):
            before = len(self.lines)
            try:
                given = self.arguments(one, 1)
            except HarnessError:
                del self.lines[before:]
                continue
            needs = " ".join(self.lines[before:])
            del self.lines[before:]
            if given != first and len(found) < _MOST_CONSTRUCTORS:
                found.append(f"[&] {{ {needs} return new {name}({given}); }}()")
        self.choices = max(self.choices, len(found))
        return found


def _constructors(declaration: Any) -> list[Any]:
    """Those of a class but what copies and moves it."""
    definition = declaration.get_definition() or declaration
    return [
        one
        for one in definition.get_children()
        if one.kind == CursorKind.CONSTRUCTOR
        and not one.is_copy_constructor()
        and not one.is_move_constructor()
    ]


def _usable(declaration: Any, constructors: list[Any]) -> list[Any]:
    """Those that a harness may call, itself or out of a class that derives from it: that which
    needs least first, those last that need another object of the class."""
    derives = needs_another(declaration)
    usable = (
        one
        for one in constructors
        if (is_public(one) or (derives and one.access_specifier == AccessSpecifier.PROTECTED))
        and not one.is_deleted_method()
    )
    return sorted(usable, key=lambda one: (_needs_one(one, declaration), _needs(one)))


def _needs_one(constructor: Any, declaration: Any) -> bool:
    kinds = (one.type.get_canonical() for one in needed(constructor))
    aimed = (kind.get_pointee() if kind.kind in _REFERENCES else kind for kind in kinds)
    return any(one.get_declaration() == declaration for one in aimed)


def needs_another(declaration: Any) -> bool:
    """Whether only a class that derives from one can be constructed: it is abstract, or only such
    may call its constructors."""
    definition = declaration.get_definition()
    if definition is None:
        return False
    allowed = {one.access_specifier for one in _constructors(definition)}
    closed = AccessSpecifier.PROTECTED in allowed and AccessSpecifier.PUBLIC not in allowed
    return bool(closed or definition.is_abstract_record())


def needed(function: Any) -> list[Any]:
    """The parameters that have no default."""
    return [one for one in parameters(function) if not _has_default(one)]


def parameters(function: Any) -> list[Any]:
    """The declarations of a function's parameters, of a template's too."""
    return [one for one in function.get_children() if one.kind == CursorKind.PARM_DECL]


def destroys(declaration: Any, depth: int = 0) -> bool:
    """Whether a class has a destructor of its own, or a base or member of it has."""
    definition = declaration.get_definition() or declaration
    for child in definition.get_children():
        if child.kind == CursorKind.DESTRUCTOR:
            return True
        if child.kind in (CursorKind.FIELD_DECL, CursorKind.CXX_BASE_SPECIFIER):
            inner = child.type.get_canonical().get_declaration()
            if depth < _DEEPEST and inner.kind in CLASSES and destroys(inner, depth + 1):
                return True
    return False


def _function(result: Any, spelled: Callable[[Any], str]) -> str:
    """A function that keeps what it is given, and returns nothing in particular."""
    meant = result.get_canonical()
    if meant.kind == TypeKind.VOID:
        return "[](auto... all) { keep_all(all...); }"
    if meant.kind in _REFERENCES:
        raise HarnessError(f"a function that returns `{result.spelling}` cannot be made up")
    return f"[](auto... all) -> {spelled(result)} {{ keep_all(all...); return {{}}; }}"


def _needs(constructor: Any) -> int:
    return sum(not _has_default(one) for one in parameters(constructor))


def _has_default(parameter: Any) -> bool:
    return any(token.spelling == "=" for token in parameter.get_tokens())


def _numbers() -> Sequence[TypeKind]:
    return (
        TypeKind.BOOL, TypeKind.CHAR_U, TypeKind.UCHAR, TypeKind.USHORT, TypeKind.UINT,
        TypeKind.ULONG, TypeKind.ULONGLONG, TypeKind.CHAR_S, TypeKind.SCHAR, TypeKind.SHORT,
        TypeKind.INT, TypeKind.LONG, TypeKind.LONGLONG, TypeKind.ENUM, *_FLOATS,
    )  # fmt: skip


def _fields(declaration: Any) -> list[Any]:
    definition = declaration.get_definition() or declaration
    return [one for one in definition.get_children() if one.kind == CursorKind.FIELD_DECL]


def _has_pointers(declaration: Any) -> bool:
    return any(one.type.get_canonical().kind in _POINTERS for one in _fields(declaration))


def _is_filled(kind: Any) -> bool:
    """Whether a field is a number or a pointer that can be set."""
    meant = kind.get_canonical().kind
    return not kind.is_const_qualified() and meant in (TypeKind.POINTER, *_numbers())


def _is_link(field: Any) -> bool:
    """Whether a field points to an object of its own kind: what is made has none after it."""
    target = field.type.get_canonical().get_pointee().get_canonical()
    return bool(target.get_declaration().get_usr() == field.semantic_parent.get_usr() != "")
