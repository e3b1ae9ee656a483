"""What the simulated device takes to be in order: streams, events, the host's waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.runtime.build import Executable
from cudalint.runtime.events import Violation
from cudalint.runtime.frames import Resolver, user_frame
from tests.runtime.conftest import Lab, account_of, build_cases, needs_nvcc

HEAD = """\
#include <cuda_runtime_api.h>
#include <thread>
static const size_t SIZE = 1 << 16;
static cudaStream_t plain(unsigned flags = cudaStreamDefault) {
    cudaStream_t made;
    cudaStreamCreateWithFlags(&made, flags);
    return made;
}
static cudaStream_t apart() { return plain(cudaStreamNonBlocking); }
static void *block(cudaStream_t stream) {
    void *made;
    cudaMallocAsync(&made, SIZE, stream);
    return made;
}
static void use(void *memory, cudaStream_t stream) { cudaMemsetAsync(memory, 1, SIZE, stream); }
static cudaEvent_t mark(cudaStream_t stream) {
    cudaEvent_t made;
    cudaEventCreate(&made);
    cudaEventRecord(made, stream);
    return made;
}
"""

ORDERED = {
    "one stream": "auto s = plain(); void *p = block(s); use(p, s); cudaFreeAsync(p, s);",
    "event": """
        auto a = apart(), b = apart(); void *p = block(a); use(p, a);
        cudaStreamWaitEvent(b, mark(a), 0); cudaFreeAsync(p, b);
    """,
    "event through a third stream": """
        auto a = apart(), b = apart(), c = apart(); void *p = block(a);
        cudaStreamWaitEvent(b, mark(a), 0); cudaStreamWaitEvent(c, mark(b), 0);
        use(p, c); cudaFreeAsync(p, c);
    """,
    "event recorded again": """
        auto a = apart(), b = apart(); auto e = mark(a); void *p = block(a);
        cudaEventRecord(e, a); cudaStreamWaitEvent(b, e, 0); cudaFreeAsync(p, b);
    """,
    "default stream, then a blocking one": """
        auto s = plain(); void *p = block(0); use(p, 0); cudaFreeAsync(p, s);
    """,
    "a blocking stream, then the default one": """
        auto s = plain(); void *p = block(s); use(p, s); cudaFreeAsync(p, 0);
    """,
    "the default stream between two": """
        auto a = plain(), b = plain(); void *p = block(a), *q = block(a); use(p, a);
        use(q, 0); cudaFreeAsync(p, b);
    """,
    "the stream of a thread is blocking": """
        void *p = block(cudaStreamPerThread); use(p, 0); cudaFreeAsync(p, cudaStreamPerThread);
    """,
    "host waits for the stream": """
        auto a = apart(), b = apart(); void *p = block(a); cudaStreamSynchronize(a);
        use(p, b); cudaStreamSynchronize(b); cudaFreeAsync(p, a);
    """,
    "host waits for an event": """
        auto a = apart(), b = apart(); void *p = block(a); cudaEventSynchronize(mark(a));
        cudaFreeAsync(p, b);
    """,
    "host asks the stream": """
        auto a = apart(), b = apart(); void *p = block(a);
        while (cudaStreamQuery(a) == cudaErrorNotReady) {}
        cudaFreeAsync(p, b);
    """,
    "host asks an event": """
        auto a = apart(), b = apart(); void *p = block(a); auto e = mark(a);
        while (cudaEventQuery(e) == cudaErrorNotReady) {}
        cudaFreeAsync(p, b);
    """,
    "host waits for the device": """
        auto a = apart(), b = apart(); void *p = block(a); cudaDeviceSynchronize();
        cudaFreeAsync(p, b);
    """,
    "cudaFree waits for the device": """
        auto a = apart(), b = apart(); void *q; cudaMalloc(&q, 64); void *p = block(a);
        cudaFree(q); cudaFreeAsync(p, b);
    """,
    "a copy that the host waits for": """
        auto a = plain(), b = apart(); void *p = block(a), *q; cudaMalloc(&q, 64); int back;
        cudaMemcpy(&back, q, 4, cudaMemcpyDeviceToHost); cudaFreeAsync(p, b);
    """,
    "cudaFree after a wait": """
        auto a = apart(); void *p = block(a); use(p, a); cudaStreamSynchronize(a); cudaFree(p);
    """,
    "a stream after one that was destroyed": """
        auto a = apart(); void *p = block(a); cudaStreamSynchronize(a); cudaStreamDestroy(a);
        auto b = apart(); use(p, b); cudaFreeAsync(p, b);
    """,
    "another thread, the same stream": """
        auto a = apart(); void *p = block(a); std::thread([&] { use(p, a); }).join();
        cudaFreeAsync(p, a);
    """,
}

UNORDERED = {
    "use without its allocation": (
        "auto a = apart(), b = apart(); void *p = block(a); use(p, b);"
        " cudaDeviceSynchronize(); cudaFreeAsync(p, a);",
        1,
    ),
    "release while it is used": (
        "auto a = plain(), b = plain(); void *p = block(a); use(p, a); cudaFreeAsync(p, b);",
        1,
    ),
    "release without its allocation": (
        "auto a = plain(), b = plain(); void *p = block(a); cudaFreeAsync(p, b);",
        1,
    ),
    "event recorded too early": (
        "auto a = apart(), b = apart(); void *p = block(a); auto e = mark(a); use(p, a);"
        " cudaStreamWaitEvent(b, e, 0); cudaFreeAsync(p, b);",
        1,
    ),
    "event that nothing waits for": (
        "auto a = apart(), b = apart(); void *p = block(a); use(p, a); mark(a);"
        " cudaFreeAsync(p, b);",
        1,
    ),
    "wait the wrong way round": (
        "auto a = apart(), b = apart(); void *p = block(a);"
        " cudaStreamWaitEvent(a, mark(b), 0); cudaFreeAsync(p, b);",
        1,
    ),
    "default stream and a non-blocking one": (
        "auto a = apart(); void *p = block(a); use(p, a); cudaFreeAsync(p, 0);",
        1,
    ),
    "default stream first, then a non-blocking one": (
        "void *p = block(0); use(p, 0); auto a = apart(); cudaFreeAsync(p, a);",
        1,
    ),
    "host waits for another stream": (
        "auto a = apart(), b = apart(); void *p = block(a); use(p, a); cudaStreamSynchronize(b);"
        " cudaFreeAsync(p, b);",
        1,
    ),
    "allocation orders nothing": (
        "auto a = apart(), b = apart(); void *p = block(a), *q, *h; cudaMalloc(&q, 64);"
        " cudaMallocHost(&h, 64); cudaFreeAsync(p, b);",
        1,
    ),
    "a copy on the device, which the host does not wait for": (
        "auto a = plain(), b = apart(); void *p = block(a), *q; cudaMalloc(&q, 128);"
        " cudaMemcpy(q, (char *)q + 64, 64, cudaMemcpyDeviceToDevice); cudaFreeAsync(p, b);",
        1,
    ),
    "cudaFree without a wait": ("auto a = plain(); void *p = block(a); use(p, a); cudaFree(p);", 1),
    "two threads, their own streams": (
        "void *p = block(cudaStreamPerThread);"
        " std::thread([&] { use(p, cudaStreamPerThread); }).join();"
        " cudaDeviceSynchronize(); cudaFreeAsync(p, 0);",
        1,
    ),
    "both": (
        "auto a = apart(), b = apart(), c = apart(); void *p = block(a); use(p, b);"
        " cudaFreeAsync(p, c);",
        2,
    ),
}


BODIES = {**ORDERED, **{name: body for name, (body, _) in UNORDERED.items()}}
assert len(BODIES) == len(ORDERED) + len(UNORDERED)


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory, compiler: Path) -> Executable:
    return build_cases(tmp_path_factory.mktemp("cases"), HEAD, BODIES)


def misuse(lab: Lab, executable: Executable, name: str = "") -> list[Violation | None]:
    """Which violations a program shows that comes to its end."""
    number = list(BODIES).index(name) if name else 0
    result = lab.run(executable, environment={"CASE": str(number)})
    assert (result.exit_status, result.problem) == (0, "")
    return [event.violation for event in account_of(result).violations]


@pytest.mark.parametrize("name", ORDERED)
def test_in_order(lab: Lab, cases: Executable, name: str) -> None:
    assert misuse(lab, cases, name) == []


@pytest.mark.parametrize("name", UNORDERED)
def test_out_of_order(lab: Lab, cases: Executable, name: str) -> None:
    assert misuse(lab, cases, name) == [Violation.STREAM_ORDER] * UNORDERED[name][1]


def test_it_says_what_and_where(lab: Lab) -> None:
    executable = lab.build(
        """
        int main() {
            auto a = apart(), b = apart();
            void *p = block(a);
            use(p, a);
            cudaFreeAsync(p, b);
            return 0;
        }
        """,
        head=HEAD,
    )
    result = lab.run(executable)
    (event,) = account_of(result).violations
    assert (event.api, event.family, event.bytes) == ("cudaFreeAsync", "device", 1 << 16)
    assert event.text == (
        "cudaFreeAsync releases memory that cudaMemsetAsync on another stream may still use:"
        " nothing orders the two"
    )
    frame = user_frame(Resolver().resolve(event.stack), executable.sources)
    assert frame is not None
    assert (frame.function, frame.line) == ("main", HEAD.count("\n") + 6)


def test_many_streams_one_after_the_other(lab: Lab) -> None:
    """Timelines of streams that are gone are used again."""
    body = """
        int main() {
        for (int i = 0; i < 20000; i++) {
            auto a = apart();
            void *p = block(a);
            use(p, a);
            cudaFreeAsync(p, a);
            cudaStreamSynchronize(a);
            cudaStreamDestroy(a);
        }
        auto a = apart(), b = apart();
        void *p = block(a);
        return cudaFreeAsync(p, b);
        }
    """
    assert misuse(lab, lab.build(body, head=HEAD)) == [Violation.STREAM_ORDER]


@needs_nvcc
@pytest.mark.parametrize(
    ("between", "expected"),
    [("", [Violation.STREAM_ORDER] * 2), ("cudaStreamWaitEvent(b, mark(a), 0);", [])],
)
def test_kernels_use_what_they_are_given(lab: Lab, between: str, expected: list[Violation]) -> None:
    """By a launch, and by the launch of a graph."""
    executable = lab.build(
        f"""
        __global__ void fill(char *memory) {{ memory[0] = 1; }}
        int main() {{
            auto a = apart(), b = apart();
            char *p = (char *)block(a);
            {between}
            fill<<<1, 1, 0, b>>>(p);
            auto c = apart();
            cudaGraph_t graph;
            cudaGraphExec_t ready;
            cudaStreamBeginCapture(c, cudaStreamCaptureModeGlobal);
            fill<<<1, 1, 0, c>>>(p);
            cudaStreamEndCapture(c, &graph);
            cudaGraphInstantiate(&ready, graph, 0);
            cudaGraphLaunch(ready, b);
            cudaDeviceSynchronize();
            return cudaFreeAsync(p, a);
        }}
        """,
        "program.cu",
        HEAD,
    )
    result = lab.run(executable)
    assert result.exit_status == 0
    assert [one.violation for one in account_of(result).violations] == expected
