"""Why no device can be asked, and what to do about it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from cudalint.doctor.nvml import NvmlError
from cudalint.doctor.record import Missing

_NVIDIA = "0x10de"
_DISPLAY = "0x03"
_INSTALL = "pip install 'cudalint[runtime]'"
_NVML = {
    4: ("rights", "this user may not ask the driver", "ls -l /dev/nvidia*; id"),
    9: ("driver", "the kernel module is not loaded", "sudo modprobe nvidia; dmesg | grep -i nvrm"),
    15: ("device", "a GPU has fallen off the bus", "dmesg | grep -i xid; restart the machine"),
    18: (
        "driver", "the kernel module and the driver's libraries are of different versions: the"
        " driver was updated, the module not yet", "restart the machine, or reload the module",
    ),
}  # fmt: skip
_CUDA = {
    "NO_DEVICE": ("device", "CUDA sees no device", "echo $CUDA_VISIBLE_DEVICES; nvidia-smi -L"),
    "INSUFFICIENT_DRIVER": (
        "driver", "the driver is older than the CUDA runtime needs",
        "nvidia-smi | head -4; install a newer driver, or an older CUDA",
    ),
    "SYSTEM_DRIVER_MISMATCH": (
        "driver", "libcuda and the kernel module are of different versions", "restart the machine",
    ),
    "SYSTEM_NOT_READY": (
        "driver", "the fabric manager of this NVLink machine is not running",
        "systemctl status nvidia-fabricmanager",
    ),
    "COMPAT_NOT_SUPPORTED_ON_DEVICE": (
        "driver", "the compatibility libcuda of this container does not support the GPU",
        "unset LD_LIBRARY_PATH, or take an image for the driver's CUDA",
    ),
    "OPERATING_SYSTEM": ("rights", "the device nodes cannot be opened", "ls -l /dev/nvidia*; id"),
    "STUB_LIBRARY": (
        "driver", "the libcuda that was found is the toolkit's stub, no driver",
        "take the stubs folder out of LD_LIBRARY_PATH",
    ),
    "DEVICE_UNAVAILABLE": (
        "device", "another process has the device for itself", "nvidia-smi -q -d COMPUTE",
    ),
    "UNKNOWN": (
        "driver", "the driver cannot start, as after a suspend or without nvidia_uvm",
        "sudo modprobe -r nvidia_uvm; sudo modprobe nvidia_uvm",
    ),
}  # fmt: skip


def of_nvml(error: NvmlError, around: str, root: Path) -> Missing:
    """Why NVML cannot be asked."""
    if error.code in _NVML:
        return Missing(*_NVML[error.code])
    if not error.code:
        return Missing("nvidia-ml-py", "nvidia-ml-py (NVML) is not installed", _INSTALL)
    return _no_library("libnvidia-ml", str(error), around, root)


def of_failure(
    failed: str, around: str, environment: Mapping[str, str], root: Path, seen: bool
) -> Missing | None:
    """Why CUDA cannot be asked; ``seen`` is whether NVML sees devices."""
    if "No module named" in failed:
        return Missing("cuda-python", "cuda-python (cuda.bindings) is not installed", _INSTALL)
    if failed.startswith("import:"):
        return Missing(
            "cuda-python", f"cuda-python cannot be imported ({failed.removeprefix('import: ')})",
            f"{_INSTALL} --upgrade",
        )  # fmt: skip
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if seen and visible is not None and ("NO_DEVICE" in failed or " 0 devices" in failed):
        return None  # The devices are there; a cause says that this variable hides them.
    code = failed.rpartition("CUDA_ERROR_")[2]
    if code in _CUDA and (root / "dev").is_dir() and (seen or _nodes(root) or code != "NO_DEVICE"):
        what, why, following = _CUDA[code]
        return Missing(what, f"{why} ({failed})", following)
    if seen:
        return Missing("CUDA", f"CUDA cannot be asked ({failed})", "nvidia-smi")
    return _no_library("libcuda", failed, around, root)


def _no_library(library: str, why: str, around: str, root: Path) -> Missing:
    """There is no driver, seen from here; what is there says whose doing that is."""
    if around == "WSL":
        if (root / "dev/dxg").exists():
            return Missing(
                library, f"WSL has its GPU (/dev/dxg), and {library} is not found",
                "export LD_LIBRARY_PATH=/usr/lib/wsl/lib; nvidia-smi",
            )  # fmt: skip
        return Missing(
            "driver", "this is WSL without /dev/dxg: Windows has no NVIDIA driver for it, or it is"
            " WSL 1", "wsl.exe --update; wsl.exe --set-version DISTRIBUTION 2",
        )  # fmt: skip
    if nodes := _nodes(root):
        if denied := [node for node in nodes if not os.access(node, os.R_OK | os.W_OK)]:
            return Missing(
                "rights", f"{denied[0]} cannot be opened by this user", "ls -l /dev/nvidia*; id"
            )
        return Missing(
            library, f"the device nodes are there, and {library} is not found",
            "ldconfig -p | grep -e libcuda -e libnvidia-ml",
        )  # fmt: skip
    if around:
        return Missing(
            "devices", f"this is a container ({around}) without /dev/nvidia*: it was started"
            " without GPUs", "docker run --gpus all ... (Kubernetes: limits: nvidia.com/gpu: 1)",
        )  # fmt: skip
    if _has_card(root):
        return Missing(
            "driver", "there is an NVIDIA card, and no /dev/nvidia*: the driver is not installed,"
            " or its module not loaded", "lsmod | grep nvidia; sudo modprobe nvidia",
        )  # fmt: skip
    return Missing(
        "device", f"this machine has no NVIDIA GPU that could be seen: no /dev/nvidia*, no card on"
        f" the bus, no driver ({library}: {' '.join(why.split())})",
        "lspci | grep -i nvidia; or explain a record of the machine that has one: on it, `cudalint"
        " doctor --record FILE`, here, `cudalint doctor --machine FILE`",
    )  # fmt: skip


def _nodes(root: Path) -> list[Path]:
    return sorted(
        path
        for path in (root / "dev").glob("nvidia*")
        if path.name.removeprefix("nvidia").isdigit() or path.name == "nvidiactl"
    )


def _has_card(root: Path) -> bool:
    for folder in (root / "sys/bus/pci/devices").glob("*"):
        try:
            vendor, kind = ((folder / name).read_text().strip() for name in ("vendor", "class"))
        except OSError:
            continue
        if vendor == _NVIDIA and kind.startswith(_DISPLAY):
            return True
    return False
