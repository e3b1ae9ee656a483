"""CUDA C++ to the program model, with libclang and headers from wheels."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cudalint.frontends.cuda.options import ParseOptions
    from cudalint.frontends.cuda.parse import Reading
    from cudalint.program import Program


def read(filename: str, text: str, options: ParseOptions) -> Program:
    """Read one CUDA C++ file. Imports libclang: for worker processes."""
    return read_after(filename, text, options, None)[0]


def read_after(
    filename: str, text: str, options: ParseOptions, reading: Reading | None
) -> tuple[Program, Reading]:
    """Read one CUDA C++ file after a reading that is known to be right (``None``: it is found), and
    say which one that was."""
    from cudalint.frontends.cuda.lowering.program import lower
    from cudalint.frontends.cuda.parse import parse

    parsed = parse(filename, text, options, reading)
    try:
        return lower(parsed), parsed.reading
    finally:
        parsed.close()
