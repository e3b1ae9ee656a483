"""Names of C++ functions as people write them, by the C++ library's own demangler."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

_LIBRARIES = ("libstdc++.so.6", "libc++abi.so.1", "libc++.1.dylib")


@functools.cache
def demangled(name: str) -> str:
    """``Image::Image(unsigned long)`` for ``_ZN5ImageC2Em``; other names as they are."""
    demangler = _demangler()
    if demangler is None or not name.startswith("_Z"):
        return name
    demangle, free = demangler
    status = ctypes.c_int()
    text = demangle(name.encode(), None, None, ctypes.byref(status))
    if not text:
        return name
    try:
        return ctypes.cast(text, ctypes.c_char_p).value.decode("utf-8", "replace")  # type: ignore[union-attr]
    finally:
        free(text)


def function_name(name: str) -> str:
    """The same without its parameters: ``Image::Image``, ``(anonymous namespace)::work``."""
    text = demangled(name)
    if text == name:
        return name
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        if text[at] == ")":
            depth += 1
        elif text[at] == "(":
            depth -= 1
            if depth == 0:
                return text[:at] or text
    return text


@functools.cache
def _demangler() -> tuple[Any, Any] | None:
    for library in _LIBRARIES:
        try:
            loaded = ctypes.CDLL(library)
            demangle, free = loaded.__cxa_demangle, ctypes.CDLL(None).free
        except (OSError, AttributeError):
            continue
        demangle.restype = ctypes.c_void_p
        demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        free.argtypes = [ctypes.c_void_p]
        return demangle, free
    return None
