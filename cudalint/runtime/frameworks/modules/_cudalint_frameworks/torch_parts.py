"""How PyTorch's operations use what lies on a device, in parts or as a whole."""

from __future__ import annotations

import weakref
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

from _cudalint_frameworks import parts, recorder, threads
from _cudalint_frameworks.torch_operations import gives_view, tensors_in

_known: dict[int, tuple[parts.Use, Any]] = {}
"""By storage, with what tells of its end."""


class PartsMode(TorchDispatchMode):
    """Sees each operation, and does it as it is."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # It would import the compiler, which takes seconds.

    def __torch_dispatch__(
        self, function: Any, types: Any, arguments: Any = (), named: Any = None
    ) -> Any:
        named = named or {}
        if not gives_view(function):
            for tensor in tensors_in((*arguments, *named.values())):
                use = _use_of(tensor)
                if use is not None:
                    use.add(tensor.numel() * tensor.element_size())
        result = function(*arguments, **named)
        for tensor in tensors_in([result]):
            if tensor.is_cuda and _use_of(tensor) is None:
                _begin(tensor)
        return result


def _use_of(tensor: Any) -> parts.Use | None:
    try:
        known = _known.get(tensor.untyped_storage()._cdata)
    except (NotImplementedError, RuntimeError):
        return None  # It has no storage.
    return None if known is None else known[0]


def _begin(tensor: Any) -> None:
    try:
        storage = tensor.untyped_storage()
        use = parts.Use(storage.data_ptr(), tensor.get_device())
    except (NotImplementedError, RuntimeError):
        return
    key = storage._cdata

    def ended(_: Any) -> None:
        _known.pop(key, None)
        use.tell()

    _known[key] = use, weakref.ref(storage, ended)


def _tell_all() -> None:
    for use, _ in list(_known.values()):
        use.tell()


def watch() -> None:
    """From now on, in all threads."""
    threads.enter(PartsMode)
    recorder.at_end(_tell_all)
