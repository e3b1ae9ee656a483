"""Finds what builds targets: nvcc, the host's C++ compiler, CUDA's headers."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

_SECONDS = 60.0


class ToolkitError(RuntimeError):
    """Something that is needed is not on this machine; says what and how to get it."""


@dataclass(frozen=True)
class Nvcc:
    """A CUDA compiler."""

    path: Path
    version: tuple[int, int]
    architectures: tuple[int, ...]
    """The compute capabilities that it knows, as 75, 90, ..."""
    include: Path
    """CUDA's headers, of the same toolkit."""

    def architecture_for(self, target: str) -> int:
        """The newest that the target can run: 90 for ``sm_90``."""
        wanted = int("".join(filter(str.isdigit, target)))
        return max((a for a in self.architectures if a <= wanted), default=self.architectures[0])


def find_compiler() -> Path:
    """The host's C++ compiler: ``CXX``, g++, clang++ or c++."""
    for name in filter(None, (os.environ.get("CXX"), "g++", "clang++", "c++")):
        found = shutil.which(name)
        if found:
            return Path(found)
    raise ToolkitError("no C++ compiler: install g++ or clang++, or name one in CXX")


def find_nvcc() -> Nvcc | None:
    """The CUDA compiler: on PATH, in ``CUDA_HOME``, in the nvcc wheel, or where NVIDIA installs."""
    homes = (os.environ.get(variable) for variable in ("CUDA_HOME", "CUDA_PATH"))
    candidates = [Path(home) / "bin" / "nvcc" for home in homes if home]
    on_path = shutil.which("nvcc")
    if on_path:
        candidates.append(Path(on_path))
    candidates += [folder / "bin" / "nvcc" for folder in nvidia_wheels()]
    candidates.append(Path("/usr/local/cuda/bin/nvcc"))
    for candidate in candidates:
        if os.access(candidate, os.X_OK):
            nvcc = _inspect(candidate)
            if nvcc is not None:
                return nvcc
    return None


def cuda_include(nvcc: Nvcc | None) -> Path:
    """CUDA's headers: of the compiler that builds the targets, else those of the wheel."""
    if nvcc is not None:
        return nvcc.include
    for folder in nvidia_wheels():
        if (folder / "include" / "cuda_runtime_api.h").is_file():
            return folder / "include"
    raise ToolkitError("no CUDA headers: pip install nvidia-cuda-runtime nvidia-cuda-crt")


def nvidia_wheels() -> list[Path]:
    """Where the wheels of NVIDIA's toolkit are installed: ``nvidia/cu13``."""
    specification = importlib.util.find_spec("nvidia")
    if specification is None or not specification.submodule_search_locations:
        return []
    found: list[Path] = []
    for location in specification.submodule_search_locations:
        found += sorted(Path(location).glob("cu[0-9]*"), reverse=True)
    return found


@functools.cache
def _inspect(path: Path) -> Nvcc | None:
    version = re.search(r"release (\d+)\.(\d+)", _output(path, "--version"))
    architectures = sorted(
        int(number) for number in re.findall(r"compute_(\d+)\b", _output(path, "--list-gpu-arch"))
    )
    # nvcc tells where it is installed; it may be reached through a link or a script.
    top = re.search(r"^#\$ TOP=(.*)$", _output(path, "--dryrun", "-E", "-x", "cu", "-"), re.M)
    root = Path(top[1]) if top else path.resolve().parent.parent
    if version is None or not architectures:
        return None
    for include in (root / "include", *sorted(root.glob("targets/*/include"))):
        if (include / "cuda_runtime_api.h").is_file():
            return Nvcc(
                path,
                (int(version[1]), int(version[2])),
                tuple(architectures),
                Path(os.path.realpath(include)),
            )
    return None


def _output(*command: Path | str) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=_SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout + done.stderr).decode("utf-8", "replace")
