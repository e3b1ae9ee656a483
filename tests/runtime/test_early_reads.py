"""The host reads what an asynchronous copy may still be writing (simulated)."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.runtime.build import Executable
from cudalint.runtime.events import EventKind, Violation
from cudalint.runtime.faults import Fault
from cudalint.runtime.frames import Resolver, user_frame
from tests.runtime.conftest import Lab, account_of, build_cases, trace_of

HEAD = """\
#include <cuda_runtime_api.h>
#include <cstring>
#include <future>
#include <vector>
static const size_t COUNT = 8192;
static int *landed, *device, sum;
static cudaStream_t stream, other;
static void begin() {
    cudaStreamCreate(&stream);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaMallocHost((void **)&landed, COUNT * sizeof(int));
    cudaMalloc((void **)&device, COUNT * sizeof(int));
    cudaMemset(device, 1, COUNT * sizeof(int));
}
static void fetch(size_t first = 0, size_t count = COUNT) {
    cudaMemcpyAsync(landed + first, device + first, count * sizeof(int), cudaMemcpyDeviceToHost,
                    stream);
}
"""

IN_TIME = {
    "stream": "fetch(); cudaStreamSynchronize(stream); sum += landed[5];",
    "device": "fetch(); cudaDeviceSynchronize(); sum += landed[5];",
    "event": """
        cudaEvent_t done; cudaEventCreate(&done); fetch(); cudaEventRecord(done, stream);
        cudaEventSynchronize(done); sum += landed[5];
    """,
    "event that another stream waits for": """
        cudaEvent_t done; cudaEventCreate(&done); fetch(); cudaEventRecord(done, stream);
        cudaStreamWaitEvent(other, done, 0); cudaStreamSynchronize(other); sum += landed[5];
    """,
    "poll": "fetch(); while (cudaStreamQuery(stream)) {} sum += landed[5];",
    "default stream": "fetch(); cudaStreamSynchronize(0); sum += landed[5];",
    "a copy that the host waits for": """
        fetch(); cudaMemcpy(&sum, device, 4, cudaMemcpyDeviceToHost); sum += landed[5];
    """,
    "cudaFree": "fetch(); cudaFree(device); sum += landed[5];",
    "a function in the stream's order": """
        std::promise<void> told; fetch();
        cudaLaunchHostFunc(stream, [](void *p) { ((std::promise<void> *)p)->set_value(); }, &told);
        told.get_future().get(); sum += landed[5];
    """,
    "another part": "fetch(0, COUNT / 2); sum += landed[COUNT / 2 + 5]; landed[COUNT - 1] = 2;",
    "parts that share a page": "fetch(0, 100); landed[100] = 1; sum += landed[101];",
    "the device reads it": """
        fetch(); cudaMemcpyAsync(device, landed, 64, cudaMemcpyHostToDevice, stream);
        fetch(); cudaStreamSynchronize(stream); sum += landed[5];
    """,
    "pageable": """
        std::vector<int> back(COUNT);
        cudaMemcpyAsync(back.data(), device, 4 * COUNT, cudaMemcpyDeviceToHost, stream);
        sum += back[5];
    """,
    "upload": """
        cudaMemcpyAsync(device, landed, 4 * COUNT, cudaMemcpyHostToDevice, stream);
        sum += landed[5];
    """,
    "released": "fetch(); cudaFreeHost(landed); begin(); sum += landed[5];",
    "captured": """
        cudaGraph_t graph; cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal); fetch();
        cudaStreamEndCapture(stream, &graph); sum += landed[5];
    """,
}

TOO_EARLY = {
    "read": "fetch(); sum += landed[5];",
    "read by another function": "fetch(); std::vector<int> all(landed, landed + COUNT);",
    "read by another thread": "fetch(); std::async(std::launch::async, [] { sum += landed[5]; });",
    "write": "fetch(); landed[5] = 3;",
    "once for each copy": "fetch(); sum += landed[5] + landed[6] + landed[7000];",
    "wait for another stream": "fetch(); cudaStreamSynchronize(other); sum += landed[5];",
    "wait for an event before it": """
        cudaEvent_t done; cudaEventCreate(&done); cudaEventRecord(done, stream); fetch();
        cudaEventSynchronize(done); sum += landed[5];
    """,
    "wait of a stream, not of the host": """
        cudaEvent_t done; cudaEventCreate(&done); fetch(); cudaEventRecord(done, stream);
        cudaStreamWaitEvent(other, done, 0); sum += landed[5];
    """,
    "few bytes": """
        int *one; cudaMallocHost((void **)&one, 4);
        cudaMemcpyAsync(one, device, 4, cudaMemcpyDeviceToHost, stream); sum += *one;
    """,
    "copy on the default stream": """
        cudaMemcpyAsync(landed, device, 4 * COUNT, cudaMemcpyDeviceToHost); sum += landed[5];
    """,
    "graph": """
        cudaGraph_t graph; cudaGraphExec_t ready;
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal); fetch();
        cudaStreamEndCapture(stream, &graph); cudaGraphInstantiate(&ready, graph, 0);
        cudaGraphLaunch(ready, other); cudaStreamSynchronize(stream); sum += landed[5];
    """,
    "two copies of one range": """
        cudaMemcpyAsync(landed, device, 4 * COUNT, cudaMemcpyDeviceToHost, other); fetch();
        cudaStreamSynchronize(other); sum += landed[5];
    """,
    "the copy that was not waited for": """
        fetch(0, COUNT / 2); cudaStreamSynchronize(stream); fetch(COUNT / 2, COUNT / 2);
        sum += landed[5] + landed[COUNT - 5];
    """,
}


BODIES = {**IN_TIME, **TOO_EARLY}
assert len(BODIES) == len(IN_TIME) + len(TOO_EARLY)


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory, compiler: Path) -> Executable:
    return build_cases(tmp_path_factory.mktemp("cases"), HEAD, BODIES, "begin();")


def violations(lab: Lab, executable: Executable, name: str) -> list[Violation | None]:
    """What a program shows that comes to its end."""
    result = lab.run(executable, environment={"CASE": str(list(BODIES).index(name))})
    assert (result.exit_status, result.problem) == (0, "")
    return [event.violation for event in account_of(result).violations]


@pytest.mark.parametrize("name", IN_TIME)
def test_in_time(lab: Lab, cases: Executable, name: str) -> None:
    assert violations(lab, cases, name) == []


@pytest.mark.parametrize("name", TOO_EARLY)
def test_too_early(lab: Lab, cases: Executable, name: str) -> None:
    assert violations(lab, cases, name) == [Violation.UNSYNCHRONIZED_READ]


def test_it_says_what_and_where(lab: Lab) -> None:
    executable = lab.build(
        """
        static int last(const int *values) {
            return values[COUNT - 1];
        }
        int main() {
            begin();
            fetch();
            int early = last(landed);
            cudaStreamSynchronize(stream);
            return early != last(landed);
        }
        """,
        head=HEAD,
    )
    result = lab.run(executable)
    assert result.exit_status == 0
    (event,) = account_of(result).violations
    assert (event.api, event.family, event.bytes) == ("cudaMemcpyAsync", "pinned", 32768)
    assert event.text == (
        "the host reads what cudaMemcpyAsync may still be copying: nothing has waited for it"
    )
    stack = Resolver().resolve(event.stack)
    line = HEAD.count("\n")
    assert [(frame.function, frame.line) for frame in stack][:2] == [
        ("last", line + 3),
        ("main", line + 8),
    ]
    frame = user_frame(stack, executable.sources)
    assert frame is not None and frame.function == "last"


@pytest.mark.parametrize(
    "read", ["memcpy(copied, landed, 4000)", 'snprintf(text, 9, "%.8s", letters)']
)
def test_a_function_of_the_c_library_reads(lab: Lab, read: str) -> None:
    """The stack leads out of it: what counts is the line that called it."""
    executable = lab.build(
        f"""
        int main() {{
            static char copied[4000], text[9];
            begin();
            fetch();
            const char *letters = (const char *)landed;
            {read};
            return 0;
        }}
        """,
        head=HEAD + "#include <cstdio>\n",
    )
    (event,) = account_of(lab.run(executable)).violations
    frame = user_frame(Resolver().resolve(event.stack), executable.sources)
    assert event.violation is Violation.UNSYNCHRONIZED_READ
    assert frame is not None
    assert (frame.function, frame.line) == ("main", HEAD.count("\n") + 8)


def test_a_wait_that_fails_proves_nothing(lab: Lab) -> None:
    executable = lab.build(
        """
        int main() {
            begin();
            fetch();
            cudaStreamSynchronize(stream);
            return landed[5] != 0x01010101;
        }
        """,
        head=HEAD,
    )
    base = trace_of(lab.run(executable)).events
    wait = next(event for event in base if event.kind is EventKind.SYNC)
    result = lab.run(executable, fault=Fault(call=wait.call, api=wait.api))
    summary = account_of(result)
    assert summary.injected is not None and summary.violations == ()
    assert result.exit_status == 0
