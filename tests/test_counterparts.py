"""Messages of what a project's own function acquired name the project's own release."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.cli import main

_ALLOC = """
float* pool_alloc(size_t n)
{
    float* p = nullptr;
    return cudaMalloc(&p, n) == cudaSuccess ? p : nullptr;
}
"""
_USE = """
void use(size_t n)
{
    float* block = pool_alloc(n);
    if (block)
        cudaMemset(block, 0, n);
}
"""


def said(folder: Path, **files: str) -> str:
    for name, text in files.items():
        (folder / f"{name}.cu").write_text(f"#include <cuda_runtime.h>\n{text}")
    told = folder / "report"
    main([str(folder), "--isolated", "--no-cache", "--output", f"full={told}"])
    return told.read_text()


@pytest.mark.parametrize(
    ("releases", "named"),
    [
        ("void pool_free(float* p) { cudaFree(p); }", "pool_free"),
        ("void drop(float* p) { if (p) cudaFree(p); else cudaFree(0); }", "drop"),
        ("void pool_free(float* p) { cudaFree(p); } void drop(float* p) { cudaFree(p); }",
         "pool_free"),
        ("void give(float* p) { cudaFree(p); } void drop(float* p) { cudaFree(p); }", "cudaFree"),
        ("void pool_free(cudaStream_t s) { cudaStreamDestroy(s); }", "cudaFree"),
        ("bool pool_free(float* p, int n) { if (n) { cudaFree(p); } return n; }", "cudaFree"),
        ("struct Pool { void pool_free(float* p) { cudaFree(p); } };", "cudaFree"),
        ("", "cudaFree"),
    ],
)  # fmt: skip
def test_the_release_to_call_is_the_project_s(releases: str, named: str, tmp_path: Path) -> None:
    text = said(tmp_path, a=f"{_ALLOC}{releases}{_USE}")
    assert f"`block` (pool_alloc) is never released: no way out of `use` calls {named} " in text


def test_it_may_stand_in_another_file(tmp_path: Path) -> None:
    declared = "float* pool_alloc(size_t n);\nvoid poolFree(float* p);\n"
    text = said(
        tmp_path,
        a=_ALLOC,
        b=f"{declared}void poolFree(float* p) {{ cudaFree(p); }}\n",
        c=f"{declared}{_USE}void end(float* p) {{ poolFree(p); }}\n",
    )
    assert "no way out of `use` calls poolFree " in text


def test_a_struct_s_two_functions(tmp_path: Path) -> None:
    text = said(
        tmp_path,
        a="""
struct State { float *a, *b; };
bool state_init(State* s) {
    if (cudaMalloc(&s->a, 4) != cudaSuccess) return false;
    if (cudaMalloc(&s->b, 4) == cudaSuccess) return true;
    cudaFree(s->a);
    return false;
}
void state_destroy(State* s) { cudaFree(s->a); cudaFree(s->b); }
void use() { State one; if (state_init(&one)) cudaMemset(one.a, 0, 4); }
""",
    )
    assert "`one.a` (state_init) is never released: no way out of `use` calls state_destroy" in text


def test_what_fits_instead_of_the_wrong_release(tmp_path: Path) -> None:
    body = "void wrong(size_t n) { float* p = pool_alloc(n); delete[] p; }\n"
    text = said(tmp_path, a=f"{_ALLOC}void pool_free(float* p) {{ cudaFree(p); }}\n{body}")
    assert "cannot be released by delete[]; use pool_free" in text
