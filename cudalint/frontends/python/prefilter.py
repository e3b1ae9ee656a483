"""Does a Python file mention a CUDA library at all? A byte scan, before anything is parsed."""

from __future__ import annotations

import re

_LIBRARIES = re.compile(
    rb"cuda|cupy|numba|torch|\brmm|cudf|cuml|cugraph|cuspatial|\braft|\bjax|triton|lightning"
    rb"|tensorrt|nvrtc|nccl|nvmath|cutlass|\bgpu|warp\b|\bhip\b|cu[A-Z][a-z]+[A-Z]",
    re.ASCII,
)


def mentions_cuda(data: bytes) -> bool:
    """Whether a Python file may use CUDA; false only where none of its libraries is named."""
    return _LIBRARIES.search(data) is not None


_EMBEDDED = re.compile(r"__global__|\.cuh?\b|cuda_runtime|\bcuda[A-Z]\w+\(|<<<")


def may_embed(text: str) -> bool:
    """Whether a Python file's strings may hold CUDA C++, or it may read a file of it."""
    return _EMBEDDED.search(text) is not None
