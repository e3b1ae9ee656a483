"""``cuda.bindings.runtime`` on cudalint's ledger."""

from __future__ import annotations

import ctypes
from typing import Any

from _cudalint_simulated import headers
from _cudalint_simulated.library import Functions, handle, text_of

_HANDLES = {
    name: handle(name)
    for name in (
        "cudaStream_t", "cudaEvent_t", "cudaGraph_t", "cudaGraphExec_t", "cudaMemPool_t",
        "cudaArray_t", "cudaMipmappedArray_t", "cudaGraphNode_t", "cudaFunction_t",
        "cudaTextureObject_t", "cudaSurfaceObject_t",
    )
}  # fmt: skip
globals().update(_HANDLES)

_FUNCTIONS = Functions(
    """
    cudaMalloc P : z
    cudaFree : p
    cudaMallocHost P : z
    cudaHostAlloc P : z u
    cudaFreeHost : p
    cudaMallocManaged P : z u
    cudaMallocPitch P Z : z z
    cudaMallocAsync P : z h
    cudaFreeAsync : p h
    cudaMallocFromPoolAsync P : z h h
    cudaMallocArray cudaArray_t : p z z u
    cudaFreeArray : h
    cudaFreeMipmappedArray : h
    cudaHostRegister : p z u
    cudaHostUnregister : p
    cudaHostGetDevicePointer P : p u
    cudaMemcpy : p p z i
    cudaMemcpyAsync : p p z i h
    cudaMemcpy2D : p z p z z z i
    cudaMemcpy2DAsync : p z p z z z i h
    cudaMemcpy2DToArray : h z z p z z z i
    cudaMemset : p i z
    cudaMemsetAsync : p i z h
    cudaMemset2D : p z i z z
    cudaMemset2DAsync : p z i z z h
    cudaMemGetInfo Z Z :
    cudaMemPrefetchAsync : p z i h
    cudaMemPoolCreate cudaMemPool_t : p
    cudaMemPoolDestroy : h
    cudaMemPoolTrimTo : h z
    cudaMemPoolSetAttribute : h i p
    cudaDeviceGetDefaultMemPool cudaMemPool_t : i
    cudaDeviceGetMemPool cudaMemPool_t : i
    cudaDeviceSetMemPool : i h
    cudaDeviceSynchronize :
    cudaDeviceReset :
    cudaDeviceGetAttribute I : i i
    cudaGetDevice I :
    cudaGetDeviceCount I :
    cudaSetDevice : i
    cudaSetDeviceFlags : u
    cudaGetLastError :
    cudaPeekAtLastError :
    cudaRuntimeGetVersion I :
    cudaDriverGetVersion I :
    cudaStreamCreate cudaStream_t :
    cudaStreamCreateWithFlags cudaStream_t : u
    cudaStreamCreateWithPriority cudaStream_t : u i
    cudaStreamDestroy : h
    cudaStreamSynchronize : h
    cudaStreamQuery : h
    cudaStreamWaitEvent : h h u
    cudaStreamBeginCapture : h i
    cudaStreamEndCapture > cudaGraph_t : h
    cudaEventCreate cudaEvent_t :
    cudaEventCreateWithFlags cudaEvent_t : u
    cudaEventDestroy : h
    cudaEventRecord : h h
    cudaEventSynchronize : h
    cudaEventQuery : h
    cudaEventElapsedTime F : h h
    cudaGraphCreate cudaGraph_t : u
    cudaGraphDestroy : h
    cudaGraphInstantiate cudaGraphExec_t : h x
    cudaGraphExecDestroy : h
    cudaGraphLaunch : h h
    cudaGraphUpload : h h
    """,
    "cudaError_t",
    _HANDLES,
)


class cudaMemLocation(ctypes.Structure):  # noqa: N801
    """As in the header."""

    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class cudaMemPoolProps(ctypes.Structure):  # noqa: N801
    """As in the header."""

    _fields_ = [
        ("allocType", ctypes.c_int),
        ("handleTypes", ctypes.c_int),
        ("location", cudaMemLocation),
        ("win32SecurityAttributes", ctypes.c_void_p),
        ("maxSize", ctypes.c_size_t),
        ("usage", ctypes.c_ushort),
        ("reserved", ctypes.c_ubyte * 54),
    ]


class cudaChannelFormatDesc(ctypes.Structure):  # noqa: N801
    """As in the header."""

    _fields_ = [(name, ctypes.c_int) for name in "xyzwf"]


def cudaCreateChannelDesc(x: int, y: int, z: int, w: int, f: int) -> tuple[Any, Any]:  # noqa: N802
    """A description of an array's elements."""
    return _success(), cudaChannelFormatDesc(x, y, z, w, int(f))


def cudaGetErrorName(error: int) -> tuple[Any, bytes]:  # noqa: N802
    """``b"cudaErrorInvalidValue"``."""
    return _success(), text_of("cudaGetErrorName", error)


def cudaGetErrorString(error: int) -> tuple[Any, bytes]:  # noqa: N802
    """``b"invalid argument"``."""
    return _success(), text_of("cudaGetErrorString", error)


def _success() -> Any:
    return headers.names()["cudaError_t"](0)  # type: ignore[operator]


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        made = _FUNCTIONS.make(name)
        globals()[name] = made
        return made
    known = headers.names()
    if name in known and name.startswith(("cuda", "CU")):
        return known[name]
    raise AttributeError(f"cudalint simulates no cuda.bindings.runtime.{name}")
