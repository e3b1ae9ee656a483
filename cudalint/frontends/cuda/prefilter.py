"""Does a C or C++ file mention CUDA at all? A byte scan, before anything is parsed."""

from __future__ import annotations

import re

_SIGNS = re.compile(
    # Names of the toolkit (cudaMalloc, CUDA_CHECK, cublasCreate, cuMemAlloc, CUdeviceptr) ...
    rb"cuda|CUDA|\bcu[A-Z]|\bCU[a-z]|\bcu(?:blas|fft|dnn|sparse|solver|rand|tensor|file|b::)"
    rb"|\bCU(?:BLAS|FFT|DNN|SPARSE|SOLVER|RAND|_)|nvrtc|\bnccl[A-Z]|nvcuda|\bnpp[a-z]"
    rb"|thrust::|\brmm::"
    # ... of HIP, and the language's own marks.
    rb"|\bhip[A-Z]|\bhip/|__global__|__device__|__shared__|__managed__|<<<",
)


def mentions_cuda(data: bytes) -> bool:
    """Whether a C or C++ file may use CUDA; false only where nothing of it is named."""
    return _SIGNS.search(data) is not None


_TOOLKIT = re.compile(r"cuda|CUDA|(?:^|/)(?:cu(?:blas|fft|dnn|sparse|solver|rand)|nccl|nvrtc|hip)")
_TOOLKIT_FOLDERS = ("thrust/", "cub/", "rmm/", "hip/")


def is_toolkit(header: str) -> bool:
    """Whether the name after an ``#include`` is that of a header of CUDA."""
    return header.startswith(_TOOLKIT_FOLDERS) or _TOOLKIT.search(header) is not None
