"""How findings read, on short programs: names as the source has them, one system of units."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cudalint.cli import main
from cudalint.findings.finding import Step, from_the_top
from cudalint.source import Span

SOURCE = """#include <cuda.h>
#include <cuda_runtime.h>
template <int N> __global__ void tile(float* p) {
    __shared__ float cells[N];
    cells[threadIdx.x] = p[0];
    p[1] = cells[0];
}
void launch(float* p) { tile<64><<<1, 32>>>(p); tile<16384><<<1, 32>>>(p); }
__global__ void heap() { __shared__ char room[80000]; room[0] = 1; }
void driver(size_t n) {
    CUdeviceptr d;
    if (cuMemAlloc(&d, n) != CUDA_SUCCESS) return;
}
__global__ void work(float*);
void order() {
    float* d;
    cudaStream_t first, second;
    if (cudaStreamCreate(&first) || cudaStreamCreate(&second)) return;
    if (cudaMallocAsync((void**)&d, 1024, first) != cudaSuccess) return;
    work<<<1, 32, 0, first>>>(d);
    cudaFreeAsync(d, second);
}
int large() {
    float* d;
    if (cudaMalloc((void**)&d, 400000000000ull) != cudaSuccess) return 1;
    cudaFree(d);
    return 0;
}
void block(bool used, size_t n) {
    if (n > 3) {
        float* d;
        if (cudaMalloc((void**)&d, n) != cudaSuccess) return;
        if (used) cudaFree(d);
    }
}
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("messages")
    (folder / "a.cu").write_text(SOURCE)
    main([str(folder / "a.cu"), "--isolated", "--no-cache", "-o", str(folder / "report")])
    return (folder / "report").read_text()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            3,
            "`tile<16384>` declares 64 KiB of static shared memory; more than 48 KiB needs CUDA 13",
        ),
        (9, "`heap` declares 78.12 KiB of static shared memory; more than 48 KiB needs CUDA 13"),
        (12, "`d` (cuMemAlloc) is never released: no way out of `driver` calls cuMemFree"),
        (21, "`d` is freed on `second` while kernel work (line 20) may still use it on `first`"),
        (
            32,
            "`d` (cudaMalloc) is not released when its scope ends at line 34; line 33 releases it",
        ),
        (25, "cudaMalloc asks for 372.53 GiB for `d`, more than the 268.22 GiB of the largest"),
    ],
)
def test_messages(row: int, message: str, told: str) -> None:
    assert re.search(rf"a\.cu:{row}:\d+: .*{re.escape(message)}", told), told


def step(row: int, filename: str = "a.cu") -> Step:
    return Step(filename, Span(row, 1, row, 2), f"at {row}")


@pytest.mark.parametrize(
    ("path", "more", "shown"),
    [
        ([2, 5], [9, 3, 7], [2, 3, 5, 7, 9]),
        ([5, 2], [9, 3, 7], [5, 2, 3, 7, 9]),  # round a loop: as it runs
        ([], [4, 1], [1, 4]),
    ],
)
def test_steps_are_numbered_from_the_top(
    path: list[int], more: list[int], shown: list[int]
) -> None:
    assert [one.span.row for one in from_the_top(map(step, path), map(step, more))] == shown


def test_the_path_comes_first_where_it_leads_through_files() -> None:
    steps = from_the_top([step(9), step(3, "b.cu")], [step(1)])
    assert [one.span.row for one in steps] == [9, 3, 1]


def test_lost_code_reads_from_left_to_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.cu").write_text('#include "none.h"\n#define MODE\nMODE is not defined\nint x;\n')
    (tmp_path / "b.py").write_text("import cupy\nx = (\n")
    main([str(tmp_path), "--isolated", "--no-cache", "--output-format", "full"])
    out = capsys.readouterr().out
    assert "info: the header `none.h` was not found: what needs it was not read; nor was 1" in out
    assert "`MODE is not defined` was not read: unknown type name 'is'" in out
    assert "info: `x = (` was not read: invalid syntax (1 function read)" in out


def test_the_concise_report_leaves_out_the_advice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text(
        "import cupy\nimport numpy as np\n\n"
        "def send():\n    host = np.ones(100_000_000)\n    return cupy.asarray(host)\n"
    )
    advice = "; copy it in chunks of at most 256 MiB"
    for name, shown in (("concise", False), ("full", True), ("json-lines", True)):
        main([str(tmp_path), "--isolated", "--no-cache", "--output", name])
        told = capsys.readouterr().out
        assert "copies 762.94 MiB of `host` to the device at once" in told
        assert (advice in told) == shown


def test_what_failed_in_the_function_that_acquires_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.cu").write_text(
        """#include <cuda_runtime.h>
struct State { float* a; cudaStream_t s; };
bool init(State* st) {
    if (cudaMalloc(&st->a, 64) != cudaSuccess) return false;
    if (cudaStreamCreate(&st->s) != cudaSuccess) return false;
    return true;
}
void end(State* st) { cudaStreamDestroy(st->s); cudaFree(st->a); }
int run() {
    State st;
    if (!init(&st)) return 1;
    end(&st);
    return 0;
}
"""
    )
    main([str(tmp_path), "--isolated", "--no-cache", "--output", "full"])
    told = capsys.readouterr().out
    assert "when `init(&st)` is false, as `cudaStreamCreate` fails (returns at line 11)" in told
    assert "3: `cudaStreamCreate` fails" in told


def test_a_function_that_acquires_and_then_throws_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.cu").write_text(
        """#include <cuda_runtime.h>
#include <stdexcept>
#define CHECK(call) do { if (call) throw std::runtime_error(#call); } while (0)
struct State { float* a; cudaStream_t s; };
void init(State* st) { CHECK(cudaMalloc(&st->a, 64)); CHECK(cudaStreamCreate(&st->s)); }
void some(State* st, int n) {
    CHECK(cudaMalloc(&st->a, 64));
    if (n > 64) throw std::runtime_error("too many");
}
void run() {
    State st;
    init(&st);
    cudaStreamDestroy(st.s);
    cudaFree(st.a);
}
void walk(int n) {
    State st;
    some(&st, n);
    cudaFree(st.a);
}
void all(int n) try { run(); walk(n); } catch (std::exception&) {}
"""
    )
    main([str(tmp_path), "--isolated", "--no-cache"])
    told = capsys.readouterr().out
    assert "when `init` throws, as `cudaStreamCreate` fails (leaves at line 12)" in told
    assert "when `some` throws after it has acquired it (leaves at line 18)" in told


def test_what_an_object_is_converted_to_reads_as_the_object(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.cu").write_text(
        """#include <cuda_runtime.h>
template <typename T> struct Block {
    T data;
    operator T() const { return data; }
};
void clear(Block<float*>& block) {
    cudaFree(block.data);
    cudaMemset(block, 0, 4);
}
"""
    )
    main([str(tmp_path), "--isolated", "--no-cache", "--preview"])
    assert "`block` is passed to cudaMemset after its release" in capsys.readouterr().out


def test_a_macro_stands_for_what_it_writes_and_not_for_its_parts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.cu").write_text(
        """#include <cuda_runtime.h>
#define MEGABYTE (1024 * 1024)
#define LARGE (65536 * 65536)
#define ROWS (4 * 4 * count)
#define KIB 1024
void take(int count) {
    float *a, *b, *c;
    if (cudaMalloc(&a, count * MEGABYTE) != cudaSuccess) return;
    cudaFree(a);
    if (cudaMalloc(&b, ROWS * KIB * KIB) != cudaSuccess) return;
    cudaFree(b);
    if (cudaMalloc(&c, LARGE) != cudaSuccess) return;
    cudaFree(c);
}
"""
    )
    main([str(tmp_path), "--isolated", "--no-cache", "--preview"])
    told = capsys.readouterr().out
    assert "`count * MEGABYTE`, the size of cudaMalloc, is computed in `int`" in told
    assert "`16 * count * KIB * KIB`, the size of cudaMalloc" in told
    assert "the size `65536 * 65536` of cudaMalloc is" in told


TRAINED = """import torch
from torch import nn
def train(model, batches, optimizer, options):
    fading = both = weighted = picked = 0
    kept = []
    distance = nn.L1Loss()
    for step, (x, y) in enumerate(batches):
        out = model(x.cuda())
        loss, extra = ((out - y.cuda()) ** 2).mean(), (out**2).mean()
        terms = {"mse": loss, "all": loss + extra}
        optimizer.zero_grad()
        terms["all"].backward()
        optimizer.step()
        factor = options.factor**step
        fading += factor * distance(out, y.cuda())
        both += loss + extra
        weighted += loss * x.size(0)
        picked += terms["mse"]
        kept.append(terms)
    return fading, both, weighted, picked, kept
"""


@pytest.mark.parametrize(
    ("place", "advice"),
    [
        ("fading", "keep `.item()` or `.detach()` of it"),
        ("both", "keep `.item()` or `.detach()` of it"),
        ("weighted", "keep `loss.item()` or `loss.detach()`"),
        ("picked", 'keep `terms["mse"].item()` or `terms["mse"].detach()`'),
        ("kept", "keep what is in it detached, or as numbers"),
    ],
)
def test_what_is_to_be_kept_is_what_has_the_graph(place: str, advice: str, trained: str) -> None:
    told = (line for line in trained.splitlines() if f"to `{place}` with" in line)
    assert advice in next(told)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("advice")
    (folder / "a.py").write_text(TRAINED)
    options = ["--isolated", "--no-cache", "--preview", "--output-format", "full"]
    main([str(folder / "a.py"), *options, "-o", str(folder / "report")])
    return (folder / "report").read_text()


def test_what_nothing_releases_is_told_apart_from_what_some_paths_release(
    tmp_path: Path,
) -> None:
    fixture = Path(__file__).parent.parent / "fixtures/GPU106-handle-leak"
    program = str(fixture / "bad_events_beside_a_stream.cu")
    report = tmp_path / "report"
    main([program, "--isolated", "--no-cache", "--select", "GPU106", "-o", str(report)])
    text = report.read_text()
    assert "`stream` (cudaStreamCreate) is not destroyed when" in text
    assert "`start` (cudaEventCreate) is never destroyed: no way out of `measure` calls" in text
    assert "likewise `stop` (line 14)" in text
    assert "likewise `start`" not in text


def test_a_sibling_is_no_variable_of_another_block(tmp_path: Path) -> None:
    fixture = Path(__file__).parent.parent / "fixtures/GPU106-handle-leak"
    report = tmp_path / "report"
    program = str(fixture / "bad_events_of_two_blocks.cu")
    main([program, "--isolated", "--no-cache", "-o", str(report)])
    text = report.read_text()
    assert "sibling" not in text and "likewise `stop`" in text


def test_a_sibling_is_released_for_good(tmp_path: Path) -> None:
    program = tmp_path / "a.cu"
    program.write_text("""#include <cuda_runtime.h>
#include <cstdlib>
class Image {
public:
    explicit Image(int n) {
        for (int i = 0; i < n; ++i) {
            if (host_[i]) cudaFreeHost(host_[i]);
            if (device_[i]) cudaFree(device_[i]);
            if (cudaMalloc(&device_[i], 64) || cudaMallocHost(&host_[i], 64)) std::abort();
        }
    }
    ~Image() {}
private:
    void *device_[4] = {}, *host_[4] = {};
};
void image(int n) { Image one(n); }
""")
    report = tmp_path / "report"
    main([str(program), "--isolated", "--no-cache", "--select", "GPU105", "-o", str(report)])
    text = report.read_text()
    assert "is never released by `Image`: `Image::~Image` does not release it" in text


def test_a_member_that_a_library_may_have_filled_is_no_certain_error(tmp_path: Path) -> None:
    program = tmp_path / "a.cu"
    program.write_text("""#include <cuda_runtime.h>
#include <cstdlib>
float* from_library(size_t bytes);
class Values {
public:
    Values(size_t n, bool own) { p_ = own ? (float*)malloc(n) : from_library(n); }
    explicit Values(size_t n) { if (n) p_ = from_library(n); else p_ = (float*)malloc(1); }
    ~Values() { cudaFree(p_); }
private:
    float* p_ = nullptr;
};
""")
    report = tmp_path / "report"
    options = ["--isolated", "--no-cache", "--select", "GPU203", "--preview"]
    main([str(program), *options, "-o", str(report)])
    assert "warning: `p_` (host memory from malloc) cannot be released" in report.read_text()
