"""What tensors and storages say of where they lie, and how they move."""

from __future__ import annotations

import functools
from typing import Any

import torch

from _cudalint_frameworks.errors import not_simulated
from _cudalint_frameworks.torch_device import placement
from _cudalint_frameworks.torch_device.devices import DEVICES
from _cudalint_frameworks.torch_device.placement import HOST

_MAKERS = ("new_empty", "new_zeros", "new_ones", "new_full", "new_tensor", "new_empty_strided")
_LIKE = (
    "empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "randint_like",
)  # fmt: skip
_Tensor = torch.Tensor
_raw_to, _raw_type = _Tensor.to, _Tensor.type
_raw_numpy, _raw_array = _Tensor.numpy, _Tensor.__array__
_raw_device, _raw_as_tensor = _Tensor.device, torch.as_tensor


def index_of(device: Any) -> int:
    """The number of the device that is meant, or ``HOST``."""
    if device is None:
        device = DEVICES.current
    if isinstance(device, int) and not isinstance(device, bool):
        index, kind = device, "cuda"
    else:
        known = torch.device(device)
        kind, index = known.type, DEVICES.current if known.index is None else known.index
    if kind == "cpu":
        return HOST
    if kind != "cuda":
        not_simulated(f"a device of the kind {kind!r}")
    if index >= len(DEVICES.all):
        raise RuntimeError("CUDA error: invalid device ordinal")
    torch.cuda._lazy_init()
    return index


class _Move(torch.autograd.Function):
    """A copy from one device to another; its gradient goes the way back."""

    @staticmethod
    def forward(ctx: Any, source: Any, device: int, options: dict[str, Any]) -> Any:
        ctx.origin, ctx.kind = placement.device_of(source), source.dtype
        return _copy(source, device, options)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return _copy(gradients[0], ctx.origin, {"dtype": ctx.kind}), None, None


def _copy(source: Any, device: int, options: dict[str, Any]) -> Any:
    with placement.destination(device):
        return torch.ops.aten._to_copy(source, **options)


def moved(
    tensor: Any, device: int, dtype: Any = None, *, copy: bool = False, memory_format: Any = None
) -> Any:
    """The tensor there; itself where it is there already."""
    dtype = dtype or tensor.dtype
    here = placement.device_of(tensor) == device
    as_it_is = dtype == tensor.dtype and memory_format in (None, torch.preserve_format)
    if here and as_it_is and not copy:
        return tensor
    options = {"dtype": dtype}
    if memory_format is not None:
        options["memory_format"] = memory_format
    if here:
        return _raw_to(tensor, copy=copy, **options)
    if tensor.layout is not torch.strided:
        not_simulated("sparse tensors on a device")
    return _Move.apply(tensor, device, options)


def _to(self: Any, *arguments: Any, **named: Any) -> Any:
    copy = bool(named.pop("copy", False))
    other = named.pop("other", arguments[0] if arguments else None)
    if isinstance(other, _Tensor):
        return moved(self, placement.device_of(other), other.dtype, copy=copy)
    words = list(arguments)
    if len(words) > 3 or (len(words) == 3 and isinstance(words[0], torch.dtype)):
        copy = bool(words.pop())
    if words and isinstance(words[0], int) and not isinstance(words[0], bool):
        words[0] = torch.device("cuda", words[0])
    if isinstance(named.get("device"), int):
        named["device"] = torch.device("cuda", named["device"])
    device, dtype, _, form = torch._C._nn._parse_to(*words, **named)
    if device is not None and device.type == "meta":
        return _raw_to(self, device=device, dtype=dtype)
    where = placement.device_of(self) if device is None else index_of(device)
    return moved(self, where, dtype, copy=copy, memory_format=form)


def _cuda(self: Any, device: Any = None, non_blocking: bool = False, **named: Any) -> Any:
    return moved(self, index_of(device), memory_format=named.get("memory_format"))


def _cpu(self: Any, memory_format: Any = None) -> Any:
    return moved(self, HOST, memory_format=memory_format)


def _device(self: Any) -> Any:
    real = _raw_device.__get__(self)
    found = placement.placed(self) if real.type == "cpu" else None
    return real if found is None else torch.device("cuda", found.device)


def _is_cuda(self: Any) -> bool:
    return placement.placed(self) is not None


def _get_device(self: Any) -> int:
    return placement.device_of(self)


def _type(self: Any, dtype: Any = None, non_blocking: bool = False, **named: Any) -> Any:
    if dtype is None:
        text = _raw_type(self)
        return text.replace("torch.", "torch.cuda.", 1) if _is_cuda(self) else text
    if isinstance(dtype, str) and dtype.startswith("torch.cuda."):
        model = _raw_type(torch.empty(0), dtype.replace("torch.cuda.", "torch."))
        return moved(self, DEVICES.current, model.dtype)
    return _raw_type(self, dtype)


def _numpy(self: Any, *arguments: Any, **named: Any) -> Any:
    _refuse_numpy(self)
    return _raw_numpy(self, *arguments, **named)


def _array(self: Any, *arguments: Any, **named: Any) -> Any:
    _refuse_numpy(self)
    return _raw_array(self, *arguments, **named)


def _refuse_numpy(tensor: Any) -> None:
    if _is_cuda(tensor):
        raise TypeError(
            f"can't convert cuda:{placement.device_of(tensor)} device type tensor to numpy. Use"
            " Tensor.cpu() to copy the tensor to host memory first."
        )


def _pin_memory(self: Any, device: Any = None) -> Any:
    if _is_cuda(self):
        raise RuntimeError("cannot pin a tensor of a device: only dense CPU tensors can be pinned")
    result = self if placement.pinned(self) else self.clone()
    placement.pin(result)
    return result


def _is_pinned(self: Any, device: Any = None) -> bool:
    return placement.pinned(self)


def _on_named_device(function: Any) -> Any:
    """A function that makes a tensor like another one, where a device may be named."""

    @functools.wraps(function)
    def make(*arguments: Any, **named: Any) -> Any:
        device = named.pop("device", None)
        if device is None or torch.device(device).type == "meta":
            return function(*arguments, **named, **({} if device is None else {"device": device}))
        with placement.destination(index_of(device)):
            return function(*arguments, **named)

    return make


def _from_data(function: Any) -> Any:
    """A function that makes a tensor of data: on the host, and from there it moves."""

    @functools.wraps(function)
    def make(data: Any, *arguments: Any, device: Any = None, **named: Any) -> Any:
        if device is None and isinstance(data, _Tensor):
            device = data.device
        if device is None or torch.device(device).type != "cuda":
            return function(data, *arguments, device=device, **named)
        graph = named.pop("requires_grad", False)
        named.pop("pin_memory", None)
        if isinstance(data, _Tensor) and function is _raw_as_tensor:
            return moved(data, index_of(device), *arguments, **named)
        made = function(data, *arguments, **named)
        return moved(made, index_of(device)).requires_grad_(graph)

    return make


def _cloned_storage(function: Any) -> Any:
    @functools.wraps(function)
    def clone(self: Any) -> Any:
        result = function(self)
        device = placement.storage_device(self)
        if device != HOST:
            placement.place(result, device)
        return result

    return clone


def _moved_storage(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
    result = type(self)(self.nbytes()).copy_(self)
    placement.place(result, index_of(device))
    return result


def install() -> None:
    """Put all of this into PyTorch's classes."""
    for name, function in (
        ("to", _to), ("cuda", _cuda), ("cpu", _cpu), ("get_device", _get_device), ("type", _type),
        ("numpy", _numpy), ("__array__", _array), ("pin_memory", _pin_memory),
        ("is_pinned", _is_pinned), ("record_stream", lambda self, stream: None),
        ("device", property(_device)), ("is_cuda", property(_is_cuda)),
    ):  # fmt: skip
        setattr(_Tensor, name, function)
    for name in _MAKERS:
        setattr(_Tensor, name, _on_named_device(getattr(_Tensor, name)))
    for name in _LIKE:
        setattr(torch, name, _on_named_device(getattr(torch, name)))
    torch.as_tensor, torch.tensor = _from_data(torch.as_tensor), _from_data(torch.tensor)
    torch.UntypedStorage.clone = _cloned_storage(torch.UntypedStorage.clone)
    torch.UntypedStorage.cuda = _moved_storage
