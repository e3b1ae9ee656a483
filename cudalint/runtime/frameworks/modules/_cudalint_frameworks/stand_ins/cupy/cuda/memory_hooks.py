"""``cupy.cuda.memory_hooks``: those that print, and that sum up."""

from __future__ import annotations

import sys
from typing import Any

from _cudalint_frameworks.errors import not_simulated

from cupy._memory import MemoryHook


class DebugPrintHook(MemoryHook):
    """Prints each event."""

    name = "DebugPrintHook"

    def __init__(self, file: Any = None, flush: bool = True) -> None:
        self.file, self.flush = file or sys.stdout, flush

    def _print(self, event: str, given: dict[str, Any]) -> None:
        told = ",".join(f'"{key}":{value}' for key, value in given.items())
        print(f'{{"hook":"{event}",{told}}}', file=self.file, flush=self.flush)

    def alloc_postprocess(self, **given: Any) -> None:
        """The device gave."""
        self._print("alloc", given)

    def malloc_postprocess(self, **given: Any) -> None:
        """The pool gave."""
        self._print("malloc", given)

    def free_postprocess(self, **given: Any) -> None:
        """The pool took back."""
        self._print("free", given)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    not_simulated(f"cupy.cuda.memory_hooks.{name}")
