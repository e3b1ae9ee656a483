"""The old name of ``cuda.bindings.nvrtc``."""

from typing import Any

from cuda.bindings import nvrtc


def __getattr__(name: str) -> Any:
    return getattr(nvrtc, name)
