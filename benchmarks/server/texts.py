"""Texts to edit: a long program of our own, and random changes of any."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

_LINE_END = re.compile(r"\r\n|\n|\r")
_SCRAPS = (
    "x", "0", " ", "\t", ";", "(", ")", "{", "}", '"', "'", "//", "/*", "*/", "\\", "#", "\n",
    "\r\n", "\f", "\u2028", "é", "𝔘", "🚀", "cudaFree(", "cudaMalloc(&p, 4);", "return;", "if (",
    "throw 1;", "goto out;", "R\"(", "#include <map>\n", "#if 0\n", "template <", "p = nullptr;",
    "// cudalint: ignore[GPU102]", "// cudalint: ignore\n", "<<<1, 1>>>",
)  # fmt: skip
_FUNCTION = """
// Step {n}: filters one row of the picture.
static bool filter_{n}(const float* host, float* out, int rows, cudaStream_t stream)
{{
    float* d_in = nullptr;
    float* d_out = nullptr;
    const std::size_t bytes = static_cast<std::size_t>(rows) * sizeof(float) + {n};
    if (cudaMalloc(&d_in, bytes) != cudaSuccess)
        return false;
    if (cudaMalloc(&d_out, bytes) != cudaSuccess) {{
        {early}return false;
    }}
    if (cudaMemcpyAsync(d_in, host, bytes, cudaMemcpyHostToDevice, stream) != cudaSuccess) {{
        std::fprintf(stderr, "copy {n} failed\\n");
        cudaFree(d_out);
        cudaFree(d_in);
        return false;
    }}
    kernel_{n}<<<(rows + 127) / 128, 128, 0, stream>>>(d_in, d_out, rows);
    for (int turn = 0; turn < 4; ++turn) {{
        if (rows > turn && out != nullptr)
            kernel_{n}<<<1, 64, 0, stream>>>(d_out, d_in, rows - turn);
    }}
    const bool done =
        cudaMemcpyAsync(out, d_out, bytes, cudaMemcpyDeviceToHost, stream) == cudaSuccess
        && cudaStreamSynchronize(stream) == cudaSuccess;
    cudaFree(d_out);
    cudaFree(d_in);
    return done;
}}
"""
_KERNEL = """
__global__ void kernel_{n}(const float* in, float* out, int count)
{{
    const int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place < count)
        out[place] = in[place] * {n}.0f + 1.0f;
}}
"""


def program(lines: int) -> str:
    """A CUDA program of about so many lines; every seventh function leaks."""
    parts = ["#include <cuda_runtime.h>\n\n#include <cstdio>\n#include <vector>\n"]
    length = 4
    number = 0
    while length < lines:
        early = "" if number % 7 == 3 else "cudaFree(d_in);\n        "
        parts.append(_KERNEL.format(n=number) + _FUNCTION.format(n=number, early=early))
        length += parts[-1].count("\n")
        number += 1
    return "".join(parts)


def place(text: str, offset: int) -> dict[str, int]:
    """An offset as the protocol counts, in UTF-16."""
    line, start = 0, 0
    for match in _LINE_END.finditer(text, 0):
        if match.end() > offset:
            break
        line, start = line + 1, match.end()
    end = _LINE_END.search(text, start)
    offset = min(offset, end.start() if end else len(text))
    units = len(text[start:offset].encode("utf-16-le", "surrogatepass")) // 2
    return {"line": line, "character": units}


def offset_of(text: str, position: dict[str, int]) -> int:
    """The other way round."""
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    start = starts[position["line"]]
    line = text[start:].encode("utf-16-le", "surrogatepass")[: 2 * position["character"]]
    return start + len(line.decode("utf-16-le", "surrogatepass"))


def replaced(text: str, start: int, end: int, new: str) -> tuple[str, dict[str, Any]]:
    """The text with a part replaced, and the change that says so."""
    first, last = place(text, start), place(text, end)
    # A place between the characters of a line end is the end of the line:
    start, end = offset_of(text, first), offset_of(text, last)
    return text[:start] + new + text[end:], {"range": {"start": first, "end": last}, "text": new}


def edits(text: str, chance: random.Random, count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Random edits, one after another: the text after each, and the change. Now and then all is
    undone, so that most of the texts are nearly programs."""
    original = text
    for _ in range(count):
        kind = chance.random()
        if kind < 0.03:
            text, change = original, {"text": original}
        elif kind < 0.5:
            start = chance.randrange(len(text) + 1)
            text, change = replaced(text, start, start, chance.choice(_SCRAPS))
        elif kind < 0.8:
            start = chance.randrange(len(text) + 1)
            text, change = replaced(
                text, start, min(start + chance.randrange(1, 12), len(text)), ""
            )
        else:
            lines = text.split("\n")
            first = chance.randrange(len(lines))
            start = sum(len(line) + 1 for line in lines[:first])
            end = min(start + len(lines[first]) + 1, len(text))
            new = chance.choice(("", text[start:end] * 2, chance.choice(lines) + "\n"))
            text, change = replaced(text, start, end, new)
        yield text, change
