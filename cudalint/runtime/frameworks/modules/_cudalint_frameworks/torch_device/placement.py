"""Which storages are said to lie on a device, and what the allocator gives them there."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from _cudalint_frameworks.blocks import Block
from _cudalint_frameworks.torch_device.allocator import OutOfDeviceMemoryError
from _cudalint_frameworks.torch_device.devices import DEVICES

HOST = -1
"""In place of the number of a device."""


class Placed:
    """A storage on a device."""

    __slots__ = ("block", "device", "size", "watch")

    def __init__(self, device: int, size: int, block: Block | None, watch: Any) -> None:
        self.device, self.size, self.block, self.watch = device, size, block, watch


_lock = threading.RLock()
_placed: dict[int, Placed] = {}
_pinned: weakref.WeakSet[Any] = weakref.WeakSet()
_thread = threading.local()


def placed(tensor: Any) -> Placed | None:
    """Where a tensor lies on a device; ``None``: on the host."""
    if not _placed:
        return None
    try:
        return _placed.get(tensor.untyped_storage()._cdata)
    except (NotImplementedError, RuntimeError):
        return None  # It has no storage.


def device_of(tensor: Any) -> int:
    """The number of its device, or ``HOST``."""
    found = placed(tensor)
    return HOST if found is None else found.device


def storage_device(storage: Any) -> int:
    """The same of a storage."""
    found = _placed.get(storage._cdata)
    return HOST if found is None else found.device


def place(storage: Any, device: int) -> None:
    """Put a storage on a device; ``torch.OutOfMemoryError`` where there is no room."""
    size = storage.nbytes()
    key = storage._cdata
    with _lock:
        known = _placed.get(key)
        if known is not None:
            if known.size == size:
                return
            _gone(key)  # It was resized.
        try:
            block = DEVICES.all[device].allocate(size, DEVICES.stream) if size else None
        except OutOfDeviceMemoryError as error:
            raise torch.OutOfMemoryError(str(error)) from None
        watch = weakref.ref(storage, lambda _: _gone(key))
        _placed[key] = Placed(device, size, block, watch)


def _gone(key: int) -> None:
    with _lock:
        found = _placed.pop(key, None)
        if found is not None and found.block is not None:
            DEVICES.all[found.device].release(found.block)


@contextmanager
def destination(device: int) -> Iterator[None]:
    """What is made within lies there, whatever its arguments are."""
    before = getattr(_thread, "destination", None)
    _thread.destination = device
    try:
        yield
    finally:
        _thread.destination = before


def wanted_destination() -> int | None:
    """As ``destination`` says; ``None`` where nothing does."""
    return getattr(_thread, "destination", None)


def pin(tensor: Any) -> None:
    """Say of a tensor's storage that it is page-locked."""
    _pinned.add(tensor.untyped_storage())


def pinned(tensor: Any) -> bool:
    """Whether its storage is page-locked."""
    return tensor.untyped_storage() in _pinned
