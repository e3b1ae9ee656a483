"""``cupy.linalg``: NumPy's."""

from __future__ import annotations

from typing import Any

import numpy

from cupy._functions import named


def __getattr__(name: str) -> Any:
    return named(numpy.linalg, "cupy.linalg", name)
