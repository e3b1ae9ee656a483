from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest

from cudalint.runtime.account import Account, account
from cudalint.runtime.build import BuildOptions, Executable, build
from cudalint.runtime.devices import Device, Simulated
from cudalint.runtime.execute import Run, RunResult, execute
from cudalint.runtime.faults import Fault
from cudalint.runtime.processes import ProcessLimits
from cudalint.runtime.toolkit import ToolkitError, find_compiler, find_nvcc
from cudalint.runtime.trace import Trace

HEAD = """\
#include <cuda_runtime_api.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
"""

needs_nvcc = pytest.mark.skipif(find_nvcc() is None, reason="no nvcc on this machine")


@pytest.fixture(scope="session")
def compiler() -> Path:
    try:
        return find_compiler()
    except ToolkitError as error:
        pytest.skip(str(error))


class Lab:
    """Builds and runs small programs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0

    def build(self, text: str, name: str = "program.cpp", head: str = HEAD) -> Executable:
        self._count += 1
        folder = self._folder / str(self._count)
        folder.mkdir()
        source = folder / name
        source.write_text(head + textwrap.dedent(text))
        return build(source, folder / "build", BuildOptions())

    def run(
        self,
        program: str | Executable,
        device: Device | None = None,
        *,
        fault: Fault | None = None,
        limits: ProcessLimits | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> RunResult:
        executable = self.build(program) if isinstance(program, str) else program
        return execute(
            Run(
                [executable.path],
                device or Simulated(),
                fault=fault,
                limits=limits or ProcessLimits(seconds=30, memory=2 * 1024**3),
                environment=environment or {},
            )
        )


def trace_of(result: RunResult) -> Trace:
    """Of a program that loaded the ledger."""
    assert result.trace is not None, result.problem
    return result.trace


def account_of(result: RunResult) -> Account:
    """The sum of what it did."""
    return account(trace_of(result).events)


def build_cases(folder: Path, head: str, bodies: Mapping[str, str], begin: str = "") -> Executable:
    """One program of many: which body runs is said by its environment (``CASE``)."""
    cases = "".join(
        f"case {number}: {{ {begin} {body} break; }}\n"
        for number, body in enumerate(bodies.values())
    )
    text = f'int main() {{\nswitch (atoi(getenv("CASE"))) {{\n{cases}}}\nreturn 0; }}\n'
    return Lab(folder).build(text, head=head + "#include <cstdlib>\n")


@pytest.fixture
def lab(tmp_path: Path, compiler: Path) -> Lab:
    return Lab(tmp_path)
