"""Makes the programs: each way with each flaw that it can carry, and the correct twins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.variants.templates import Way

_SLOT = re.compile(r"(\s*)(ACQUIRE|BEFORE|SINK|AFTER|DECOY|RELEASE)\((.*)\);")
_MARK = "//@"
CODES = {
    "leak": ("GPU101", "GPU102", "GPU103", "GPU104", "GPU105", "GPU106"),
    "double": ("GPU201",),
    "use": ("GPU202",),
}
"""By which findings each flaw counts as found."""


@dataclass(frozen=True)
class Resource:
    """What is acquired: its type, and the statements."""

    type: str
    acquire: str
    use: str
    release: str


RESOURCES = {
    "memory": Resource(
        "float*",
        "cudaMalloc({}, 4096)",
        'if (cudaMemset({}, 0, 4096) != cudaSuccess) std::puts("not cleared");',
        "cudaFree({});",
    ),
    "stream": Resource(
        "cudaStream_t",
        "cudaStreamCreate({})",
        'if (cudaStreamSynchronize({}) != cudaSuccess) std::puts("not done");',
        "cudaStreamDestroy({});",
    ),
}
_HEADERS = ("cstdio", "cstdlib", "stdexcept")
_MAIN = """
int main() {
    int failed = 0;
    for (int round = 0; round < 3; ++round) failed += run();
    return failed;
}
"""
_MAIN_CATCHES = """
int main() {
    int failed = 0;
    try {
        for (int round = 0; round < 3; ++round) failed += run();
    } catch (const std::exception& error) {
        std::puts(error.what());
        return 1;
    }
    return failed;
}
"""


@dataclass(frozen=True)
class Case:
    """A program with its label."""

    way: Way
    flaw: str
    variant: str
    """Where the flaw stands: ``forward``, ``backward``, ``guarded``; ``null`` is correct only."""
    resource: str
    bad: bool
    files: Mapping[str, str]
    rows: Mapping[str, frozenset[int]]
    """The lines of each file that may carry the finding."""

    @property
    def name(self) -> str:
        """A name for a folder, unique."""
        twin = "bad" if self.bad else "good"
        words = (self.way.group, self.way.name, self.flaw, self.variant, self.resource, twin)
        return "-".join(re.sub(r"[^a-z0-9]+", "_", one.lower().replace("*", "p")) for one in words)

    @property
    def codes(self) -> frozenset[str]:
        """The findings that count."""
        return frozenset((*CODES[self.flaw], *self.way.codes))


Slots = Mapping[str, Sequence[str]]
"""What is done in each slot: ``use``, ``release``, ``null``."""
_USE, _RELEASE, _BOTH = ("use",), ("release",), ("use", "release")
_FORWARD: Mapping[str, tuple[Slots, Slots]] = {
    "leak": ({"SINK": _USE}, {"SINK": _BOTH}),
    "double": ({"BEFORE": _RELEASE, "SINK": _RELEASE}, {"BEFORE": _USE, "SINK": _RELEASE}),
    "use": ({"BEFORE": _RELEASE, "SINK": _USE}, {"BEFORE": _USE, "SINK": _BOTH}),
}
_BACKWARD: Mapping[str, tuple[Slots, Slots]] = {
    "double": ({"SINK": _RELEASE, "AFTER": _RELEASE}, {"SINK": _USE, "AFTER": _RELEASE}),
    "use": ({"SINK": _RELEASE, "AFTER": _USE}, {"SINK": _USE, "AFTER": _BOTH}),
}
_GUARDED: Mapping[str, tuple[Slots, Slots]] = {
    "leak": ({"SINK": _USE, "DECOY": _BOTH}, {"SINK": _BOTH, "DECOY": _USE}),
    "double": (
        {"BEFORE": _RELEASE, "SINK": _RELEASE},
        {"BEFORE": _RELEASE, "DECOY": _RELEASE},
    ),
    "use": ({"BEFORE": _RELEASE, "SINK": _USE}, {"BEFORE": _RELEASE, "DECOY": _USE}),
}
_NULL: Slots = {"BEFORE": ("release", "null"), "SINK": _RELEASE}


def cases_of(way: Way) -> Iterator[Case]:
    """All programs of a way: for each flaw bad and good, by turns."""
    for resource in way.resources:
        for flaw in way.flaws:
            for variant, bad, good in _variants(way, flaw):
                if resource != "memory" and variant in ("backward", "null"):
                    continue
                if bad is not None:
                    yield _case(way, flaw, variant, resource, True, bad)
                yield _case(way, flaw, variant, resource, False, good)


def _variants(way: Way, flaw: str) -> Iterator[tuple[str, Slots | None, Slots]]:
    if not way.has("SINK"):
        yield "forward", {}, {}
    elif way.has("DECOY"):
        yield "guarded", *_GUARDED[flaw]
    else:
        if flaw == "leak" or way.has("BEFORE"):
            yield "forward", *_FORWARD[flaw]
        if flaw != "leak" and way.has("AFTER"):
            bad, good = _BACKWARD[flaw]
            yield "backward", bad, _FORWARD[flaw][1] if way.is_owner else good
        if flaw == "double" and way.has("BEFORE"):
            yield "null", None, _NULL


def _case(way: Way, flaw: str, variant: str, resource: str, bad: bool, slots: Slots) -> Case:
    files: dict[str, str] = {}
    rows: dict[str, frozenset[int]] = {}
    throws = any("throw " in text for _, text in way.files)
    for name, template in way.files:
        head = [] if name.endswith(".h") else [f"#include <{one}>" for one in _HEADERS]
        if name.endswith(".h"):
            head = ["#pragma once"]
        text = template
        if name == "main.cu":
            text += _MAIN_CATCHES if throws else _MAIN
        lines = ["#include <cuda_runtime.h>", *head, ""]
        marked = set()
        for line in text.rstrip("\n").split("\n"):
            for mark, new in _expanded(line, RESOURCES[resource], bad, slots):
                lines.append(new)
                if mark:
                    marked.add(len(lines))
        files[name] = "\n".join(lines) + "\n"
        rows[name] = frozenset(marked)
    return Case(way, flaw, variant, resource, bad, files, rows)


def _expanded(line: str, kind: Resource, bad: bool, slots: Slots) -> Iterator[tuple[bool, str]]:
    """The lines that one line of a template becomes, and whether a finding may stand there."""
    for twin in ("bad", "good"):
        if line.startswith(f"?{twin} "):
            if bad != (twin == "bad"):
                return
            line = line.removeprefix(f"?{twin} ")
    match = _SLOT.fullmatch(line)
    if match is None:
        marked = line.endswith(_MARK)
        yield marked, line.removesuffix(_MARK).rstrip().replace("TYPE", kind.type)
        return
    indent, slot, argument = match.groups()
    if slot == "ACQUIRE":
        address, _, leave = argument.partition(", ")
        leave = leave if leave.startswith("{") else f"{leave};"
        yield True, f"{indent}if ({kind.acquire.format(address)} != cudaSuccess) {leave}"
        return
    for action in _RELEASE if slot == "RELEASE" else slots.get(slot, ()):
        if action == "null":
            yield False, f"{indent}{argument} = nullptr;"
        else:
            text = kind.use if action == "use" else kind.release
            yield True, indent + text.format(argument)
