"""What watching costs: ``python -m benchmarks.runtime_cost``, on a machine with an NVIDIA GPU.

Three programs, each run natively, under the ledger, with the CUPTI injection and under
compute-sanitizer, in turn, so that all see the same machine; medians of the programs' own clocks,
and of the whole processes.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cudalint.runtime.build import BuildOptions, build
from cudalint.runtime.cached_build import ledger_environment
from cudalint.runtime.devices import Gpu
from cudalint.runtime.injection import injection_environment
from cudalint.runtime.toolkit import ToolkitError, find_nvcc

HERE = Path(__file__).parent
PROGRAMS = {
    "allocation-heavy": ("allocations.cu", ()),
    "kernel-heavy": ("kernels.cu", ()),
    "empty kernels": ("kernels.cu", ("empty",)),
}
_SECONDS = re.compile(r"^seconds ([0-9.]+)$", re.MULTILINE)


@dataclass
class Way:
    """A way to run a program."""

    name: str
    command: list[str]
    environment: Mapping[str, str]
    most_turns: int = 100
    inner: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)

    def run(self, folder: Path, trace: int) -> None:
        """Once; what fails ends the benchmark."""
        environment = {**os.environ, **self.environment}
        environment["CUDALINT_TRACE"] = str(folder / f"trace{trace}")
        start = time.monotonic()
        done = subprocess.run(
            self.command, env=environment, capture_output=True, text=True, check=False
        )
        self.whole.append(time.monotonic() - start)
        found = _SECONDS.search(done.stdout)
        if done.returncode or not found:
            sys.exit(f"{self.name}: {' '.join(self.command)}: {done.stdout}{done.stderr}")
        self.inner.append(float(found[1]))
        for file in folder.glob("trace*"):
            file.unlink()


def ways(program: str, arguments: Sequence[str], folder: Path, gpu: Gpu) -> list[Way]:
    """All ways that this machine has to run a program."""
    source = HERE / program
    nvcc = find_nvcc()
    if nvcc is None:
        sys.exit("no nvcc")
    native = folder / source.stem
    if not native.exists():
        subprocess.run(
            [str(nvcc.path), "-O2", "-g", f"-arch={gpu.target}", "-o", str(native), str(source)],
            check=True,
        )
    watched = folder / f"{source.stem}-ledger" / "target"
    if not watched.exists():
        options = BuildOptions(gpu.target, machine_code=True, optimize=True)
        watched = build(source, watched.parent, options).path
    plain = [str(native), *arguments]
    found = [
        Way("native", plain, {}),
        Way("ledger", [str(watched), *arguments], {**ledger_environment(), **gpu.environment()}),
    ]
    try:
        injected = {**injection_environment(gpu), **gpu.environment()}
        found.append(Way("CUPTI injection", plain, injected))
    except ToolkitError as error:
        print(f"no injection: {error}", file=sys.stderr)
    if gpu.sanitizer is not None:
        command = [str(gpu.sanitizer), "--leak-check", "full", *plain]
        # Slow enough to be told apart in one turn.
        found.append(Way("compute-sanitizer", command, {}, most_turns=1))
    return found


def table(results: Mapping[str, Sequence[Way]]) -> str:
    """In Markdown."""
    lines = [
        "| program | way | seconds | against native | whole process |",
        "|---|---|---:|---:|---:|",
    ]
    for program, found in results.items():
        native = statistics.median(found[0].inner)
        for way in found:
            inner, whole = statistics.median(way.inner), statistics.median(way.whole)
            spread = f"{min(way.inner):.3f}-{max(way.inner):.3f}"
            lines.append(
                f"| {program} | {way.name} | {inner:.3f} ({spread}) | {inner / native - 1:+.1%} |"
                f" {whole:.2f} |"
            )
    return "\n".join(lines)


def main() -> int:
    """Print the table; 1 where the ledger costs more than it may on the heavy programs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runtime_cost", description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument(
        "--limit", type=float, default=0.05, help="the ledger's cost [default: 0.05]"
    )
    arguments = parser.parse_args()
    try:
        gpu = Gpu.find()
    except ValueError as error:
        sys.exit(f"no GPU: {error}")
    results: dict[str, list[Way]] = {}
    with tempfile.TemporaryDirectory(prefix="cudalint-cost-") as name:
        folder = Path(name)
        for program, (source, given) in PROGRAMS.items():
            results[program] = ways(source, given, folder, gpu)
            for turn in range(arguments.repeat):
                for way in results[program]:
                    if turn < way.most_turns:
                        way.run(folder, turn)
                        print(f"{program}, {way.name}: {way.whole[-1]:.2f} s", file=sys.stderr)
    print(f"{gpu.name}, {arguments.repeat} turns\n\n{table(results)}")
    return int(any(
        cost(found) > arguments.limit
        for program, found in results.items()
        if program.endswith("heavy")
    ))  # fmt: skip


def cost(found: Sequence[Way]) -> float:
    """The ledger's share on top of the native run."""
    native, ledger = (statistics.median(way.inner) for way in found[:2])
    return ledger / native - 1


if __name__ == "__main__":
    sys.exit(main())
