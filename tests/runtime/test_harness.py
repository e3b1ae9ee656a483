"""Proof without a ``main``: what harnesses confirm, refute, and rightly say nothing of."""

from __future__ import annotations

import dataclasses
import textwrap
from pathlib import Path

import pytest

from cudalint.findings.verdict import Outcome, Verdict
from cudalint.runtime.confirm import ConfirmOptions, confirm
from cudalint.runtime.devices import Simulated
from cudalint.runtime.harness.making import HarnessOptions
from cudalint.runtime.sweep import Budget
from cudalint.runtime.targets import targets_of
from cudalint.source import Span
from tests.runtime.test_confirm import Case


@pytest.fixture(autouse=True)
def _needs(compiler: Path) -> None:
    """All of these build programs."""


def verdict(
    folder: Path, text: str, code: str = "GPU102", keep: Path | None = None, *, harness: bool = True
) -> Verdict:
    case = Case(folder, text)
    steps = {"FAILS": "`cudaMalloc` fails"} if "FAILS" in text else {}
    options = ConfirmOptions(
        Simulated(), Budget(120.0), seconds=20.0, cache=folder / "cache",
        harnesses=HarnessOptions(keep=keep) if harness else None,
    )  # fmt: skip
    finding = dataclasses.replace(case.finding(code, **steps), function="")
    found = confirm([finding], targets_of([case.file]), options).findings[0].runtime
    assert found is not None
    return found


EARLY = """
#include <string>
#include <vector>
struct Shape {{ int rows; float *values; }};
struct Name {{
    explicit Name(const std::string &text) : text_(text) {{}}
    std::string text_;
}};
{where}bool copy(const float *in, std::vector<float> &out, Shape shape, cudaStream_t stream,
          Name name) {{
    void *p = nullptr, *q = nullptr;
    if (in == nullptr || shape.rows <= 0 || name.text_.empty()) return false;
    if (cudaMalloc(&p, shape.rows * sizeof(float)) != cudaSuccess) return false;  // HERE
    if (cudaMalloc(&q, 512) != cudaSuccess) {{  // FAILS
        {release}
        return false;
    }}
    cudaMemcpyAsync(p, in, shape.rows * sizeof(float), cudaMemcpyHostToDevice, stream);
    cudaMemcpy(out.data(), p, out.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(q);
    cudaFree(p);
    return true;
}}
"""


@pytest.mark.parametrize("where", ["", "static "])
def test_a_function_that_no_program_calls(tmp_path: Path, where: str) -> None:
    found = verdict(tmp_path, EARLY.format(where=where, release=""))
    assert found.outcome is Outcome.CONFIRMED, found
    assert found.evidence[0].run.startswith("harness of `copy`, cudaMalloc at ")


def test_its_good_twin_is_refuted(tmp_path: Path) -> None:
    found = verdict(tmp_path, EARLY.format(where="", release="cudaFree(p);"))
    assert found.outcome is Outcome.REFUTED, found
    assert found.reason.startswith("harness of `copy`: its path ran")


CLASS = """
class Buffer {{
public:
    explicit Buffer(int count) : count_(count) {{}}
    ~Buffer() {{ {destructor} }}
    void fill() {{ allocate(); cudaMemset(data_, 0, count_); }}
    {method}
private:
    void allocate() {{ cudaMalloc(&data_, count_); }}  // HERE
    int count_;
    void *data_ = nullptr;
}};
"""


def test_a_private_method_is_called_by_a_public_one(tmp_path: Path) -> None:
    found = verdict(tmp_path, CLASS.format(destructor="", method=""), "GPU105")
    assert found.outcome is Outcome.CONFIRMED, found
    assert found.evidence[0].run == "harness of `Buffer::fill`, without faults"


@pytest.mark.parametrize(
    ("destructor", "method"),
    [("cudaFree(data_);", ""), ("", "void release() { cudaFree(data_); data_ = nullptr; }")],
)
def test_a_class_that_releases(tmp_path: Path, destructor: str, method: str) -> None:
    text = CLASS.format(destructor=destructor, method=method)
    found = verdict(tmp_path, text, "GPU105")
    assert found.outcome is Outcome.REFUTED, found


@pytest.mark.parametrize(
    "text",
    [
        "float *make(int n) { float *p = nullptr; cudaMalloc((void **)&p, n); return p; }  // HERE",
        "void make(float **p, int n) { cudaMalloc((void **)p, n); }  // HERE",
        "struct All { void *p; };\nvoid make(All &all, int n) { cudaMalloc(&all.p, n); }  // HERE",
        "struct All { float *p; void make(int n) { cudaMalloc((void **)&p, n); } };  // HERE",
    ],
)
def test_what_the_caller_gets_is_not_lost(tmp_path: Path, text: str) -> None:
    found = verdict(tmp_path, text + "\n", "GPU101")
    assert found.outcome is Outcome.KEPT, found
    assert "held at the end" in found.reason
    failing = verdict(tmp_path, text + "\n", "GPU102")
    assert failing.outcome is Outcome.NOT_REACHED, failing


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("void give_back(void *p) { cudaFreeHost(p); }  // HERE", "GPU203"),
        ("void twice(void *p) { cudaFree(p); cudaFree(p); }  // HERE", "GPU201"),
        ("void copy(float *to, const float *from, int n) {\n"
         "    cudaMemcpy(to, from, size_t(n) << 20, cudaMemcpyDefault); }  // HERE", "GPU405"),
    ],
)  # fmt: skip
def test_what_is_wrong_only_with_its_own_blocks(tmp_path: Path, text: str, code: str) -> None:
    found = verdict(tmp_path, text + "\n", code)
    assert found.outcome is not Outcome.CONFIRMED, found


NONSENSE = """
void work(const float *in, int n) {
    void *p = nullptr;
    if (cudaMalloc(&p, 64) != cudaSuccess) return;  // HERE
    if (n < 0 || in == nullptr) return;
    cudaFree(p);
}
"""


def test_what_only_nonsense_shows(tmp_path: Path) -> None:
    found = verdict(tmp_path, NONSENSE, "GPU102")
    assert found.outcome is Outcome.NOT_REACHED, found
    assert "only sizes of nothing" in found.reason


CHECKED = """
bool work(int n) {
    void *p = nullptr;
    if (cudaMalloc(&p, 64) != cudaSuccess) return false;  // HERE
    if (n == 128) return false;
    return cudaFree(p) == cudaSuccess;
}
"""


def test_sizes_that_the_code_asks_for_are_tried(tmp_path: Path) -> None:
    assert verdict(tmp_path, CHECKED).outcome is Outcome.CONFIRMED


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("struct Gone;\nvoid work(Gone &g) { void *p; cudaMalloc(&p, 8); }  // HERE", "Gone"),
        ("void work(int &(*f)()) { void *p; cudaMalloc(&p, 8); }  // HERE", "a function that"),
        ("class A { void work() { void *p; cudaMalloc(&p, 8); } };  // HERE", "not public"),
        ("#include <nowhere.h>\nvoid work() { void *p; cudaMalloc(&p, 8); }  // HERE", "build"),
        ("void *p = nullptr;  // HERE", "no function"),
    ],
)
def test_no_harness_says_why(tmp_path: Path, text: str, reason: str) -> None:
    found = verdict(tmp_path, text + "\n", "GPU101")
    assert found.outcome is Outcome.NOT_RUNNABLE
    assert found.reason.startswith("no harness: ")
    assert reason in found.reason


LEAK = "{}\nvoid work() {{ void *p; cudaMalloc(&p, 8); {} }}  // HERE\n"


@pytest.mark.parametrize("ending", ["missing();", "abort();", "*(volatile int *)0 = 0;"])
def test_a_function_that_does_not_survive_proves_nothing(tmp_path: Path, ending: str) -> None:
    found = verdict(tmp_path, LEAK.format("void missing();", ending), "GPU101")
    assert found.outcome is Outcome.NOT_REACHED, found
    assert "does not come to its end" in found.reason


def test_a_main_that_does_not_call_it(tmp_path: Path) -> None:
    text = LEAK.format("", "") + "int main() { cudaFree(nullptr); }\n"
    assert verdict(tmp_path, text, "GPU101").outcome is Outcome.CONFIRMED
    without = verdict(tmp_path, text, "GPU101", harness=False)
    assert without.outcome is Outcome.NOT_REACHED


def test_it_is_kept_to_be_read(tmp_path: Path) -> None:
    found = verdict(tmp_path, LEAK.format("", ""), "GPU101", keep=tmp_path / "kept")
    assert found.outcome is Outcome.CONFIRMED
    (file,) = (tmp_path / "kept").iterdir()
    assert file.name == "program_work.cpp"
    assert "::work();" in file.read_text()


def test_a_template_is_called_with_numbers(tmp_path: Path) -> None:
    text = """
        template <typename T, int N> void work(const T *in, T scale) {
            T *p = nullptr;
            cudaMalloc((void **)&p, N * sizeof(T));  // HERE
        }
        """
    found = verdict(tmp_path, textwrap.dedent(text), "GPU101")
    assert found.outcome is Outcome.CONFIRMED, found


def test_a_pointer_to_a_function(tmp_path: Path) -> None:
    text = """
        #include <functional>
        bool work(int (*ask)(const char *), std::function<bool(int)> tell, void (*done)()) {
            void *p = nullptr;
            cudaMalloc(&p, 64);  // HERE
            done();
            return ask("size") == 0 && !tell(3);
        }
        """
    found = verdict(tmp_path, textwrap.dedent(text), "GPU101")
    assert found.outcome is Outcome.CONFIRMED, found


def test_a_struct_that_points_to_its_own_kind(tmp_path: Path) -> None:
    text = """
        struct Block;
        struct Grid { int size; Block *first; };
        struct Block { int size; Block *next; Grid *grid; };
        int work(Block *one) {
            int n = 0;
            for (; one; one = one->next) n += one->grid->size;
            void *p = nullptr;
            cudaMalloc(&p, 64);  // HERE
            return n;
        }
        """
    found = verdict(tmp_path, textwrap.dedent(text), "GPU101")
    assert found.outcome is Outcome.CONFIRMED, found


ABSTRACT = """
struct Source {{
    virtual ~Source() {{}}
    virtual int size() const = 0;
    void *load() {{
        void *p = nullptr;
        cudaMalloc(&p, size());  // HERE
        {release}
        return nullptr;
    }}
}};
{derived}
void work(Source &source) {{ source.load(); }}
"""
DERIVED = """
struct Fixed : Source {
    explicit Fixed(int n) : n_(n) {}
    int size() const override { return n_; }
    int n_;
};
"""


def test_an_abstract_class_is_that_which_derives_from_it(tmp_path: Path) -> None:
    lost = ABSTRACT.format(release="", derived=DERIVED)
    assert verdict(tmp_path, lost, "GPU101").outcome is Outcome.CONFIRMED
    good = ABSTRACT.format(release="cudaFree(p);", derived=DERIVED)
    assert verdict(tmp_path, good, "GPU101").outcome is Outcome.REFUTED


PREPARED = """
class Solver {{
public:
    {init}
    bool step() {{
        if (!ready_) return false;
        void *p = nullptr;
        cudaMalloc(&p, 64);  // HERE
        return true;
    }}
private:
    bool ready_ = false;
}};
"""


@pytest.mark.parametrize(
    ("init", "outcome"),
    [
        ("bool init(int size) { ready_ = size > 0; return ready_; }", Outcome.CONFIRMED),
        ("bool other(int size) { ready_ = size > 0; return ready_; }", Outcome.NOT_REACHED),
    ],
)
def test_an_object_that_must_be_prepared(tmp_path: Path, init: str, outcome: Outcome) -> None:
    found = verdict(tmp_path, PREPARED.format(init=init), "GPU101")
    assert found.outcome is outcome, found


FACTORY = """
struct Engine {{ float *weights; float *scratch; }};
Engine *engine_create(int n) {{
    Engine *engine = new Engine();
    cudaMalloc((void **)&engine->weights, n);
    cudaMalloc((void **)&engine->scratch, n);  // HERE
    return engine;
}}
void engine_destroy(Engine *engine) {{
    cudaFree(engine->weights);
    {release}
    delete engine;
}}
"""


@pytest.mark.parametrize(
    ("release", "outcome"),
    [("", Outcome.CONFIRMED), ("cudaFree(engine->scratch);", Outcome.REFUTED)],
)
def test_what_a_factory_makes_is_destroyed(tmp_path: Path, release: str, outcome: Outcome) -> None:
    found = verdict(tmp_path, FACTORY.format(release=release), "GPU105")
    assert found.outcome is outcome, found


def test_a_header_that_counts_on_those_before_it(tmp_path: Path) -> None:
    (tmp_path / "sizes.h").write_text("struct Sizes { int n; };\n")
    header = tmp_path / "work.h"
    text = "inline void work(Sizes sizes) {\n    void *p;\n    cudaMalloc(&p, sizes.n);\n}\n"
    header.write_text(text)
    head = '#include <cuda_runtime_api.h>\n#include "sizes.h"\n'
    (tmp_path / "work.cpp").write_text(f'{head}#include "work.h"\n')
    case = Case(tmp_path, LEAK.format("", ""))
    finding = dataclasses.replace(
        case.finding("GPU101"), filename=str(header), span=Span(3, 1, 3, 30)
    )
    options = ConfirmOptions(
        Simulated(), Budget(120.0), seconds=20.0, cache=tmp_path / "cache",
        harnesses=HarnessOptions(),
    )  # fmt: skip
    found = confirm([finding], (), options).findings[0].runtime
    assert found is not None
    assert found.outcome is Outcome.CONFIRMED, found


def test_a_setting_is_tried_both_ways(tmp_path: Path) -> None:
    text = """
        #include <cstdlib>
        void work(int n) {
            void *p = nullptr;
            cudaMalloc(&p, n);  // HERE
            if (getenv("KEEP_IT")) return;
            cudaFree(p);
        }
        """
    found = verdict(tmp_path, textwrap.dedent(text))
    assert found.outcome is Outcome.CONFIRMED, found
    assert found.evidence[0].run.startswith("harness of `work`, getenv at ")
    assert found.evidence[0].run.endswith(" answers otherwise")


@pytest.mark.parametrize(
    ("header", "parameters", "check"),
    [
        ("cuda.h", "CUcontext c", "cuCtxSetCurrent(c) == CUDA_SUCCESS"),
        ("cuda.h", "CUdeviceptr c", "cuMemsetD8(c, 0, 64) == CUDA_SUCCESS"),
        ("cublas_v2.h", "cublasHandle_t c", "c != nullptr"),
        ("cublasLt.h", "cublasLtHandle_t c, cublasLtMatmulDesc_t d", "c && d"),
        ("cudnn.h", "cudnnHandle_t c, cudnnTensorDescriptor_t d", "c != nullptr && d != nullptr"),
        ("cufft.h", "cufftHandle c", "cufftDestroy(c) == CUFFT_SUCCESS"),
        ("nccl.h", "ncclComm_t *c", "ncclCommDestroy(*c) == ncclSuccess"),
    ],
)  # fmt: skip
def test_a_handle_is_acquired(tmp_path: Path, header: str, parameters: str, check: str) -> None:
    text = f"""
        #include <{header}>
        bool work({parameters}) {{
            if (!({check})) return false;
            void *p = nullptr;
            return cudaMalloc(&p, 8) == cudaSuccess;  // HERE
        }}
        """
    found = verdict(tmp_path, text, "GPU101")
    assert found.outcome is Outcome.CONFIRMED, found


def test_what_nobody_can_look_into_is_handed_on(tmp_path: Path) -> None:
    text = "struct Gone;\nvoid work(Gone *g) {{ void *p; cudaMalloc(&p, 8); {} }}  // HERE\n"
    assert verdict(tmp_path, text.format(""), "GPU101").outcome is Outcome.CONFIRMED
    assert verdict(tmp_path, text.format("cudaFree(p);"), "GPU101").outcome is Outcome.REFUTED
    asked = "void ask(Gone *); "
    text = text.replace("void work", f"{asked}\nvoid work").format("ask(g);")
    assert verdict(tmp_path, text, "GPU101").outcome is Outcome.NOT_REACHED


INTERFACE = """
struct Shape {{ int rows; void *data; }};
struct Base {{
    virtual ~Base() {{}}
    virtual int size() const = 0;
}};
struct Sink : Base {{
    virtual bool take(void *p) noexcept = 0;
    virtual void put(const Shape &shape) = 0;
    virtual int &count() = 0;
    virtual Sink *clone() const = 0;
    virtual void use(int n, cudaStream_t stream) = 0;
    int size() const override {{ return 8; }}
protected:
    explicit Sink(int n) {{}}
}};
struct Stage {{
    virtual ~Stage() {{ {destructor} }}
    virtual void start() = 0;
    void work(Sink &sink) {{
        start();
        if (sink.size() != 8) return;
        {does}
    }}
    void *own = nullptr;
}};
"""


@pytest.mark.parametrize(
    ("does", "outcome"),
    [
        ("void *p; cudaMalloc(&p, 8);  // HERE", Outcome.CONFIRMED),
        ("void *p; cudaMalloc(&p, 8); cudaFree(p); // HERE", Outcome.REFUTED),
        ("void *p; cudaMalloc(&p, 8); sink.take(p);  // HERE", Outcome.NOT_REACHED),
        ("void *p; cudaMalloc(&p, 8); sink.put({1, p});  // HERE", Outcome.NOT_REACHED),
        ("void *p; cudaMalloc(&p, 8); sink.count();  // HERE", Outcome.NOT_REACHED),
        ("void *p; cudaMalloc(&p, 8); sink.clone();  // HERE", Outcome.NOT_REACHED),
        ("cudaMalloc(&own, 8);  // HERE", Outcome.NOT_REACHED),
        ("cudaStream_t s; cudaStreamCreate(&s); sink.use(1, s);  // HERE", Outcome.CONFIRMED),
    ],
)
def test_what_derives_from_an_abstract_class_elsewhere(
    tmp_path: Path, does: str, outcome: Outcome
) -> None:
    found = verdict(tmp_path, INTERFACE.format(destructor="", does=does), "GPU101")
    assert found.outcome is outcome, found


@pytest.mark.parametrize("takes", ["void (*give)(void *)", "std::function<bool(void *)> give"])
def test_what_a_function_as_parameter_takes_over(tmp_path: Path, takes: str) -> None:
    text = f"""
        #include <functional>
        void work({takes}) {{
            void *p = nullptr;
            cudaMalloc(&p, 8);  // HERE
            give(p);
        }}
        """
    found = verdict(tmp_path, textwrap.dedent(text), "GPU101")
    assert found.outcome is Outcome.NOT_REACHED, found


def test_what_another_source_defines_is_linked(tmp_path: Path) -> None:
    (tmp_path / "shared.h").write_text("struct Pool { void give(void *); };\nint sizes();\n")
    (tmp_path / "pool.cpp").write_text(
        '#include "shared.h"\n#include <cuda_runtime_api.h>\n'
        "void Pool::give(void *p) { cudaFree(p); }\n"
    )
    (tmp_path / "other.cpp").write_text(
        '#include "shared.h"\nint sizes() { return 64; }\nvoid lost() { if (sizes()) {} }\n'
    )
    (tmp_path / "broken.cpp").write_text("int sizes() { return none; }\n")
    text = """
        #include "shared.h"
        void work(Pool &pool) {{
            void *p = nullptr;
            cudaMalloc(&p, sizes());  // HERE
            {}
        }}
        """
    found = verdict(tmp_path, textwrap.dedent(text.format("")), "GPU101")
    assert found.outcome is Outcome.CONFIRMED, found
    good = verdict(tmp_path, textwrap.dedent(text.format("pool.give(p);")), "GPU101")
    assert good.outcome is Outcome.REFUTED, good


def test_a_template_that_is_instantiated(tmp_path: Path) -> None:
    text = """
        #include <cassert>
        template <typename T> class Box {
        public:
            explicit Box(const int count);
            ~Box();
        private:
            void *data_;
        };
        template <typename T> Box<T>::Box(const int count) {
            cudaMalloc(&data_, count * sizeof(T));  // HERE
        }
        template <typename T> Box<T>::~Box() {}
        template class Box<double>;
        """
    found = verdict(tmp_path, textwrap.dedent(text), "GPU105")
    assert found.outcome is Outcome.CONFIRMED, found


def test_a_header_that_another_header_prepares(tmp_path: Path) -> None:
    header = tmp_path / "work.cuh"
    header.write_text("inline void work(Sizes s) {\n    void *p;\n    cudaMalloc(&p, s.n);\n}\n")
    (tmp_path / "all.h").write_text(
        '#include <cuda_runtime_api.h>\nstruct Sizes { int n; };\n#include "work.cuh"\n'
    )
    case = Case(tmp_path, LEAK.format("", ""))
    finding = dataclasses.replace(
        case.finding("GPU101"), filename=str(header), span=Span(3, 1, 3, 30)
    )
    options = ConfirmOptions(
        Simulated(), Budget(120.0), seconds=20.0, cache=tmp_path / "cache",
        harnesses=HarnessOptions(),
    )  # fmt: skip
    found = confirm([finding], (), options).findings[0].runtime
    assert found is not None
    assert found.outcome is Outcome.CONFIRMED, found


def test_what_older_toolkits_tell_of_a_device(tmp_path: Path) -> None:
    text = """
        #include <cuda_runtime.h>
        int work(cudaDeviceProp &about) {
            cudaGetDeviceProperties(&about, 0);
            void *p = nullptr;
            cudaMalloc(&p, 64);  // HERE
            return about.clockRate + about.computeMode;
        }
        """
    found = verdict(tmp_path, textwrap.dedent(text), "GPU101")
    assert found.outcome is Outcome.CONFIRMED, found


WAYS = """
bool work(int n, volatile bool *stop) {{
    void *p = nullptr;
    if (cudaMalloc(&p, n) != cudaSuccess) return false;  // HERE
    cudaError_t status = cudaMemset(p, 0, n);  // FAILS
    if (status != cudaSuccess) {{ cudaFree(p); return false; }}
    if ({asks}) {{
        {release}
        return false;  // OTHER
    }}
    return cudaFree(p) == cudaSuccess;
}}
"""


@pytest.mark.parametrize(
    ("asks", "outcome"),
    [
        ("cudaStreamSynchronize(0) != cudaSuccess", Outcome.REFUTED),
        ("stop[0]", Outcome.NOT_REACHED),
    ],
)
def test_each_way_out_that_is_named_must_be_taken(
    tmp_path: Path, asks: str, outcome: Outcome
) -> None:
    case = Case(tmp_path, WAYS.format(asks=asks, release="cudaFree(p);"))
    message = f"`p` is not released when `x` fails, nor on the way out at line {case.row('OTHER')}"
    finding = dataclasses.replace(
        case.finding("GPU102", FAILS="`cudaMemset` fails"), message=message, function=""
    )
    options = ConfirmOptions(
        Simulated(), Budget(120.0), seconds=20.0, cache=tmp_path / "cache",
        harnesses=HarnessOptions(),
    )  # fmt: skip
    found = confirm([finding], (), options).findings[0].runtime
    assert found is not None
    assert found.outcome is outcome, found
