"""``cuda.bindings.driver`` on cudalint's ledger."""

from __future__ import annotations

import ctypes
from typing import Any

from _cudalint_simulated import headers
from _cudalint_simulated.library import Functions, handle, ledger, seen

_HANDLES = {
    name: handle(name)
    for name in (
        "CUdeviceptr", "CUcontext", "CUmodule", "CUfunction", "CUstream", "CUevent", "CUdevice",
        "CUmemoryPool", "CUarray", "CUgraph", "CUgraphExec",
    )
}  # fmt: skip
globals().update(_HANDLES)

_FUNCTIONS = Functions(
    """
    cuInit : u
    cuDriverGetVersion I :
    cuDeviceGetCount I :
    cuDeviceGetAttribute I : i i
    cuDeviceTotalMem Z : i
    cuCtxDestroy : h
    cuCtxSetCurrent : h
    cuCtxGetCurrent CUcontext :
    cuCtxPushCurrent : h
    cuCtxPopCurrent CUcontext :
    cuCtxSynchronize :
    cuDevicePrimaryCtxRetain CUcontext : i
    cuDevicePrimaryCtxRelease : i
    cuMemAlloc CUdeviceptr : z
    cuMemAllocPitch CUdeviceptr Z : z z u
    cuMemFree : p
    cuMemAllocHost P : z
    cuMemHostAlloc P : z u
    cuMemFreeHost : p
    cuMemHostRegister : p z u
    cuMemHostUnregister : p
    cuMemAllocManaged CUdeviceptr : z u
    cuMemAllocAsync CUdeviceptr : z h
    cuMemFreeAsync : p h
    cuMemGetInfo Z Z :
    cuMemcpy : p p z
    cuMemcpyHtoD : p p z
    cuMemcpyDtoH : p p z
    cuMemcpyDtoD : p p z
    cuMemcpyHtoDAsync : p p z h
    cuMemcpyDtoHAsync : p p z h
    cuMemcpyDtoDAsync : p p z h
    cuMemsetD8 : p u z
    cuMemsetD16 : p u z
    cuMemsetD32 : p u z
    cuMemsetD8Async : p u z h
    cuMemsetD16Async : p u z h
    cuMemsetD32Async : p u z h
    cuStreamCreate CUstream : u
    cuStreamDestroy : h
    cuStreamSynchronize : h
    cuStreamQuery : h
    cuEventCreate CUevent : u
    cuEventDestroy : h
    cuEventRecord : h h
    cuEventSynchronize : h
    cuModuleLoad CUmodule : p
    cuModuleLoadData CUmodule : p
    cuModuleUnload : h
    cuModuleGetFunction CUfunction : h p
    cuFuncSetAttribute : h i i
    """,
    "CUresult",
    _HANDLES,
)


def cuDeviceGet(ordinal: int) -> tuple[Any, Any]:  # noqa: N802
    """A device, by its number."""
    device = ctypes.c_int(0)
    code = seen(ledger.cuDeviceGet, ctypes.byref(device), ctypes.c_int(ordinal))
    return _result(code), _HANDLES["CUdevice"](device.value)


def cuCtxCreate(*arguments: Any) -> tuple[Any, Any]:  # noqa: N802
    """A context: ``(flags, device)``, and since 13.0 parameters before them."""
    return _create(int(arguments[-2]), int(arguments[-1]))


def cuLaunchKernel(  # noqa: N802
    function: Any, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, shared: int, stream: Any,
    arguments: Any, extra: Any = 0,
) -> tuple[Any]:  # fmt: skip
    """A launch; ``arguments`` are ``(values, types)`` or the address of an array of addresses."""
    kept: list[Any] = []
    return _launch(function, gx, gy, gz, bx, by, bz, shared, stream, _addresses(arguments, kept), 0)


def _addresses(arguments: Any, kept: list[Any]) -> Any:
    if not isinstance(arguments, tuple) or len(arguments) != 2:
        return arguments
    values, kinds = arguments
    for value, kind in zip(values, kinds, strict=True):
        kept.append(ctypes.c_void_p(int(value)) if kind is None else kind(value))
    array = (ctypes.c_void_p * max(len(kept), 1))(*(ctypes.addressof(one) for one in kept))
    kept.append(array)
    return array


_create = Functions("cuCtxCreate CUcontext : u i", "CUresult", _HANDLES).make("cuCtxCreate")
_launch = Functions(
    "cuLaunchKernel : h u u u u u u u h p p", "CUresult", _HANDLES
).make("cuLaunchKernel")  # fmt: skip


def cuGetErrorName(error: int) -> tuple[Any, bytes]:  # noqa: N802
    """``b"CUDA_ERROR_INVALID_VALUE"``."""
    return _text("cuGetErrorName", error)


def cuGetErrorString(error: int) -> tuple[Any, bytes]:  # noqa: N802
    """``b"invalid argument"``."""
    return _text("cuGetErrorString", error)


def _text(name: str, error: int) -> tuple[Any, bytes]:
    text = ctypes.c_char_p()
    code = getattr(ledger, name)(ctypes.c_int(int(error)), ctypes.byref(text))
    return _result(code), text.value or b""


def _result(code: int) -> Any:
    return headers.names()["CUresult"](code)  # type: ignore[operator]


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        made = _FUNCTIONS.make(name)
        globals()[name] = made
        return made
    known = headers.names()
    if name in known and name.startswith("CU"):
        return known[name]
    raise AttributeError(f"cudalint simulates no cuda.bindings.driver.{name}")
