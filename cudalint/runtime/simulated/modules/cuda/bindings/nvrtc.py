"""``cuda.bindings.nvrtc`` on the ledger: programs are handles, and nvcc compiles where it is."""

from __future__ import annotations

import ctypes
import enum
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _cudalint_simulated.library import handle, ledger, pointer, seen

nvrtcProgram = handle("nvrtcProgram")  # noqa: N816
_SECONDS = 120


class nvrtcResult(enum.IntEnum):  # noqa: N801
    """As in the header."""

    NVRTC_SUCCESS = 0
    NVRTC_ERROR_OUT_OF_MEMORY = 1
    NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2
    NVRTC_ERROR_INVALID_INPUT = 3
    NVRTC_ERROR_INVALID_PROGRAM = 4
    NVRTC_ERROR_INVALID_OPTION = 5
    NVRTC_ERROR_COMPILATION = 6


class _Program:
    def __init__(self, source: bytes) -> None:
        self.source = source
        self.ptx = b""
        self.log = b""


_programs: dict[int, _Program] = {}


def nvrtcCreateProgram(  # noqa: N802
    source: bytes, name: bytes, count: int, headers: Sequence[bytes] = (), names: Any = ()
) -> tuple[Any, Any]:
    """A program, of its text."""
    out = ctypes.c_void_p(0)
    code = seen(
        ledger.cudalint_library_create, b"nvrtcCreateProgram", b"nvrtc", ctypes.byref(out), 8, None
    )
    if code:
        return nvrtcResult(2), nvrtcProgram(0)
    _programs[out.value or 0] = _Program(bytes(source))
    return nvrtcResult(0), nvrtcProgram(out.value)


def nvrtcDestroyProgram(program: int) -> tuple[Any]:  # noqa: N802
    """The end of a program."""
    code = seen(
        ledger.cudalint_library_destroy, b"nvrtcDestroyProgram", b"nvrtc",
        ctypes.c_void_p(int(program)), None,
    )  # fmt: skip
    _programs.pop(int(program), None)
    return (nvrtcResult(4 if code else 0),)


def nvrtcCompileProgram(  # noqa: N802
    program: int, count: int, options: Sequence[bytes] = ()
) -> tuple[Any]:
    """Compile to PTX."""
    nothing = (ctypes.c_void_p * 1)(None)
    refused = seen(ledger.cudalint_library_call, b"nvrtcCompileProgram", nothing, 0, None, 8, None)
    known = _programs.get(int(program))
    if known is None:
        return (nvrtcResult.NVRTC_ERROR_INVALID_PROGRAM,)
    if refused:
        return (nvrtcResult.NVRTC_ERROR_COMPILATION,)
    known.ptx, known.log = _compiled(known.source, [bytes(option) for option in options or ()])
    return (nvrtcResult(0 if known.ptx else 6),)


def _compiled(source: bytes, options: list[bytes]) -> tuple[bytes, bytes]:
    nvcc = os.environ.get("CUDALINT_NVCC")
    if not nvcc:
        return b"", b"cudalint simulates NVRTC by nvcc, and there is none"
    chosen = [option.decode() for option in options if b"arch" in option]
    with tempfile.TemporaryDirectory() as name:
        file = Path(name, "program.cu")
        file.write_bytes(source.rstrip(b"\0"))
        command = [nvcc, "-ptx", "-w", *chosen, str(file), "-o", str(file.with_suffix(".ptx"))]
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
        if done.returncode:
            return b"", done.stderr
        return file.with_suffix(".ptx").read_bytes() + b"\0", b""


def _size(name: str) -> Any:
    def size(program: int) -> tuple[Any, int]:
        known = _programs.get(int(program))
        return nvrtcResult(0 if known else 4), len(getattr(known, name, b""))

    return size


def _text(name: str) -> Any:
    def text(program: int, buffer: Any) -> tuple[Any]:
        data = getattr(_programs.get(int(program)), name, b"")
        # Into an object of `bytes` too: that is how programs written for the bindings do it.
        ctypes.memmove(pointer(buffer), data, len(data))
        return (nvrtcResult(0),)

    return text


nvrtcGetPTXSize = nvrtcGetCUBINSize = _size("ptx")  # noqa: N816
nvrtcGetPTX = nvrtcGetCUBIN = _text("ptx")  # noqa: N816
nvrtcGetProgramLogSize = _size("log")  # noqa: N816
nvrtcGetProgramLog = _text("log")  # noqa: N816


def nvrtcVersion() -> tuple[Any, int, int]:  # noqa: N802
    """Of the headers."""
    return nvrtcResult(0), 13, 0


def nvrtcGetErrorString(result: int) -> tuple[Any, bytes]:  # noqa: N802
    """Its name."""
    return nvrtcResult(0), nvrtcResult(int(result)).name.encode()
