"""The devices of the machine that is pretended, as ``CUDALINT_DEVICE`` tells them."""

from __future__ import annotations

import os
import threading

import torch

from _cudalint_frameworks import recorder
from _cudalint_frameworks.torch_device.allocator import Allocator

SIMULATED = "CUDALINT_DEVICE"
_GIB = 1024**3
_TORCH = os.path.dirname(torch.__file__) + os.sep  # noqa: PTH120


def profile() -> dict[str, str]:
    """``name``, ``major``, ``minor``, ``count``, ``memory``, ..."""
    text = os.environ.get(SIMULATED, "")
    return dict(part.partition("=")[::2] for part in text.split(";") if part)


def stack() -> list[tuple[str, int, str]]:
    """The program's stack from where it calls PyTorch: how that gets here is our own doing."""
    found = recorder.stack()
    own = (at for at, (file, _, _) in enumerate(found) if not file.startswith(_TORCH))
    return found[next(own, 0) :]


class Devices:
    """All devices, and which one and which stream each thread uses."""

    def __init__(self) -> None:
        given = profile()
        self.name = given.get("name", "cudalint simulated GPU")
        self.capability = int(given.get("major", "9")), int(given.get("minor", "0"))
        self.memory = int(given.get("memory", 16 * _GIB))
        self.all = [Allocator(n, self.memory) for n in range(int(given.get("count", "1")))]
        for one in self.all:
            one.frames = stack
        self._thread = threading.local()

    @property
    def current(self) -> int:
        """Of this thread."""
        return getattr(self._thread, "device", 0)

    @current.setter
    def current(self, device: int) -> None:
        if not 0 <= device < len(self.all):
            raise RuntimeError(f"CUDA error: invalid device ordinal ({device})")
        self._thread.device = device

    @property
    def stream(self) -> int:
        """The number of this thread's stream; 0: the default one."""
        return getattr(self._thread, "stream", 0)

    @stream.setter
    def stream(self, number: int) -> None:
        self._thread.stream = number


DEVICES = Devices()
