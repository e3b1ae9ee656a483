"""Lowers kernels: their shared memory, their launch bounds, what they store. Device code itself is
not lowered."""

from __future__ import annotations

import re

from clang.cindex import Cursor

from cudalint.apis.devices import common
from cudalint.frontends.cuda.blanked import blanked, uncommented
from cudalint.frontends.cuda.conditional import asked_around
from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    Storage,
    TypeKind,
    address,
    children,
    evaluate,
    initializer,
    library,
    name_of,
    related,
    usr,
)
from cudalint.frontends.cuda.lowering.names import Names
from cudalint.frontends.cuda.lowering.positions import Positions
from cudalint.frontends.cuda.lowering.stored import StoredParameters
from cudalint.frontends.cuda.lowering.types import Types, as_parameter
from cudalint.program import Kernel, Parameter, SharedArray
from cudalint.source import Span

_BOUNDS = re.compile(r"__launch_bounds__\s*\(\s*([^,()]+)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_MOST_CALLED = 200
"""Device functions that are looked into for one kernel."""
_RESERVING = re.compile(r"\basm\b[^;]*\.shared\b")
"""Inline assembler that declares shared memory itself (PTX ISA, *State Spaces*)."""


_ARCHITECTURE = "__CUDA_ARCH__"
"""Only device code has it defined (CUDA C++ Programming Guide, *Application Compatibility*)."""
_GIVEN = (Kind.PARAMETER, Kind.VALUE_PARAMETER)
"""What whoever launches a kernel decides: its arguments, and those of its template."""
_QUALIFIED = re.compile(r"(?:\w+\s*::\s*)+\w+")
_RETURNING = re.compile(r"\breturn\s*;?\s*\}?\s*$")
_CHOOSING = r"(?<![\w.>&|])(?:{})\s*(?:[=!<>]=?\s*[\w:]+\s*)?\?[^;{{}}]*"
"""What is left of a statement behind a choice by what a kernel is given."""
_ANOTHER_NAME = (
    r"\b(\w+)\s*=\s*(?:\w+_cast\s*<[^;=]*>\s*\(|\([^()]*\)\s*)?&?\s*{}\s*(?:\[0\]\s*)?\)?\s*;"
)


class DeviceCode:
    """The device functions of a unit, by name, with the shared memory that they use."""

    def __init__(self, positions: Positions, types: Types, names: Names) -> None:
        self._positions = positions
        self._types = types
        self._names = names
        self._functions: dict[str, list[Cursor]] = {}
        self._globals: dict[str, Cursor] = {}
        self._stored = StoredParameters(positions.text, self._functions)
        self._texts: dict[int, set[str]] = {}
        self._instances: dict[int, list[Cursor]] = {}
        self._chosen: dict[int, str] = {}
        """By template, the arguments of the instance whose arrays count."""
        self._shared: dict[int, tuple[tuple[SharedArray, ...], str | None]] = {}

    def add(self, function: Cursor) -> None:
        """A device function that kernels may call."""
        self._functions.setdefault(name_of(function), []).append(function)

    def add_instance(self, pattern: Cursor, instance: Cursor) -> None:
        """An instantiation of a template: there the sizes of its arrays are known."""
        self._instances.setdefault(address(pattern), []).append(instance)

    def add_global(self, variable: Cursor) -> None:
        """A ``__shared__`` array declared outside of functions."""
        self._globals[name_of(variable)] = variable

    def kernel(self, cursor: Cursor) -> Kernel:
        """The kernel for its definition."""
        shared, dynamic, is_specific = self._reach(cursor)
        parameters = []
        for part in children(cursor):
            if part._kind_id == Kind.PARAMETER:
                name, type_ = name_of(part), as_parameter(self._types.of(part))
                parameters.append(
                    Parameter(name, name, type_, "pointer" if type_.kind == "pointer" else "value")
                )
        return Kernel(
            usr(cursor),
            self._names.qualified(cursor),
            self._positions.filename_of(cursor),
            name_span(self._positions, cursor),
            shared,
            dynamic,
            tuple(parameters),
            self._bounds(cursor),
            cursor._kind_id == Kind.FUNCTION_TEMPLATE,
            instance=self._chosen.get(address(cursor), ""),
            is_specific=is_specific,
            stores=tuple(
                number
                for number in sorted(self._stored.of(cursor))
                if parameters[number].type.kind == "pointer"
            ),
        )

    def _reach(self, cursor: Cursor) -> tuple[tuple[SharedArray, ...], str | None, bool]:
        """Shared memory of the kernel and of the device functions that it calls, and whether any of
        them has instructions of architecture-specific targets."""
        is_specific = False
        shared: dict[tuple[str, Span], SharedArray] = {}
        pending = [cursor]
        seen: set[int] = set()
        while pending and len(seen) < _MOST_CALLED:
            function = pending.pop()
            identity = address(function)
            if identity in seen:
                continue
            seen.add(identity)
            arrays, _ = self._own(function)
            for array in arrays:
                shared.setdefault((array.name, array.span), array)
            words = self._words(function)
            is_specific = is_specific or not words.isdisjoint(common().specific_instructions)
            for name in sorted(words & self._functions.keys()):
                pending.extend(self._functions[name])
        return tuple(shared.values()), self._dynamic(cursor, {}), is_specific

    def _dynamic(self, function: Cursor, known: dict[int, str | None]) -> str | None:
        """The dynamic shared array that a function reads, itself or by calling others; of overloads
        nobody looks which is meant, so that all must read one."""
        identity = address(function)
        if identity in known or len(known) >= _MOST_CALLED:
            return known.get(identity)
        known[identity] = None
        arrays, found = self._own(function)
        words = self._words(function)
        hidden = {array.name for array in arrays}
        hidden |= {name_of(part) for part in children(function) if part._kind_id in _GIVEN}
        for name in sorted((words & self._globals.keys()) - hidden):
            if library().storage(self._globals[name]) == Storage.EXTERN:
                found = found or name
        for name in sorted(words & self._functions.keys()):
            inner = [self._dynamic(one, known) for one in self._functions[name]]
            found = found or (inner[0] if all(inner) else None)
        known[identity] = found
        return found

    def _words(self, function: Cursor) -> set[str]:
        identity = address(function)
        if identity not in self._texts:
            self._texts[identity] = set(_WORD.findall(self._text(function)))
        return self._texts[identity]

    def _text(self, cursor: Cursor) -> str:
        return uncommented(self._positions.text(cursor))

    def _own(self, function: Cursor) -> tuple[tuple[SharedArray, ...], str | None]:
        identity = address(function)
        if identity not in self._shared:
            arrays, dynamic = self._find(function)
            if any(array.bytes is None for array in arrays):
                arrays = self._largest(identity, arrays, self._instances.get(identity, []))
            self._shared[identity] = arrays, dynamic
        return self._shared[identity]

    def _largest(
        self, identity: int, arrays: tuple[SharedArray, ...], instances: list[Cursor]
    ) -> tuple[SharedArray, ...]:
        """The arrays as the largest instantiation of the template has them."""
        known = [
            (same, instance)
            for instance in instances
            for same in (self._find(instance)[0],)
            if len(same) == len(arrays) and all(array.bytes is not None for array in same)
        ]
        if not known:
            return arrays
        largest, instance = max(known, key=lambda one: sum(array.bytes or 0 for array in one[0]))
        self._chosen[identity] = _template_arguments(instance)
        return largest

    def _find(self, function: Cursor) -> tuple[tuple[SharedArray, ...], str | None]:
        words = self._words(function)
        # Without the word, only a macro could declare shared memory.
        if "__shared__" not in words and not any(
            word.isupper() or "shared" in word.lower() for word in words
        ):
            return (), None
        arrays: list[SharedArray] = []
        dynamic = None
        pending = [part for part in children(function) if part._kind_id == Kind.COMPOUND]
        while pending:
            part = pending.pop()
            kind: int = part._kind_id
            if kind == Kind.VARIABLE:
                if not any(child._kind_id == Kind.SHARED for child in children(part)):
                    continue
                if library().storage(part) == Storage.EXTERN:
                    if self._is_in_all_code(part) and self._is_read(function, name_of(part)):
                        dynamic = dynamic or name_of(part)
                else:
                    arrays.append(self._array(part))
            elif kind >= 200:
                # Statements only: no declaration stands in an expression.
                pending.extend(reversed(children(part)))
        return tuple(arrays), dynamic

    def _is_in_all_code(self, variable: Cursor) -> bool:
        """Whether the code for each architecture has a variable. It is read here as the host's."""
        filename, start, _ = self._positions.offsets(variable)
        before = self._positions.text_of(filename, 0, start) if start >= 0 else ""
        return _ARCHITECTURE not in asked_around(before)

    def _is_read(self, function: Cursor, name: str) -> bool:
        """Whether a function does more with an array than declare it, whatever it is given, and
        does not reserve the memory for it itself."""
        word = re.compile(rf"\b{re.escape(name)}\b")
        text = self._text(function)
        if not word.search(text):
            return True  # A macro writes the name.
        if _RESERVING.search(text):
            return False
        given = {name_of(part) for part in children(function) if part._kind_id in _GIVEN} - {""}
        bodies = [part for part in children(function) if part._kind_id == Kind.COMPOUND]
        pending = [*bodies]
        while pending:
            part = pending.pop()
            if part._kind_id == Kind.IF and self._asks_only(children(part)[0], given):
                before, _, after = text.partition(self._text(part))  # whoever launches it decides
                ends = any(map(_RETURNING.search, map(self._text, children(part)[1:2])))
                top = any(part in children(body) for body in bodies)
                text = before if ends and top else before + after
                continue
            pending.extend(child for child in children(part) if child._kind_id >= 200)
        if given:
            text = re.sub(_CHOOSING.format("|".join(map(re.escape, sorted(given)))), "", text)
        another = re.search(_ANOTHER_NAME.format(re.escape(name)), text)
        if another is not None:
            rest = text.replace(another.group(), "", 1)
            return len(word.findall(rest)) > 1 or bool(re.search(rf"\b{another[1]}\b", rest))
        return len(word.findall(text)) > 1

    def _asks_only(self, condition: Cursor, given: set[str]) -> bool:
        """Whether a condition is of nothing but what a kernel is given, and of constants."""
        asked = set(_WORD.findall(_QUALIFIED.sub("", self._text(condition))))
        return bool(asked) and asked <= given

    def _array(self, variable: Cursor) -> SharedArray:
        functions = library()
        type_ = functions.canonical_type(functions.type(variable))
        size = functions.size(type_)
        if size < 0 or type_._kind_id in (TypeKind.DEPENDENT_ARRAY, TypeKind.INCOMPLETE_ARRAY):
            return SharedArray(name_of(variable), None, self._positions.span(variable))
        return SharedArray(name_of(variable), int(size), self._positions.span(variable))

    def _bounds(self, cursor: Cursor) -> int | None:
        for part in children(cursor):
            if part._kind_id == Kind.UNEXPOSED_ATTRIBUTE:
                values = children(part)
                if values:
                    value = evaluate(values[0])
                    if isinstance(value, int) and value > 0:
                        return value
        head = blanked(self._positions.text(cursor)).partition("{")[0]
        found = _BOUNDS.search(head)
        if found is None:
            return None
        text = found.group(1).strip()
        try:
            return int(text, 0)
        except ValueError:
            return self._named_constant(cursor, text)

    def _named_constant(self, cursor: Cursor, text: str) -> int | None:
        """A constant of the same name in the unit's own top level."""
        if not text.isidentifier():
            return None
        parent = related("parent", cursor)
        for part in children(parent) if parent is not None else ():
            if part._kind_id == Kind.VARIABLE and name_of(part) == text:
                initial = initializer(part)
                value = evaluate(initial) if initial is not None else None
                return value if isinstance(value, int) else None
        return None


def name_span(positions: Positions, cursor: Cursor) -> Span:
    """Where the name of a declaration stands."""
    name, start = positions.name_offset(cursor)
    return positions.span_of(name, start, start + len(name_of(cursor).encode()))


def _template_arguments(instance: Cursor) -> str:
    """``<16384, float>``, as far as they are numbers and types."""
    shown = []
    for number in range(instance.get_num_template_arguments()):
        match instance.get_template_argument_kind(number).name:
            case "TYPE":
                shown.append(instance.get_template_argument_type(number).spelling)
            case "INTEGRAL":
                shown.append(str(instance.get_template_argument_value(number)))
            case _:
                shown.append("...")
    return f"<{', '.join(shown)}>"
