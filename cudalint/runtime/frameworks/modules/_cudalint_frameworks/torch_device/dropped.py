"""Values that nobody computes: of what is too large for a laptop, only the size is known.

Such a storage is address space that is never touched, and reads as zeros. Operations on it are done
by PyTorch's own rules of shapes (its ``meta`` device).
"""

from __future__ import annotations

import math
import mmap
import weakref
from typing import Any

import torch

from _cudalint_frameworks import recorder
from _cudalint_frameworks.errors import NotSimulatedError, not_simulated
from _cudalint_frameworks.torch_device.devices import DEVICES

_LARGEST = 64 * 1024**2
"""Bytes of one storage whose values are kept."""
_MOST, _SMALL = 2 * 1024**3, 1024**2
"""Bytes of all tensors on devices, from which on only small ones have values."""
_MOST_STEPS = 2e10
"""Multiplications of one product that are done."""
_FEW = 1024**2
"""Elements: what comes of fewer needs no look ahead."""
_SWEEPS = 20
"""How often a decomposition goes over its matrix, about."""
_NO_RESERVE = 0x4000
_PRODUCTS = ("mm", "bmm", "addmm", "baddbmm", "convolution", "_scaled_dot_product")
_dropped: dict[int, Any] = {}


def is_dropped(tensor: Any) -> bool:
    """Whether nobody knows the values of a tensor."""
    return bool(_dropped) and tensor.untyped_storage()._cdata in _dropped


def shapes(
    function: Any, arguments: Any, named: Any, tensors: list[Any], *, factory: bool
) -> Any | None:
    """What an operation gives, without values; ``None`` where it can be done as it is."""
    unknown = bool(_dropped) and any(is_dropped(one) for one in tensors)
    if not (unknown or factory) and _elements(function, tensors) < _FEW:
        return None
    try:
        there = {"device": "meta"} if factory else {}
        result = function(*_meta(arguments), **_meta(named), **there)
    except Exception as error:
        if unknown and not isinstance(error, NotSimulatedError):
            _refuse(function, error)
        return None
    if unknown or _too_large(result) or _too_long(function, tensors, result):
        recorder.note(
            f"values of tensors above {_LARGEST // 1024**2} MiB, and what comes of them, are not"
            " computed: they read as zeros"
        )
        return result
    return None


def _elements(function: Any, tensors: list[Any]) -> int:
    """About how many elements an operation has to do with."""
    shapes = [tuple(one.shape) for one in tensors]
    most = sum(map(math.prod, shapes))
    if torch.Tag.pointwise in function.tags and len(shapes) > 1:
        return max(most, math.prod(torch.broadcast_shapes(*shapes)))
    if _name(function).startswith(_PRODUCTS):
        # Each side of a product is no longer than its elements are.
        sides = [one for one in shapes if one]
        return max(most, *(one[0] * other[-1] for one in sides for other in sides))
    return most


def _name(function: Any) -> str:
    return str(function._schema.name.partition("::")[2])


def _refuse(function: Any, error: Exception) -> None:
    """An error of the program's own says so by its words; what asks for values is ours."""
    text = str(error)
    if isinstance(error, NotImplementedError) or "meta" in text or "data-dependent" in text:
        not_simulated(f"{function} asks for values that are too large to be computed here")
    raise error


def _meta(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device="meta")
    if isinstance(value, list | tuple):
        return type(value)([_meta(one) for one in value])
    if isinstance(value, dict):
        return {key: _meta(one) for key, one in value.items() if key != "generator"}
    return value


def _outputs(result: Any) -> list[Any]:
    found = result if isinstance(result, list | tuple) else [result]
    return [one for one in found if isinstance(one, torch.Tensor)]


def _too_large(result: Any) -> bool:
    sizes = [one.untyped_storage().nbytes() for one in _outputs(result)]
    full = sum(one.allocated for one in DEVICES.all) + sum(sizes) > _MOST
    return any(size > (_SMALL if full else _LARGEST) for size in sizes)


def _too_long(function: Any, tensors: list[Any], result: Any) -> bool:
    name = _name(function)
    if "linalg" in name and tensors:
        return tensors[0].numel() * min(tensors[0].shape[-2:]) * _SWEEPS > _MOST_STEPS
    if not name.startswith(_PRODUCTS) or len(tensors) < 2:
        return False
    outputs = _outputs(result)
    largest = max((one.numel() for one in outputs), default=0)
    other = sorted(tensors, key=lambda one: one.numel())[-1]
    depth = math.prod(tensors[-1].shape[1:]) if "conv" in name else other.shape[-1]
    return largest * depth > _MOST_STEPS


def filled(result: Any, arguments: list[Any], schema: Any) -> Any:
    """Tensors of the host in place of those without values; arguments that were written to are
    given back."""
    written = [
        next((n for n, one in enumerate(schema.arguments) if _same(one, given)), None)
        for given in schema.returns
    ]
    several = isinstance(result, list | tuple)
    made = []
    for number, one in enumerate(result if several else [result]):
        at = written[number] if number < len(written) else None
        if at is not None and at < len(arguments) and isinstance(arguments[at], torch.Tensor):
            made.append(arguments[at])
        else:
            made.append(_made(one) if isinstance(one, torch.Tensor) else one)
    return type(result)(made) if several else made[0]


def _same(argument: Any, given: Any) -> bool:
    alias = given.alias_info
    return alias is not None and alias.is_write and argument.alias_info == alias


def _made(model: Any) -> Any:
    size = model.untyped_storage().nbytes()
    if size <= _SMALL:
        return torch.zeros(0, dtype=model.dtype).set_(
            torch.UntypedStorage(size).fill_(0), 0, model.size(), model.stride()
        )
    flags = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | _NO_RESERVE
    bytes_ = torch.frombuffer(mmap.mmap(-1, size, flags=flags), dtype=torch.uint8)
    storage = bytes_.untyped_storage()
    key = storage._cdata
    _dropped[key] = weakref.ref(storage, lambda _: _dropped.pop(key, None))
    return torch.empty(0, dtype=model.dtype).set_(storage, 0, model.size(), model.stride())
