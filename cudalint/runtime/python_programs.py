"""Python programs: how they are started under the ledger, and whose lines made which events."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from cudalint.runtime.events import Event, Frame
from cudalint.runtime.ledger import build_ledger
from cudalint.runtime.toolkit import cuda_include, find_nvcc

STACKS = "CUDALINT_PYTHON_STACKS"
MODULES = Path(__file__).parent / "simulated" / "modules"
SHARED = Path(__file__).parent / "modules"
"""What modules in programs share, whatever they stand in for."""
_RUNNER = "_cudalint_simulated"


def script_command(script: Path, arguments: Sequence[str] = ()) -> tuple[str, ...]:
    """What runs a script so that its calls are seen: by the interpreter that runs cudalint, or the
    one that ``CUDALINT_PYTHON`` names."""
    interpreter = os.environ.get("CUDALINT_PYTHON") or sys.executable
    return (interpreter, "-B", "-m", _RUNNER, str(script), *arguments)


def python_path(modules: Path) -> str:
    """The path of a program's Python, with modules of ours first."""
    others = os.environ.get("PYTHONPATH")
    return os.pathsep.join([str(modules), str(SHARED), *([others] if others else [])])


def script_environment() -> dict[str, str]:
    """What puts the simulated ``cuda.bindings`` first on a script's path. ``ToolkitError`` where
    the ledger cannot be compiled."""
    nvcc = find_nvcc()
    include = cuda_include(nvcc)
    return {
        "PYTHONPATH": python_path(MODULES),
        "CUDALINT_LEDGER": str(build_ledger(include)),
        "CUDALINT_CUDA_INCLUDE": str(include),
        "CUDALINT_NVCC": str(nvcc.path) if nvcc is not None else "",
    }


@dataclass(frozen=True)
class PythonStacks:
    """The Python stacks of a run."""

    ranges: tuple[tuple[int, int, tuple[Frame, ...]], ...] = ()
    """The first and the last event of a call, and its stack."""
    exits: tuple[tuple[Frame, ...], ...] = ()

    def put_into(self, events: Sequence[Event]) -> tuple[Event, ...]:
        """The events with the Python stacks in place of the interpreter's own."""
        by_sequence = {
            number: stack for first, last, stack in self.ranges for number in range(first, last + 1)
        }
        return tuple(
            msgspec.structs.replace(event, stack=by_sequence.get(event.sequence, ()))
            for event in events
        )


def read_stacks(path: Path, process: int) -> PythonStacks:
    """What the process wrote; a last line that a kill cut off is left out."""
    try:
        lines = Path(f"{path}.{process}").read_text("utf-8", "replace").splitlines()
    except OSError:
        return PythonStacks()
    ranges: list[tuple[int, int, tuple[Frame, ...]]] = []
    exits: list[tuple[Frame, ...]] = []
    for line in lines:
        try:
            record: Mapping[str, list[list[object]]] = json.loads(line)
            if "exit" in record:
                exits.append(_frames(record["exit"]))
            else:
                first, last = int(str(record["first"])), int(str(record["last"]))
                ranges.append((first, last, _frames(record["stack"])))
        except (ValueError, KeyError, TypeError):
            continue
    return PythonStacks(tuple(ranges), tuple(exits))


def _frames(stack: Sequence[Sequence[object]]) -> tuple[Frame, ...]:
    return tuple(
        Frame(function=str(function), filename=str(filename), line=int(str(line)))
        for filename, line, function in stack
    )
