"""The old name of ``cuda.bindings.driver``."""

from typing import Any

from cuda.bindings import driver


def __getattr__(name: str) -> Any:
    return getattr(driver, name)
