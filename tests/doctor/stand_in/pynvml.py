"""Stands in for NVML: one device, as ``STAND_IN_NVML`` says in JSON."""

from __future__ import annotations

import json
import os
from types import SimpleNamespace
from typing import Any

NVML_AGGREGATE_ECC = 1
NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_MEMORY_ERROR_TYPE_UNCORRECTED = 0, 1
nvmlMemory_v2 = 2  # noqa: N816


class NVMLError(Exception):
    def __init__(self, value: int) -> None:
        super().__init__(f"error {value}")
        self.value = value


def _answers() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(os.environ["STAND_IN_NVML"])
    return found


def nvmlInit() -> None:  # noqa: N802
    if code := _answers().get("error"):
        raise NVMLError(code)


def nvmlShutdown() -> None:  # noqa: N802
    pass


def nvmlDeviceGetMemoryInfo(handle: object, version: int | None = None) -> object:  # noqa: N802
    return SimpleNamespace(**_answers()["memory"])


def nvmlDeviceGetComputeRunningProcesses(handle: object) -> list[object]:  # noqa: N802
    return [
        SimpleNamespace(pid=pid, usedGpuMemory=size) for pid, size in _answers().get("holders", [])
    ]


def __getattr__(name: str) -> Any:
    known = {
        "nvmlDeviceGetCount": 1, "nvmlDeviceGetHandleByIndex": 0, "nvmlDeviceGetHandleByUUID": 0,
        "nvmlDeviceGetName": "Stand-in", "nvmlDeviceGetUUID": "GPU-0",
        "nvmlDeviceGetMigMode": (0, 0),
        "nvmlDeviceGetComputeMode": 0, "nvmlDeviceGetEccMode": (1, 1),
        "nvmlDeviceGetTotalEccErrors": 0, "nvmlDeviceGetRemappedRows": (0, 0, 0, 0),
        "nvmlSystemGetDriverVersion": "580.1", "nvmlSystemGetCudaDriverVersion_v2": 13000,
    }  # fmt: skip
    if name not in known:
        raise AttributeError(name)
    value = _answers().get(name, known[name])
    return lambda *_: value
