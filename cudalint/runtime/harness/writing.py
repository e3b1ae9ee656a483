"""Writes a harness: it includes the source, makes what a function needs, and calls it."""

from __future__ import annotations

import functools
import operator
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clang.cindex import CursorKind, TypeKind

from cudalint.findings.finding import Finding
from cudalint.frontends.cuda.parse import ParseFailure, ParseOptions, parse
from cudalint.project.compile_commands import CompileFlags
from cudalint.project.reading import UnreadableError
from cudalint.runtime.build import SOURCES
from cudalint.runtime.harness.subjects import (
    HarnessError,
    Unit,
    class_of,
    is_public,
    name_of,
)
from cudalint.runtime.harness.values import Values, destroys, parameters

_SUPPORT = Path(__file__).with_name("support.hpp")
_CHECKED = re.compile(r"(?:[<>]=?|[!=]=|%)\s*(\d{1,5})\b")
_MASKED = re.compile(r"[^&]& (\d{1,5})\b")
_MOST_NUMBERS = 6
_RELEASES = re.compile(
    r"(?i)release|free|destroy|clear|close|reset|final|clean|dispose|deinit|shutdown|tear"
)
_PARAMETERS = (
    CursorKind.TEMPLATE_TYPE_PARAMETER,
    CursorKind.TEMPLATE_NON_TYPE_PARAMETER,
)


@dataclass(frozen=True)
class Harness:
    """A program that calls one function."""

    name: str
    """Of the function: ``JBU::CudaRun``."""
    source: Path
    """Where that function is."""
    text: str
    suffix: str
    numbers: tuple[int, ...]
    """What sizes and counts may be, the usual one first."""
    releasing: bool
    """Whether its class has methods that release, which a user would call at the end."""

    @property
    def filename(self) -> str:
        """A name for its file."""
        return re.sub(r"\W+", "_", f"{self.source.stem}_{self.name}") + self.suffix


class Writer:
    """Writes the harnesses for the findings of one source, which is parsed once."""

    def __init__(self, source: Path, flags: CompileFlags) -> None:
        self._source = source
        try:
            text = source.read_text("utf-8", "replace")
            options = ParseOptions(
                flags.include_folders, flags.system_folders, flags.defines, flags.undefines,
                forced_includes=flags.forced_includes, standard=flags.standard,
            )  # fmt: skip
            self._parsed = parse(str(source), text, options)
        except (OSError, UnreadableError, ParseFailure) as error:
            raise HarnessError(f"{source.name} cannot be parsed: {error}") from error
        self._unit = Unit(self._parsed.unit.cursor)

    def harness(self, finding: Finding) -> Harness:
        """The harness for a finding; ``HarnessError`` says why there is none."""
        inner = self._unit.around(finding.filename, finding.span.row)
        function = self._unit.reachable(inner)
        owner = class_of(function)
        aliases, templated = _aliases(function, owner)
        values = Values(templated)
        releasing = False
        if owner is None or function.is_static_method():
            callee = f"::{name_of(function)}{_given(function)}"
            call = [_call(callee, values.arguments(function), function)]
        else:
            call, releasing = self._on_object(function, owner, values, finding)
        body = [*aliases, *values.lines, *call]
        suffix = self._source.suffix.lower()
        return Harness(
            name_of(function),
            self._source,
            self._text(finding, name_of(function), body),
            suffix if suffix in SOURCES and suffix != ".c" else ".cu",
            _numbers(inner),
            releasing,
        )

    def _on_object(
        self, function: Any, owner: Any, values: Values, finding: Finding
    ) -> tuple[list[str], bool]:
        kind = f"::{name_of(owner)}{_given(owner)}"
        if function.kind == CursorKind.CONSTRUCTOR:
            made = values.arguments(function)
        else:
            made = values.constructor_arguments(owner)
        plain = function.kind in (CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR)
        call = [] if plain else [
            _call(f"object->{function.spelling}", values.arguments(function), function)
        ]  # fmt: skip
        releasers = [
            one.spelling
            for one in (owner.get_definition() or owner).get_children()
            if one.kind == CursorKind.CXX_METHOD
            and is_public(one)
            and not one.is_static_method()
            and not parameters(one)
            and one.spelling != function.spelling
            and (self._unit.releases(one) or _RELEASES.search(one.spelling))
        ]
        # Nobody says when what has no destructor ends: then its members are its user's.
        ends = destroys(owner) or finding.code == "GPU105"
        hold = "std::unique_ptr<{0}> object(new {0}({1}));"
        if not ends:
            hold = "{0}* object = &held(new {0}({1}));"
        lines = [hold.format(kind, made), *call]
        lines += [f"if (releasing()) object->{name}();" for name in releasers]
        return lines, bool(releasers)

    def _text(self, finding: Finding, name: str, body: list[str]) -> str:
        support = _SUPPORT.read_text("utf-8")
        alone = self._source.suffix.lower() in SOURCES
        lines = [
            f"// Written by cudalint: calls `{name}`, for {finding.code} at line"
            f" {finding.span.row} of the source.",
            "" if alone else support,  # a header may count on those that others include first
            "#define main cudalint_main_of_the_source",
            f'#include "{self._source}"',
            "#undef main",
            support if alone else "",
            "namespace cudalint_harness {  // whose names hide the source's",
            "static void call() {",
            *(f"    {line}" for line in body),
            "}",
            "}",
            "",
            "int main() {",
            "    try {",
            "        cudalint_harness::call();",
            "    } catch (...) {",
            "        return cudalint_harness::rejected;",
            "    }",
            "    return 0;",
            "}",
        ]
        return "\n".join(lines) + "\n"


def _call(callee: str, arguments: str, function: Any) -> str:
    call = f"{callee}({arguments})"
    result = function.result_type.get_canonical().kind
    if result == TypeKind.VOID:
        return f"{call};"
    if result in (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE):
        return f"keep((void*)&{call});"
    return f"held(new auto({call}));"


def _aliases(function: Any, owner: Any | None) -> tuple[list[str], frozenset[str]]:
    """What the parameters of templates stand for: ``float`` and 4."""
    lines: list[str] = []
    names: set[str] = set()
    for cursor in (function, owner):
        for one in () if cursor is None else cursor.get_children():
            if one.kind == CursorKind.TEMPLATE_TYPE_PARAMETER:
                lines.append(f"using {one.spelling} = float;")
                names.add(one.spelling)
            elif one.kind == CursorKind.TEMPLATE_NON_TYPE_PARAMETER:
                lines.append(f"constexpr {one.type.spelling} {one.spelling} = 4;")
                names.add(one.spelling)
            elif one.kind == CursorKind.TEMPLATE_TEMPLATE_PARAMETER:
                raise HarnessError(f"`{name_of(cursor)}` is a template over templates")
    return lines, frozenset(names)


def _given(cursor: Any) -> str:
    names = [one.spelling for one in cursor.get_children() if one.kind in _PARAMETERS]
    return f"<{', '.join(names)}>" if names else ""


def _numbers(function: Any) -> tuple[int, ...]:
    """The usual sizes, and those that the code asks about."""
    text = " ".join(token.spelling for token in function.get_tokens())
    asked = [int(found) for found in _CHECKED.findall(text)]
    bits = functools.reduce(operator.or_, map(int, _MASKED.findall(text)), 0)
    around = (number for one in asked for number in (one, one + 1) if number > 1)
    every = (bits,) if bits else ()
    return tuple(dict.fromkeys((64, 8, *every, *around)))[:_MOST_NUMBERS]
