"""``cupy.cuda.cublas``: its handles; nothing is computed by them."""

from __future__ import annotations

from typing import Any

from _cudalint_frameworks.errors import not_simulated

from cupy.cuda.runtime import _end, _handle


def create() -> int:
    """``cublasCreate``."""
    return _handle("cublasCreate", "cublas-handle")


def destroy(handle: int) -> None:
    """``cublasDestroy``."""
    _end("cublasDestroy", "cublas-handle", handle)


def setStream(handle: int, stream: int) -> None:  # noqa: N802
    """``cublasSetStream``: everything is done at once."""


def getVersion(handle: int) -> int:  # noqa: N802
    """That of CUDA 13."""
    return 130000


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    not_simulated(f"cupy.cuda.cublas.{name}")
