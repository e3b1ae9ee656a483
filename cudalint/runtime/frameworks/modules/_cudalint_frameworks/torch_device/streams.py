"""Streams and events: work is done when it is asked for, so that all of them are done at once."""

from __future__ import annotations

import itertools
import time
from typing import Any

import torch

from _cudalint_frameworks.torch_device.devices import DEVICES

_numbers = itertools.count(1)


class Stream:
    """A stream; the allocator keeps the blocks of each apart."""

    def __init__(self, device: Any = None, priority: int = 0, *, number: int | None = None) -> None:
        self.cuda_stream = next(_numbers) if number is None else number
        index = getattr(device, "index", device) if device is not None else None
        self.device_index = DEVICES.current if not isinstance(index, int) else index
        self.device = torch.device("cuda", self.device_index)
        self.priority, self.stream_id = priority, self.cuda_stream
        self._before: list[int] = []

    def use(self: Any) -> None:
        """This thread works on it from now on."""
        if self is not None:
            DEVICES.stream = self.cuda_stream

    def wait_event(self, event: Any) -> None:
        """It has happened."""

    def wait_stream(self, stream: Any) -> None:
        """It has done its work."""

    def record_event(self, event: Any = None) -> Any:
        """An event that has happened."""
        event = event or Event()
        event.record(self)
        return event

    def query(self) -> bool:
        """Whether all is done."""
        return True

    def synchronize(self) -> None:
        """All is done."""

    def is_capturing(self) -> bool:
        """Graphs are not simulated."""
        return False

    def __enter__(self) -> Stream:
        self._before.append(DEVICES.stream)
        self.use()
        return self

    def __exit__(self, *error: object) -> None:
        DEVICES.stream = self._before.pop()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.cuda_stream == self.cuda_stream

    def __hash__(self) -> int:
        return hash(self.cuda_stream)


class ExternalStream(Stream):
    """A stream that something else made."""

    def __init__(self, stream_ptr: int, device: Any = None) -> None:
        super().__init__(device, number=stream_ptr)


class StreamContext:
    """``with torch.cuda.stream(s):``."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self._before = 0

    def __enter__(self) -> None:
        self._before = DEVICES.stream
        Stream.use(self.stream)

    def __exit__(self, *error: object) -> None:
        DEVICES.stream = self._before


class Event:
    """An event: when it was recorded, by the host's clock."""

    def __init__(self, enable_timing: bool = False, **named: Any) -> None:
        self._time = 0.0
        self.cuda_event = id(self)

    def record(self, stream: Any = None) -> None:
        """Now."""
        self._time = time.perf_counter()

    def wait(self, stream: Any = None) -> None:
        """It has happened."""

    def query(self) -> bool:
        """Whether it has happened."""
        return True

    def synchronize(self) -> None:
        """It has happened."""

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds between two."""
        return (end._time - self._time) * 1000
