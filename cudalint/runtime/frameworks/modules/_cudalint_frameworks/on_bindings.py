"""``cuda.bindings``: acquisitions, releases and copies that the program asks for, and faults.

Libraries that call the bindings (Numba, CuPy) have hooks of their own: their calls pass."""

from __future__ import annotations

import functools
import os
import sys
from types import ModuleType
from typing import Any

from _cudalint_frameworks import recorder

_ACQUIRES = {
    "cudaMalloc": ("device", 0), "cudaMallocAsync": ("device", 0),
    "cudaMallocManaged": ("managed", 0), "cudaMallocHost": ("pinned", 0),
    "cudaHostAlloc": ("pinned", 0), "cudaStreamCreate": ("stream", None),
    "cudaStreamCreateWithFlags": ("stream", None), "cudaStreamCreateWithPriority": ("stream", None),
    "cudaEventCreate": ("event", None), "cudaEventCreateWithFlags": ("event", None),
    "cuMemAlloc": ("device", 0), "cuMemAllocAsync": ("device", 0),
    "cuMemAllocManaged": ("managed", 0), "cuMemAllocHost": ("pinned", 0),
    "cuMemHostAlloc": ("pinned", 0), "cuStreamCreate": ("stream", None),
    "cuEventCreate": ("event", None), "cuModuleLoadData": ("module", None),
}  # fmt: skip
_RELEASES = {
    "cudaFree": ("device", "managed"), "cudaFreeAsync": ("device",), "cudaFreeHost": ("pinned",),
    "cudaStreamDestroy": ("stream",), "cudaEventDestroy": ("event",),
    "cuMemFree": ("device", "managed"), "cuMemFreeAsync": ("device",), "cuMemFreeHost": ("pinned",),
    "cuStreamDestroy": ("stream",), "cuEventDestroy": ("event",), "cuModuleUnload": ("module",),
}  # fmt: skip
_COPIES = {
    "cudaMemcpy": None, "cudaMemcpyAsync": None, "cuMemcpyHtoD": 1, "cuMemcpyHtoDAsync": 1,
    "cuMemcpyDtoH": 2, "cuMemcpyDtoHAsync": 2, "cuMemcpyDtoD": 3, "cuMemcpyDtoDAsync": 3,
}  # fmt: skip
"""The direction; ``None`` where it is the fourth argument. The third is the size."""
_WAITS = (
    "cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cuCtxSynchronize",
    "cuStreamSynchronize", "cuEventSynchronize",
)  # fmt: skip
_OTHERS = ("cudaMemset", "cudaMemsetAsync", "cuLaunchKernel", "cudaLaunchKernel")
_OUT_OF_MEMORY, _INVALID_VALUE, _LAUNCH_FAILURE, _OUT_OF_RESOURCES = 2, 1, 719, 701
_LIBRARIES = ("numba", "numba_cuda", "cupy", "cupyx", "torch", "rmm", "jax", "cuda")

_calls = 0
_matches = 0
_held: dict[tuple[str, int], int] = {}


def hook(module: ModuleType) -> None:
    """Wrap the functions of ``cuda.bindings.runtime`` or ``.driver``."""
    for name in (*_ACQUIRES, *_RELEASES, *_COPIES, *_WAITS, *_OTHERS):
        function = getattr(module, name, None)
        if function is not None:
            setattr(module, name, _wrapped(module, function, name))


def _wrapped(module: ModuleType, function: Any, name: str) -> Any:
    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        caller = str(sys._getframe(1).f_globals.get("__name__", "")).partition(".")[0]
        if caller in _LIBRARIES:
            return function(*arguments, **named)
        number, status = next_call(name)
        if status:
            recorder.write(
                "call", at=recorder.stack(), api=name, status=status, call=number, injected=True
            )
            return _refusal(module, name, status)
        result = function(*arguments, **named)
        try:
            _tell(name, arguments, result, number)
        except Exception as error:
            recorder.failed(f"cuda.bindings: {name}", error)
        return result

    return call


def next_call(name: str) -> tuple[int, int]:
    """The number of a call, and the status that it is to fail with; 0 where it is not."""
    global _calls
    _calls += 1
    return _calls, _fault(name, _calls)


def _fault(name: str, number: int) -> int:
    """The status that a call is to fail with; 0 where it is not."""
    global _matches
    text = os.environ.get("CUDALINT_FAULT")
    if not text:
        return 0
    given = dict(part.partition("=")[::2] for part in text.split(";"))
    lasting = "always" in given
    wanted = int(given.get("call", number))
    if number < wanted or (number > wanted and not lasting):
        return 0
    if given.get("api", name) != name or "site" in given:
        return 0
    _matches += 1
    nth = int(given.get("nth", "1"))
    if _matches < nth or (_matches > nth and not lasting):
        return 0
    return int(given.get("status", "0")) or _usual(name)


def _usual(name: str) -> int:
    if name in _ACQUIRES:
        return _OUT_OF_MEMORY
    if name in _WAITS:
        return _LAUNCH_FAILURE
    return _OUT_OF_RESOURCES if "Launch" in name else _INVALID_VALUE


def _refusal(module: Any, name: str, status: int) -> tuple[Any, ...]:
    kind = module.cudaError_t if name.startswith("cuda") else module.CUresult
    return (kind(status), *((None,) if name in _ACQUIRES else ()))


def _tell(name: str, arguments: tuple[Any, ...], result: tuple[Any, ...], number: int) -> None:
    status = int(result[0])
    at = recorder.stack()
    if status:
        family, place = _ACQUIRES.get(name, ("", None))
        size = int(arguments[place]) if place is not None else 0
        recorder.write(
            "call", at=at, api=name, family=family, bytes=size, status=status, call=number
        )
        return
    if name in _ACQUIRES:
        family, place = _ACQUIRES[name]
        size = int(arguments[place]) if place is not None else 0
        address = int(result[1])
        _held[family, address] = size
        recorder.write(
            "acquire", at=at, api=name, family=family, address=address, bytes=size, call=number
        )
    elif name in _RELEASES:
        address = int(arguments[0] or 0)
        for family in _RELEASES[name]:
            size = _held.pop((family, address), None)
            if size is not None:
                recorder.write(
                    "release", at=at, api=name, family=family, address=address, bytes=size,
                    call=number,
                )  # fmt: skip
                return
        recorder.write("call", at=at, api=name, call=number)
    elif name in _COPIES:
        known = _COPIES[name]
        direction = int(arguments[3]) if known is None else known
        recorder.write(
            "copy", at=at, api=name, bytes=int(arguments[2]), detail=direction, call=number
        )
    else:
        recorder.write("call", at=at, api=name, call=number)
