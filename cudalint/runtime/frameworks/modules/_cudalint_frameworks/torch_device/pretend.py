"""Makes PyTorch believe that there is a device."""

from __future__ import annotations

import functools
import os
from typing import Any

import torch

from _cudalint_frameworks import recorder, threads
from _cudalint_frameworks.errors import PREFIX, refusing
from _cudalint_frameworks.torch_device import checkpoints, compiler, cuda, tensors
from _cudalint_frameworks.torch_device.mode import DeviceMode

_SETTINGS = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")


def begin() -> None:
    """From now on, in all threads."""
    tensors.install()
    checkpoints.install()
    compiler.install()
    cuda.install()
    _generators()
    _mixed_precision()
    _elsewhere()
    threads.enter(DeviceMode)
    for name in _SETTINGS:
        if os.environ.get(name):
            recorder.note(f"{name} is not simulated: the allocator has its default settings")


def _generators() -> None:
    class Generator(torch._C.Generator):
        """A generator of random numbers, whose device is only said."""

        def __new__(cls, device: Any = "cpu") -> Any:
            return super().__new__(cls, "cpu")

        def __init__(self, device: Any = "cpu") -> None:
            self._said = torch.device(device)

        @property
        def device(self) -> Any:
            return self._said

    torch.Generator = Generator


def _mixed_precision() -> None:
    """Autocast of a device is that of the host, with the device's default type."""
    begin = torch.autocast.__init__

    @functools.wraps(begin)
    def initialise(self: Any, device_type: str, dtype: Any = None, **named: Any) -> None:
        if device_type == "cuda":
            device_type, dtype = "cpu", dtype or torch.float16
        begin(self, device_type, dtype, **named)

    torch.autocast.__init__ = initialise
    enabled = torch.is_autocast_enabled
    torch.is_autocast_enabled = lambda kind="cpu": enabled("cpu" if kind == "cuda" else kind)


def _elsewhere() -> None:
    """What is not done at all."""
    torch.backends.cudnn.is_acceptable = lambda tensor: False
    torch.set_default_tensor_type = refusing("torch.set_default_tensor_type")
    distributed = getattr(torch, "distributed", None)
    if distributed is not None and hasattr(distributed, "init_process_group"):
        distributed.init_process_group = refusing("torch.distributed")


__all__ = ["PREFIX", "begin"]
