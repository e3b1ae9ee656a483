"""Which macros a file asks for before it has any CUDA."""

from __future__ import annotations

import pytest

from cudalint.frontends.cuda.conditional import (
    also_defined,
    asked_around,
    asked_for,
    asked_together,
)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("#ifdef USE_GPU\ncudaFree(p);\n#endif\n", ("USE_GPU",)),
        ("#if HAVE_CUDA == 1 && defined(FAST)\nk<<<1, 1>>>();\n#endif\n", ("FAST", "HAVE_CUDA=1")),
        ("#ifndef A_H\n#define A_H\n#ifdef GPU\ncudaFree(p);\n#endif\n#endif\n", ("GPU",)),
        # What every part of it asks for, and no more:
        (
            "#ifdef GPU\n#ifdef MANAGED\ncudaMallocManaged(&p, n);\n#else\ncudaMalloc(&p, n);\n"
            "#endif\n#endif\n",
            ("GPU",),
        ),
        ("#ifdef TIMED\ncudaEventCreate(&e);\n#endif\ncudaFree(p);\n", ()),
        ("#ifdef CPU_ONLY\n#else\ncudaFree(p);\n#endif\n", ()),
        ("#if GPU > 2 || defined(ANY)\ncudaFree(p);\n#endif\n", ()),
        ("#ifdef __CUDACC__\ncudaFree(p);\n#endif\n", ()),
        ('#ifdef GPU\n// cudaFree(p)\nputs("cudaFree(p)");\n#endif\n', ()),
        ("#endif\n#else\ncudaFree(p);\n", ()),
    ],
)
def test_asked_for(text: str, asked: tuple[str, ...]) -> None:
    assert asked_for(text) == asked


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("#if __CUDA_ARCH__ >= 300\nint a;\n#else\n", {"__CUDA_ARCH__"}),
        ("#if A\n#elif defined(B)\n#endif\n#ifdef C\n", {"C"}),
        ("#ifdef A\n#if B\n#endif\n", {"A"}),
        ("// #if A\n#if 1\n", set()),
        ("#endif\n#else\n#elif A\n", set()),
    ],
)
def test_asked_around(text: str, asked: set[str]) -> None:
    assert asked_around(text) == asked


@pytest.mark.parametrize(
    ("texts", "together"),
    [
        (("#ifdef GPU\ncudaFree(p);\n#endif\n", "cudaFree(p);\n"), {"GPU"}),
        (("#if L == 1\ncudaFree(p);\n#endif\n", "#if L == 2\ncudaFree(p);\n#endif\n"), set()),
        ((), set()),
    ],
)
def test_asked_together(texts: tuple[str, ...], together: set[str]) -> None:
    assert asked_together(texts) == together


@pytest.mark.parametrize(
    ("text", "defined"),
    [
        ("#ifdef GPU\npull(l);\n#endif\ncudaFree(p);\n", ("GPU",)),
        ("#ifdef OTHER\npull(l);\n#endif\n", ()),
        ("GPU\n", ()),
        # Its own CUDA would be lost:
        ("#ifdef GPU\npull(l);\n#endif\n#ifndef GPU\ncudaFree(p);\n#endif\n", ()),
        ("#ifdef GPU\npull(l);\n#else\ncudaFree(p);\n#endif\n", ()),
        ("#if defined(GPU)\n#elif !defined(GPU)\ncudaFree(p);\n#endif\n", ()),
    ],
)
def test_also_defined(text: str, defined: tuple[str, ...]) -> None:
    assert also_defined(text, frozenset({"GPU"})) == defined
