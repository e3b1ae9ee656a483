"""Which macros a file asks for before it has any CUDA."""

from __future__ import annotations

import pytest

from cudalint.frontends.cuda.conditional import (
    also_defined,
    asked_around,
    asked_for,
    asked_together,
    declared_under,
    needed,
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


HEADER = """\
#pragma once
#ifdef USE_GPU
#include "portable.h"
struct Field { float *values_g; float *profile_g; float *heights_g; void clear_device(); };
#else
struct Field { float *values; };
#endif
#ifdef WITH_IO
void save_field(); void load_field(); void merge_field();
#endif
"""
PORTABLE = "#define gpuMalloc cudaMalloc\n#define gpuFree cudaFree\n#define gpuMemcpy cudaMemcpy\n"


@pytest.mark.parametrize(
    ("text", "macros"),
    [
        ("void f(Field *p) { p->values_g = p->profile_g = p->heights_g; }\n", {"USE_GPU"}),
        ("void f() { gpuMalloc(&p, 1); gpuMemcpy(p, q, 1, kind); gpuFree(p); }\n", {"USE_GPU"}),
        ("void f(Field *p) { p->values_g = p->profile_g; }\n", set()),  # too few
        ("#ifdef USE_GPU\nvoid f() { gpuMalloc(), gpuMemcpy(), gpuFree(); }\n#endif\n", set()),
        ("int *values_g; int *profile_g; int *heights_g;\nint a = values_g + profile_g;\n", set()),
        ("void f() { save_field(); load_field(); merge_field(); }\n", {"WITH_IO"}),
        ("#define WITH_IO 0\nvoid f() { save_field(); load_field(); merge_field(); }\n", set()),
    ],
)
def test_macros_that_a_file_needs(text: str, macros: set[str]) -> None:
    """Its headers declare what it uses only under these."""
    headers = {"field.h": declared_under(HEADER), "portable.h": declared_under(PORTABLE)}
    assert needed(text, headers) == macros


def test_another_toolkit_is_not_needed() -> None:
    """CUDA declares what a header makes macros for HIP of."""
    names = "".join(
        f"#define {one} hip{one[4:]}\n" for one in ("cudaMalloc", "cudaFree", "cudaMemcpy")
    )
    header = declared_under(f"#ifdef O_HIP\n{names}#endif\n")
    assert not needed("void f() { cudaMalloc(); cudaFree(); cudaMemcpy(); }\n", {"gpu.h": header})
