"""Small data in place of files that are not there, as ``CUDALINT_STAND_INS`` says."""

from __future__ import annotations

import fnmatch
import functools
import json
import os
from types import ModuleType
from typing import Any

from _cudalint_frameworks import recorder

VARIABLE = "CUDALINT_STAND_INS"
NOTE = "small data stands in for "


def wanted() -> dict[str, str]:
    """Patterns of names to what stands in: ``float32 100x784``."""
    return json.loads(os.environ.get(VARIABLE) or "{}")


def hook_torch(torch: ModuleType) -> None:
    """What ``torch.load`` does not find."""

    def made(kind: str, shape: list[int]) -> Any:
        return torch.ones(shape, dtype=getattr(torch, kind))

    torch.load = _standing_in(torch.load, made)


def hook_numpy(numpy: ModuleType) -> None:
    """What ``numpy.load`` does not find."""
    numpy.load = _standing_in(numpy.load, lambda kind, shape: numpy.ones(shape, kind))


def _standing_in(load: Any, made: Any) -> Any:
    @functools.wraps(load)
    def stand_in(file: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return load(file, *arguments, **named)
        except FileNotFoundError:
            for pattern, what in wanted().items():
                if fnmatch.fnmatch(os.fspath(file), pattern):
                    recorder.note(f"{NOTE}{os.fspath(file)}: {what}")
                    kind, _, shape = what.partition(" ")
                    return made(kind, [int(side) for side in shape.split("x")])
            raise

    return stand_in
