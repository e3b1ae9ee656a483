"""Finds the headers that CUDA source needs, without a CUDA toolkit and without a compiler.

Everything comes from wheels (libclang-ng, nvidia-cuda-runtime, -crt, -cccl) and from our own
``headers/`` folder; the machine's C and C++ headers are preferred where it has them. Headers of an
installed CUDA toolkit are never used, so that findings do not depend on one.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import platform
import re
import sys
from dataclasses import dataclass
from pathlib import Path

OWN_HEADERS = Path(__file__).parent / "headers"
MADE_UP = str(OWN_HEADERS / "undeclared.h")
"""Where the names are declared that no header declares; there is no such file."""

OWN_LIBC = OWN_HEADERS / "libc"
OWN_CUDA = OWN_HEADERS / "cuda_fallback"

_WHEELS = ("libclang-ng", "nvidia-cuda-runtime", "nvidia-cuda-crt", "nvidia-cuda-cccl")


@dataclass(frozen=True)
class Toolchain:
    """Where the headers are, as folders in the order in which clang searches them."""

    resource: Path
    """clang's own headers."""
    cuda: tuple[Path, ...]
    """CUDA's headers: NVIDIA's wheels, else our own declarations."""
    cxx: tuple[Path, ...]
    """The C++ standard library."""
    c: tuple[Path, ...]
    """The C library."""
    target: str | None
    """The target to parse for; ``None`` is this machine."""
    versions: tuple[str, ...]
    """What the headers and the parser are, for cache keys."""

    @property
    def system_cxx(self) -> bool:
        """Whether the C++ library is the machine's."""
        return not any("libcxx" in folder.parts for folder in self.cxx)

    @property
    def defines(self) -> tuple[str, ...]:
        """What the libraries must be told."""
        defines: tuple[str, ...] = (
            () if self.system_cxx else ("_LIBCPP_ENABLE_CXX17_REMOVED_FEATURES",)
        )
        if OWN_LIBC in self.c:
            # libc++ knows the character tables of every C library but ours.
            defines += ("_LIBCPP_PROVIDES_DEFAULT_RUNE_TABLE",)
        return defines


@functools.cache
def find_toolchain() -> Toolchain:
    """The headers of this machine and its wheels."""
    native = _clang_package() / "native"
    cxx: tuple[Path, ...] = ()
    c: tuple[Path, ...] = ()
    target = None
    if sys.platform == "linux":
        c = _system_c_headers()
        cxx = _system_cxx_headers() if c else ()
    else:
        target = "x86_64-unknown-linux-gnu"
    return Toolchain(
        resource=native / "resource",
        cuda=_cuda_headers() or (OWN_CUDA,),
        cxx=cxx or (native / "libcxx",),
        c=c or (OWN_LIBC,),
        target=target,
        versions=_versions(),
    )


def _clang_package() -> Path:
    specification = importlib.util.find_spec("clang")
    if specification is None or not specification.submodule_search_locations:
        raise RuntimeError("the package libclang-ng is not installed")
    return Path(next(iter(specification.submodule_search_locations)))


def _cuda_headers() -> tuple[Path, ...]:
    specification = importlib.util.find_spec("nvidia")
    if specification is None or not specification.submodule_search_locations:
        return ()
    for location in specification.submodule_search_locations:
        for folder in sorted(Path(location).glob("cu[0-9]*"), reverse=True):
            include = folder / "include"
            if (include / "cuda_runtime.h").is_file():
                return (include, include / "cccl")
    return ()


def _system_c_headers() -> tuple[Path, ...]:
    include = Path("/usr/include")
    multiarch = include / f"{platform.machine()}-linux-gnu"
    if not (include / "stdio.h").is_file() or not (include / "features.h").is_file():
        return ()
    folders = (Path("/usr/local/include"), multiarch, include)
    return tuple(folder for folder in folders if folder.is_dir())


def _system_cxx_headers() -> tuple[Path, ...]:
    """libstdc++'s folders of the newest version: the library, its machine part, ``backward``."""
    root = Path("/usr/include/c++")
    versions = [entry for entry in root.glob("[0-9]*") if (entry / "iostream").is_file()]
    if not versions:
        return ()
    newest = max(versions, key=lambda entry: [int(n) for n in re.findall(r"\d+", entry.name)])
    machine = platform.machine()
    for candidate in (
        Path(f"/usr/include/{machine}-linux-gnu/c++/{newest.name}"),
        *sorted(newest.glob(f"{machine}*linux*")),
    ):
        if (candidate / "bits" / "c++config.h").is_file():
            return (newest, candidate, newest / "backward")
    return ()


def _versions() -> tuple[str, ...]:
    found = []
    for wheel in _WHEELS:
        try:
            found.append(f"{wheel} {importlib.metadata.version(wheel)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{wheel} none")
    return tuple(found)
