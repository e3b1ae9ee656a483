"""``cupy.cuda.runtime``: the calls of CUDA's runtime that simulated programs make themselves."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy
from _cudalint_frameworks import recorder
from _cudalint_frameworks.errors import PREFIX, not_simulated
from _cudalint_kept import addresses

from cupy import _device
from cupy._device import CUDARuntimeError

__all__ = ["CUDARuntimeError"]
memcpyHostToHost, memcpyHostToDevice, memcpyDeviceToHost = 0, 1, 2  # noqa: N816
memcpyDeviceToDevice, memcpyDefault = 3, 4  # noqa: N816
streamNonBlocking, streamDefault, streamLegacy, streamPerThread = 1, 0, 1, 2  # noqa: N816
eventDefault, eventBlockingSync, eventDisableTiming = 0, 1, 2  # noqa: N816
hostAllocDefault, hostAllocPortable, hostAllocMapped = 0, 1, 2  # noqa: N816
memAttachGlobal, memAttachHost = 1, 2  # noqa: N816
is_hip = False
_held: dict[int, tuple[str, int, Any]] = {}
_handles: dict[int, str] = {}
_last_handle = 0x1000


def _acquire(api: str, family: str, size: int) -> int:
    number = _device.called(api, family=family, bytes=size)
    if family == "pinned":
        array = numpy.zeros(max(1, size), numpy.uint8)
        address = int(array.ctypes.data)
    else:
        address = _device.memories[_device.current].take(size)
        if not address:
            _device.refuse(api, _device.OUT_OF_MEMORY, number, family=family, bytes=size)
        array = numpy.zeros(size, numpy.uint8) if size <= _device.HOLLOW else None
        _device.place(address, size, array)
    _held[address] = family, size, array
    recorder.acquired(family, address, size, api, owned=False, call=number, device=_device.current)
    return address


def _release(api: str, families: tuple[str, ...], address: int) -> None:
    number = _device.called(api)
    address = int(address)
    if not address:
        recorder.write("call", at=recorder.stack(), api=api, call=number)
        return
    family, size, _ = _held.get(address, ("", 0, None))
    if family not in families:
        _device.refuse(api, _device.INVALID_VALUE, number, address=address)
    del _held[address]
    if family != "pinned":
        _device.forget(address)
        _device.memories[address - _device._FIRST >> 44].give_back(address)
    recorder.released(family, address, size, api, call=number, device=_device.current)


def malloc(size: int) -> int:
    """``cudaMalloc``."""
    return _acquire("cudaMalloc", "device", int(size))


def mallocAsync(size: int, stream: int) -> int:  # noqa: N802
    """``cudaMallocAsync``."""
    return _acquire("cudaMallocAsync", "device", int(size))


def mallocManaged(size: int, flags: int = memAttachGlobal) -> int:  # noqa: N802
    """``cudaMallocManaged``."""
    return _acquire("cudaMallocManaged", "managed", int(size))


def hostAlloc(size: int, flags: int) -> int:  # noqa: N802
    """``cudaHostAlloc``."""
    return _acquire("cudaHostAlloc", "pinned", int(size))


def free(ptr: int) -> None:
    """``cudaFree``."""
    _release("cudaFree", ("device", "managed"), ptr)


def freeAsync(ptr: int, stream: int) -> None:  # noqa: N802
    """``cudaFreeAsync``."""
    _release("cudaFreeAsync", ("device",), ptr)


def freeHost(ptr: int) -> None:  # noqa: N802
    """``cudaFreeHost``."""
    _release("cudaFreeHost", ("pinned",), ptr)


# Copies -------------------------------------------------------------------------------------------


def _side(address: int, size: int) -> tuple[bool, int | None, bool]:
    """Whether an address is the device's, where its contents lie on the host, and whether there is
    as much."""
    if not _device.holds(address):
        _, held, _ = _held.get(address, ("", size, None))
        return False, address, size <= held
    found = _device.find(address)
    if found is None:
        return True, None, False
    return True, found[1], size <= found[0]


def _copy(api: str, dst: int, src: int, size: int, kind: int) -> None:
    number = _device.called(api)
    there, here = _side(int(dst), int(size)), _side(int(src), int(size))
    wanted = {1: (True, False), 2: (False, True), 3: (True, True), 0: (False, False)}.get(kind)
    managed = any(_held.get(int(one), ("",))[0] == "managed" for one in (dst, src))
    right = wanted in (None, (there[0], here[0])) or managed
    if not (right and there[2] and here[2]):
        _device.refuse(api, _device.INVALID_VALUE, number, bytes=int(size), detail=kind)
    recorder.write(
        "copy", at=recorder.stack(), api=api, bytes=int(size), detail=kind, address=int(dst),
        source=int(src), call=number,
    )  # fmt: skip
    if there[1] is None or here[1] is None:
        recorder.note(f"{PREFIX}the contents of what {api} copies")
        return
    ctypes.memmove(there[1], here[1], int(size))


def memcpy(dst: int, src: int, size: int, kind: int) -> None:
    """``cudaMemcpy``."""
    _copy("cudaMemcpy", dst, src, size, kind)


def memcpyAsync(dst: int, src: int, size: int, kind: int, stream: int) -> None:  # noqa: N802
    """``cudaMemcpyAsync``."""
    _copy("cudaMemcpyAsync", dst, src, size, kind)


def _fill(api: str, ptr: int, value: Any, size: int) -> None:
    number = _device.called(api)
    _, where, enough = _side(int(ptr), int(size))
    if not enough:
        _device.refuse(api, _device.INVALID_VALUE, number, bytes=int(size))
    recorder.write(
        "fill", at=recorder.stack(), api=api, address=int(ptr), bytes=int(size), source=int(value),
        call=number,
    )  # fmt: skip
    if where is not None:
        ctypes.memset(where, int(value) & 0xFF, int(size))


def memset(ptr: int, value: int, size: int) -> None:
    """``cudaMemset``."""
    _fill("cudaMemset", ptr, value, size)


def memsetAsync(ptr: int, value: int, size: int, stream: int) -> None:  # noqa: N802
    """``cudaMemsetAsync``."""
    _fill("cudaMemsetAsync", ptr, value, size)


# Devices, streams, events -------------------------------------------------------------------------


def memGetInfo() -> tuple[int, int]:  # noqa: N802
    """Free, and all."""
    return _device.CAPACITY - _device.memories[_device.current].used, _device.CAPACITY


def getDevice() -> int:  # noqa: N802
    """The current one."""
    return _device.current


def setDevice(device: int) -> None:  # noqa: N802
    """Make it the current one."""
    if not 0 <= int(device) < _device.COUNT:
        raise CUDARuntimeError(_NO_DEVICE)
    _device.current = int(device)


_NO_DEVICE = 101


def getDeviceCount() -> int:  # noqa: N802
    """How many there are."""
    return _device.COUNT


def getDeviceProperties(device: int) -> dict[str, Any]:  # noqa: N802
    """Those of the profile."""
    major, minor = _device.CAPABILITY
    return {
        "name": _device.NAME.encode(), "totalGlobalMem": _device.CAPACITY, "major": major,
        "minor": minor, "sharedMemPerBlock": _device.given("static_shared", 49152),
        "sharedMemPerBlockOptin": _device.given("optin_shared", 49152),
        "maxThreadsPerBlock": _device.given("threads", 1024), "warpSize": 32,
        "maxThreadsDim": _device.limits("block", "1024x1024x64"),
        "maxGridSize": _device.limits("grid", "2147483647x65535x65535"),
    }  # fmt: skip


def runtimeGetVersion() -> int:  # noqa: N802
    """CUDA 13."""
    return 13000


driverGetVersion = runtimeGetVersion  # noqa: N816


def _wait(api: str) -> None:
    recorder.write("call", at=recorder.stack(), api=api, call=_device.called(api))


def deviceSynchronize() -> None:  # noqa: N802
    """Wait: nothing runs."""
    _wait("cudaDeviceSynchronize")


def streamSynchronize(stream: int) -> None:  # noqa: N802
    """Wait: nothing runs."""
    _wait("cudaStreamSynchronize")


def eventSynchronize(event: int) -> None:  # noqa: N802
    """Wait: nothing runs."""
    _wait("cudaEventSynchronize")


def _handle(api: str, family: str) -> int:
    global _last_handle
    number = _device.called(api, family=family)
    _last_handle += 16
    _handles[_last_handle] = family
    recorder.acquired(family, _last_handle, 0, api, owned=False, call=number)
    return _last_handle


def _end(api: str, family: str, handle: int) -> None:
    number = _device.called(api)
    if _handles.get(int(handle)) != family:
        _device.refuse(api, _device.INVALID_VALUE, number)
    del _handles[int(handle)]
    recorder.released(family, int(handle), 0, api, call=number)


def streamCreate() -> int:  # noqa: N802
    """``cudaStreamCreate``."""
    return _handle("cudaStreamCreate", "stream")


def streamCreateWithFlags(flags: int) -> int:  # noqa: N802
    """``cudaStreamCreateWithFlags``."""
    return _handle("cudaStreamCreateWithFlags", "stream")


def streamDestroy(stream: int) -> None:  # noqa: N802
    """``cudaStreamDestroy``."""
    _end("cudaStreamDestroy", "stream", stream)


def eventCreate() -> int:  # noqa: N802
    """``cudaEventCreate``."""
    return _handle("cudaEventCreate", "event")


def eventCreateWithFlags(flags: int) -> int:  # noqa: N802
    """``cudaEventCreateWithFlags``."""
    return _handle("cudaEventCreateWithFlags", "event")


def eventDestroy(event: int) -> None:  # noqa: N802
    """``cudaEventDestroy``."""
    _end("cudaEventDestroy", "event", event)


def eventRecord(event: int, stream: int) -> None:  # noqa: N802
    """``cudaEventRecord``."""
    _wait("cudaEventRecord")


def _tell_kept() -> None:
    """What the program's modules still hold when it ends: that is kept, not lost."""
    for number in set(addresses(vars(sys.modules["__main__"]))):
        family = _handles.get(number) or _held.get(number, ("",))[0]
        if family:
            recorder.write("kept", at=[], family=family, address=number)


recorder.at_end(_tell_kept)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    not_simulated(f"cupy.cuda.runtime.{name}")
