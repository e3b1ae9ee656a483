"""Measures each device that CUDA shows: ``python -m cudalint.doctor.measure``.

It runs in a process of its own, so that a crash or an error that lasts costs nothing, and writes
one JSON object a line, as soon as it is known. It takes plain device memory only, never more than
is free, and gives it back at once."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

import msgspec

from cudalint.doctor.nvml import Nvml, NvmlError, opened
from cudalint.doctor.record import Measured, Pool

STEP = 2 * 1024**2
"""The driver gives out pages of 2 MiB: no finer answer means anything."""


class CudaError(Exception):
    """A call of the driver that failed; says how."""


class Failed(msgspec.Struct, frozen=True):
    """What is written where no device could be measured at all."""

    failed: str


def main() -> int:
    """Measure them all."""
    try:
        from cuda.bindings import driver
    except Exception as error:  # A half-installed binding raises whatever it likes.
        return _tell(Failed(f"import: {type(error).__name__}: {error}"))
    try:
        _call(driver, "cuInit", 0)
        count = int(_call(driver, "cuDeviceGetCount"))
    except CudaError as error:
        return _tell(Failed(str(error)))
    with contextlib.ExitStack() as stack:
        nvml: Nvml | None = None
        with contextlib.suppress(NvmlError):
            nvml = stack.enter_context(opened())
        for ordinal in range(count):
            _tell(measured(driver, ordinal, nvml))
    return 0


def measured(driver: Any, ordinal: int, nvml: Nvml | None) -> Measured:
    """What a fresh process gets of a device."""
    found = Measured(ordinal)
    try:
        device = _call(driver, "cuDeviceGet", ordinal)
        found = msgspec.structs.replace(
            found, uuid=_uuid(driver, device), name=_name(driver, device),
            total=int(_call(driver, "cuDeviceTotalMem", device)),
        )  # fmt: skip
        before = nvml.used(found.uuid) if nvml is not None and found.uuid else None
        context = _call(driver, "cuDevicePrimaryCtxRetain", device)
        try:
            _call(driver, "cuCtxSetCurrent", context)
            after = nvml.used(found.uuid) if nvml is not None and before is not None else None
            free, _ = _call(driver, "cuMemGetInfo")
            taken = None if before is None or after is None else max(after - before, 0)
            found = msgspec.structs.replace(
                found, free=int(free), context=taken, pool=_pool(driver, device)
            )
            largest = largest_block(int(free), lambda size: _fits(driver, size))
            found = msgspec.structs.replace(found, largest=largest)
        finally:
            _call(driver, "cuDevicePrimaryCtxRelease", device)
    except CudaError as error:
        return msgspec.structs.replace(found, error=str(error))
    return found


def largest_block(free: int, fits: Callable[[int], bool], step: int = STEP) -> int:
    """The largest multiple of ``step`` that fits, by halving; never more than ``free`` is tried."""
    low, high = 0, free // step
    if high and fits(high * step):
        return high * step
    while low + 1 < high:
        middle = (low + high) // 2
        if fits(middle * step):
            low = middle
        else:
            high = middle
    return low * step


def _fits(driver: Any, size: int) -> bool:
    try:
        pointer = _call(driver, "cuMemAlloc", size)
    except CudaError as error:
        if "OUT_OF_MEMORY" in str(error):
            return False
        raise
    _call(driver, "cuMemFree", pointer)
    return True


def _pool(driver: Any, device: Any) -> Pool | None:
    try:
        pool = _call(driver, "cuDeviceGetDefaultMemPool", device)
        names = driver.CUmemPool_attribute
        reserved, used, threshold = (
            int(_call(driver, "cuMemPoolGetAttribute", pool, which))
            for which in (
                names.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
                names.CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
                names.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
            )
        )
    except (CudaError, AttributeError, TypeError, ValueError):
        return None
    return Pool(reserved, used, threshold)


def _uuid(driver: Any, device: Any) -> str:
    """As NVML writes it; of a MIG slice, its own."""
    for function in ("cuDeviceGetUuid_v2", "cuDeviceGetUuid"):
        try:
            data = bytes(_call(driver, function, device).bytes)
        except (CudaError, AttributeError, TypeError):
            continue
        text = data[:16].hex()
        dashed = "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
        return f"{'MIG' if 'MIG ' in _name(driver, device) else 'GPU'}-{dashed}"
    return ""


def _name(driver: Any, device: Any) -> str:
    try:
        name = _call(driver, "cuDeviceGetName", 128, device)
    except (CudaError, AttributeError, TypeError):
        return ""
    return (name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)).strip("\0 ")


def _call(driver: Any, function: str, *arguments: Any) -> Any:
    try:
        status, *results = getattr(driver, function)(*arguments)
    except (
        RuntimeError,
        OSError,
        ImportError,
    ) as error:  # No libcuda, or one without the function.
        raise CudaError(f"{function}: {error}") from None
    if int(status) != 0:
        raise CudaError(f"{function}: {getattr(status, 'name', status)}")
    return results[0] if len(results) == 1 else tuple(results)


def _tell(one: Measured | Failed) -> int:
    sys.stdout.write(msgspec.json.encode(one).decode() + "\n")
    sys.stdout.flush()
    return 0 if isinstance(one, Measured) else 1


if __name__ == "__main__":
    sys.exit(main())
