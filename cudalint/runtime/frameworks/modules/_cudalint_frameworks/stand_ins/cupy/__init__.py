"""``cupy`` on a simulated device: NumPy's arrays, with CuPy's memory pool over them.

What is not here raises ``NotSimulatedError``, and the verdicts say so.
"""

from __future__ import annotations

from typing import Any

import numpy
from _cudalint_frameworks import recorder

from cupy import _functions, _storages, cuda, fft, linalg, random
from cupy._arrays import ndarray
from cupy._functions import (
    arange,
    array,
    asanyarray,
    asarray,
    ascontiguousarray,
    asnumpy,
    copy,
    empty,
    empty_like,
    full,
    full_like,
    get_array_module,
    linspace,
    load,
    ones,
    ones_like,
    save,
    squeeze,
    zeros,
    zeros_like,
)
from cupy._kernels import ElementwiseKernel, RawKernel, RawModule, ReductionKernel, fuse
from cupy._memory import default_pool as _default_memory_pool
from cupy.cuda.pinned_memory import default_pool as _default_pinned_pool

__version__ = "13.0.0"
__all__ = [
    "ElementwiseKernel", "RawKernel", "RawModule", "ReductionKernel", "arange", "array",
    "asanyarray", "asarray", "ascontiguousarray", "asnumpy", "copy", "cuda", "empty", "empty_like",
    "fft", "full", "full_like", "fuse", "get_array_module", "linalg", "linspace", "load",
    "ndarray", "ones", "ones_like", "random", "save", "squeeze", "zeros", "zeros_like",
]  # fmt: skip
recorder.at_end(_storages.tell_all)


def get_default_memory_pool() -> Any:
    """The pool of arrays."""
    return _default_memory_pool


def get_default_pinned_memory_pool() -> Any:
    """The pool of pinned host memory."""
    return _default_pinned_pool


def is_available() -> bool:
    """Whether there is a device."""
    return True


def __getattr__(name: str) -> Any:
    return _functions.named(numpy, "cupy", name)
