"""What a script's modules still hold when it ends: that is kept, not lost.

Roots are the globals of the program's own modules. Those of the script itself are to it what the
variables of ``main`` are to a C++ program: of these only what functions share counts.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_MOST_OBJECTS = 200_000
_LEAST_ADDRESS = 4096
_NOT_THE_PROGRAM = ("site-packages", "_cudalint_simulated", "_cudalint_frameworks")
_CONSTANT = (str, bytes, float, complex, bool, type(None), types.ModuleType, types.CodeType)


def addresses(script: Mapping[str, Any]) -> Iterator[int]:
    """All numbers that the program's modules hold and that may be addresses or handles."""
    roots: list[object] = []
    for module in list(sys.modules.values()):
        if _own(module) and getattr(module, "__name__", "") != "__main__":
            roots += vars(module).values()
    shared = _shared(script)
    roots += (value for name, value in script.items() if name in shared)
    yield from _addresses(roots)


def _own(module: object) -> bool:
    file = getattr(module, "__file__", None)
    if not isinstance(module, types.ModuleType) or not isinstance(file, str):
        return False
    library = types.__file__.rpartition("types.py")[0]
    return not file.startswith(library) and not any(part in file for part in _NOT_THE_PROGRAM)


def _shared(script: Mapping[str, Any]) -> set[str]:
    """The globals that functions of the script set, and the containers that they change."""
    found: set[str] = set()
    codes = [value.__code__ for value in script.values() if isinstance(value, types.FunctionType)]
    for value in script.values():
        if isinstance(value, type):
            found.add(value.__name__)  # what hangs on a class is shared by nature
            methods = (one for one in vars(value).values() if isinstance(one, types.FunctionType))
            codes += (one.__code__ for one in methods)
    for code in codes:
        for name in code.co_names:
            value = script.get(name)
            if isinstance(value, int) and not _sets(code, name):
                continue
            found.add(name)
        codes += (one for one in code.co_consts if isinstance(one, types.CodeType))
    return found


def _sets(code: types.CodeType, name: str) -> bool:
    import dis

    return any(
        step.opname == "STORE_GLOBAL" and step.argval == name for step in dis.get_instructions(code)
    )


def _addresses(roots: Iterable[object]) -> Iterator[int]:
    seen: set[int] = set()
    pending = list(roots)
    while pending and len(seen) < _MOST_OBJECTS:
        value = pending.pop()
        if isinstance(value, _CONSTANT) or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, int):
            if value >= _LEAST_ADDRESS:
                yield int(value)
        elif isinstance(value, ctypes._SimpleCData):
            pending.append(value.value)
        elif isinstance(value, types.FunctionType):
            pending += (value.__closure__, value.__defaults__, value.__dict__)
        elif isinstance(value, types.CellType):
            pending += gc.get_referents(value)
        elif isinstance(value, type):
            if _own(sys.modules.get(value.__module__)):
                pending += vars(value).values()
        else:
            pending += (one for one in gc.get_referents(value) if not isinstance(one, type))
