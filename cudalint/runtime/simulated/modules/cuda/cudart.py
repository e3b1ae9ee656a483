"""The old name of ``cuda.bindings.runtime``."""

from typing import Any

from cuda.bindings import runtime


def __getattr__(name: str) -> Any:
    return getattr(runtime, name)
