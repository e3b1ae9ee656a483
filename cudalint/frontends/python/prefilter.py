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
