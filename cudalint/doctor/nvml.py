"""The devices as the driver tells of them, by NVML (nvidia-ml-py, the module ``pynvml``).

``NvmlError`` where it cannot be asked at all; a question that a device does not answer (on a MIG
slice, under WSL, without rights) is not known, and costs nothing else."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from cudalint.doctor.host import openers, process
from cudalint.doctor.record import Gpu, Health, Holder, Slice

_MODES: dict[int, Literal["default", "exclusive", "prohibited"]] = {
    0: "default", 1: "exclusive", 2: "prohibited", 3: "exclusive",
}  # fmt: skip
_MIG_ON = 1
_NOTABLE = 768 * 1024**2
"""More than an idle driver and one context take."""


class NvmlError(Exception):
    """NVML cannot be asked. ``code`` is its own, 0 where there is no module or library."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class Nvml:
    """NVML while it is open."""

    def __init__(self, library: Any) -> None:
        self._nvml = library

    def driver(self) -> tuple[str, str]:
        """The version of the driver, and of the CUDA that it can run."""
        number = self._ask("nvmlSystemGetCudaDriverVersion_v2") or 0
        cuda = f"{number // 1000}.{number % 1000 // 10}" if number else ""
        return _text(self._ask("nvmlSystemGetDriverVersion")), cuda

    def gpus(self, ours: frozenset[int] = frozenset()) -> tuple[Gpu, ...]:
        """Every device; ``ours`` are processes that cudalint started."""
        count = self._ask("nvmlDeviceGetCount") or 0
        found = []
        for index in range(count):
            handle = self._ask("nvmlDeviceGetHandleByIndex", index)
            if handle is not None:
                found.append(self._gpu(index, handle, ours))
        return tuple(found)

    def used(self, uuid: str) -> int | None:
        """What is used of a device now."""
        handle = self._ask("nvmlDeviceGetHandleByUUID", uuid)
        return None if handle is None else self._memory(handle)[1]

    def _gpu(self, index: int, handle: Any, ours: frozenset[int]) -> Gpu:
        total, used, free, reserved = self._memory(handle)
        mig = self._ask("nvmlDeviceGetMigMode", handle)
        sliced = bool(mig) and mig[0] == _MIG_ON
        parts = list(self._slices(handle)) if sliced else []
        handles = [handle, *(part for part, _ in parts)]
        return Gpu(
            index=index,
            uuid=_text(self._ask("nvmlDeviceGetUUID", handle)),
            name=_text(self._ask("nvmlDeviceGetName", handle)),
            total=total,
            used=used,
            free=free,
            reserved=reserved,
            compute_mode=_MODES.get(self._ask("nvmlDeviceGetComputeMode", handle), "unknown"),
            mig=sliced,
            slices=tuple(one for _, one in parts),
            holders=matched(self._holders(handles, ours), openers(index, ours=ours), used),
            health=self._health(handle),
        )

    def _memory(self, handle: Any) -> tuple[int, int, int, int | None]:
        """Total, used, free, reserved: the second version tells the driver's own share apart."""
        version = getattr(self._nvml, "nvmlMemory_v2", None)
        with contextlib.suppress(self._nvml.NVMLError, TypeError):
            if version is not None:
                new = self._nvml.nvmlDeviceGetMemoryInfo(handle, version=version)
                return int(new.total), int(new.used), int(new.free), int(new.reserved)
        old = self._ask("nvmlDeviceGetMemoryInfo", handle)
        return (
            (0, 0, 0, None) if old is None else (int(old.total), int(old.used), int(old.free), None)
        )

    def _slices(self, handle: Any) -> Iterator[tuple[Any, Slice]]:
        for index in range(self._ask("nvmlDeviceGetMaxMigDeviceCount", handle) or 0):
            part = self._ask("nvmlDeviceGetMigDeviceHandleByIndex", handle, index)
            if part is not None:
                total, _, free, _ = self._memory(part)
                uuid = _text(self._ask("nvmlDeviceGetUUID", part))
                name = _text(self._ask("nvmlDeviceGetName", part))
                yield part, Slice(uuid, name.rpartition("MIG ")[2], total, free)

    def _holders(self, handles: list[Any], ours: frozenset[int]) -> tuple[Holder, ...]:
        sizes: dict[int, int | None] = {}
        for handle in handles:
            for question in (
                "nvmlDeviceGetComputeRunningProcesses",
                "nvmlDeviceGetGraphicsRunningProcesses",
                "nvmlDeviceGetMPSComputeRunningProcesses",
            ):
                for one in self._ask(question, handle) or ():
                    value = one.usedGpuMemory
                    # One that both computes and draws is in both lists, with the same bytes.
                    sizes[int(one.pid)] = max(sizes.get(int(one.pid)) or 0, int(value or 0)) or None
        found = [process(pid, size, ours=ours) for pid, size in sizes.items()]
        return tuple(sorted(found, key=lambda one: (-(one.bytes or 0), one.pid)))

    def _health(self, handle: Any) -> Health:
        mode = self._ask("nvmlDeviceGetEccMode", handle)
        library = self._nvml
        counts = [
            self._ask("nvmlDeviceGetTotalEccErrors", handle, kind, library.NVML_AGGREGATE_ECC)
            for kind in (
                library.NVML_MEMORY_ERROR_TYPE_CORRECTED,
                library.NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
            )
        ]
        rows = self._ask("nvmlDeviceGetRemappedRows", handle) or (0, 0, 0, 0)
        return Health(
            ecc=None if mode is None else bool(mode[0]),
            corrected=int(counts[0] or 0),
            uncorrected=int(counts[1] or 0),
            remapped=int(rows[0]) + int(rows[1]),
            pending=bool(rows[2]),
            failed=bool(rows[3]),
        )

    def _ask(self, function: str, *arguments: Any) -> Any:
        """The answer; ``None`` where there is none."""
        try:
            return getattr(self._nvml, function)(*arguments)
        except (self._nvml.NVMLError, AttributeError):
            return None


def matched(told: tuple[Holder, ...], seen: tuple[Holder, ...], used: int) -> tuple[Holder, ...]:
    """What the driver tells, with the processes that have the device open here in place of those
    that it only knows by a number of another PID namespace: where one is left of each, they are
    the same. Where it tells of nobody, and much is ``used``, they are who may hold it."""
    foreign = [one for one in told if one.alive is None]
    known = {one.pid for one in told}
    local = [one for one in seen if one.pid not in known]
    mine = [one for one in local if not one.ours]
    if len(foreign) == 1 and len(mine) == 1:
        same = msgspec.structs.replace(mine[0], bytes=foreign[0].bytes)
        return tuple(same if one is foreign[0] else one for one in told)
    untold = used - sum(one.bytes or 0 for one in told)
    return (*told, *mine) if not foreign and untold > _NOTABLE else told


@contextlib.contextmanager
def opened() -> Iterator[Nvml]:
    """NVML. ``NvmlError`` says why not."""
    try:
        import pynvml
    except ImportError:
        raise NvmlError("nvidia-ml-py is not installed") from None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        raise NvmlError(str(error), int(getattr(error, "value", 0))) from None
    try:
        yield Nvml(pynvml)
    finally:
        with contextlib.suppress(pynvml.NVMLError):
            pynvml.nvmlShutdown()


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")
