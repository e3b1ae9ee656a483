"""Lowers a parsed translation unit to the program model."""

from __future__ import annotations

import sys
from collections.abc import Callable

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.functions import (
    lower_function,
    lower_global_lambda,
    lower_implicit_constructor,
)
from cudalint.frontends.cuda.lowering.kernels import DeviceCode
from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    address,
    children,
    initializer,
    library,
    name_of,
    usr,
)
from cudalint.frontends.cuda.lowering.names import FUNCTIONS, RECORDS, outermost_template
from cudalint.frontends.cuda.lowering.parts import AllParts
from cudalint.frontends.cuda.lowering.records import RecordParts
from cudalint.frontends.cuda.lowering.starts import keep_starts, start
from cudalint.frontends.cuda.lowering.unit import Body, Unit
from cudalint.frontends.cuda.parse import ParsedUnit
from cudalint.program import MISSING_HEADER, Dropped, Kernel, Program
from cudalint.source import Span

_DEEPEST = 12_000
_MOST_SHOWN = 80
_CONTAINERS = (Kind.NAMESPACE, Kind.LINKAGE, Kind.UNEXPOSED_DECL)


def lower(parsed: ParsedUnit) -> Program:
    """The program model of one file, with the functions of project headers that it uses."""
    limit = sys.getrecursionlimit()
    # Long chains of ``else if`` and ``<<`` are nested deeply.
    sys.setrecursionlimit(max(limit, _DEEPEST))
    try:
        return _UnitLowering(parsed).program()
    finally:
        sys.setrecursionlimit(limit)


class _UnitLowering:
    """The walk over the declarations of one file."""

    def __init__(self, parsed: ParsedUnit) -> None:
        self.parsed = parsed
        self.parts = AllParts()
        self.unit = Unit(parsed)
        self.device = DeviceCode(self.unit.positions, self.unit.types, self.unit.names)
        self.kernels: dict[str, Kernel] = {}
        self.kernel_cursors: list[Cursor] = []
        self.bodies: list[Cursor] = []
        self.patterns: list[tuple[Cursor, Cursor]] = []
        """Functions of templates, each with the outermost template that it is part of."""
        self.seen: set[int] = set()

    def program(self) -> Program:
        """Walk, lower, collect."""
        unit = self.unit
        for missing in self.parsed.missing_headers:
            own = missing.filename == self.parsed.filename
            span = missing.span if own else Span(1, 1, 1, 1)  # a header includes it
            unit.dropped.append(Dropped(span, missing.name, MISSING_HEADER))
        positions = unit.positions
        for child in children(self.parsed.unit.cursor):
            if positions.in_main_file(child):
                # Instances are listed as well: those that are called are lowered.
                pattern = unit.templates.pattern(child)
                if address(pattern) == address(child):
                    self._guarded(self._declaration, child)
                elif child._kind_id == Kind.FUNCTION:
                    self.device.add_instance(pattern, child)
            elif not positions.is_system(child):
                pattern = unit.templates.pattern(child)
                if address(pattern) == address(child):
                    self._guarded(self._header_declaration, child)
                elif child._kind_id == Kind.FUNCTION:
                    self.device.add_instance(pattern, child)
        for cursor in self.bodies:
            self._function(Body(cursor, usr(cursor)))
        self._functions_on_demand()
        for cursor, template in self.patterns:
            if not self._is_lowered_as_instances(cursor, template):
                self._function(Body(cursor, usr(cursor)))
                self._functions_on_demand()
        for key, (name, record) in unit.implicit.items():
            function = lower_implicit_constructor(self.parts, unit, key, name, record)
            unit.functions.setdefault(key, function)
        for kernel in self.kernel_cursors:
            self._guarded(self._kernel, kernel)
        self._errors_outside()
        if not (unit.has_errors or unit.dropped):
            keep_starts(unit.starts, unit.functions.values(), unit.globals)
        return Program(
            positions.filename,
            "cuda",
            tuple(unit.functions.values()),
            tuple(unit.records.values()),
            tuple(self.kernels.values()),
            unit.globals,
            tuple(unit.dropped),
            positions.project_files(),
            unit.takers(),
        )

    def _guarded(self, action: Callable[[Cursor], None], cursor: Cursor) -> None:
        try:
            action(cursor)
        except RecursionError:
            self._drop(cursor, "nested too deeply")
        except Exception as error:  # Whatever a broken file makes us do costs that part only.
            self._drop(cursor, _reason(error))

    def _drop(self, cursor: Cursor, reason: str) -> None:
        name = name_of(cursor)
        self.unit.dropped.append(Dropped(self.unit.positions.span(cursor), name, reason))

    def _declaration(self, cursor: Cursor) -> None:
        kind: int = cursor._kind_id
        if kind in _CONTAINERS:
            for child in children(cursor):
                self._declaration(child)
        elif kind in FUNCTIONS:
            self._function_declaration(cursor)
        elif kind in RECORDS:
            self._record(cursor)
        elif kind == Kind.VARIABLE:
            self._global(cursor)

    def _global(self, cursor: Cursor) -> None:
        if any(child._kind_id == Kind.SHARED for child in children(cursor)):
            self.device.add_global(cursor)
        else:
            variable = self.unit.global_variable(cursor)
            value = start(self.parts, self.unit, cursor)
            if value is not None:
                self.unit.starts[variable.symbol] = value
            initial = initializer(cursor)
            while initial is not None and initial._kind_id == Kind.UNEXPOSED:
                initial = next(iter(children(initial)), None)
            if initial is not None and initial._kind_id == Kind.LAMBDA:
                lower_global_lambda(self.parts, self.unit, variable, initial)

    def _function_declaration(self, cursor: Cursor) -> None:
        functions = library()
        if not functions.is_definition(cursor):
            if cursor._kind_id == Kind.FUNCTION:
                self.unit.declared.append(cursor)
            return
        identity = address(cursor)
        if identity in self.seen:
            return
        self.seen.add(identity)
        attributes = {child._kind_id for child in children(cursor)}
        if Kind.GLOBAL in attributes:
            self.kernel_cursors.append(cursor)
            self.unit.name_function(self.unit.names.qualified(cursor), usr(cursor))
            return
        if Kind.DEVICE in attributes:
            self.device.add(cursor)
            if Kind.HOST not in attributes:
                return
        if functions.is_deleted(cursor) or functions.is_defaulted(cursor):
            return
        self.unit.name_function(self.unit.names.qualified(cursor), usr(cursor))
        template = outermost_template(cursor)
        if template is None:
            self.bodies.append(cursor)
        else:
            self.patterns.append((cursor, template))

    def _record(self, cursor: Cursor) -> None:
        if not library().is_definition(cursor):
            return
        if outermost_template(cursor) is None:
            self.unit.types.record_key(cursor)
        parts = RecordParts(cursor)
        for method in parts.methods:
            self._function_declaration(method.declaration)
        for nested in parts.nested:
            self._record(nested)
        for friend in parts.friends:
            for child in children(friend):
                if child._kind_id in FUNCTIONS:
                    self._function_declaration(child)

    def _header_declaration(self, cursor: Cursor) -> None:
        """A project header's kernels and device functions; the rest only where it is used."""
        kind: int = cursor._kind_id
        if kind in _CONTAINERS:
            for child in children(cursor):
                self._header_declaration(child)
        elif kind in (Kind.FUNCTION, Kind.FUNCTION_TEMPLATE):
            attributes = set()
            if library().has_attributes(cursor):
                attributes = {child._kind_id for child in children(cursor)}
            if kind == Kind.FUNCTION and not attributes & {Kind.GLOBAL, Kind.DEVICE}:
                self.unit.declared.append(cursor)
            if not library().is_definition(cursor):
                return
            if Kind.GLOBAL in attributes:
                self.kernel_cursors.append(cursor)
            elif Kind.DEVICE in attributes:
                self.device.add(cursor)

    def _is_lowered_as_instances(self, cursor: Cursor, template: Cursor) -> bool:
        """Whether nothing refers to the function of a template as it is written."""
        templates = self.unit.templates
        if template._kind_id == Kind.FUNCTION_TEMPLATE or cursor._kind_id == Kind.FUNCTION_TEMPLATE:
            return templates.has_instances(cursor)
        return templates.has_instances(template) and usr(template) not in self.unit.records

    def _function(self, body: Body) -> None:
        if body.key not in self.unit.functions:
            self._guarded(lambda _: self._lower(body), body.cursor)

    def _lower(self, body: Body) -> None:
        with self.unit.meaning(body):
            self.unit.functions[body.key] = lower_function(self.parts, self.unit, body)

    def _functions_on_demand(self) -> None:
        while (body := self.unit.next_body()) is not None:
            self._function_on_demand(body)

    def _function_on_demand(self, body: Body) -> None:
        cursor = body.cursor
        functions = library()
        if functions.is_deleted(cursor) or functions.is_defaulted(cursor):
            return
        if functions.has_attributes(cursor):
            attributes = {child._kind_id for child in children(cursor)}
            if Kind.GLOBAL in attributes or (
                Kind.DEVICE in attributes and Kind.HOST not in attributes
            ):
                return
        self._function(body)

    def _kernel(self, cursor: Cursor) -> None:
        kernel = self.device.kernel(cursor)
        self.kernels.setdefault(kernel.key, kernel)

    def _errors_outside(self) -> None:
        """Errors at the top level: what stood there is lost, unless some declaration covers it."""
        lost = self.unit.lost
        if lost is None or not lost.offsets:
            return
        positions = self.unit.positions
        covered = []
        for child in children(self.parsed.unit.cursor):
            if positions.in_main_file(child):
                name, start, end = positions.offsets(child)
                if name == positions.filename:
                    covered.append((start, end))
        rows: set[int] = set()
        for offset, message in lost.offsets:
            if not any(start <= offset <= end for start, end in covered):
                span = positions.span_of(positions.filename, offset, offset + 1)
                if span.row in rows:
                    continue
                rows.add(span.row)
                start = positions.offset_at(span.row, 1)
                text = positions.text_of(positions.filename, start, start + _MOST_SHOWN)
                line = text.partition("\n")[0].strip()
                self.unit.dropped.append(Dropped(span, line, message))


def _reason(error: Exception) -> str:
    """Why something was dropped."""
    if "RecursionError" in str(error):
        return "nested too deeply"  # as ctypes tells it
    return f"internal error: {type(error).__name__}: {error}"
