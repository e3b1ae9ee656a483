"""Compiles the injection: what sees, through CUPTI, programs that the ledger cannot stand before,
because a CUDA runtime is linked into them or into their libraries. The driver loads it."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cudalint import __version__
from cudalint.project.cache import contents_digest, digest
from cudalint.runtime.devices import Device
from cudalint.runtime.ledger import NATIVE, cache_folder, compiler_version, only_one
from cudalint.runtime.preload import preload_environment
from cudalint.runtime.toolkit import (
    ToolkitError,
    cuda_include,
    find_compiler,
    find_nvcc,
    nvidia_wheels,
)
from cudalint.runtime.trace import Mode

VARIABLE = "CUDA_INJECTION64_PATH"
LIBRARY = "libcudalint_injection.so"
_SOURCES = ("injection.cpp", "base.hpp", "trace.hpp", "stack.hpp")
_SECONDS = 300.0
_MISSING = (
    "no CUPTI: it comes with the CUDA toolkit (cupti.h and libcupti.so), or pip install"
    " nvidia-cuda-cupti"
)


@dataclass(frozen=True)
class Cupti:
    """CUDA's interface for tools."""

    include: Path
    library: Path


def find_cupti() -> Cupti:
    """CUPTI, of the CUDA compiler's toolkit or the wheel; ``ToolkitError`` where there is none."""
    for include, libraries in _places():
        if not (include / "cupti.h").is_file():
            continue
        for folder in libraries:
            found = sorted(folder.glob("libcupti.so.[0-9]*"), key=_number)
            if found:
                return Cupti(include, found[0])
    raise ToolkitError(_MISSING)


def _places() -> Iterator[tuple[Path, list[Path]]]:
    nvcc = find_nvcc()
    if nvcc is not None:
        root = nvcc.include.parent
        yield nvcc.include, [root / "lib", root / "lib64"]
        # Older toolkits keep it apart; `root` is the toolkit, or its `targets/x86_64-linux`.
        for top in (root, root.parent.parent):
            extra = top / "extras" / "CUPTI"
            yield extra / "include", [extra / "lib64", extra / "lib"]
    for wheel in nvidia_wheels():
        yield wheel / "include", [wheel / "lib"]


def _number(path: Path) -> tuple[int, ...]:
    """``libcupti.so.13`` before ``libcupti.so.2025.3.1``: the name that programs are linked to."""
    found = re.findall(r"\d+", path.name)
    return (len(found), *map(int, found))


def build_injection() -> tuple[Path, Cupti]:
    """The injection, compiled where the cache has none, and the CUPTI that it uses.

    ``ToolkitError`` says what is missing."""
    cupti = find_cupti()
    compiler = find_compiler()
    include = cuda_include(find_nvcc())
    key = digest(
        __version__,
        str(compiler),
        compiler_version(compiler),
        str(include),
        str(cupti.include),
        contents_digest(
            (
                Path(__file__),
                cupti.include / "cupti.h",
                include / "cuda.h",
                *(NATIVE / name for name in _SOURCES),
            )
        ),
    )
    folder = cache_folder() / "injection" / key[:24]
    library = folder / LIBRARY
    if not library.is_file():
        with only_one(folder.with_suffix(".lock")):
            if not library.is_file():
                _compile(compiler, (cupti.include, include), library)
    return library, cupti


def _compile(compiler: Path, includes: tuple[Path, ...], library: Path) -> None:
    try:
        library.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=library.parent, prefix="build-") as name:
            built = Path(name) / LIBRARY
            command = [
                str(compiler), "-std=c++17", "-O1", "-fPIC", "-shared", "-pthread", "-w",
                "-fno-exceptions", "-fvisibility=hidden", "-fno-omit-frame-pointer",
                *(word for include in includes for word in ("-isystem", str(include))),
                str(NATIVE / "injection.cpp"), "-o", str(built),
                f"-Wl,-soname,{LIBRARY}", "-ldl",
            ]  # fmt: skip
            done = subprocess.run(
                command, capture_output=True, timeout=_SECONDS, check=False, text=True
            )
            if done.returncode != 0:
                raise ToolkitError(
                    f"{compiler.name} could not compile the injection:\n{done.stderr[-4000:]}"
                )
            built.rename(library)
    except subprocess.TimeoutExpired as error:
        raise ToolkitError(f"{compiler.name} took more than {_SECONDS:.0f} s") from error
    except OSError as error:
        raise ToolkitError(f"cannot keep the injection in {library.parent}: {error}") from error


def beside_the_ledger(device: Device) -> dict[str, str]:
    """For a command that runs under the ledger: the injection, where that is possible. It sees what
    goes past the ledger, and is silent in programs that the ledger sees."""
    try:
        return injection_environment(device)
    except ToolkitError:
        return {}


def watching_environment(device: Device, say: Callable[[str], None]) -> dict[str, str]:
    """What watches a command: the injection on a GPU, and where that is not possible, or on a
    simulated device, the ledger before its shared CUDA runtime. ``say`` is told why."""
    try:
        environment = injection_environment(device)
    except ToolkitError as error:
        say(f"note: a static CUDA runtime will not be seen: {error}")
        environment = {}
    return environment or preload_environment(device)


def injection_environment(device: Device) -> dict[str, str]:
    """What makes the driver load it into every program of a command; empty on a simulated device,
    which has no driver. ``ToolkitError`` says why it is not possible."""
    if device.mode is Mode.SIMULATE:
        return {}
    already = os.environ.get(VARIABLE)
    if already:
        raise ToolkitError(f"{VARIABLE} names another tool: {already}")
    library, cupti = build_injection()
    return {VARIABLE: str(library), "CUDALINT_CUPTI": str(cupti.library)}
