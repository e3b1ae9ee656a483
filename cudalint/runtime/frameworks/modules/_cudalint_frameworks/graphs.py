"""The graphs that PyTorch's tensors hold, wherever these lie: how large, and what they keep for a
backward pass."""

from __future__ import annotations

import functools
import gc
import weakref
from typing import Any

_MOST_NODES = 100_000
_frozen: list[Any] = []
"""Tensors that the garbage collector looks at no more."""


def before_freeze(torch: Any) -> None:
    """To be called before ``gc.freeze``: in-place operations can still give these a graph."""
    _frozen[:] = [one for one in _frozen if one() is not None]
    _frozen.extend(map(weakref.ref, _listed(torch)))


def nodes(torch: Any) -> list[Any]:
    """All nodes that a tensor of the program's leads to."""
    tensors = _listed(torch) + [one for one in (known() for known in _frozen) if one is not None]
    found: dict[int, Any] = {}
    pending = [getattr(one, "grad_fn", None) for one in tensors]
    while pending and len(found) < _MOST_NODES:
        node = pending.pop()
        if node is not None and id(node) not in found:
            found[id(node)] = node
            pending += [one for one, _ in node.next_functions]
    return list(found.values())


def saved_bytes(torch: Any) -> int:
    """What they keep for a backward pass that did not come or is to come again, leaves left out."""
    sizes: dict[int, int] = {}
    for node in nodes(torch):
        for name in _saves(type(node)):
            try:
                value = getattr(node, name)
                for one in value if isinstance(value, list | tuple) else [value]:
                    if isinstance(one, torch.Tensor) and not (one.is_leaf and one.requires_grad):
                        storage = one.untyped_storage()
                        sizes[storage._cdata] = storage.nbytes()
            except (RuntimeError, NotImplementedError):
                continue  # It was let go, or it has no storage.
    return sum(sizes.values())


@functools.cache
def _saves(kind: type) -> tuple[str, ...]:
    return tuple(one for one in dir(kind) if one.startswith("_saved_") or one == "saved_tensors")


def _listed(torch: Any) -> list[Any]:
    return [one for one in gc.get_objects() if issubclass(type(one), torch.Tensor)]
