"""Runs a function with a stack that deeply nested code does not overflow."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

STACK_BYTES = 512 * 1024 * 1024
"""Address space only: pages are taken as they are touched."""


def with_deep_stack(function: Callable[[], Result]) -> Result:
    """Call ``function`` in a thread of its own with a large stack; what it raises is raised here.

    Where no such thread can be had (a limit on address space), it is called as it is.
    """
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)

    before = threading.stack_size(STACK_BYTES)
    try:
        thread = threading.Thread(target=run, name="deep stack")
        thread.start()
    except RuntimeError:
        return function()
    finally:
        threading.stack_size(before)
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
