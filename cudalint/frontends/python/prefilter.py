"""Does a Python file mention a CUDA library at all? A byte scan, before anything is parsed."""

from __future__ import annotations

import re

_LIBRARIES = (
    b"torch", b"cuda", b"__global__", b"triton", b"cupy", b"numba", b"cudf", b"cuml",
    b"cugraph", b"cuspatial", b"lightning", b"tensorrt", b"nvrtc", b"nccl", b"nvmath", b"cutlass",
)  # fmt: skip
"""Searched one by one: several times faster than one expression with all of them."""
_WORDS = tuple(
    (word, re.compile(pattern, re.ASCII))
    for word, pattern in (
        (b"gpu", rb"\bgpu"),
        (b"jax", rb"\bjax"),
        (b"rmm", rb"\brmm"),
        (b"raft", rb"\braft"),
        (b"warp", rb"warp\b"),
        (b"hip", rb"\bhip\b"),
        (b"cu", rb"cu[A-Z][a-z]+[A-Z]"),
    )
)
"""Names that are parts of other words as well."""


def mentions_cuda(data: bytes) -> bool:
    """Whether a Python file may use CUDA; false only where none of its libraries is named."""
    return any(name in data for name in _LIBRARIES) or any(
        word in data and pattern.search(data) is not None for word, pattern in _WORDS
    )


_EMBEDDED = re.compile(r"__global__|\.(?:cuh?|hip)\b|cuda_runtime|\bcuda[A-Z]\w+\(|<<<")


_COMPILES = re.compile(r"Raw(?:Kernel|Module)|SourceModule|load_inline|nvrtc|\bProgram\(")
_CONSTANT = re.compile(r"^\s*from\s+[.\w]+\s+import\b.*\b[A-Z][A-Z0-9_]{2,}\b", re.MULTILINE)
"""A source may be a constant of another module."""


def may_embed(text: str) -> bool:
    """Whether a Python file's strings may hold CUDA C++, or it may read a file of it."""
    if _EMBEDDED.search(text) is not None:
        return True
    return _COMPILES.search(text) is not None and _CONSTANT.search(text) is not None
