"""What this thread enters, and each that the program starts: modes and hooks are kept by thread."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

_entered: list[Callable[[], Any]] = []


def enter(make: Callable[[], Any]) -> Any:
    """Enter a context that ends with its thread; the one of this thread is given back."""
    if not _entered:
        _watch_threads()
    _entered.append(make)
    context = make()
    context.__enter__()
    return context


def _watch_threads() -> None:
    start = threading.Thread.run

    def run(self: threading.Thread) -> None:
        with contextlib.ExitStack() as contexts:
            for make in _entered:
                contexts.enter_context(make())
            start(self)

    threading.Thread.run = run  # type: ignore[method-assign]
