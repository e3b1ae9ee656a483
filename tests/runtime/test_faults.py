"""Calls that are made to fail, errors that stay, and what a lost context does."""

from __future__ import annotations

import pytest

from cudalint.runtime.build import Executable
from cudalint.runtime.faults import Fault, at_line
from cudalint.runtime.frames import Resolver
from tests.runtime.conftest import Lab, account_of, trace_of

PROGRAM = """
static int fill(float **a, float **b) {
    if (cudaMalloc((void **)a, 100)) return 1;
    if (cudaMalloc((void **)b, 200)) return 2;  // a is lost here
    return 0;
}
int main() {
    float *a, *b;
    for (int i = 0; i < 3; i++) {
        if (int failed = fill(&a, &b)) return failed;
        cudaFree(b);
        cudaFree(a);
    }
    return 0;
}
"""


@pytest.fixture
def program(lab: Lab) -> Executable:
    return lab.build(PROGRAM)


def test_by_number(lab: Lab, program: Executable) -> None:
    result = lab.run(program, fault=Fault(call=2))
    assert result.exit_status == 2
    sums = account_of(result)
    assert [(leak.bytes, leak.call) for leak in sums.leaks] == [(100, 1)]
    assert sums.injected is not None
    assert (sums.injected.api, sums.injected.call, sums.injected.status) == ("cudaMalloc", 2, 2)


def test_by_function_and_count(lab: Lab, program: Executable) -> None:
    result = lab.run(program, fault=Fault(api="cudaMalloc", nth=4))
    assert result.exit_status == 2
    assert len(account_of(result).leaks) == 1
    result = lab.run(program, fault=Fault(api="cudaFree", nth=1, always=True, status=1))
    assert len(account_of(result).leaks) == 6


def test_by_place(lab: Lab, program: Executable) -> None:
    plain = lab.run(program)
    assert plain.exit_status == 0
    events = Resolver().resolve_events(trace_of(plain).events)
    source = str(program.sources[0])
    first = next(event for event in events if event.bytes == 200)
    result = lab.run(program, fault=Fault(site=first.stack[0], nth=2))
    assert result.exit_status == 2
    injected = account_of(result).injected
    assert injected is not None and injected.call == 6
    # And by the line, as the run without faults showed it.
    fault = at_line(events, source, first.stack[0].line, nth=3)
    assert fault == Fault(call=10)
    assert at_line(events, source, 9999) is None
    result = lab.run(program, fault=fault)
    injected = account_of(result).injected
    assert injected is not None and injected.call == 10


def test_no_such_call(lab: Lab, program: Executable) -> None:
    result = lab.run(program, fault=Fault(call=1000))
    assert result.exit_status == 0
    assert account_of(result).injected is None


def test_a_fault_needs_a_name() -> None:
    with pytest.raises(ValueError, match="a fault needs"):
        Fault()
    with pytest.raises(ValueError, match="no function"):
        Fault(api="a;b")


def test_sticky_errors_stay(lab: Lab) -> None:
    result = lab.run(
        """
        int main() {
            void *p, *q;
            cudaMalloc(&p, 64);
            if (cudaDeviceSynchronize() != cudaErrorLaunchFailure) return 1;
            if (cudaGetLastError() != cudaErrorLaunchFailure) return 2;
            if (cudaMalloc(&q, 64) != cudaErrorLaunchFailure) return 3;
            if (cudaGetLastError() != cudaErrorLaunchFailure) return 4;
            if (cudaFree(p) != cudaErrorLaunchFailure) return 5;
            if (cudaDeviceReset()) return 6;
            if (cudaGetLastError()) return 7;
            return cudaMalloc(&q, 64);
        }
        """,
        fault=Fault(api="cudaDeviceSynchronize"),
    )
    assert result.exit_status == 0
    sums = account_of(result)
    # The program did release p: its context was lost before.
    assert [leak.call for leak in sums.leaks] == [6]


def test_other_errors_do_not_stay(lab: Lab) -> None:
    result = lab.run(
        """
        int main() {
            void *p;
            if (cudaMalloc(&p, 64) != cudaErrorMemoryAllocation) return 1;
            if (cudaMalloc(&p, 64) != cudaSuccess) return 2;
            // A success does not clear it.
            if (cudaGetLastError() != cudaErrorMemoryAllocation) return 3;
            return cudaFree(p);
        }
        """,
        fault=Fault(call=1),
    )
    assert result.exit_status == 0
