"""How many host programs of NVIDIA/cuda-samples the simulated device runs to their end.

    python benchmarks/runtime_samples.py CUDA_SAMPLES [--workers N] [--only NAME]

A program ends when it exits by itself, with whatever status: its kernels are not executed, so its
own comparison of results fails. Prints one line per program with the reason where it does not end.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from cudalint.project.compile_commands import CompileFlags
from cudalint.runtime.account import account
from cudalint.runtime.build import BuildError, BuildOptions, build
from cudalint.runtime.devices import Simulated
from cudalint.runtime.execute import Run, execute
from cudalint.runtime.processes import ProcessLimits

_GROUPS = "Samples/[0-6]*"
_SOURCES = (".cu", ".cpp", ".cc", ".c")
_INCLUDES = ("../../../Common", "../../../Common/UtilNPP", ".", "inc", "include")


@dataclass(frozen=True)
class Sample:
    """One program, as its CMakeLists.txt says."""

    name: str
    folder: Path
    sources: tuple[Path, ...]


def samples(root: Path) -> Iterator[Sample]:
    """The programs below the samples' folder."""
    for listing in sorted(root.glob(f"{_GROUPS}/**/CMakeLists.txt")):
        text = re.sub(r"#.*", "", listing.read_text("utf-8", "replace"))
        for name, rest in re.findall(r"add_executable\s*\(\s*(\w+)\s+([^)]*)\)", text):
            sources = tuple(listing.parent / p for p in rest.split() if p.endswith(_SOURCES))
            if sources:
                yield Sample(name, listing.parent, sources)
                break


def run(sample: Sample, scratch: Path) -> tuple[bool, str]:
    """Whether it ran to its end, and how that was or why not."""
    includes = tuple(
        str((sample.folder / include).resolve())
        for include in _INCLUDES
        if (sample.folder / include).is_dir()
    )
    options = BuildOptions(flags=CompileFlags(include_folders=includes))
    missing = [source.name for source in sample.sources if not source.is_file()]
    if missing:
        return False, f"no {missing[0]} (the build makes it)"
    try:
        executable = build(sample.sources, scratch / sample.name, options)
    except BuildError as error:
        return False, f"not built: {error.reason[-160:]}"
    result = execute(
        Run(
            [executable.path],
            Simulated(count=2 if re.search("Multi|P2P", sample.name) else 1),
            folder=sample.folder,
            limits=ProcessLimits(seconds=120, memory=8 * 1024**3),
        )
    )
    notes = account(result.trace.events).notes if result.trace is not None else ()
    return result.ended, "; ".join([result.ending, *notes[:3]])


def main() -> None:
    """Run all, print each, and the sum."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("samples", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only")
    given = parser.parse_args()
    chosen = [s for s in samples(given.samples) if given.only in (None, s.name)]
    ended = 0
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(given.workers) as pool:
        results = pool.map(lambda sample: run(sample, Path(name)), chosen)
        for sample, (good, how) in zip(chosen, results, strict=True):
            ended += good
            print(f"{'ended' if good else 'NOT':5} {sample.name:40} {how}", flush=True)
    share = 100 * ended / max(len(chosen), 1)
    print(f"{ended} of {len(chosen)} programs ran to their end: {share:.0f} %")


if __name__ == "__main__":
    main()
