from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest
from clang.cindex import CursorKind, TranslationUnit

from cudalint.frontends.cuda import parse as parsing
from cudalint.frontends.cuda.flags import _PARTS
from cudalint.frontends.cuda.parse import MissingHeader, ParsedUnit, ParseOptions, parse
from cudalint.frontends.cuda.toolchain import MADE_UP, OWN_CUDA, OWN_LIBC, Toolchain, find_toolchain
from cudalint.source import Span

KERNEL = """\
__global__ void scale(float *values, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= 2.0f;
}
"""
MAIN = (
    KERNEL
    + """
int main() {
  float *values = nullptr;
  if (cudaMalloc(&values, 64 * sizeof(float)) != cudaSuccess) return 1;
  scale<<<1, 64>>>(values, 64);
  cudaFree(values);
  return 0;
}
"""
)


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("headers")


@pytest.fixture
def options(cache: Path) -> ParseOptions:
    return ParseOptions(cache_folder=cache)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Toolchain:
    """A machine without any C or C++ header."""
    real = find_toolchain()
    none = dataclasses.replace(real, cxx=(real.resource.parent / "libcxx",), c=(OWN_LIBC,))
    monkeypatch.setattr(parsing, "find_toolchain", lambda: none)
    return none


@pytest.fixture
def without_wheels(monkeypatch: pytest.MonkeyPatch) -> Toolchain:
    """A machine for which NVIDIA offers no headers."""
    real = find_toolchain()
    none = dataclasses.replace(
        real,
        cuda=(OWN_CUDA,),
        cxx=(real.resource.parent / "libcxx",),
        c=(OWN_LIBC,),
        target="x86_64-unknown-linux-gnu",
    )
    monkeypatch.setattr(parsing, "find_toolchain", lambda: none)
    return none


def names(parsed: ParsedUnit) -> list[str]:
    unit = parsed.unit
    located = [child for child in unit.cursor.get_children() if child.location.file is not None]
    return [child.spelling for child in located if child.location.file.name == unit.spelling]


def assert_clean(parsed: ParsedUnit) -> None:
    assert parsed.missing_headers == ()
    assert parsed.errors == ()


def test_from_memory(options: ParseOptions) -> None:
    parsed = parse("nowhere/main.cu", MAIN, options)
    assert_clean(parsed)
    assert names(parsed) == ["scale", "main"]


def test_nothing_is_read_from_the_environment(
    options: ParseOptions, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cuda_runtime.h").write_text("#error the environment's", encoding="utf-8")
    monkeypatch.setenv("CPATH", str(tmp_path))
    monkeypatch.setenv("CPLUS_INCLUDE_PATH", str(tmp_path))
    assert_clean(parse("a.cu", "#include <cuda_runtime.h>\n" + MAIN, ParseOptions()))


@pytest.mark.parametrize(
    "prefix",
    ["runtime", "standard", "libraries", "c", "+".join(("standard", *_PARTS))],
)
def test_prefixes_have_no_errors_of_their_own(
    prefix: str, bare: Toolchain, without_wheels: Toolchain
) -> None:
    from clang import cindex

    from cudalint.frontends.cuda.flags import base_arguments
    from cudalint.frontends.cuda.precompiled import including, prefix_headers

    language = "c" if prefix == "c" else "cuda"
    *before, last = prefix_headers(prefix)
    for toolchain in (find_toolchain(), bare, without_wheels):
        unit = cindex.TranslationUnit.from_source(
            str(last),
            args=[*base_arguments(language, None, toolchain), *including(before)],
            options=cindex.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES,
        )
        found = unit.diagnostics
        assert [str(found[number]) for number in range(len(found))] == []


LIBRARIES = """
#include <cublas.h>
#include <cublasLt.h>
#include <cublasXt.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cudnn.h>
#include <cufft.h>
#include <cufftXt.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusolverSp.h>
#include <cusparse.h>
#include <mpi.h>
#include <nccl.h>
#include <npp.h>
#include <nvml.h>
#include <nvrtc.h>
#include <nvToolsExt.h>
#include <omp.h>
"""
CXX_LIBRARIES = """
#include <cooperative_groups.h>
#include <cub/cub.cuh>
#include <cuda/std/span>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <curand_kernel.h>
#include <mma.h>
#include <nvtx3/nvtx3.hpp>
#include <thrust/device_vector.h>
#include <iostream>
"""


def test_library_headers(options: ParseOptions) -> None:
    assert_clean(parse("a.c", LIBRARIES, options))
    assert_clean(parse("a.cu", LIBRARIES + CXX_LIBRARIES, options))


def test_library_headers_on_a_bare_machine(bare: Toolchain, options: ParseOptions) -> None:
    assert_clean(parse("a.c", LIBRARIES, options))
    assert_clean(parse("a.cu", LIBRARIES + CXX_LIBRARIES, options))


def test_without_nvidias_headers(without_wheels: Toolchain, options: ParseOptions) -> None:
    assert_clean(parse("a.cu", "#include <cuda_runtime.h>\n#include <vector>\n" + MAIN, options))
    assert_clean(parse("a.cu", HIP, options))
    assert_clean(parse("a.cu", LIBRARIES, options))
    assert_clean(parse("a.c", LIBRARIES, options))
    driver = (
        "#include <cuda.h>\nint f(CUdeviceptr *p) { return cuMemAlloc(p, 4) + cuMemFree(*p); }\n"
    )
    assert_clean(parse("a.cpp", driver, options))


def test_our_c_library_is_complete_in_itself(bare: Toolchain, options: ParseOptions) -> None:
    headers = sorted(path.relative_to(OWN_LIBC).as_posix() for path in OWN_LIBC.rglob("*.h"))
    text = "".join(f"#include <{header}>\n" for header in headers)
    assert_clean(parse("a.c", text, options))
    assert_clean(parse("a.cu", text, options))


OLD = """
texture<float, 2, cudaReadModeElementType> image;
__global__ void old(float *out) { out[0] = tex2D(image, 0.5f, 0.5f) + __shfl_down(out[1], 1); }
int main() {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  cudaArray *array = 0;
  cudaBindTextureToArray(image, array);
  cudaThreadSynchronize();
  cudaUnbindTexture(image);
  void *managed = 0;
  cudaMemPrefetchAsync(managed, 64, 0);
  cudaMemAdvise(managed, 64, cudaMemAdviseSetReadMostly, 0);
  CUcontext context;
  cuCtxCreate(&context, 0, 0);
  return max(properties.clockRate, 3) + min(2.0f, 1.0);
}
"""


def test_what_cuda_13_removed_still_parses(options: ParseOptions) -> None:
    assert_clean(parse("old.cu", "#include <cuda.h>\n" + OLD, options))


HIP = """
#include <hip/hip_runtime.h>
__global__ void fill(float *values) { values[hipThreadIdx_x] = 1.0f; }
int main() {
  float *values = nullptr;
  if (hipMalloc(&values, 64 * sizeof(float)) != hipSuccess) return 1;
  hipLaunchKernelGGL(fill, dim3(1), dim3(64), 0, 0, values);
  fill<<<1, 64>>>(values);
  return hipFree(values);
}
"""


def test_hip(options: ParseOptions) -> None:
    assert_clean(parse("a.cu", HIP, options))
    text = "#include <hip/hip_runtime_api.h>\nint f(void **p) { return hipMalloc(p, 4); }\n"
    assert_clean(parse("a.c", text, options))
    names = ("hipblas/hipblas", "hipfft/hipfft", "hiprand/hiprand", "hipsparse/hipsparse",
             "hipsolver/hipsolver", "hip/hiprtc")  # fmt: skip
    libraries = "".join(f"#include <{name}.h>\n" for name in names)
    assert_clean(parse("a.c", libraries, options))
    assert_clean(parse("a.hip", libraries + "#include <hipcub/hipcub.hpp>\n" + HIP, options))


@pytest.mark.parametrize("name", ["a.cpp", "a.cc", "a.h", "a.hpp", "a.cuh", "a.cxx"])
def test_cpp_is_read_as_cuda(name: str, options: ParseOptions) -> None:
    text = "#include <cuda_runtime_api.h>\ninline int f(void **p) { return cudaMalloc(p, 4); }\n"
    assert_clean(parse(name, text, options))


def test_c_is_c_unless_it_launches(options: ParseOptions) -> None:
    text = "#include <cuda_runtime_api.h>\nint f(int class, void **new) { return class; }\n"
    assert_clean(parse("a.c", text, options))
    assert_clean(parse("a.c", KERNEL + "void f() { scale<<<1, 1>>>(nullptr, 0); }", options))


def test_old_standards_and_old_habits(options: ParseOptions) -> None:
    text = """
    #include <cstdio>
    int f(int n) throw() { register int i = n; char *name = "x"; printf("%d"PRId, i); return i; }
    """.replace('"%d"PRId', '"%d"')
    for standard in ("c++98", "c++11", "gnu++14", "c++17", "c++20", "c++23"):
        parsed = parse("a.cu", text, dataclasses.replace(options, standard=standard))
        assert_clean(parsed)


def test_a_missing_header_costs_nothing_after_it(options: ParseOptions) -> None:
    text = '#include <absent/one.h>\n#include "two.cuh"\n#include "two.cuh"\n' + MAIN
    parsed = parse("a.cu", text, options)
    assert parsed.missing_headers == (
        MissingHeader("absent/one.h", Span(1, 1, 1, 24), "a.cu"),
        MissingHeader("two.cuh", Span(2, 1, 2, 19), "a.cu"),
    )
    assert parsed.errors == ()
    assert names(parsed) == ["scale", "main"]


def test_errors_have_places_and_lose_only_their_statement(options: ParseOptions) -> None:
    text = "void before() {}\nvoid broken() { int x = undeclared(1); }\nvoid after() {}\n"
    parsed = parse("a.cu", text, options)
    assert [(error.row, error.column) for error in parsed.errors] == [(2, 25)]
    assert "undeclared" in parsed.errors[0].message
    assert names(parsed) == ["before", "broken", "after"]


def test_many_errors_do_not_stop_the_parser(options: ParseOptions) -> None:
    text = "void f() {" + "y(3);" * 20_000 + "}\nvoid last() {}\n"
    parsed = parse("a.cu", text, options)
    assert names(parsed) == ["f", "last"]
    assert 0 < len(parsed.errors) <= 50


def test_using_namespace_std_and_own_names(options: ParseOptions) -> None:
    text = (
        "#include <cstdio>\nusing namespace std;\nint count; int rank2(int n) { return count + n; }"
    )
    assert_clean(parse("a.cu", text, options))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("parentheses", "int x = " + "(" * 100_000 + "1" + ")" * 100_000 + ";\n"),
        ("braces", "void f() {" + "{" * 50_000 + "}" * 50_000 + "}\n"),
        ("sum", "int f(int a) { return " + "a + " * 100_000 + "a; }\n"),
        ("pointers", "int " + "*" * 50_000 + "p;\n"),
        ("ternaries", "int f(int a) { return " + "a ? 1 : " * 50_000 + "2; }\n"),
        (
            "templates",
            "template <int N> struct F { enum { v = F<N - 1>::v }; }; int x = F<9999>::v;",
        ),
        ("unterminated", 'void f() { "abc\n /* never ends'),
        ("null bytes", "int a;\0int b;\0\0"),
        ("surrogates", "int a; // \udc80\udcff\n"),
        ("device", '#include "/dev/zero"\n'),
        ("folder", '#include "/tmp"\n'),
        ("empty", ""),
    ],
)
def test_hostile_files(name: str, text: str, options: ParseOptions) -> None:
    parsed = parse(f"{name}.cu", text, options)
    assert len(parsed.errors) <= 500


def test_enormous_headers_are_not_opened(options: ParseOptions, tmp_path: Path) -> None:
    with (tmp_path / "data.h").open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    parsed = parse(str(tmp_path / "a.cu"), '#include "data.h"\n' + MAIN, options)
    assert_clean(parsed)


def test_a_header_that_includes_itself(options: ParseOptions, tmp_path: Path) -> None:
    (tmp_path / "loop.h").write_text('#include "loop.h"\n', encoding="utf-8")
    parsed = parse(str(tmp_path / "a.cu"), '#include "loop.h"\n' + MAIN, options)
    assert names(parsed) == ["scale", "main"]


def test_the_same_with_and_without_precompiled_headers(options: ParseOptions) -> None:
    text = "#include <future>\n" + MAIN + "int n = missing; std::vector<int> v;\n"
    with_header = parse("a.cu", text, options)
    without = parse("a.cu", text, ParseOptions())
    assert with_header.errors == without.errors
    assert names(with_header) == names(without)
    assert os.environ.get("CPATH") is None


def test_macros_without_which_there_is_no_cuda_are_defined(options: ParseOptions) -> None:
    text = "#ifdef USE_GPU\nvoid clean(float* p) { cudaFree(p); }\n#endif\n"
    assert _functions(parse("clean.cu", text, options)) == ["clean"]
    undefined = dataclasses.replace(options, undefines=("USE_GPU",))
    assert _functions(parse("clean.cu", text, undefined)) == []


def _attempts(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each attempt that is made from now on, whether it is whole."""
    made: list[bool] = []
    parse_once = parsing._translation_unit

    def noted(
        filename: str, arguments: list[str], files: list[tuple[str, bytes]], is_whole: bool
    ) -> TranslationUnit | None:
        made.append(is_whole)
        return parse_once(filename, arguments, files, is_whole)

    monkeypatch.setattr(parsing, "_translation_unit", noted)
    return made


def _functions(parsed: ParsedUnit) -> list[str]:
    return [
        child.spelling
        for child in parsed.unit.cursor.get_children()
        if str(child.location.file) == parsed.filename
    ]


@pytest.mark.parametrize(
    ("text", "attempts", "errors"),
    [
        (
            "#include <vector>\nusing namespace std;\nint count;\nint get() { return count; }\n",
            2,
            0,
        ),
        ("#include <vector>\nstruct A {};\nstruct A {};\nstd::vector<A> many;\n", 1, 1),
    ],
    ids=["a name of the system is in the way", "the project's own"],
)
def test_a_file_is_read_without_the_library_where_that_is_in_the_way(
    options: ParseOptions, monkeypatch: pytest.MonkeyPatch, text: str, attempts: int, errors: int
) -> None:
    made = _attempts(monkeypatch)
    parsed = parse("nowhere/main.cu", text, options)
    assert (len(made), len(parsed.errors)) == (attempts, errors)


INSTANCE = """
template <class T> T *grown(T *p) { return p + 1; }
int *f(int *p) { return grown(p); }
"""


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (INSTANCE, [True]),
        ("#include <nowhere.h>\nNowhere *all;\n" + INSTANCE, [False, True]),
        ("#include <nowhere.h>\n" + INSTANCE, [False, True]),  # and no name is lacking
        ("#ifdef _WIN32\n#include <nowhere.h>\n#endif\n" + INSTANCE, [True]),
        ("#ifndef A_H\n#define A_H\n#include <nowhere.h>\n#endif\n" + INSTANCE, [False, True]),
    ],
    ids=["none", "a name", "a header alone", "on a condition", "in a guard"],
)
def test_only_the_last_attempt_makes_instances_where_a_header_is_missing(
    options: ParseOptions, monkeypatch: pytest.MonkeyPatch, text: str, whole: list[bool]
) -> None:
    made = _attempts(monkeypatch)
    parsed = parse("nowhere/main.cu", text, options)
    assert made == whole
    (caller,) = (one for one in parsed.unit.cursor.get_children() if one.spelling == "f")
    (called,) = (one for one in caller.walk_preorder() if one.kind == CursorKind.CALL_EXPR)
    assert called.referenced.get_definition() is not None
    assert len(parsed.missing_headers) == (whole != [True])


def test_a_unit_is_given_back_once(options: ParseOptions) -> None:
    parsed = parse("nowhere/main.cu", MAIN, options)
    parsed.close()
    parsed.close()
    assert not parsed.unit.obj


def test_what_headers_lack_is_learnt_once(
    options: ParseOptions, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pool = (
        "#pragma once\n#include <nowhere/tensor.h>\n"
        "inline void *of(nowhere::Tensor &t) { return &t; }\n"
    )
    (tmp_path / "pool.h").write_text(pool, encoding="utf-8")
    made = _attempts(monkeypatch)
    for name, attempts in (("a.cu", [False, True]), ("b.cu", [True])):
        text = f'#include "pool.h"\nint *{name[0]}(nowhere::Tensor &t) {{ return (int *)of(t); }}\n'
        parsed = parse(str(tmp_path / name), text, options)
        assert (made, parsed.errors) == (attempts, ())
        assert [one.name for one in parsed.missing_headers] == ["nowhere/tensor.h"]
        made.clear()
    own = '#include "pool.h"\nint *c(elsewhere::Tensor &t) { return nullptr; }\n'
    parsed = parse(str(tmp_path / "c.cu"), own, options)
    assert (made, parsed.errors) == ([True, True], ())


@pytest.mark.parametrize("shape", ["struct Shape { int rows; };", "typedef double Shape;"])
def test_a_header_that_needs_what_stands_before_it_lacks_nothing_else(
    options: ParseOptions, tmp_path: Path, shape: str
) -> None:
    (tmp_path / "shape.h").write_text(f"#pragma once\n{shape}\n", encoding="utf-8")
    order = (
        "#pragma once\n#include <nowhere.h>\n"
        "inline Shape *last(Shape *all, int n) { return all + n; }\n"
    )
    (tmp_path / "order.h").write_text(order, encoding="utf-8")
    text = '#include "shape.h"\n#include "order.h"\nShape *f(Shape *all) { return last(all, 8); }'
    parsed = parse(str(tmp_path / "main.cu"), text, options)
    assert (parsed.errors, parsed.reading.declarations) == ((), "")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_pipe_beside_a_header_that_lacks_another_is_not_opened(
    options: ParseOptions, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe.h")
    pool = "#include <nowhere.h>\ninline void *of(Nowhere &all) { return &all; }\n"
    (tmp_path / "pool.h").write_text(pool, encoding="utf-8")
    text = '#include "pipe.h"\n#include "pool.h"\nvoid *f(Nowhere &all) { return of(all); }\n'
    parsed = parse(str(tmp_path / "main.cu"), text, options)
    assert parsed.errors == ()


def test_a_file_is_read_without_what_headers_lack_where_libclang_fails_with_it(
    options: ParseOptions, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pool = "#include <nowhere.h>\ninline void *of(Nowhere &all) { return &all; }\n"
    (tmp_path / "pool.h").write_text(pool, encoding="utf-8")
    parse_once = parsing._translation_unit

    def fails(
        filename: str, arguments: list[str], files: list[tuple[str, bytes]], is_whole: bool
    ) -> TranslationUnit | None:
        if any(name == MADE_UP for name, _ in files):
            return None
        return parse_once(filename, arguments, files, is_whole)

    monkeypatch.setattr(parsing, "_translation_unit", fails)
    parsed = parse(str(tmp_path / "main.cu"), '#include "pool.h"\nint one = 1;\n', options)
    assert [one.name for one in parsed.missing_headers] == ["nowhere.h"]
    assert "Nowhere" in parsed.errors[0].message
