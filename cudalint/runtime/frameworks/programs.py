"""How programs of Python frameworks are started, and what their hooks wrote."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cudalint.runtime.events import Event, EventKind, Frame, Violation
from cudalint.runtime.python_programs import python_path
from cudalint.runtime.trace import Mode, Trace

TRACE = "CUDALINT_FRAMEWORK_TRACE"
HISTORY = "CUDALINT_HISTORY"
"""``0``: no history of each allocation, where only growth is asked for."""
PARTS = "CUDALINT_PARTS"
"""Set: how much of each block its operations take."""
STAND_INS = "CUDALINT_STAND_INS"
MODULES = Path(__file__).parent / "modules"
_RUNNER = "_cudalint_frameworks"
IMPORTS = r"^[ \t]*(?:from|import(?:[ \t]+[^,#\n]+,)*)[ \t]+"
"""Begins a line that imports what comes next, if with others: ``import os, torch``."""
_IMPORT = re.compile(
    IMPORTS + r"(torch|cupy|cupyx|numba|pycuda|jax|flax|rmm|cudf|cuml|lightning|pytorch_lightning"
    r"|transformers|cuda\.core|cuda\.bindings[^\n]*\bnvrtc)\b",
    re.MULTILINE,
)
_SIMULATED = re.compile(
    IMPORTS + r"(torch|torchvision|torchaudio|lightning|pytorch_lightning|transformers|timm"
    r"|cupy)\b",
    re.MULTILINE,
)
"""Those whose device can be pretended."""
_KINDS = {
    "acquire": EventKind.ACQUIRE,
    "release": EventKind.RELEASE,
    "copy": EventKind.COPY,
    "fill": EventKind.FILL,
    "call": EventKind.CALL,
    "kept": EventKind.KEPT,
    "note": EventKind.NOTE,
    "raised": EventKind.VIOLATION,
    "end": EventKind.END,
}


_REFUSED = re.compile(
    r"INVALID_VALUE|OUT_OF_RESOURCES|OutOfResources|out of resource|too many resources"
    r"|\[CUDA\]: invalid argument"
    r"|too much shared|invalid configuration|INVALID_CONFIGURATION|num_warps must be",
    re.IGNORECASE,
)
"""What frameworks say when a kernel cannot be compiled or launched as it is asked for."""


_FAILED = re.compile(
    r"^CUDARuntimeError: (?P<cupy>cudaError\w+)|^\w+Error: (?P<pycuda>cu[A-Z]\w+) failed: "
)
"""What CuPy and PyCUDA raise where a call of CUDA that they pass on fails."""
_UNKNOWN = 999


@dataclass(frozen=True)
class Sample:
    """Live memory when the program came to a watched line."""

    device: int
    host: int
    """-1 where the C heap cannot be asked."""
    nodes: int = 0
    """Of graphs that tensors lead to."""
    saved: int = 0
    """Bytes that these keep for a backward pass."""


@dataclass(frozen=True)
class FrameworkTrace:
    """What the hooks of one process wrote."""

    trace: Trace
    passes: Mapping[int, tuple[Sample, ...]]
    """By the number of the watch."""
    exits: tuple[tuple[Frame, ...], ...] = ()
    refused: Mapping[int, int] = field(default_factory=dict)
    """By the number of a watch whose line failed: the bytes that graphs kept anew before it."""


def uses_framework(files: Iterable[Path], *, simulated: bool = False) -> bool:
    """Whether any of these imports a framework that has an allocator of its own; ``simulated``: and
    whose device can be pretended."""
    imports = _SIMULATED if simulated else _IMPORT
    for file in files:
        try:
            if imports.search(file.read_text("utf-8", "replace")):
                return True
        except OSError:
            continue
    return False


def script_command(script: Path, arguments: Sequence[str] = ()) -> tuple[str, ...]:
    """What runs a script with its frameworks watched, by the interpreter that runs cudalint or the
    one that ``CUDALINT_PYTHON`` names."""
    interpreter = os.environ.get("CUDALINT_PYTHON") or sys.executable
    return (interpreter, "-B", "-m", _RUNNER, str(script), *arguments)


def environment() -> dict[str, str]:
    """What puts the hooks on the path of a program, and of any Python that it starts."""
    return {
        "PYTHONPATH": python_path(MODULES),
        # JAX would take three quarters of the device at once.
        "XLA_PYTHON_CLIENT_PREALLOCATE": os.environ.get("XLA_PYTHON_CLIENT_PREALLOCATE", "false"),
    }


def stand_ins_environment(stand_ins: Mapping[str, str]) -> dict[str, str]:
    """What tells the hooks which small data stands in for which absent files."""
    return {STAND_INS: json.dumps(dict(stand_ins))} if stand_ins else {}


def read_traces(path: Path) -> list[FrameworkTrace]:
    """What each process wrote to ``PATH.PID``, in the order of their numbers."""
    found: list[tuple[int, Path]] = []
    for file in path.parent.glob(f"{path.name}.*"):
        number = file.name.rpartition(".")[2]
        if number.isdigit():
            found.append((int(number), file))
    return [read_trace(file, process) for process, file in sorted(found)]


def read_trace(file: Path, process: int) -> FrameworkTrace:
    """What one process wrote; what a kill cut off or no hook wrote is left out."""
    stacks: dict[int, tuple[Frame, ...]] = {}
    records: list[tuple[int, Mapping[str, Any]]] = []
    passes: dict[int, list[Sample]] = {}
    exits: list[tuple[Frame, ...]] = []
    refused: dict[int, int] = {}
    for record in _records(file):
        try:
            kind = record["kind"]
            if kind == "stack":
                stacks[int(record["number"])] = _frames(record["frames"])
            elif kind == "pass":
                sample = Sample(
                    int(record["device_bytes"]),
                    int(record["host_bytes"]),
                    int(record.get("nodes", 0)),
                    int(record.get("saved", 0)),
                )
                passes.setdefault(int(record["watch"]), []).append(sample)
            elif kind == "refused":
                refused[int(record["watch"])] = int(record["saved"])
            elif kind == "exit":
                exits.append(stacks.get(int(record.get("stack", 0)), ()))
            elif kind == "raised":
                kept = _raised(record)
                if kept is not None:
                    records.append((int(record["time"]), kept))
            elif kind in _KINDS:
                records.append((int(record["time"]), record))
        except (KeyError, TypeError, ValueError):
            continue
    records.sort(key=lambda pair: (pair[1]["kind"] == "end", pair[0]))
    begin = records[0][0] if records else 0
    events: list[Event] = []
    for time, record in records:
        try:
            events.append(_event(record, len(events) + 1, time - begin, stacks))
        except (TypeError, ValueError):
            continue
    complete = bool(events) and events[-1].kind is EventKind.END
    trace = Trace(process, Mode.OBSERVE, 0, tuple(events), (), complete)
    samples = {key: tuple(one) for key, one in passes.items()}
    return FrameworkTrace(trace, samples, tuple(exits), refused)


def _raised(record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """An error that ended the program, as what a call did; ``None`` where it is about no CUDA."""
    text = str(record.get("text", ""))
    failed = _FAILED.match(text)
    if failed:
        api = failed["pycuda"] or text.partition(":")[0]
        return {**record, "kind": "call", "api": api, "status": _UNKNOWN}
    record = {**record, "text": " ".join(text.replace("\0", " ").split())}
    return record if _REFUSED.search(text) else None


def _records(file: Path) -> Iterator[Mapping[str, Any]]:
    try:
        lines = file.read_text("utf-8", "replace").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            yield record


def _event(
    record: Mapping[str, Any], sequence: int, time: int, stacks: Mapping[int, tuple[Frame, ...]]
) -> Event:
    kind, detail = _KINDS[record["kind"]], int(record.get("detail", 0))
    return Event(
        kind=kind,
        sequence=sequence,
        time=time,
        api=str(record.get("api", "")),
        family=str(record.get("family", "")),
        address=int(record.get("address", 0)),
        bytes=int(record.get("bytes", 0)),
        source=int(record.get("source", 0)),
        status=int(record.get("status", 0)),
        call=int(record.get("call", 0)),
        device=int(record.get("device", 0)),
        detail=int(Violation.LAUNCH_REFUSED) if kind is EventKind.VIOLATION else detail,
        text=str(record.get("text", "")),
        injected=bool(record.get("injected", False)),
        stack=stacks.get(int(record.get("stack", 0)), ()),
    )


def _frames(stack: Sequence[Sequence[object]]) -> tuple[Frame, ...]:
    return tuple(
        Frame(function=str(function), filename=str(filename), line=int(str(line)))
        for filename, line, function in stack
    )
