"""Parses CUDA C++ from memory with libclang. Imported in workers only: libclang is heavy."""

from __future__ import annotations

import re
from dataclasses import dataclass

import clang.cindex

from cudalint.frontends.cuda.cursors import forget_files
from cudalint.frontends.cuda.flags import clang_arguments
from cudalint.frontends.cuda.options import ParseOptions
from cudalint.frontends.cuda.toolchain import find_toolchain
from cudalint.source import Source, Span

__all__ = ["Diagnostic", "MissingHeader", "ParseError", "ParseOptions", "ParsedUnit", "parse"]

_KEEP_GOING = 0x200
_MOST_ERRORS = 200
_NOT_FOUND = re.compile(r"'([^']+)' file not found")


@dataclass(frozen=True)
class MissingHeader:
    """A header that was not found, and the ``#include`` (``filename`` may be a header itself)."""

    name: str
    span: Span
    filename: str


@dataclass(frozen=True)
class Diagnostic:
    """An error of the parser. Row and column are 1-based, 0 where unknown."""

    message: str
    row: int
    column: int
    filename: str


@dataclass(frozen=True)
class ParsedUnit:
    """A translation unit with what could not be read of it."""

    unit: clang.cindex.TranslationUnit
    filename: str
    text: str
    missing_headers: tuple[MissingHeader, ...]
    errors: tuple[Diagnostic, ...]


class ParseError(Exception):
    """libclang gave no translation unit at all."""


def parse(filename: str, text: str, options: ParseOptions) -> ParsedUnit:
    """Parse ``text`` as the content of ``filename``, whatever is on the disk."""
    arguments = clang_arguments(filename, text, options, find_toolchain())
    index = clang.cindex.Index.create()
    try:
        unit = clang.cindex.TranslationUnit.from_source(
            filename,
            args=arguments,
            unsaved_files=[(filename, text)],
            options=_KEEP_GOING,
            index=index,
        )
    except clang.cindex.TranslationUnitLoadError as error:
        raise ParseError(f"libclang could not parse {filename}") from error
    forget_files()
    missing, errors = _diagnostics(unit, Source(filename, text))
    return ParsedUnit(unit, filename, text, missing, errors)


def _diagnostics(
    unit: clang.cindex.TranslationUnit, source: Source
) -> tuple[tuple[MissingHeader, ...], tuple[Diagnostic, ...]]:
    missing: dict[str, MissingHeader] = {}
    errors: list[Diagnostic] = []
    diagnostics = unit.diagnostics
    for number in range(len(diagnostics)):
        diagnostic = diagnostics[number]
        if diagnostic.severity < clang.cindex.Diagnostic.Error:
            continue
        location = diagnostic.location
        filename = location.file.name if location.file else source.filename
        row, column = location.line, location.column
        header = _NOT_FOUND.search(diagnostic.spelling)
        if header:
            name = header.group(1)
            if name not in missing:
                line = source.line(row) if filename == source.filename else ""
                end = len(line.rstrip()) + 1 if line else column + len(name) + 2
                span = Span(row, max(line.find("#"), 0) + 1, row, end)
                missing[name] = MissingHeader(name, span, filename)
        elif len(errors) < _MOST_ERRORS:
            errors.append(Diagnostic(diagnostic.spelling, row, column, filename))
    return tuple(missing.values()), tuple(errors)
