"""CUDA C++ to the program model, with libclang and headers from wheels."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cudalint.frontends.cuda.options import ParseOptions
    from cudalint.program import Program


def read(filename: str, text: str, options: ParseOptions) -> Program:
    """Read one CUDA C++ file. Imports libclang: for worker processes."""
    from cudalint.frontends.cuda.lowering.program import lower
    from cudalint.frontends.cuda.parse import parse

    parsed = parse(filename, text, options)
    try:
        return lower(parsed)
    finally:
        parsed.close()
