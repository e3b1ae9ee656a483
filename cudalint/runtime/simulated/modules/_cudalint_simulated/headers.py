"""The enumerations and constants of CUDA's headers, as Python."""

from __future__ import annotations

import enum
import functools
import os
import re
from pathlib import Path

_FILES = ("driver_types.h", "cuda_runtime_api.h", "surface_types.h", "texture_types.h", "cuda.h")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_ENUM = re.compile(
    r"(?:typedef\s+)?enum\s+(?:__device_builtin__\s+)?(\w+)\s*\{(.*?)\}\s*(\w*)\s*;", re.DOTALL
)
_DEFINE = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(cuda\w+|CU_\w+)[ \t]+(0x[0-9a-fA-F]+|\d+)\s", re.M
)
_TYPEDEF = re.compile(r"typedef\s+(?:__device_builtin__\s+)?enum\s+(\w+)\s+(\w+)\s*;")
_WORD = re.compile(r"[A-Za-z_]\w*")


@functools.cache
def names() -> dict[str, object]:
    """Every enumeration (as ``IntEnum``), enumerator and number of the headers, by its name."""
    found: dict[str, object] = {}
    folder = Path(os.environ.get("CUDALINT_CUDA_INCLUDE", ""))
    for file in _FILES:
        try:
            text = (folder / file).read_text("utf-8", "replace")
        except OSError:
            continue
        for name, value in _DEFINE.findall(text):
            found[name] = int(value, 0)
        text = _COMMENT.sub(" ", text)
        for first, body, last in _ENUM.findall(text):
            values = _values(body)
            if values:
                kind = enum.IntEnum(last or first, values)  # type: ignore[misc]
                found[first] = found[last or first] = kind
                if first == "cudaError":
                    found["cudaError_t"] = kind
        for original, alias in _TYPEDEF.findall(text):
            if original in found:
                found[alias] = found[original]
    return found


def _values(body: str) -> dict[str, int]:
    values: dict[str, int] = {}
    following = 0
    body = re.sub(r"^\s*#.*$", "", body, flags=re.MULTILINE)
    for part in body.split(","):
        name, _, expression = part.partition("=")
        name = re.sub(r"\w*DEPRECATED\w*(\([^)]*\))?", "", name).strip()
        if not _WORD.fullmatch(name):
            continue
        if expression.strip():
            value = _evaluated(expression, values)
            if value is None:
                continue
            following = value
        values[name] = following
        following += 1
    return values


def _evaluated(expression: str, known: dict[str, int]) -> int | None:
    text = re.sub(r"\(\s*\w+\s*\)\s*(?=[\w(])", "", expression.strip())
    text = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text)
    text = _WORD.sub(lambda match: str(known.get(match[0], match[0])), text)
    if re.fullmatch(r"[\s\d()+\-*|&~<xa-fA-F]+", text) is None:
        return None
    try:
        return int(eval(text, {"__builtins__": {}}))
    except (SyntaxError, NameError, TypeError, ValueError):
        return None
