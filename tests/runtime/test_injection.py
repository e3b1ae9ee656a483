"""The injection, with a CUPTI of our own that plays calls to it."""

from __future__ import annotations

import subprocess
import textwrap
from pathlib import Path

import pytest

from cudalint.runtime import injection
from cudalint.runtime.account import account
from cudalint.runtime.devices import Gpu, Simulated
from cudalint.runtime.events import CopyDirection, Event, EventKind, Violation
from cudalint.runtime.execute import Run, RunResult, execute
from cudalint.runtime.frames import Resolver
from cudalint.runtime.injection import VARIABLE, build_injection, watching_environment
from cudalint.runtime.processes import ProcessLimits
from cudalint.runtime.toolkit import ToolkitError, cuda_include, find_nvcc

try:
    CUPTI = injection.find_cupti()
except ToolkitError as error:
    pytest.skip(str(error), allow_module_level=True)

STAND_IN = r"""
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti.h>
static CUpti_CallbackFunc told;
extern "C" CUptiResult cuptiSubscribe(CUpti_SubscriberHandle*, CUpti_CallbackFunc f, void*) {
    if (getenv("BUSY")) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    told = f;
    return CUPTI_SUCCESS;
}
extern "C" CUptiResult cuptiEnableDomain(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain) {
    return CUPTI_SUCCESS;
}
extern "C" CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
    *text = "another subscriber";
    return CUPTI_SUCCESS;
}
extern "C" int play(int site, int driver, int id, const char* name, const void* given, int status,
                    const char* symbol) {
    CUpti_CallbackData data{};
    data.callbackSite = site ? CUPTI_API_EXIT : CUPTI_API_ENTER;
    data.functionName = name, data.functionParams = given, data.symbolName = symbol;
    data.functionReturnValue = &status;
    if (told)
        told(nullptr, driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API, id, &data);
    return status;
}
"""
HEAD = r"""
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <initializer_list>
#include <vector>
typedef int (*Play)(int, int, int, const char*, const void*, int, const char*);
static Play play;
static int begin() {
    void* tool = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
    ((int (*)())dlsym(tool, "InitializeInjection"))();
    play = (Play)dlsym(dlopen(getenv("CUDALINT_CUPTI"), RTLD_NOW), "play");
    return 0;
}
static int begun = begin();
static int next_id = 1;
__attribute__((noinline)) static int call(const char* name, std::initializer_list<uint64_t> words,
                                          int status = 0, const char* symbol = nullptr) {
    int id = next_id++, driver = name[2] != 'd';
    std::vector<uint64_t> given(words);
    given.resize(16);
    play(0, driver, id, name, given.data(), 0, symbol);
    return play(1, driver, id, name, given.data(), status, symbol);
}
#define OUT(value) ([] { static uint64_t v; v = uint64_t(value); return uint64_t(&v); }())
"""


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory, compiler: Path) -> Path:
    folder = tmp_path_factory.mktemp("cupti")
    source = folder / "cupti.cpp"
    source.write_text("#include <stdlib.h>\n" + STAND_IN)
    library = folder / "libcupti.so.13"
    compile_(compiler, source, library, "-shared", "-fPIC")
    return library


def compile_(compiler: Path, source: Path, out: Path, *options: str) -> None:
    include = cuda_include(find_nvcc())
    subprocess.run(
        [compiler, "-std=c++17", "-g", "-O0", "-isystem", CUPTI.include, "-isystem", include,
         source, "-o", out, *options, "-ldl", "-pthread"],
        check=True, capture_output=True,
    )  # fmt: skip


class Played:
    def __init__(self, folder: Path, compiler: Path, library: Path) -> None:
        self._folder, self._compiler, self._library = folder, compiler, library

    def __call__(self, body: str, **environment: str) -> RunResult:
        source = self._folder / "program.cpp"
        source.write_text(HEAD + "#line 1\n" + textwrap.dedent(body).lstrip("\n"))
        program = self._folder / "program"
        compile_(self._compiler, source, program)
        given = {
            VARIABLE: str(build_injection()[0]),
            "CUDALINT_CUPTI": str(self._library),
            **environment,
        }
        limits = ProcessLimits(seconds=30)
        gpu = Gpu("a GPU", "sm_90", 1 << 30)
        return execute(Run([program], gpu, environment=given, limits=limits))

    def events(self, body: str, **environment: str) -> list[Event]:
        result = self(body, **environment)
        assert result.trace is not None, result.problem + result.stderr
        assert result.trace.complete
        return [
            event
            for event in Resolver().resolve_events(result.trace.events)
            if event.kind not in (EventKind.LIBRARY, EventKind.END)
        ]


@pytest.fixture
def played(tmp_path: Path, compiler: Path, stand_in: Path) -> Played:
    return Played(tmp_path, compiler, stand_in)


def lines(event: Event) -> list[int]:
    return [frame.line for frame in event.stack if frame.filename.endswith("program.cpp")]


def test_what_is_taken_and_not_given_back_leaks(played: Played) -> None:
    events = played.events("""
        static void load() { call("cudaMalloc", {OUT(0x1000), 400}); }
        int main() {
            load();
            call("cudaMallocAsync_ptsz", {OUT(0x2000), 800, 5});
            call("cudaFreeAsync_ptsz", {0x2000, 5});
            call("cuMemAllocHost_v2", {OUT(0x3000), 90});
            call("cudaStreamCreateWithFlags", {OUT(0x4000), 1});
            return 0;
        }
    """)
    summary = account(events)
    found = [(leak.api, leak.family, leak.bytes) for leak in summary.leaks]
    assert found == [
        ("cudaMalloc", "device", 400),
        ("cuMemAllocHost_v2", "pinned", 90),
        ("cudaStreamCreateWithFlags", "stream", 0),
    ]
    assert summary.peak == 1200
    # Innermost of the program is what calls CUDA: here `call`, then the line that means it.
    assert lines(summary.leaks[0])[-2:] == [1, 3]
    released = next(event for event in events if event.kind is EventKind.RELEASE)
    assert (released.api, released.stream, released.asynchronous) == ("cudaFreeAsync", 5, True)


def test_what_the_runtime_asks_of_the_driver_is_its_own_business(played: Played) -> None:
    events = played.events("""
        int main() {
            uint64_t given[16] = {OUT(0x1000), 64};
            play(0, 0, 900, "cudaMalloc", given, 0, nullptr);
            call("cuMemAlloc_v2", {OUT(0x1000), 64});
            play(1, 0, 900, "cudaMalloc", given, 0, nullptr);
            call("cuLibraryLoadData", {OUT(0x77)});
            return 0;
        }
    """)
    assert [(event.kind, event.api) for event in events] == [(EventKind.ACQUIRE, "cudaMalloc")]


def test_sizes_of_pitched_memory_and_arrays(played: Played) -> None:
    events = played.events("""
        int main() {
            static cudaChannelFormatDesc pixel{8, 8, 8, 8, cudaChannelFormatKindUnsigned};
            static CUDA_ARRAY_DESCRIPTOR flat{100, 10, CU_AD_FORMAT_FLOAT, 2};
            static cudaPitchedPtr cube{(void*)0x9000, 512, 100, 20};
            call("cudaMallocPitch", {OUT(0x1000), OUT(512), 100, 20});
            call("cudaMallocArray", {OUT(0x2000), uint64_t(&pixel), 64, 0});
            call("cuArrayCreate_v2", {OUT(0x3000), uint64_t(&flat)});
            call("cudaMalloc3D", {uint64_t(&cube), 100, 20, 3});
            call("cudaFreeArray", {0x2000});
            return 0;
        }
    """)
    sizes = [event.bytes for event in events if event.kind is EventKind.ACQUIRE]
    assert sizes == [512 * 20, 64 * 4, 100 * 10 * 8, 512 * 20 * 3]
    assert len(account(events).leaks) == 3


def test_misuse_is_told(played: Played) -> None:
    events = played.events("""
        int main() {
            call("cudaMalloc", {OUT(0x1000), 256});
            call("cudaFree", {0x1000});
            call("cudaFree", {0x1000}, 1);
            call("cudaMallocHost", {OUT(0x8000), 256});
            call("cudaFree", {0x8000}, 1);
            call("cudaFreeHost", {0x8010}, 1);
            call("cudaEventCreate", {OUT(0x51)});
            call("cudaEventDestroy", {0x51});
            call("cudaEventDestroy", {0x51}, 400);
            call("cudaFree", {0});
            call("cudaEventQuery", {0x51}, 600);
            return 0;
        }
    """)
    summary = account(events)
    assert [event.violation for event in summary.violations] == [
        Violation.DOUBLE_FREE, Violation.WRONG_DEALLOCATOR, Violation.INVALID_POINTER,
        Violation.DOUBLE_FREE,
    ]  # fmt: skip
    assert [(event.api, event.status) for event in summary.failures] == [
        ("cudaFree", 1), ("cudaFree", 1), ("cudaFreeHost", 1), ("cudaEventDestroy", 400),
    ]  # fmt: skip
    assert [leak.family for leak in summary.leaks] == ["pinned"]


def test_copies_fills_launches_and_resets(played: Played) -> None:
    events = played.events("""
        struct Launch { const void* f; unsigned g[3], b[3]; void** a; uint64_t shared, stream; };
        int main() {
            Launch l{0, {7, 2, 1}, {128, 1, 1}, 0, 1024, 3};
            call("cudaMalloc", {OUT(0x1000), 256});
            call("cudaMemcpy", {0x1000, 0x99, 256, 1});
            call("cudaMemcpy2DAsync", {0x1000, 16, 0x99, 16, 8, 4, 1, 3});
            call("cudaMemset", {0x1000, 300, 256});
            call("cuMemsetD32_v2", {0x1000, 5, 16});
            play(0, 0, 800, "cudaLaunchKernel", &l, 0, "_Z4blurPfi");
            play(1, 0, 800, "cudaLaunchKernel", &l, 0, "_Z4blurPfi");
            call("cudaStreamSynchronize", {3});
            call("cudaDeviceReset", {});
            return 0;
        }
    """)
    kinds = [event.kind for event in events]
    assert kinds == [
        EventKind.ACQUIRE, EventKind.COPY, EventKind.COPY, EventKind.FILL, EventKind.FILL,
        EventKind.LAUNCH, EventKind.SYNC, EventKind.RESET,
    ]  # fmt: skip
    assert (events[1].bytes, events[1].detail) == (256, CopyDirection.HOST_TO_DEVICE)
    assert events[2].bytes == 32
    assert (events[3].value, events[4].value, events[4].bytes) == (300, 5, 64)
    launch = events[5].launch
    assert launch is not None
    assert events[5].text == "blur(float*, int)"
    assert (launch.grid, launch.block) == ((7, 2, 1), (128, 1, 1))
    assert (launch.dynamic_shared, events[5].stream) == (1024, 3)
    assert account(events).leaks == () and len(account(events).reset) == 1


def test_threads_have_depths_of_their_own(played: Played) -> None:
    events = played.events("""
        #include <thread>
        int main() {
            uint64_t given[16] = {OUT(0x1000), 64};
            play(0, 0, 900, "cudaMalloc", given, 0, nullptr);
            std::thread([] { call("cudaMalloc", {OUT(0x2000), 32}); }).join();
            play(1, 0, 900, "cudaMalloc", given, 0, nullptr);
            return 0;
        }
    """)
    assert [event.bytes for event in events] == [32, 64]
    assert events[0].thread != events[1].thread


def test_a_cupti_that_refuses_says_why(played: Played) -> None:
    result = played("int main() { return 0; }", BUSY="1")
    assert "CUPTI refuses: another subscriber" in result.stderr
    assert result.trace is not None
    assert any("refuses" in event.text for event in result.trace.events)


def test_no_cupti_at_run_time_says_why(played: Played, tmp_path: Path) -> None:
    empty = tmp_path / "empty.so"
    empty.write_text("")
    body = "int main() { return play ? 1 : 0; }"
    result = played(body, CUDALINT_CUPTI=str(empty), LD_LIBRARY_PATH="")
    assert result.exit_status == 0
    assert "no CUPTI" in result.stderr or result.trace is not None


def test_no_cupti_to_compile_with_leaves_the_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> injection.Cupti:
        raise ToolkitError("no CUPTI: it comes with the CUDA toolkit")

    monkeypatch.setattr(injection, "find_cupti", missing)
    said: list[str] = []
    environment = watching_environment(Gpu("a GPU", "sm_90", 1 << 30), said.append)
    assert "LD_PRELOAD" in environment and VARIABLE not in environment
    assert said == [
        "note: a static CUDA runtime will not be seen: no CUPTI: it comes with the CUDA toolkit"
    ]


def test_a_simulated_device_has_no_driver_to_load_it() -> None:
    assert injection.injection_environment(Simulated()) == {}


def test_another_tool_in_its_place_is_not_pushed_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "/opt/profiler.so")
    with pytest.raises(ToolkitError, match=r"names another tool: /opt/profiler\.so"):
        injection.injection_environment(Gpu("a GPU", "sm_90", 1 << 30))


@pytest.mark.gpu
def test_a_static_runtime_on_a_gpu(tmp_path: Path) -> None:
    try:
        gpu = Gpu.find()
    except ValueError as error:
        pytest.skip(str(error))
    nvcc = find_nvcc()
    assert nvcc is not None
    source = tmp_path / "a.cu"
    source.write_text("int main() { void* p; return cudaMalloc(&p, 512) != cudaSuccess; }\n")
    program = tmp_path / "a"
    subprocess.run([nvcc.path, "-g", source, "-o", program], check=True)
    environment = watching_environment(gpu, lambda text: None)
    result = execute(Run([program], gpu, environment=environment))
    assert result.trace is not None
    events = Resolver().resolve_events(result.trace.events)
    (leak,) = account(events).leaks
    assert leak.bytes == 512 and any(frame.line == 1 for frame in leak.stack)
