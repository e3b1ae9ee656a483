"""Parses CUDA C++ from memory with libclang. Imported in workers only: libclang is heavy."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import os
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from clang import cindex

from cudalint.frontends.cuda.conditional import (
    Conditional,
    asked_around,
    asked_for,
    declared_under,
    defined_in,
    needed,
)
from cudalint.frontends.cuda.configured import configured
from cudalint.frontends.cuda.deep_stack import with_deep_stack
from cudalint.frontends.cuda.flags import (
    all_system_folders,
    base_arguments,
    language_of,
    meant_standard,
    prefix_for,
    project_arguments,
)
from cudalint.frontends.cuda.includes import find_includes, known_of_the_disk
from cudalint.frontends.cuda.options import ParseOptions
from cudalint.frontends.cuda.precompiled import (
    discard,
    including,
    precompiled_header,
    prefix_headers,
)
from cudalint.frontends.cuda.toolchain import MADE_UP, find_toolchain
from cudalint.frontends.cuda.undeclared import Undeclared, declared_in
from cudalint.source import Source, Span

__all__ = ["Diagnostic", "MissingHeader", "ParseFailure", "ParseOptions", "ParsedUnit", "parse"]

_INCOMPLETE = 0x02
"""Makes no instances of functions before the end, as for a precompiled header."""
_KEEP_GOING = 0x200
_MOST_ERRORS = 500
_MOST_ERRORS_ON_LONG_LINES = 50
_LONG_LINE = 100_000
_MOST_REPAIRS = 2
_INCLUDING = "cudalint_includes.cu"
"""Is nowhere on the disk."""
_QUOTED = re.compile(r"'(\w+)'")
_NOT_FOUND = re.compile(r"'([^']+)' file not found")
# What names of the C++ library, read before the source, can do to a source that did not ask for
# them; a note then says where the other one is:
_CROWDED = re.compile(r"is ambiguous|^redefinition of|^conflicting types|different kind of symbol")
# The compiler's own search paths would make findings depend on the shell:
_ENVIRONMENT = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH")


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
    crowded: bool = False
    """Whether a name of the system is in the way."""


class Reading(NamedTuple):
    """What a file is read after."""

    prefix: str
    declarations: str
    """Of names that it uses and that no header declares."""


@dataclass(frozen=True)
class ParsedUnit:
    """A translation unit with what could not be read of it."""

    unit: cindex.TranslationUnit
    filename: str
    text: str
    missing_headers: tuple[MissingHeader, ...]
    errors: tuple[Diagnostic, ...]
    """Errors in the file itself and in the project's headers, the first ones."""
    unsaved: Mapping[str, bytes] = field(default_factory=dict)
    """Text of headers that differs from the disk's."""
    reading: Reading = Reading("", "")  # noqa: RUF009  (a tuple)
    is_whole: bool = True
    """Whether it has the instances of templates."""

    def close(self) -> None:
        """Give back the unit's memory, and the precompiled header's that it maps. What was asked
        about it holds on to it in circles, and those may live for many files."""
        cindex.conf.lib.clang_disposeTranslationUnit(self.unit)
        # What is left is of no use, and nothing to be given back again.
        self.unit.obj = self.unit._as_parameter_ = cindex.c_object_p()
        if (trim := _trim()) is not None:
            trim(0)


class ParseFailure(Exception):  # noqa: N818  (a fact about the file, not an error of ours)
    """libclang gave no translation unit at all."""


def parse(
    filename: str, text: str, options: ParseOptions, reading: Reading | None = None
) -> ParsedUnit:
    """Parse ``text`` as the content of ``filename``, whatever is on the disk; after a ``reading``
    that is known to be the right one, which else is found first."""
    reader = _Reader(filename, text, options)
    if reading is not None:
        return reader.attempt(reading)
    before, last = reader.settle()
    if before.is_whole and last == before.reading:
        return before
    try:
        return reader.attempt(last)
    except ParseFailure:
        return before


def settled(filename: str, text: str, options: ParseOptions) -> Reading:
    """The reading of ``parse``, which takes a part of the time."""
    return _Reader(filename, text, options).settle()[1]


class _Reader:
    """Reads one file."""

    def __init__(self, filename: str, text: str, options: ParseOptions) -> None:
        for name in _ENVIRONMENT:
            os.environ.pop(name, None)
        self._filename, self._text = filename, text
        self._folder = options.cache_folder
        self._toolchain = find_toolchain()
        self._language = language_of(filename, text)
        self._system = all_system_folders(self._toolchain)
        includes = options.includes
        if includes is None:
            known = (*options.include_folders, *options.system_folders)
            includes = find_includes(filename, text, known, self._system, options.root)
        self._project = project_arguments(options)
        for folder in includes.folders:
            self._project += ["-idirafter", folder]
        self._project += [f"--no-system-header-prefix={name}" for name in sorted(includes.own)]
        given = {one.partition("=")[0] for one in (*options.defines, *options.undefines)}
        self._headers = sorted({*includes.headers} - {*includes.unreadable})
        declared = {one: _declared_under(one) for one in self._headers}
        asked = sorted({*asked_for(text), *options.defined_together, *needed(text, declared)})
        self._project += [f"-D{one}" for one in asked if one.partition("=")[0] not in given]
        self._unsaved = {path: _encoded(other) for path, other in options.unsaved}
        for place, template in includes.templates:
            if (made := configured(Path(template))) is not None:
                self._unsaved.setdefault(place, _encoded(made))
        self._files = [
            (filename, _encoded(text)),
            *((name, b"") for name in includes.unreadable),
            *self._unsaved.items(),
        ]
        standard = options.standard or meant_standard(text)
        if standard is None and self._language != "c":
            standard = next(filter(None, map(_standard_meant_by, self._headers)), None)
        self._base = base_arguments(self._language, standard, self._toolchain)
        self._prefix = prefix_for(self._language, text, includes.names)
        # From C++20 on the library's functions have bodies to read for each instance, which takes
        # most of the time.
        self._is_new = any(f"-std=gnu++{number}" in self._base for number in (20, 23, 26))
        missing: dict[str, list[str]] = defaultdict(list)
        for file, name in includes.missing:
            missing[file].append(name)
        lacking = {file for file, names in missing.items() if self._needs(file, names)}
        own = os.path.abspath(filename)  # noqa: PTH100  (as the scan has it)
        self._lacks = own in lacking
        """Whether names of its own are sure to be undeclared: the first attempt is not the last."""
        self._lacking = tuple(sorted(lacking - {own}))
        """The headers of which that is so."""
        self._options = options

    def _needs(self, file: str, headers: list[str]) -> bool:
        """Whether a file includes any of some headers on no condition, but that of its own
        guard."""
        own = file == os.path.abspath(self._filename)  # noqa: PTH100
        text = self._text if own else self._header(file)
        either = "|".join(map(re.escape, headers))
        for place in re.finditer(
            rf"""^[ \t]*#[ \t]*\w+[ \t]*[<"](?:{either})[>"]""", text, re.MULTILINE
        ):
            before = text[: place.start()]
            if asked_around(before) <= defined_in(before):
                return True
        return False

    def _header(self, name: str) -> str:
        """The text of a header; empty where it cannot be read any more."""
        if name in self._unsaved:
            return self._unsaved[name].decode("utf-8", errors="replace")
        try:
            return Path(name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def attempt(self, reading: Reading, is_whole: bool = True) -> ParsedUnit:
        """Parse it once. Raises ``ParseFailure``."""
        unit = None
        further, sources = self._project, self._files
        if reading.declarations:
            further = [*further, "-include", MADE_UP]
            sources = [*sources, (MADE_UP, reading.declarations.encode())]
        if self._folder is not None:
            toolchain = self._toolchain
            header = precompiled_header(reading.prefix, self._base, toolchain, self._folder)
            if header is not None:
                arguments = [*self._base, "-include-pch", str(header), *further]
                unit = _translation_unit(self._filename, arguments, sources, is_whole)
                if unit is None:
                    discard(header)
        if unit is None:
            first = including(prefix_headers(reading.prefix))
            arguments = [*self._base, *first, *further]
            unit = _translation_unit(self._filename, arguments, sources, is_whole)
        if unit is None:
            raise ParseFailure(f"libclang could not parse {self._filename}")
        parsed = _with_diagnostics(unit, Source(self._filename, self._text), self._system)
        return dataclasses.replace(
            parsed, unsaved=self._unsaved, reading=reading, is_whole=is_whole
        )

    def settle(self) -> tuple[ParsedUnit, Reading]:
        """The last attempt, and the reading that its errors, or those before, lead to."""
        told = self._told_by_headers()
        try:
            undeclared, headers, parsed = self._begin(told)
        except ParseFailure:
            if not told:
                raise
            undeclared, headers, parsed = self._begin([])
        for number in range(1, _MOST_REPAIRS + 1):
            for name in sorted({one.filename for one in parsed.errors if one.filename} - headers):
                headers.add(name)
                undeclared.read(self._header(name))
            if not undeclared.learn(_own_errors(parsed)):
                break
            reading = parsed.reading._replace(declarations=undeclared.declarations())
            if reading == parsed.reading:
                break  # it would say the same again
            if number == _MOST_REPAIRS:
                return parsed, reading
            try:
                parsed = self.attempt(reading, not (self._lacks and self._is_new))
            except ParseFailure:
                break
        return parsed, parsed.reading

    def _begin(self, told: list[tuple[str, str]]) -> tuple[Undeclared, set[str], ParsedUnit]:
        """The first attempt, after what headers lack; and whose texts that was learnt from."""
        undeclared = Undeclared(self._text, self._language == "c")
        headers = {filename for filename, _ in told}
        for name in sorted(headers):
            undeclared.read(self._header(name))
        undeclared.learn((message, 0, 0) for _, message in told)
        first = Reading(self._prefix, undeclared.declarations())
        is_whole = not self._lacks
        parsed = self.attempt(first, is_whole)
        if self._prefix not in ("runtime", "c") and any(one.crowded for one in parsed.errors):
            plain = self.attempt(first._replace(prefix="runtime"), is_whole)
            parsed = plain if len(plain.errors) < len(parsed.errors) else parsed
        return undeclared, {self._filename, *headers}, parsed

    def _told_by_headers(self) -> list[tuple[str, str]]:
        """What the headers that lack others say without what the file includes beside them: each
        error after the file that it is in. It is the same for all files that include them."""
        if self._language == "c" or not self._lacking:
            return []  # of a file of C they may be C++
        alone = dataclasses.replace(self._options, includes=None, defined_together=())
        told = _errors_alone(self._lacking, alone)
        others = frozenset[str]().union(*(_declared_in(name) for name in self._headers))
        return [one for one in told if not others.intersection(_QUOTED.findall(one[1])[:1])]


@known_of_the_disk
def _errors_alone(headers: tuple[str, ...], options: ParseOptions) -> tuple[tuple[str, str], ...]:
    """The errors in some headers that nothing stands before, each after the file that it is in."""
    filename = str(Path(headers[0]).with_name(_INCLUDING))
    try:
        reader = _Reader(filename, "".join(f'#include "{one}"\n' for one in headers), options)
        parsed = reader.attempt(Reading(reader._prefix, ""), is_whole=False)
    except ParseFailure:
        return ()
    errors = dict.fromkeys((one.filename, one.message) for one in parsed.errors if one.filename)
    parsed.close()
    return tuple(errors)


@known_of_the_disk
def _standard_meant_by(header: str) -> str | None:
    """The standard that a header cannot do without."""
    try:
        return meant_standard(Path(header).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None


@known_of_the_disk
def _declared_under(header: str) -> Conditional:
    """What a header declares under conditions."""
    try:
        return declared_under(Path(header).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return declared_under("")


@known_of_the_disk
def _declared_in(header: str) -> frozenset[str]:
    """The classes, aliases, macros and enumerations of a header."""
    try:
        return declared_in(Path(header).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return frozenset()


@functools.cache
def _trim() -> Callable[[int], int] | None:
    """glibc's own: without it, what libclang freed stays with the process, several times over."""
    trim: Callable[[int], int] | None = None
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim


def _own_errors(parsed: ParsedUnit) -> Iterator[tuple[str, int, int]]:
    for error in parsed.errors:
        here = error.filename == parsed.filename
        yield error.message, error.row if here else 0, error.column if here else 0


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogatepass")


def _translation_unit(
    filename: str, arguments: list[str], files: list[tuple[str, bytes]], is_whole: bool
) -> cindex.TranslationUnit | None:
    """The unit; ``None`` where libclang has none to give (a crash, a refused header)."""
    index = cindex.Index.create(excludeDecls=True)
    # libclang parses in a thread of its own with 8 MB of stack, unless told not to.
    os.environ["LIBCLANG_NOTHREADS"] = "1"
    options = _KEEP_GOING if is_whole else _KEEP_GOING | _INCOMPLETE

    def run() -> cindex.TranslationUnit:
        unit: cindex.TranslationUnit = cindex.TranslationUnit.from_source(
            filename, args=arguments, unsaved_files=files, options=options, index=index
        )
        return unit

    try:
        return with_deep_stack(run)
    except cindex.TranslationUnitLoadError:
        return None


def _with_diagnostics(
    unit: cindex.TranslationUnit, source: Source, system: tuple[str, ...]
) -> ParsedUnit:
    missing: dict[str, MissingHeader] = {}
    errors: list[Diagnostic] = []
    diagnostics = unit.diagnostics
    # libclang counts the column of each anew, from the start of the line.
    is_long = any(len(line) > _LONG_LINE for line in source.lines)
    most = _MOST_ERRORS_ON_LONG_LINES if is_long else _MOST_ERRORS
    for number in range(len(diagnostics)):
        if len(errors) >= most:
            break
        diagnostic = diagnostics[number]
        if diagnostic.severity < cindex.Diagnostic.Error:
            continue
        location = diagnostic.location
        filename = location.file.name if location.file else source.filename
        if filename.startswith(system) or filename == MADE_UP:
            continue
        row, column = location.line, location.column
        header = _NOT_FOUND.search(diagnostic.spelling)
        if header:
            name = header.group(1)
            if name not in missing:
                span = _include_span(source, filename, row, column, name)
                missing[name] = MissingHeader(name, span, filename)
        else:
            message = diagnostic.spelling
            crowded = bool(_CROWDED.search(message)) and _points_to(system, diagnostic)
            errors.append(Diagnostic(message, row, column, filename, crowded))
    return ParsedUnit(unit, source.filename, source.text, tuple(missing.values()), tuple(errors))


def _points_to(folders: tuple[str, ...], diagnostic: cindex.Diagnostic) -> bool:
    """Whether a note of it says that something stands in one of the folders."""
    notes = diagnostic.children
    files = (notes[number].location.file for number in range(len(notes)))
    return any(file is not None and file.name.startswith(folders) for file in files)


def _include_span(source: Source, filename: str, row: int, column: int, name: str) -> Span:
    line = source.line(row) if filename == source.filename else ""
    end = line.find(name) + len(name) + 2 if name in line else column + len(name) + 2
    return Span(row, max(line.find("#"), 0) + 1, row, end)
