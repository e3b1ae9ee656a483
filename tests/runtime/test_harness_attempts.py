"""What harnesses try before they give up: other arguments, objects, orders of calls, sizes."""

from __future__ import annotations

import dataclasses
import textwrap
from pathlib import Path

import pytest

from cudalint.findings.finding import Finding
from cudalint.findings.verdict import Outcome, Verdict
from cudalint.project.compile_commands import CompileFlags
from cudalint.runtime.confirm import ConfirmOptions, confirm
from cudalint.runtime.devices import Simulated
from cudalint.runtime.harness.making import HarnessOptions
from cudalint.runtime.sweep import Budget
from tests.runtime.test_confirm import Case
from tests.runtime.test_harness import verdict


@pytest.fixture(autouse=True)
def _needs(compiler: Path) -> None:
    """All of these build programs."""


def judged(case: Case, finding: Finding, flags: CompileFlags, cache: Path) -> Verdict:
    """The verdict of a harness alone."""
    options = ConfirmOptions(
        Simulated(), Budget(120.0), seconds=20.0, cache=cache,
        harnesses=HarnessOptions(lambda sources: flags),
    )  # fmt: skip
    found = confirm([dataclasses.replace(finding, function="")], (), options).findings[0].runtime
    assert found is not None
    return found


def released_again(folder: Path, text: str) -> Verdict:
    """The verdict on a second release, after that of the line with ``STEP``."""
    case = Case(folder, text)
    return judged(case, case.finding("GPU201", STEP="released"), CompileFlags(), folder / "cache")


COMPARED = """
#include <cassert>
enum Kind {{ none, sparse }};
struct Options {{ int direction; int sizes[2]; }};
struct Plan {{ Options options; int type; }};
int work(Plan *plan, Kind kind, char side) {{
    assert(plan->options.direction == 2);
    if (kind != sparse || side != 'L' || plan->options.sizes[1] < 8) return 1;
    void *p = nullptr;
    switch (plan->type) {{
        case 1: return 3;
        case 7: cudaMalloc(&p, 64);  // HERE
    }}
    {release}
    return 0;
}}
"""


@pytest.mark.parametrize(
    ("release", "outcome"), [("", Outcome.CONFIRMED), ("cudaFree(p);", Outcome.REFUTED)]
)
def test_what_arguments_are_compared_with_is_tried(
    tmp_path: Path, release: str, outcome: Outcome
) -> None:
    found = verdict(tmp_path, COMPARED.format(release=release), "GPU101")
    assert found.outcome is outcome, found


AGAIN = """
class Buffer {{
public:
    explicit Buffer(int n) : n_(n) {{ cudaMalloc(&data_, n_); }}
    ~Buffer() {{
        cudaFree(data_);  // HERE
    }}
    void resize(int n) {{
        cudaFree(data_);  // STEP
        {renew}
    }}
private:
    int n_;
    void *data_ = nullptr;
}};
"""


@pytest.mark.parametrize(
    ("renew", "outcome"),
    [
        ("n_ = n;", Outcome.CONFIRMED),
        ("data_ = nullptr; cudaMalloc(&data_, n);", Outcome.REFUTED),
    ],
)
def test_methods_that_a_finding_tells_of_are_called_first(
    tmp_path: Path, renew: str, outcome: Outcome
) -> None:
    found = released_again(tmp_path, AGAIN.format(renew=renew))
    assert found.outcome is outcome, found


BY_OTHERS = """
class Buffer {{
public:
    Buffer() {{}}
    explicit Buffer(int n) : n_(n) {{}}
    void fill() {{
        if (n_ == 0) return;
        void *p = nullptr;
        cudaMalloc(&p, n_);  // HERE
        {release}
    }}
private:
    int n_ = 0;
}};
"""


@pytest.mark.parametrize(
    ("release", "outcome"), [("", Outcome.CONFIRMED), ("cudaFree(p);", Outcome.REFUTED)]
)
def test_other_constructors_are_tried(tmp_path: Path, release: str, outcome: Outcome) -> None:
    found = verdict(tmp_path, BY_OTHERS.format(release=release), "GPU101")
    assert found.outcome is outcome, found


ENDS = """
#include <cstdlib>
void work(const float *in, int n) {
    void *p = nullptr;
    cudaMalloc(&p, 64);  // HERE
    if (n < 1000000) exit(2);
    cudaFree(p);
}
"""


def test_a_function_that_ends_the_program_proves_nothing(tmp_path: Path) -> None:
    found = verdict(tmp_path, ENDS, "GPU101")
    assert found.outcome is Outcome.NOT_REACHED, found
    assert "ends the program" in found.reason


RENAMED = """
#include "names.h"
int SPREAD(int n);
void work(int n) {{
    void *p = nullptr;
    cudaMalloc(&p, 64);  // HERE
    if (SPREAD(n) > 0) {release}
}}
"""


@pytest.mark.parametrize(
    ("release", "outcome"), [("return;", Outcome.CONFIRMED), ("cudaFree(p);", Outcome.REFUTED)]
)
def test_a_function_that_a_macro_names(tmp_path: Path, release: str, outcome: Outcome) -> None:
    (tmp_path / "names.h").write_text("#define SPREAD spread_double\n")
    (tmp_path / "spread.cpp").write_text('#include "names.h"\nint SPREAD(int n) { return 1; }\n')
    found = verdict(tmp_path, RENAMED.format(release=release), "GPU101")
    assert found.outcome is outcome, found


THROWING = """
#include <stdexcept>
class Buffer {{
public:
    explicit Buffer(int n) : n_(n) {{ cudaMalloc(&data_, n_); }}
    ~Buffer() {{
        if (cudaSetDevice(0) != cudaSuccess) throw std::runtime_error("gone");
        cudaFree(data_);  // HERE
    }}
    void resize(int n) {{
        cudaFree(data_);  // STEP
        {renew}
    }}
private:
    int n_;
    void *data_ = nullptr;
}};
"""


@pytest.mark.parametrize(
    ("renew", "outcome"), [("n_ = n;", Outcome.CONFIRMED), ("data_ = nullptr;", Outcome.REFUTED)]
)
def test_a_destructor_that_throws_ends_the_program(
    tmp_path: Path, renew: str, outcome: Outcome
) -> None:
    found = released_again(tmp_path, THROWING.format(renew=renew))
    assert found.outcome is outcome, found


NEEDS_MORE = """
#include <fstream>
#include <stdexcept>
#include <string>
struct Solver {{
    explicit Solver(const char *input) : input_(input) {{}}
    ~Solver() {{ if (!ready_) throw std::runtime_error("nothing to destroy"); }}
    void init(const std::string &table) {{
        if (!std::ifstream(input_).good() || !std::ifstream(table).good()) throw 3;
        ready_ = true;
    }}
    void init_tables(const float *from) {{
        if (!ready_) throw 4;
        void *p = nullptr;
        cudaMalloc(&p, 64 << 20);  // HERE
        if (cudaMemcpy(p, from, 64 << 20, cudaMemcpyHostToDevice) != cudaSuccess) throw 5;
        {release}
    }}
    const char *input_;
    bool ready_ = false;
}};
"""


@pytest.mark.parametrize(
    ("release", "outcome"), [("", Outcome.CONFIRMED), ("cudaFree(p);", Outcome.REFUTED)]
)
def test_files_room_and_what_prepares_another_method(
    tmp_path: Path, release: str, outcome: Outcome
) -> None:
    found = verdict(tmp_path, NEEDS_MORE.format(release=release), "GPU101")
    assert found.outcome is outcome, found


def test_what_calls_the_method_itself_does_not_prepare_it(tmp_path: Path) -> None:
    text = """
        class Solver {
        public:
            ~Solver() { cudaFree(data_); }
            void init(int size) { ready_ = true; grow(size); }
            void grow(int size) {
                if (!ready_) return;
                cudaMalloc(&data_, size);  // HERE
            }
        private:
            bool ready_ = false;
            void *data_ = nullptr;
        };
        """
    found = verdict(tmp_path, textwrap.dedent(text), "GPU105")
    assert found.outcome is not Outcome.CONFIRMED, found


CHECKED_ELSEWHERE = """
#pragma once
#include <parts/check.h>
inline void work() {{
    void *p = nullptr;
    tools::check(cudaMalloc(&p, 64));  // HERE
    {release}
}}
"""


@pytest.mark.parametrize(
    ("release", "outcome"), [("", Outcome.CONFIRMED), ("cudaFree(p);", Outcome.REFUTED)]
)
def test_sources_in_another_folder_than_their_headers(
    tmp_path: Path, release: str, outcome: Outcome
) -> None:
    timing, parts, sources = (
        tmp_path / name for name in ("include/timing", "include/parts", "lib/parts")
    )
    for folder in (timing, parts, sources):
        folder.mkdir(parents=True)
    (parts / "check.h").write_text("namespace tools { void check(int status); }\n")
    (sources / "another.cpp").write_text("int check(int) { return 1; }\n#error not this one\n")
    (sources / "check.cpp").write_text(
        "#include <parts/check.h>\n#include <stdexcept>\nnamespace tools {\n"
        'void check(int status) { if (status) throw std::runtime_error("status"); }\n}\n'
    )
    case = Case(timing, CHECKED_ELSEWHERE.format(release=release), "timer.cuh")
    flags = CompileFlags(include_folders=(str(tmp_path / "include"),))
    found = judged(case, case.finding("GPU101"), flags, tmp_path / "cache")
    assert found.outcome is outcome, found


def test_sources_that_do_not_fit_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "shared.h").write_text("int sizes();\nint others();\n")
    (tmp_path / "a.cpp").write_text("int sizes() { return none; }\n")
    (tmp_path / "b.cpp").write_text("int sizes() { return 64; }\nint more() { return 1; }\n")
    (tmp_path / "c.cpp").write_text("int others() { return 1; }\nint more() { return 2; }\n")
    text = """
        #include "shared.h"
        int others();
        void work() {
            void *p = nullptr;
            cudaMalloc(&p, sizes());  // HERE
        }
        """
    found = verdict(tmp_path, textwrap.dedent(text), "GPU101")
    assert found.outcome is Outcome.CONFIRMED, found


LOADED = """
#include <cuda.h>
int work(const char *kernels) {{
    CUmodule module;
    CUfunction function;
    if (cuModuleLoad(&module, kernels) != CUDA_SUCCESS) return 1;  // HERE
    int status = cuModuleGetFunction(&function, module, "kernel");
    {release}
    return status;
}}
"""


@pytest.mark.parametrize(
    ("release", "outcome"),
    [("", Outcome.CONFIRMED), ("cuModuleUnload(module);", Outcome.REFUTED)],
)
def test_a_file_that_has_a_module_in_it(tmp_path: Path, release: str, outcome: Outcome) -> None:
    found = verdict(tmp_path, LOADED.format(release=release), "GPU101")
    assert found.outcome is outcome, found


BY_ANOTHER = """
class Solver {{
public:
    void load() {{
        if (!allowed_) throw 3;
        void *p = nullptr;
        cudaMalloc(&p, 64);  // HERE
        {release}
    }}
    void start(int n) {{ allowed_ = n > 0; load(); }}
private:
    bool allowed_ = false;
}};
"""


@pytest.mark.parametrize(
    ("release", "outcome"), [("", Outcome.CONFIRMED), ("cudaFree(p);", Outcome.REFUTED)]
)
def test_what_calls_a_function_is_tried_too(tmp_path: Path, release: str, outcome: Outcome) -> None:
    found = verdict(tmp_path, BY_ANOTHER.format(release=release), "GPU101")
    assert found.outcome is outcome, found
    said = found.reason or found.evidence[0].run
    assert "`Solver::start`" in said


COMPUTED = """
#include <cublas_v2.h>
void work(cublasHandle_t handle) {{
    float *p = nullptr, *q = nullptr, factor = 2;
    int count = 0;
    cudaMalloc((void **)&p, 4);
    cudaMalloc((void **)&q, 4);  // HERE
    cublasSscal(handle, 1, &factor, p, 1);
    cudaMemcpy(&count, p, 4, cudaMemcpyDeviceToHost);
    cudaFree(p);
    {release}
    if (count == 0) throw 3;
}}
"""


@pytest.mark.parametrize(
    ("release", "outcome"),
    [
        ("", Outcome.CONFIRMED),
        ("cudaFree(q);", Outcome.REFUTED),
        ("if (count != 0x01010101) cudaFree(q);", Outcome.NOT_REACHED),
    ],
)
def test_what_a_kernel_should_have_computed_is_varied(
    tmp_path: Path, release: str, outcome: Outcome
) -> None:
    found = verdict(tmp_path, COMPUTED.format(release=release), "GPU101")
    assert found.outcome is outcome, found


SWITCHED = """
#include <cstdlib>
#include <stdexcept>
inline void check(cudaError_t status) {{
    if ({throws}) throw std::runtime_error("gone");
    if (status != cudaSuccess) exit(1);
}}
void work() {{
    cudaStream_t s;
    check(cudaStreamCreate(&s));  // HERE
    check(cudaStreamSynchronize(s));  // FAILS
    cudaStreamDestroy(s);
}}
"""


@pytest.mark.parametrize(
    ("throws", "outcome"),
    [("status == cudaErrorUnknown", Outcome.CONFIRMED), ("false", Outcome.REFUTED)],
)
def test_a_program_that_ends_of_most_errors_and_throws_of_some(
    tmp_path: Path, throws: str, outcome: Outcome
) -> None:
    case = Case(tmp_path, SWITCHED.format(throws=throws))
    finding = case.finding("GPU106", FAILS="`cudaStreamSynchronize` fails")
    found = judged(case, finding, CompileFlags(), tmp_path / "cache")
    assert found.outcome is outcome, found


CLOSED = """
#include <memory>
#include <string>
class Model {{
    friend class Models;
protected:
    Model(const std::string &name, const Model &other) : size_(other.size_), name_(name) {{}}
    explicit Model(const std::string &name) : size_(64), name_(name) {{}}
public:
    int size_;
    std::string name_;
}};
class Part {{
    friend class Models;
protected:
    explicit Part(std::shared_ptr<const Model> model) : size_(model->size_) {{}}
public:
    int size_;
}};
void work(const Part &part, std::unique_ptr<int> none, const cudaStream_t stream) {{
    void *p = nullptr;
    cudaMallocAsync(&p, part.size_, stream);  // HERE
    {release}
}}
"""


@pytest.mark.parametrize(
    ("release", "outcome"), [("", Outcome.CONFIRMED), ("cudaFree(p);", Outcome.REFUTED)]
)
def test_what_only_friends_construct_and_what_is_behind_smart_pointers(
    tmp_path: Path, release: str, outcome: Outcome
) -> None:
    found = verdict(tmp_path, CLOSED.format(release=release), "GPU101")
    assert found.outcome is outcome, found


def test_a_class_that_nobody_constructs(tmp_path: Path) -> None:
    text = """
        class Model {
            Model() {}
            friend class Models;
        };
        void work(const Model &model) {
            void *p = nullptr;
            cudaMalloc(&p, 64);  // HERE
        }
        """
    found = verdict(tmp_path, textwrap.dedent(text), "GPU101")
    assert found.outcome is Outcome.NOT_RUNNABLE, found
    assert "`Model` has no public constructor" in found.reason
