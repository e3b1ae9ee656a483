"""Ten planted causes of out of memory: ``python -m benchmarks.doctor [--gpu --out FOLDER]``.

Those that can are run on the simulated device, the others are recordings. With ``--gpu``, on a
machine with an NVIDIA GPU, torch and cuda-python, all are run there (see ``gpu.py``). 1 where fewer
than nine are ranked first."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.doctor.planted import PLANTED, PROGRAMS, RECORDINGS, Planted

LEAST = 9


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.doctor", description=__doc__)
    parser.add_argument("--gpu", action="store_true", help="on this machine's GPU")
    parser.add_argument("--out", type=Path, default=Path("doctor-results"), metavar="FOLDER")
    chosen = parser.parse_args(arguments)
    if chosen.gpu:
        from benchmarks.doctor.gpu import run_all

        return run_all(chosen.out)
    with tempfile.TemporaryDirectory(prefix="cudalint-planted-") as name:
        first = [_first(one, Path(name)) for one in PLANTED]
    good = 0
    print("| planted | ranked first | weight | |\n|---|---|--:|---|")
    for one, (cause, weight) in zip(PLANTED, first, strict=True):
        right = cause in one.expected
        good += right
        how = "recorded" if one.recording else "simulated"
        print(f"| {one.name} | {cause} | {weight} | {how}{'' if right else ', WRONG'} |")
    print(f"\n{good} of {len(PLANTED)} ranked first")
    return 0 if good >= LEAST else 1


def _first(one: Planted, folder: Path) -> tuple[str, int]:
    if one.recording:
        report = doctor("--machine", str(RECORDINGS / one.recording))
    else:
        program = build_planted(one, folder)
        report = doctor("--runtime=sim", *one.options, "--", str(program))
    causes = report["causes"]
    return (causes[0]["name"], causes[0]["weight"]) if causes else ("nothing", 0)


def doctor(*arguments: str) -> dict[str, Any]:
    """The report of ``cudalint doctor``."""
    command = [sys.executable, "-m", "cudalint", "doctor", "--isolated", "--output-format=json"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"doctor {' '.join(arguments)}: {done.stderr}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def build_planted(one: Planted, folder: Path) -> Path:
    """The program of a planted cause, with its library where it has one."""
    from cudalint.runtime.build import BuildOptions, build
    from cudalint.runtime.toolkit import cuda_include, find_compiler, find_nvcc

    place = folder / Path(one.program).stem
    place.mkdir()
    arguments: tuple[str, ...] = ()
    if one.library:
        library = place / f"lib{Path(one.library).stem}.so"
        include = cuda_include(find_nvcc())
        command = [find_compiler(), "-shared", "-fPIC", "-isystem", include,
                   PROGRAMS / one.library, "-o", library]  # fmt: skip
        subprocess.run([str(word) for word in command], check=True)
        arguments = (str(library), f"-Wl,-rpath,{place}")
    return build(PROGRAMS / one.program, place / "build", BuildOptions(arguments=arguments)).path


if __name__ == "__main__":
    sys.exit(main())
