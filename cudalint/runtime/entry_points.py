"""Generates C++ that answers every entry point of the CUDA runtime and driver APIs that the ledger
does not write itself: over a real runtime it forwards, simulated it says once that it is not
supported."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cudalint.runtime.toolkit import ToolkitError

HEADER = "cuda_runtime_api.h"
DRIVER_HEADER = "cuda.h"


@dataclass(frozen=True)
class EntryPoint:
    """A function of the header."""

    name: str
    result: str
    parameters: tuple[str, ...]
    """Their types, as they are written."""


def entry_points(include: Path) -> tuple[EntryPoint, ...]:
    """The functions that the headers declare, in their order: the runtime's, the driver's."""
    return tuple({entry.name: entry for entry in _declared(include)}.values())


def generate(include: Path, written: frozenset[str]) -> str:
    """The C++ of those that are not ``written`` by hand."""
    lines = ["// Generated from " + HEADER + ": edits are lost."]
    renamed = _renamed(include)
    for entry in entry_points(include):
        if entry.name in written or renamed.get(entry.name) in written:
            continue
        parameters = ", ".join(_parameter(t, i) for i, t in enumerate(entry.parameters))
        types = ", ".join(entry.parameters)
        arguments = ", ".join(f"a{i}" for i in range(len(entry.parameters)))
        macro = "GENERATED" if entry.result == "cudaError_t" else "GENERATED_CU"
        lines.append(
            f"{macro}({entry.name}, {entry.result}, ({parameters}), ({types}), ({arguments}))"
        )
    known = {entry.name for entry in entry_points(include)} | written
    lines += [
        f'extern "C" EXPORT int {name}_{suffix}() __attribute__((alias("{name}")));'
        for name, suffix in sorted(_per_thread(include))
        if name in known
    ]
    return "\n".join(lines) + "\n"


def _renamed(include: Path) -> dict[str, str]:
    """The names that the header of the runtime itself gives to functions: CUDA 12 makes
    ``cudaGetDeviceProperties_v2`` of ``cudaGetDeviceProperties``, in our sources as well.
    What has another name for default streams per thread stands in a macro there."""
    text = (include / HEADER).read_text("utf-8", "replace")
    renaming = re.compile(r"#\s*define\s+(cuda\w+)\s+(?:\w+\()?(\1_v\d+)\b")
    return {new: old for old, new in renaming.findall(text)}


def _per_thread(include: Path) -> set[tuple[str, str]]:
    """The functions that have another name where each thread has a default stream of its own."""
    found: set[tuple[str, str]] = set()
    for header in (HEADER, DRIVER_HEADER):
        text = (include / header).read_text("utf-8", "replace")
        for kind, name in re.findall(r"__CUDA(?:RT)?_API_(PTDS|PTSZ)\((\w+)\)", text):
            found.add((name, kind.lower()))
    return found


def _parameter(spelling: str, index: int) -> str:
    """A declaration of parameter ``a<index>``; some types need its name inside."""
    if "(*)" in spelling:
        return spelling.replace("(*)", f"(*a{index})", 1)
    head, bracket, tail = spelling.partition("[")
    return f"{head} a{index}{bracket}{tail}"


def _declared(include: Path) -> Iterator[EntryPoint]:
    from clang import cindex

    from cudalint.frontends.cuda.toolchain import find_toolchain

    toolchain = find_toolchain()
    arguments = ["-x", "c++", "-std=c++17", "-resource-dir", str(toolchain.resource)]
    arguments += ["-isystem", str(include)]
    for folder in (*toolchain.cxx, *toolchain.c):
        arguments += ["-isystem", str(folder)]
    text = f"#include <{DRIVER_HEADER}>\n#include <{HEADER}>\n"
    try:
        unit = cindex.Index.create().parse(
            "entry_points.cpp", arguments, [("entry_points.cpp", text)], 0
        )
    except cindex.TranslationUnitLoadError as error:
        raise ToolkitError(f"cannot read {include / HEADER}: {error}") from error
    found = 0
    for cursor in _functions(unit.cursor):
        name, result = cursor.spelling, cursor.result_type.spelling
        if not name.startswith("cu"):
            continue
        found += name.startswith("cuda")
        yield EntryPoint(
            name, result, tuple(argument.type.spelling for argument in cursor.get_arguments())
        )
    if not found:
        raise ToolkitError(f"{include / HEADER} declares no function: is it CUDA's?")


def _functions(cursor: Any) -> Iterator[Any]:
    from clang.cindex import CursorKind

    for child in cursor.get_children():
        if child.kind == CursorKind.LINKAGE_SPEC or child.kind == CursorKind.UNEXPOSED_DECL:
            yield from _functions(child)
        elif child.kind == CursorKind.FUNCTION_DECL:
            location = child.location.file
            if location is not None and Path(location.name).name in (HEADER, DRIVER_HEADER):
                yield child
