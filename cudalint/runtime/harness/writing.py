"""Writes a harness: it includes the source, makes what a function needs, and calls it."""

from __future__ import annotations

import contextlib
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
from cudalint.runtime.evidence import LEAKS
from cudalint.runtime.harness.asked import asked_values
from cudalint.runtime.harness.subjects import (
    HarnessError,
    Unit,
    class_of,
    is_public,
    name_of,
)
from cudalint.runtime.harness.values import Values, destroys, needed, needs_another, parameters

_SUPPORT = Path(__file__).with_name("support.hpp")
_CHECKED = re.compile(r"(?:[<>]=?|[!=]=|%)\s*(\d{1,5})\b")
_MASKED = re.compile(r"[^&]& (\d{1,5})\b")
_MOST_NUMBERS = 6
RELEASES = re.compile(
    r"(?i)release|free|destroy|clear|close|reset|final|clean|dispose|deinit|shutdown|tear"
)
_PREPARES = re.compile(r"(?i:init|initiali[sz]e|create|open|set_?up|prepare)(?:[A-Z_]\w*)?$")
_MOST_PREPARES = 3
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
    """Whether something releases what it made, which a user would call at the end."""
    preparing: int
    """At how many attempts more of its class's methods are called that prepare an object, as a user
    may have to."""
    choices: int = 0
    """How many of the values that the code compares it with an argument can be given."""

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

    def harness(self, finding: Finding, further: int = 0) -> Harness:
        """The harness for a finding; ``HarnessError`` says why there is none. ``further``: it calls
        not the nearest function that leads there but one after it."""
        inner = self._unit.around(finding.filename, finding.span.row)
        function = self._unit.reachable(inner, further)
        owner = class_of(function)
        aliases, templated = _aliases(function, owner)
        asked = asked_values(self._unit.reached_from(function))
        values = Values(self._unit, templated, asked)
        prepares: list[str] = []
        if owner is None or function.is_static_method():
            call, releases = self._alone(function, values)
        else:
            call, prepares, releases = self._on_object(function, owner, values, finding)
        body = [*values.lines, *prepares, *call, *releases]
        suffix = ".cpp" if self._source.suffix == ".c" else self._source.suffix.lower()
        return Harness(
            name_of(function),
            self._source,
            self._text(name_of(function), [*aliases, *values.types], body),
            suffix if suffix in SOURCES else ".cu",
            _numbers(inner),
            bool(releases),
            _attempts(prepares),
            values.choices,
        )

    def _alone(self, function: Any, values: Values) -> tuple[list[str], list[str]]:
        """The call of a function that needs no object, and what releases what it gave: another
        function of the source, which takes that and nothing else."""
        made = [
            (f"made{number}", one.type, values.of(one.type, one.spelling))
            for number, one in enumerate(needed(function))
        ]
        lines = [f"auto&& {name} = {value};" for name, _, value in made]
        given = ", ".join(f"std::forward<decltype({name})>({name})" for name, _, _ in made)
        call = _call(f"::{name_of(function)}{_given(function)}", given, function)
        results: list[tuple[str, Any]] = []
        if call.startswith("held("):
            call, results = f"auto&& result = {call}", [("result", function.result_type)]
        releases: list[str] = []
        for name, kind in (*results, *((name, kind) for name, kind, _ in made)):
            expression, passed = _passed_on(name, kind)
            ours = passed.kind == TypeKind.POINTER and expression == name != "result"
            gone = f"*{name}" if ours else expression
            releases += (
                f"if (releasing() && there({expression}))"
                f" ::{name_of(one)}({expression}), forget({gone});"
                for one in self._unit.functions_of(passed)
                if one.get_usr() != function.get_usr() and self._is_release(one)
            )
        return [*lines, call], releases[:1]

    def _is_release(self, function: Any) -> bool:
        return bool(RELEASES.search(function.spelling)) or self._unit.releases(function)

    def _on_object(
        self, function: Any, owner: Any, values: Values, finding: Finding
    ) -> tuple[list[str], list[str], list[str]]:
        """The call of a method; what makes its object, and prepares it; what releases what that
        holds."""
        definition = owner.get_definition() or owner
        kind, made_of = _class_name(owner, values), owner
        if needs_another(definition):
            kind, made_of = values.concrete(definition)
        if function.kind == CursorKind.CONSTRUCTOR and made_of is owner:
            made = values.arguments(function)
        else:
            made = values.constructor_arguments(made_of)
        plain = function.kind in (CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR)
        call = [] if plain else [
            _call(f"object->{function.spelling}", values.arguments(function), function)
        ]  # fmt: skip
        others = [
            one
            for one in definition.get_children()
            if one.kind == CursorKind.CXX_METHOD
            and is_public(one)
            and not one.is_static_method()
            and one.spelling != function.spelling
        ]
        # Nobody says when what has no destructor ends: then its members are its user's. So are they
        # where what derives from an abstract class, for which another stands in, may release them.
        stands_in = needs_another(definition) and made_of is definition
        ends = not stands_in and (destroys(owner) or finding.code == "GPU105")
        built = f"new {kind}({made})"
        if function.kind != CursorKind.CONSTRUCTOR:
            for number, other in enumerate(values.other_objects(made_of, kind, made), 1):
                built = f"choice() == {number} ? {other} : {built}"
        hold = f"std::unique_ptr<{kind}> object({built});"
        if not ends:
            hold = f"{kind}* object = &held({built});"
        prepares = [hold]
        # What calls the function itself would have it called twice.
        first = [one for one in others if not self._unit.leads_to(one, function)]
        prepares += _preparing(first, values)
        if finding.code not in LEAKS:  # what is not released may be another's to release
            prepares += self._before(finding, function, first, values)
        releases = [
            f"if (releasing()) object->{one.spelling}();"
            for one in others
            if not parameters(one) and self._is_release(one)
        ]
        return call, prepares, releases

    def _before(
        self, finding: Finding, function: Any, others: list[Any], values: Values
    ) -> list[str]:
        """The calls of the methods that a finding tells of, before that in which it ends."""
        calls: list[str] = []
        for step in finding.steps:
            with contextlib.suppress(HarnessError):
                inner = self._unit.around(step.filename, step.span.row)
                usr = self._unit.reachable(inner).canonical.get_usr()
                for one in others:
                    if one.get_usr() == usr != function.get_usr():
                        given = values.arguments(one)
                        calls.append(f"if (preparing() >= 1) object->{one.spelling}({given});")
        return list(dict.fromkeys(calls))

    def _text(self, name: str, types: list[str], body: list[str]) -> str:
        support = _SUPPORT.read_text("utf-8")
        alone = self._source.suffix.lower() in SOURCES
        lines = [
            f"// Written by cudalint: calls `{name}`.",
            "" if alone else support,  # a header may count on those that others include first
            "#define main cudalint_main_of_the_source",
            f'#include "{self._source}"',
            "#undef main",
            support if alone else "",
            "namespace cudalint_harness {  // whose names hide the source's",
            *types,
            "static void call() {",
            *(f"    {line}" for line in body),
            "}",
            "}",
            "",
            "int main() {",
            "    cuInit(0);  // as who uses the driver's functions has done",
            "    try {",
            "        cudalint_harness::call();",
            "    } catch (const std::exception& error) {",
            "        return cudalint_harness::thrown(error.what());",
            "    } catch (...) {",
            "        return cudalint_harness::rejected;",
            "    }",
            "    return 0;",
            "}",
        ]
        return "\n".join(lines) + "\n"


def _preparing(methods: list[Any], values: Values) -> list[str]:
    """The calls of the methods that prepare an object and whose arguments can be made: of the first
    at the first attempt, of all at the second."""
    calls: list[str] = []
    for one in methods:
        if _PREPARES.match(one.spelling) and len(calls) < _MOST_PREPARES:
            with contextlib.suppress(HarnessError):
                given = values.arguments(one)
                attempt = "2" if calls else "1"
                calls.append(f"if (preparing() >= {attempt}) object->{one.spelling}({given});")
    return calls


def _attempts(lines: list[str]) -> int:
    return max((n for n in (1, 2) if any(f"preparing() >= {n}" in one for one in lines)), default=0)


def _passed_on(name: str, kind: Any) -> tuple[str, Any]:
    """How a value is given to what releases it, with its type there: a pointer to a pointer, where
    a function has put it, is looked up."""
    meant = kind.get_canonical()
    if meant.kind in (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE):
        meant = meant.get_pointee().get_canonical()
    if meant.kind == TypeKind.POINTER:
        inner = meant.get_pointee().get_canonical()
        if inner.kind == TypeKind.POINTER:
            return f"*{name}", inner
    return name, meant


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


def _class_name(owner: Any, values: Values) -> str:
    """How a class is written: with the parameters of a template, or what those were given."""
    given = _given(owner)
    return f"::{name_of(owner)}{given}" if given else f"::{values.spelled(owner.type)}"


def _given(cursor: Any) -> str:
    names = [one.spelling for one in cursor.get_children() if one.kind in _PARAMETERS]
    return f"<{', '.join(names)}>" if names else ""


def _numbers(function: Any) -> tuple[int, ...]:
    return asked_numbers(" ".join(token.spelling for token in function.get_tokens()))


def asked_numbers(text: str) -> tuple[int, ...]:
    """The usual sizes, and those that a function's text asks about."""
    asked = [int(found) for found in _CHECKED.findall(text)]
    bits = functools.reduce(operator.or_, map(int, _MASKED.findall(text)), 0)
    around = (number for one in asked for number in (one, one + 1) if number > 1)
    every = (bits,) if bits else ()
    return tuple(dict.fromkeys((64, 8, *every, *around)))[:_MOST_NUMBERS]
