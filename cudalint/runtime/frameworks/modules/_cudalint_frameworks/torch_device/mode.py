"""Every operation of PyTorch passes here: it is done on the host, and what it makes is placed."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from _cudalint_frameworks.torch_device import dropped, placement
from _cudalint_frameworks.torch_device.devices import DEVICES
from _cudalint_frameworks.torch_device.placement import HOST
from _cudalint_frameworks.torch_operations import gives_view, tensors_in

_OLD_WORKSPACE, _HOPPER_WORKSPACE = 4096 * 2048 + 16 * 1024 * 8, 4096 * 8 * 1024
"""Bytes that cuBLAS is given by the first product of a stream (``CublasHandlePool.cpp``)."""
_HOPPER = 9
_PRODUCTS = frozenset({"mm", "bmm", "addmm", "baddbmm", "addmv", "mv", "dot"})
_TOGETHER = _PRODUCTS | {"cat", "convolution", "embedding", "nll_loss_forward", "native_layer_norm"}
"""Besides what works element by element: all arguments must lie on one device."""


class DeviceMode(TorchDispatchMode):
    """Places what operations make."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # It would import the compiler, which takes seconds.

    def __torch_dispatch__(
        self, function: Any, types: Any, arguments: Any = (), named: Any = None
    ) -> Any:
        named = dict(named or {})
        kind = _kind(function)
        tensors = tensors_in((*arguments, *named.values()))
        asked = _asked(named)
        known = [one for one in map(placement.placed, tensors) if one is not None]
        if known and not kind.view:
            _check(kind, tensors, known)
        pinned = named.pop("pin_memory", None)
        result = _done(function, kind, arguments, named, tensors)
        device = _where(asked, known, tensors)
        if device != HOST:
            if kind.product:
                _workspace(device)
            _place(result, tensors, device)
        elif pinned:
            placement.pin(result)
        return result


class _Kind:
    """What there is to know of an operation."""

    def __init__(self, function: Any) -> None:
        schema = function._schema
        self.view = gives_view(function)
        name = schema.name.partition("::")[2]
        self.product = name in _PRODUCTS
        self.together = name in _TOGETHER or torch.Tag.pointwise in function.tags
        self.writes = schema.is_mutable
        self.random = any(one.name == "generator" for one in schema.arguments)
        self.factory = any(one.name == "device" for one in schema.arguments) and not any(
            "Tensor" in str(one.type) for one in schema.arguments
        )


@functools.cache
def _kind(function: Any) -> _Kind:
    return _Kind(function)


def _asked(named: dict[str, Any]) -> int | None:
    """The device that a call names; ``HOST`` for the host, ``None`` where it names none."""
    device = named.get("device")
    if device is None:
        return placement.wanted_destination()
    device = torch.device(device)
    if device.type == "cuda":
        named["device"] = torch.device("cpu")
        return DEVICES.current if device.index is None else device.index
    wanted = placement.wanted_destination()
    return wanted if wanted is not None else HOST


def _where(asked: int | None, known: list[Any], tensors: list[Any]) -> int:
    """Where the result lies. That an operation names the host says nothing where its arguments lie
    on a device: PyTorch asks for the device that it believes them on."""
    wanted = placement.wanted_destination()
    if wanted is not None:
        return wanted
    if asked is not None and asked != HOST:
        return asked
    return known[0].device if known else HOST


def _check(kind: _Kind, tensors: list[Any], known: list[Any]) -> None:
    moving = placement.wanted_destination() is not None
    if moving or not kind.together or len(tensors) == len(known):
        return
    if any(one.dim() and placement.placed(one) is None for one in tensors):
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices,"
            f" cuda:{known[0].device} and cpu!"
        )


def _done(function: Any, kind: _Kind, arguments: Any, named: Any, tensors: list[Any]) -> Any:
    if not kind.view:
        given = {key: value for key, value in named.items() if key != "device" or not kind.factory}
        shape = dropped.shapes(function, arguments, given, tensors, factory=kind.factory)
        if shape is not None:
            return dropped.filled(shape, list(arguments), function._schema)
    return function(*arguments, **named)


def _place(result: Any, tensors: list[Any], device: int) -> None:
    given = {one.untyped_storage()._cdata for one in tensors}
    for one in tensors_in([result]):
        storage = one.untyped_storage()
        if storage._cdata not in given or placement.storage_device(storage) != HOST:
            placement.place(storage, device)


_workspaces: dict[tuple[int, int, bool], Any] = {}


def _workspace(device: int) -> None:
    # PyTorch goes backward in a thread of its own, which has another handle of cuBLAS.
    key = device, DEVICES.stream, torch._C._current_graph_task_id() != -1
    if key not in _workspaces:
        hopper = DEVICES.capability[0] == _HOPPER
        size = _HOPPER_WORKSPACE if hopper else _OLD_WORKSPACE
        _workspaces[key] = DEVICES.all[device].allocate(size, DEVICES.stream)
