"""``torch.save`` and ``torch.load``: where storages lie is written with them, and they go there."""

from __future__ import annotations

from typing import Any

import torch

from _cudalint_frameworks.torch_device import placement
from _cudalint_frameworks.torch_device.placement import HOST
from _cudalint_frameworks.torch_device.tensors import index_of

_FIRST = 5
"""Before the packages of PyTorch itself, of which the host's is 10."""


def _location(storage: Any) -> str | None:
    device = placement.storage_device(getattr(storage, "_untyped_storage", storage))
    return None if device == HOST else f"cuda:{device}"


def _restored(storage: Any, location: str) -> Any:
    if not location.startswith("cuda"):
        return None
    placement.place(storage, index_of(location))
    return storage


def install() -> None:
    """Tell PyTorch's serialization."""
    torch.serialization.register_package(_FIRST, _location, _restored)
