"""What operations of PyTorch are given and give."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import torch


def tensors_in(values: Iterable[Any]) -> list[Any]:
    """All tensors in arguments or results, those in lists too."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, list | tuple):
            found += tensors_in(value)
    return found


@functools.cache
def gives_view(function: Any) -> bool:
    """Whether what an operation gives is its argument's memory, of which it reads nothing."""
    aliases = [one.alias_info for one in function._schema.returns]
    return any(one is not None and not one.is_write for one in aliases)
