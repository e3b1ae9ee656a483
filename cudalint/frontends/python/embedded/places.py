"""Puts the program of an embedded source in its place: the rows and columns of the Python file."""

from __future__ import annotations

from typing import Any

import msgspec

from cudalint.frontends.python.embedded.holes import depends_on_hole, tainted_names
from cudalint.frontends.python.embedded.paths import FileTexts
from cudalint.frontends.python.embedded.texts import Text
from cudalint.program import (
    MISSING_HEADER,
    Dropped,
    Function,
    Kernel,
    Parameter,
    Program,
    Record,
    SharedArray,
    Type,
)
from cudalint.source import Source, Span

_KEYS = frozenset(["key", "kernel_key", "record", "parent"])
_KEY_LISTS = frozenset(["bases", "methods"])


class Placer:
    """Rewrites the program that the CUDA frontend made of a text."""

    def __init__(self, program: Program, text: Text, files: FileTexts, prefix: str) -> None:
        self._program = program
        self._text = text
        self._source = Source(program.filename, text.value)
        self._files = files
        self._tainted = tainted_names(text.value)
        parts: list[Function | Record | Kernel] = []
        parts += [*program.functions, *program.records, *program.kernels]
        self._keys = {
            part.key: f"{prefix}{part.key}" for part in parts if part.filename == program.filename
        }

    def program(self, filename: str) -> Program:
        """The program as part of the Python file ``filename``."""
        program = self._program
        return Program(
            filename,
            "cuda",
            functions=tuple(self._whole(function) for function in program.functions),
            records=tuple(self._whole(record) for record in program.records),
            kernels=tuple(self._kernel(kernel) for kernel in program.kernels),
            variables={
                name: self._rebuilt(value, filename, Span(1, 1, 1, 1))
                for name, value in program.variables.items()
            },
            dropped=tuple(
                msgspec.structs.replace(part, span=self._place(part.span)[1])
                for part in program.dropped
                if self._is_lost(part, filename)
            ),
        )

    def _is_lost(self, part: Dropped, filename: str) -> bool:
        """Whether something is worth telling that could not be read. Its compiler has headers of
        its own, and what a hole would hold nobody can read."""
        if part.reason == MISSING_HEADER or self._place(part.span)[0] != filename:
            return False
        first, last = self._offsets(part.span)
        start = self._text.value.rfind("\n", 0, first) + 1
        end = self._text.value.find("\n", max(last, first))
        code = self._text.value[start : end if end >= 0 else None]
        return not depends_on_hole(code, self._tainted)

    def _whole(self, part: Any) -> Any:
        """A function, class or kernel; those of headers stay as they are."""
        if part.filename != self._program.filename:
            return part
        filename, span = self._place(part.span)
        placed = self._rebuilt(part, filename, span)
        return msgspec.structs.replace(placed, filename=filename)

    def _kernel(self, kernel: Kernel) -> Kernel:
        if kernel.filename != self._program.filename:
            return kernel
        placed: Kernel = self._whole(kernel)
        shared = tuple(
            msgspec.structs.replace(array, bytes=None) if self._is_open(original) else array
            for array, original in zip(placed.shared, kernel.shared, strict=True)
        )
        head = self._head(kernel)
        bounds = None if depends_on_hole(head, self._tainted) else placed.max_threads
        parameters = placed.parameters
        if any(_is_hole(part) or "..." in part.type.text for part in kernel.parameters):
            # A hole alone in the list, or a pack, stands for any number of them.
            parameters = (Parameter("", "", Type("unknown"), starred="*"),)
        return msgspec.structs.replace(
            placed, shared=shared, max_threads=bounds, parameters=parameters
        )

    def _is_open(self, array: SharedArray) -> bool:
        """Whether the size of an array depends on a hole."""
        first, last = self._offsets(array.span)
        line_start = self._text.value.rfind("\n", 0, first) + 1
        end = self._text.value.find(";", last)
        code = self._text.value[line_start : end if end >= 0 else last]
        return depends_on_hole(code, self._tainted)

    def _head(self, kernel: Kernel) -> str:
        first, _ = self._offsets(kernel.span)
        start = self._text.value.rfind("__global__", 0, first)
        return self._text.value[max(start, 0) : first]

    def _offsets(self, span: Span) -> tuple[int, int]:
        starts = self._source.line_starts
        size = len(self._source.text)

        def offset(row: int, column: int) -> int:
            return min(starts[min(max(row, 1), len(starts)) - 1] + column - 1, size)

        return offset(span.row, span.column), offset(span.end_row, span.end_column)

    def _place(self, span: Span) -> tuple[str, Span]:
        return self._files.place(*self._text.origin(*self._offsets(span)))

    def _rebuilt(self, value: Any, filename: str, anchor: Span) -> Any:
        """The same value with its spans in the Python file and its keys unique. What is written in
        another file than the whole is taken to be at the whole's place."""
        if isinstance(value, Span):
            place, span = self._place(value)
            return span if place == filename else anchor
        if isinstance(value, msgspec.Struct):
            changes = {}
            for name in value.__struct_fields__:
                before = getattr(value, name)
                if name in _KEYS and isinstance(before, str):
                    after: Any = self._keys.get(before, before)
                elif name in _KEY_LISTS and isinstance(before, tuple):
                    after = tuple(
                        self._keys.get(item, item) if isinstance(item, str) else item
                        for item in before
                    )
                elif isinstance(before, msgspec.Struct | tuple | dict):
                    after = self._rebuilt(before, filename, anchor)
                else:
                    continue
                if after is not before:
                    changes[name] = after
            return msgspec.structs.replace(value, **changes) if changes else value
        if isinstance(value, tuple):
            items = tuple(self._rebuilt(item, filename, anchor) for item in value)
            changed = any(a is not b for a, b in zip(items, value, strict=True))
            return items if changed else value
        if isinstance(value, dict):
            return {key: self._rebuilt(item, filename, anchor) for key, item in value.items()}
        return value


def _is_hole(parameter: Parameter) -> bool:
    """A parameter that is nothing but a hole: a list of them, for all that is known."""
    return not parameter.name or "cudalint_unknown_" in parameter.name


def kernels_by_name(program: Program) -> dict[str, Kernel | None]:
    """The kernels that a source defines, by name without scope; ``None`` where two share one."""
    found: dict[str, Kernel | None] = {}
    for kernel in program.kernels:
        name = kernel.name.rpartition("::")[2]
        found[name] = None if name in found else kernel
    return found
