"""Calls a hook when a library is imported, and costs nothing where it is not."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from _cudalint_frameworks import recorder

Hook = Callable[[ModuleType], None]


class Finder:
    """A finder that finds nothing itself: it lets others find, and watches the module execute."""

    def __init__(self, hooks: Mapping[str, Hook]) -> None:
        self._hooks = hooks
        self._busy: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The specification that others give, with the hook after its execution."""
        hook = self._hooks.get(name)
        if hook is None or name in self._busy:
            return None
        self._busy.add(name)
        try:
            spec = importlib.util.find_spec(name)
            if spec is not None and spec.loader is not None:
                _watch(spec.loader, hook)
        except Exception as error:
            recorder.failed(name, error)
            return None
        finally:
            self._busy.discard(name)
        return spec


def _watch(loader: Any, hook: Hook) -> None:
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        execute(module)
        run(hook, module)

    loader.exec_module = exec_module


def run(hook: Hook, module: ModuleType) -> None:
    """Call a hook; its errors are notes."""
    try:
        hook(module)
    except Exception as error:
        recorder.failed(module.__name__, error)


def install(hooks: Mapping[str, str]) -> None:
    """Watch for libraries: module name to ``our_module:function``, imported only then."""

    def lazily(place: str) -> Hook:
        def hook(module: ModuleType) -> None:
            name, _, function = place.partition(":")
            getattr(importlib.import_module(name), function)(module)

        return hook

    made = {name: lazily(place) for name, place in hooks.items()}
    for name, hook in made.items():
        if name in sys.modules:
            run(hook, sys.modules[name])
    sys.meta_path.insert(0, Finder(made))  # type: ignore[arg-type]
