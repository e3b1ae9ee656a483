"""Facts built by hand, for the tests of the rules."""

from __future__ import annotations

from typing import Any

from cudalint.analysis.facts import (
    Allocation,
    ClassFacts,
    Endpoint,
    Exit,
    Fill,
    FunctionFacts,
    LaunchSite,
    Leak,
    LeakExit,
    MemberAcquisition,
    Resource,
    Site,
    Transfer,
)
from cudalint.apis.model import Family
from cudalint.findings.finding import Step
from cudalint.program import Kernel, Record, SharedArray
from cudalint.source import Span

FILE = "blur.cu"
FAMILIES = {
    "device": Family("memory", "device memory", ("cudaFree",), "device", reset=True),
    "pinned": Family("memory", "pinned host memory", ("cudaFreeHost",), "pinned"),
    "managed": Family("memory", "managed memory", ("cudaFree",), "managed"),
    "array": Family("memory", "CUDA array", ("cudaFreeArray",), "array"),
    "stream": Family("handle", "CUDA stream", ("cudaStreamDestroy",)),
    "cupy": Family("memory", "CuPy array", (), "device", managed=True),
}


def at(row: int, column: int = 5, length: int = 10) -> Span:
    return Span(row, column, row, column + length)


def site(row: int, text: str = "cudaFree", filename: str = FILE) -> Site:
    return Site(filename, at(row), text)


def resource(name: str = "d_out", row: int = 10, family: str = "device", **more: Any) -> Resource:
    api = more.pop("api", "cudaStreamCreate" if family == "stream" else "cudaMalloc")
    return Resource(name, api, family, FAMILIES[family], FILE, at(row), **more)


def leave(kind: Exit, row: int, reason: str = "cudaMemcpy fails", **more: Any) -> LeakExit:
    steps = (Step(FILE, at(row), reason),)
    return LeakExit(kind, at(row), reason, steps, **more)


def end(row: int = 50) -> LeakExit:
    return leave(Exit.END, row, "the function ends")


def leak(*exits: LeakExit, of: Resource | None = None, **more: Any) -> Leak:
    return Leak(of or resource(), exits, **more)


def function(**facts: Any) -> FunctionFacts:
    return FunctionFacts(**{"function": "render", "filename": FILE, "span": at(1), **facts})


def allocation(name: str = "d_out", size: int | None = None, **more: Any) -> Allocation:
    row, family = more.pop("row", 10), more.pop("family", "device")
    checked = more.pop("checked", True)
    owner = resource(name, row, family)
    return Allocation(owner, size, more.pop("text", "bytes"), checked, at(row), **more)


def endpoint(name: str = "d_out", space: str | None = "device", **more: Any) -> Endpoint:
    return Endpoint(name, space, more.pop("size", None), **more)


def transfer(
    to: Endpoint, source: Endpoint | None, size: int | None = None, **more: Any
) -> Transfer:
    direction = more.pop("direction", "host-to-device")
    text = more.pop("text", "bytes")
    return Transfer("cudaMemcpy", at(20), to, source, size, text, direction, **more)


def fill(value: float | None, text: str = "", **more: Any) -> Fill:
    to = more.pop("to", endpoint())
    size, element = more.pop("size", None), more.pop("element_bytes", 1)
    return Fill("cudaMemset", at(20), to, value, text, size, element, **more)


def kernel(name: str = "reduce", *shared: int, **more: Any) -> Kernel:
    arrays = tuple(SharedArray(f"s{i}", size, at(3 + i)) for i, size in enumerate(shared))
    return Kernel(name, name, FILE, at(2), arrays, **more)


def launch(**more: Any) -> LaunchSite:
    defaults: dict[str, Any] = {
        "kernel_name": "reduce",
        "span": at(30),
        "grid": (None, None, None),
        "block": (256, 1, 1),
        "shared_bytes": 0,
    }
    return LaunchSite(**{**defaults, **more})


def acquired(
    member: str, row: int, method: str = "Layer::Layer", kind: str = "constructor", **more: Any
) -> MemberAcquisition:
    return MemberAcquisition(member, resource(member, row, **more), method, kind)


def record(name: str = "Layer") -> Record:
    return Record(name, name, FILE, at(1))


def klass(*members: MemberAcquisition, **more: Any) -> ClassFacts:
    defaults: dict[str, Any] = {
        "record": record(),
        "filename": FILE,
        "acquired": members,
        "released_by_destructor": {},
        "released_elsewhere": {},
        "destructor": None,
    }
    return ClassFacts(**{**defaults, **more})
