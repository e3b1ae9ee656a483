"""Names that no header declares: as little as possible is lost for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.frontends.cuda import parse as parsing
from cudalint.frontends.cuda.lowering.program import lower
from cudalint.frontends.cuda.parse import ParseOptions, parse
from cudalint.frontends.cuda.undeclared import Undeclared
from cudalint.program import Branch, Call, Program, Return, render


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> ParseOptions:
    return ParseOptions(cache_folder=tmp_path_factory.mktemp("headers"))


def read(text: str, options: ParseOptions, name: str = "a.cu") -> Program:
    return lower(parse(name, text, options))


def functions(program: Program) -> list[str]:
    return [function.name for function in program.functions]


def lost(program: Program) -> list[str]:
    return [part.reason for part in program.dropped if part.reason != "missing header"]


def declared(text: str, *errors: str, is_c: bool = False) -> str:
    names = Undeclared(text, is_c)
    names.learn((error, 1, 1) for error in errors)
    return " ".join(names.declarations().split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("X::X(int n) { } X::~X() { }", "struct X {"),
        ("void X::run(int n) { }", "struct X {"),
        ("X value(3); value.run();", "struct X {"),
        ("auto p = new X(3);", "struct X {"),
        ("std::vector<X> all;", "struct X {"),
        ("void f(X *x, const X &y);", "struct X {"),
        ("X::log(3);", "namespace X { static auto log"),
        ("X::Tensor f(X::Tensor t, const X::Tensor &u);", "namespace X { struct Tensor {"),
        ("X::inner::call(1);", "namespace X { namespace inner { static auto call"),
        ("X<float, 3> m(1); m.f();", "template <class, auto, auto...> struct X {"),
        ("X<float> m(1);", "template <class...> struct X {"),
        ("template <typename T> X<T>::~X() { }", "template <typename T> struct X {"),
        ("X<float><<<1, 2>>>(p);", "__global__ void X(Anything...);"),
        ("kernel<<<X, 32>>>(p);", "static auto X = cudalint_unknown();"),
        ("X.take(p);", "static auto X = cudalint_unknown();"),
        ("X(cudaMalloc(&p, 4));", ""),
        ("CHECK(X);", "static auto X = cudalint_unknown();"),
        ("n = X + 1;", "static auto X = cudalint_unknown();"),
        ("f(X * n, X*n);", "static auto X = cudalint_unknown();"),
        ("int n; X * n;", "struct X {"),
        ("void f(X* n);", "struct X {"),
        ("f(X *n);", "struct X {"),
        ("class X; X *p;", ""),
        ("#define X int\nX *p;", ""),
    ],
)
def test_a_name_is_what_it_is_used_as(text: str, expected: str) -> None:
    found = declared(text, "use of undeclared identifier 'X'")
    assert (
        found.startswith(expected) if not expected.startswith("__global__") else expected in found
    )
    assert bool(found) == bool(expected)


def test_scalar_types_keep_their_arithmetic() -> None:
    assert declared("real_t *p;", "unknown type name 'real_t'") == "typedef float real_t;"
    assert declared("index_t n = 3;", "unknown type name 'index_t'") == "typedef int index_t;"


def test_names_in_known_namespaces() -> None:
    error = "no member named 'gadget' in namespace 'thrust'"
    assert declared("thrust::gadget<int> g;", error).startswith(
        "namespace thrust { template <class...> struct gadget {"
    )


def test_comments_and_strings_are_no_uses() -> None:
    assert declared('f("X::Y", 1); // X value;', "use of undeclared identifier 'X'") == ""


def test_what_turns_out_to_be_declared_is_taken_back() -> None:
    names = Undeclared("X value;", is_c=False)
    assert names.learn([("unknown type name 'X'", 1, 1)])
    assert names.learn([("redefinition of 'X'", 1, 1)])
    assert names.declarations() == ""
    assert not names.learn([("unknown type name 'X'", 1, 1)])


def test_method_templates_of_what_is_declared() -> None:
    text = "void f(X x) { use(x.data<float>(), x.size()); }"
    unknown = "unknown type name 'X'"
    found = declared(
        text, unknown, "no member named 'data' in 'X'", "no member named 'size' in 'X'"
    )
    assert "template <class...> auto data(struct unlike_any_argument &);" in found
    assert "size" not in found
    assert "data" not in declared(text, unknown, "no member named 'data' in 'Other'")


def test_c_gets_types_only() -> None:
    found = declared("X *p; Y::z();", "unknown type name 'X'", "unknown type name 'Y'", is_c=True)
    assert found == "typedef struct cudalint_X { char unknown; } X;"


METHODS = """
#include "engine.h"
Engine::Engine(int n, Config *config) : n_(n), config_(config) {
  cudaMalloc(&input_, n * sizeof(float));
}
Engine::~Engine() { cudaFree(input_); }
Status Engine::run(const cv::Mat &image, Holder &holder) {
  float *d;
  CHECK(cudaMalloc(&d, image.total()));
  holder.take(d);
  Logger::instance().log(d);
  resize<<<grid, block>>>(d, image.cols);
  return Status::OK();
}
"""


def test_methods_of_a_missing_class_are_read(options: ParseOptions) -> None:
    program = read(METHODS, options)
    assert functions(program) == ["Engine::Engine", "Engine::~Engine", "Engine::run"]
    assert lost(program) == []


EXTENSION = """
#include <torch/extension.h>
namespace py = pybind11;
template <typename scalar_t>
__global__ void forward_kernel(const scalar_t *in, torch::Accessor<scalar_t, 2> out) {}
torch::Tensor forward(torch::Tensor x, const at::Tensor &y) {
  float *scratch;
  cudaMalloc(&scratch, 64);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "forward", ([&] {
    forward_kernel<scalar_t><<<1, 32>>>(x.data_ptr<scalar_t>(), scratch);
  }));
  cudaFree(scratch);
  return torch::empty_like(x);
}
std::vector<torch::Tensor> backward(std::vector<torch::Tensor> all) { return {all[0]}; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""


def test_a_pytorch_extension_is_read(options: ParseOptions) -> None:
    program = read(EXTENSION, options)
    assert {"forward", "backward"} <= set(functions(program))


MACRO = """
#include <cstdio>
#include <cstdlib>
#include <gone/runtime.h>
#define CHECK(call)                                     \\
  do {                                                  \\
    goneError_t status = (call);                        \\
    if (status != goneSuccess) {                        \\
      fprintf(stderr, "%s", goneErrorString(status));   \\
      exit(1);                                          \\
    }                                                   \\
  } while (0)
int main() {
  float *d = nullptr;
  CHECK(cudaMalloc(&d, 64));
  CHECK(cudaFree(d));
  return 0;
}
"""


@pytest.mark.parametrize("repairs", [0, 2])
def test_a_check_macro_of_unknown_names_calls_once(
    repairs: int, options: ParseOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsing, "_MOST_REPAIRS", repairs)
    (main,) = read(MACRO, options).functions
    calls = [
        operation.name
        for block in main.blocks
        for operation in block.operations
        if isinstance(operation, Call)
    ]
    assert calls.count("cudaMalloc") == 1
    assert calls.count("cudaFree") == 1


def test_an_unknown_object_in_an_ellipsis_does_not_end_the_program(options: ParseOptions) -> None:
    text = """
#include <cublas_v2.h>
int scale(cublasHandle_t handle, Extents count, float *values) {
  Extents step{3, 4};
  return cublasSscal(handle, count, values, step);
}
"""
    (scale,) = read(text, options).functions
    calls = [one for block in scale.blocks for one in block.operations if isinstance(one, Call)]
    assert "cublasSscal" in [call.name for call in calls]
    assert not any(call.noreturn for call in calls)


def test_methods_of_a_member_of_unknown_class_have_their_own_names(options: ParseOptions) -> None:
    text = """
class Context {
  int open();
  Settings settings_;
  Settings *defaults_;
};
int Context::open() { return settings_.inputs() + settings_.outputs(2) + defaults_->inputs(); }
"""
    (method,) = read(text, options).functions
    calls = [one for block in method.blocks for one in block.operations if isinstance(one, Call)]
    assert [(call.name, render(call.receiver)) for call in calls if call.receiver] == [
        (".inputs", "settings_"),
        (".outputs", "settings_"),
        (".inputs", "*defaults_"),
    ]


def test_operators_between_objects_of_unknown_class_are_operators(options: ParseOptions) -> None:
    text = """
int first(Extents wanted) {
  for (Extents step{3, 4}; step < wanted; ++step) return 1;
  return 0;
}
"""
    (first,) = read(text, options).functions
    ways = [block.terminator for block in first.blocks if isinstance(block.terminator, Branch)]
    assert [render(way.condition) for way in ways] == ["step < wanted"]


def test_a_name_alone_on_its_line_is_a_macro(options: ParseOptions) -> None:
    text = """
struct Memory { void *data; int size; };
static void drop(Memory *self) {
  BEGIN_ALLOW_THREADS
  self->size = 0;
  free(self->data);
  END_ALLOW_THREADS
  free(self);
}
"""
    (drop,) = read(text, options).functions
    assert [symbol for symbol in drop.variables if symbol.startswith("self")] == ["self"]
    calls = [one for block in drop.blocks for one in block.operations if isinstance(one, Call)]
    assert [call.name for call in calls] == ["free", "free"]


def test_prefix_operators_on_objects_of_unknown_class_are_operators(options: ParseOptions) -> None:
    text = """
enum class Flag { on };
Flag operator&(Flag one, Flag other);
int operator-(Flag one);
bool operator!(Flag one);
int reserve(Plan plan, int n) {
  if (!plan->ready) return -plan->size;
  return cudaMalloc(&plan->bins, n);
}
"""
    program = read(text, options)
    (reserve,) = (one for one in program.functions if one.name == "reserve")
    calls = [one for block in reserve.blocks for one in block.operations if isinstance(one, Call)]
    assert [(one.name, render(one.arguments[0].value)) for one in calls] == [
        ("cudaMalloc", "&plan->bins")
    ]
    returned = [one.terminator for one in reserve.blocks if isinstance(one.terminator, Return)]
    assert "-plan->size" in [render(one.value) for one in returned if one.value is not None]


def test_a_file_of_unknown_names_only_ends(options: ParseOptions) -> None:
    text = "".join(f"a{n}::b{n} c{n}(d{n}::e{n}<f{n}> x) {{ g{n}.h(); }}\n" for n in range(2000))
    parsed = parse("a.cu", text, options)
    assert len(parsed.errors) <= 500


def test_nothing_is_repaired_twice_in_vain(options: ParseOptions, tmp_path: Path) -> None:
    text = "void f() { undeclared_function(3); }\n"
    parsed = parse(str(tmp_path / "a.cu"), text, options)
    assert [error.message for error in parsed.errors] == [
        "use of undeclared identifier 'undeclared_function'"
    ]


def test_an_argument_alone_on_its_line_is_no_macro(options: ParseOptions) -> None:
    text = """
static void end(
    void *data,
    int how
) {
  if (how) free(data);
}
static void drop(void *data) {
  end(
    data,
    RELEASE_NOW
  );
}
"""
    _, drop = read(text, options).functions
    (call,) = (one for block in drop.blocks for one in block.operations if isinstance(one, Call))
    assert [render(argument.value) for argument in call.arguments] == ["data", "RELEASE_NOW"]


def test_a_name_behind_a_statement_is_a_check(options: ParseOptions) -> None:
    text = """
#include <missing/helpers.h>
void f(size_t n) {
    int *a; cudaMalloc(&a, n); CHECK_LAST
    int *b; cudaMalloc(&b, n); CHECK_LAST
    cudaFree(a);
    CHECK_LAST;
    cudaFree(b); CHECK_LAST
}
"""
    (f,) = read(text, options).functions
    calls = [one.name for block in f.blocks for one in block.operations if isinstance(one, Call)]
    assert calls == [
        "cudaMalloc",
        "cudalint_check",
        "cudaMalloc",
        "cudalint_check",
        "cudaFree",
        "cudalint_check",
        "cudaFree",
        "cudalint_check",
    ]


def test_an_object_of_unknown_class_is_returned_itself(options: ParseOptions) -> None:
    """A handle whose header only a header of the project includes, and both are missing."""
    text = """#include "project/ranks.hpp"
void check(ncclResult_t result);
ncclComm_t joined(int count, ncclUniqueId id, int rank) {
    ncclComm_t ranks;
    check(ncclCommInitRank(&ranks, count, id, rank));
    return ranks;
}
ncclComm_t copied(ncclComm_t& ranks) { return ranks; }
"""
    ends = {
        function.name: block.terminator.value
        for function in read(text, options).functions
        for block in function.blocks
        if isinstance(block.terminator, Return)
    }
    assert {name: render(value) for name, value in ends.items() if value is not None} == {
        "joined": "ranks",
        "copied": "%1",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{ X { free(p); }; }", "#define X cudalint_X = [&]"),
        ("{ X { if (p) { free(p); } }; }", "#define X cudalint_X = [&]"),
        ("{ X(&p) { free(p); } X_END }", "#define X(...) cudalint_X = [&]"),
        ("{ X { free(p); } }", ""),
        ("{ X(p, q) { free(p); } }", ""),
        ("{ X {1, 2}; }", ""),
        ("int f() X { return 1; };", ""),
    ],
)
def test_a_name_before_a_block_that_ends_as_an_expression_keeps_it(
    text: str, expected: str
) -> None:
    error = "use of undeclared identifier 'X'"
    found = declared(text, error)
    assert ("= [&]" in found) == bool(expected) and expected in found
    assert "= [&]" not in declared(text, error, is_c=True)


def test_a_name_behind_a_block_ends_it() -> None:
    error = "use of undeclared identifier 'X_END'"
    assert declared("{ X(&p) { free(p); } X_END\n }", error) == "#define X_END ;"


def test_a_call_in_a_known_namespace_is_no_declaration(options: ParseOptions) -> None:
    text = """
#include "vendor/release.h"
namespace vendor {
typedef int count;
struct Pool { template <class T> static void add(T); };
}
void end(float *p, float **all, int i) {
  vendor::release(p);
  vendor::release(*all);
  vendor::Pool::release(all[i]);
  vendor::count(known);
}
"""
    program = read(text, options)
    calls = [
        f"{one.name} {render(one.arguments[0].value)}"
        for function in program.functions
        for block in function.blocks
        for one in block.operations
        if isinstance(one, Call)
    ]
    assert calls == ["vendor::release p", "vendor::release *all", "vendor::Pool::release all[i]"]


def test_no_type_of_what_is_declared_already() -> None:
    names = Undeclared("returm made;", True)
    assert names.learn([("use of undeclared identifier 'returm'", 1, 1)])
    message = "redefinition of 'made' with a different type: 'returm' (aka 'struct returm') vs 'X'"
    assert names.learn([(message, 1, 8)])
    assert names.declarations() == ""


def test_a_function_of_an_unknown_namespace_keeps_its_name(options: ParseOptions) -> None:
    """`gpu::free` of a missing header is not C's `free`."""
    program = read(
        '#include "missing.hpp"\n#include <string>\n'
        "int take(std::string kind, float* values) {\n"
        "    store::gpu::sync();\n    store::gpu::free(nullptr, values);\n    return 0;\n}\n",
        options,
    )
    blocks = [block for function in program.functions for block in function.blocks]
    called = {one.name for block in blocks for one in block.operations if isinstance(one, Call)}
    assert called == {"store::gpu::sync", "store::gpu::free"}


def test_a_cast_to_an_unknown_type_makes_no_object(options: ParseOptions) -> None:
    casts = ("(Handle)held", "static_cast<Handle>(held)", "Owner(held)")
    body = "".join(f"end({cast}); " for cast in casts)
    (function,) = read(f"void f(void* held) {{ {body}}}", options).functions
    ends = [
        render(operation.arguments[0].value)
        for block in function.blocks
        for operation in block.operations
        if isinstance(operation, Call) and operation.name == "end"
    ]
    assert ends[:2] == ["held", "held"]
    assert ends[2] != "held"


@pytest.mark.parametrize(
    ("text", "is_head"),
    [
        ('X("a", "[b]") { f(); }', True),
        ("X(Suite, Name)\n{\n f();\n}", True),
        ("namespace a {\nX(b::C<int, 3>) { f(); }\n}", True),
        ("X() { f(); }\nX() { g(); }", True),
        ("X(kernel, float *values, int n) { f(); }", False),
        ("X(one)\nX(two) { f(); }", False),
        ("X(one) { f(); }\nint g() { return X(3); }", False),
    ],
)
def test_a_name_that_stands_for_the_head_of_a_function(text: str, is_head: bool) -> None:
    row = text[: text.index("X")].count("\n") + 1
    for is_c in (False, True):
        names = Undeclared(text, is_c)
        names.learn([("a type specifier is required for all declarations", row, 1)])
        assert ("#define X(...)" in names.declarations()) == (is_head and not is_c)


def test_an_old_main_has_no_type() -> None:
    names = Undeclared("main(argc, argv) { return 0; }", is_c=False)
    assert not names.learn([("a type specifier is required for all declarations", 1, 1)])


def test_what_no_type_is_may_be_missed_as_a_value_yet(options: ParseOptions) -> None:
    text = """
#include <cuda_runtime.h>
MODULE(example, m) {
    m.def("kept", [](int n) { void *block; cudaMalloc(&block, n); });
}
"""
    program = read(text, options)
    assert sorted(functions(program)) == ["MODULE", "MODULE::<lambda>"]
    assert lost(program) == []


def test_an_object_of_unknown_class_has_elements_where_it_is_gone_through(
    options: ParseOptions,
) -> None:
    text = """
#include <cuda_runtime.h>
void all(const Table &table, bench::State &state) {
    for (const auto &item : table) {
        void *block;
        cudaMalloc(&block, 4);
    }
    for (Item *item : table) cudaFree(item);
    for (auto _ : state) cudaDeviceSynchronize();
}
"""
    program = read(text, options)
    (function,) = program.functions
    called = [
        (one.name, one.span.row)
        for block in function.blocks
        for one in block.operations
        if isinstance(one, Call) and one.name.startswith("cuda")
    ]
    assert sorted(called) == [
        ("cudaDeviceSynchronize", 9), ("cudaFree", 8), ("cudaMalloc", 6),
    ]  # fmt: skip
    assert lost(program) == []
