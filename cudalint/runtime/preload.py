"""Puts the ledger before the CUDA runtime of a program that was built without it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from cudalint.runtime.devices import Device
from cudalint.runtime.ledger import build_ledger
from cudalint.runtime.toolkit import cuda_include, find_nvcc
from cudalint.runtime.trace import Mode

_NAMES = ("libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13", "libcuda.so.1")


def preload_environment(device: Device) -> dict[str, str]:
    """What makes any command use the ledger, as far as its programs have a shared CUDA runtime.
    ``ToolkitError`` where the ledger cannot be compiled.

    On a simulated device the ledger also stands where the loader looks for the runtime and the
    driver: neither need be installed."""
    library = build_ledger(cuda_include(find_nvcc()))
    values = {"LD_PRELOAD": _joined(str(library), os.environ.get("LD_PRELOAD"))}
    folders = [str(library.parent)]
    if device.mode is Mode.SIMULATE:
        folders.insert(0, str(_stand_in(library)))
    values["LD_LIBRARY_PATH"] = _joined(*folders, os.environ.get("LD_LIBRARY_PATH"))
    return values


def _stand_in(library: Path) -> Path:
    folder = library.parent / "stand-in"
    folder.mkdir(exist_ok=True)
    for name in _NAMES:
        with contextlib.suppress(FileExistsError):
            (folder / name).symlink_to(library)
    return folder


def _joined(*parts: str | None) -> str:
    return os.pathsep.join(part for part in parts if part)
