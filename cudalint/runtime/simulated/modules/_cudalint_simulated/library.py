"""Calls the ledger: makes Python functions of C ones, in the manner of ``cuda.bindings``.

Each returns a tuple: the status, then what the C function gives through pointers.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from typing import Any

from _cudalint_simulated import headers, stacks

_lock = threading.RLock()


def _load() -> ctypes.CDLL:
    path = os.environ.get("CUDALINT_LEDGER")
    if not path:
        raise ImportError("cuda.bindings is simulated by cudalint, and only while cudalint runs it")
    library = ctypes.CDLL(path)
    library.cudalint_sequence.restype = ctypes.c_uint64
    return library


ledger = _load()


class Handle(int):
    """A handle or a device pointer: a number with a type."""

    def __new__(cls, value: Any = 0, **more: Any) -> Handle:
        """``cudaStream_t(0)``, ``CUdeviceptr(init_value=0)``."""
        return super().__new__(cls, int(more.get("init_value", value) or 0))

    def getPtr(self) -> int:  # noqa: N802
        """The address of the handle itself."""
        self._kept = ctypes.c_void_p(int(self))
        return ctypes.addressof(self._kept)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {int(self):#x}>"


def handle(name: str) -> type[Handle]:
    """A type of handles."""
    return type(name, (Handle,), {"__hash__": int.__hash__})


def pointer(value: Any) -> Any:
    """What a ``void*`` parameter takes: an address, ``None``, or an object with a buffer."""
    if value is None:
        return None
    if isinstance(value, ctypes.Structure | ctypes.Array | ctypes._SimpleCData):
        return ctypes.byref(value)
    if isinstance(value, bytes | str):
        data = value.encode() if isinstance(value, str) else value
        return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p)
    interface = getattr(value, "__array_interface__", None)
    if interface is not None:
        return ctypes.c_void_p(interface["data"][0])
    if not hasattr(value, "__int__") and not hasattr(value, "__index__"):
        view = memoryview(value)
        return ctypes.byref((ctypes.c_char * view.nbytes).from_buffer(value))
    return ctypes.c_void_p(int(value))


def _whole(kind: Any) -> Callable[[Any], Any]:
    return lambda value: kind(0 if value is None else int(value))


_IN: dict[str, Callable[[Any], Any]] = {
    "p": pointer,
    "z": _whole(ctypes.c_size_t),
    "i": _whole(ctypes.c_int),
    "u": _whole(ctypes.c_uint),
    "x": _whole(ctypes.c_ulonglong),
    "h": _whole(ctypes.c_void_p),
    "f": lambda value: ctypes.c_float(value),
}
_OUT: dict[str, Any] = {
    "P": ctypes.c_void_p,
    "Z": ctypes.c_size_t,
    "I": ctypes.c_int,
    "U": ctypes.c_uint,
    "F": ctypes.c_float,
}


def seen(native: Any, *arguments: Any) -> Any:
    """Call the ledger, and tell whose call it was."""
    with _lock:
        before = ledger.cudalint_sequence()
        result = native(*arguments)
        after = ledger.cudalint_sequence()
        if after > before:
            stacks.write({"first": before + 1, "last": after, "stack": stacks.current()})
    return result


class Functions:
    """The functions of one API, made when they are asked for.

    ``table`` maps a name to ``OUT OUT : in in``: what comes back (a letter, or a handle's type) and
    what goes in. Pointers for what comes back are the first parameters, after ``>`` the last."""

    def __init__(self, table: str, status: str, handles: dict[str, type[Handle]]) -> None:
        self._specs: dict[str, tuple[list[str], list[str]]] = {}
        for line in table.strip().splitlines():
            name, _, rest = line.strip().partition(" ")
            out, _, into = rest.partition(":")
            self._specs[name] = (out.split(), into.split())
        self._status = status
        self._handles = handles

    def __contains__(self, name: str) -> bool:
        return name in self._specs

    def names(self) -> list[str]:
        """All of them."""
        return list(self._specs)

    def make(self, name: str) -> Callable[..., tuple[Any, ...]]:
        """The function of that name."""
        outs, ins = self._specs[name]
        last = outs[:1] == [">"]
        outs = outs[last:]
        native = _native(name)
        status_type: Any = headers.names()[self._status]
        handles = self._handles

        def call(*arguments: Any) -> tuple[Any, ...]:
            if len(arguments) > len(ins):
                raise TypeError(f"{name}() takes {len(ins)} arguments ({len(arguments)} given)")
            given = [*arguments, *([0] * (len(ins) - len(arguments)))]
            results = [_OUT.get(out, ctypes.c_void_p)(0) for out in outs]
            values = [_IN[kind](value) for kind, value in zip(ins, given, strict=True)]
            pointers = [ctypes.byref(result) for result in results]
            code = seen(native, *([*values, *pointers] if last else [*pointers, *values]))
            return (
                status_type(code),
                *(
                    handles[out](result.value or 0) if out in handles else result.value or 0
                    for out, result in zip(outs, results, strict=True)
                ),
            )

        call.__name__ = call.__qualname__ = name
        return call


def _native(name: str) -> Any:
    for candidate in (f"{name}_v2", name):
        try:
            function = getattr(ledger, candidate)
        except AttributeError:
            continue
        function.restype = ctypes.c_int
        return function
    raise AttributeError(f"cudalint's ledger has no {name}")


def text_of(name: str, code: int) -> bytes:
    """What ``cudaGetErrorString`` and its like return."""
    function = getattr(ledger, name)
    function.restype = ctypes.c_char_p
    return function(ctypes.c_int(int(code))) or b""
