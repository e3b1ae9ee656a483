"""The order of streams on one path, and which calls may wait."""

from __future__ import annotations

from cudalint.analysis import analyze
from cudalint.analysis.domains.ordering.order import Order, Pending
from cudalint.analysis.facts import FunctionFacts
from cudalint.analysis.values.values import Const, Symbol
from cudalint.apis.loader import load
from cudalint.frontends.cuda import read
from cudalint.frontends.cuda.options import ParseOptions
from cudalint.source import Span

HERE = Span(1, 1, 1, 2)
THERE = Span(2, 1, 2, 2)
FIRST, SECOND = Symbol("first"), Symbol("second")


def pending(buffer: str, span: Span = HERE, stream: Symbol = FIRST) -> Pending:
    return Pending("work", buffer, None, buffer, stream, "s", "f", span, frozenset({stream}))


def test_an_operation_replaces_itself() -> None:
    order = Order().add(pending("a")).add(pending("b")).add(pending("a"))
    assert [p.buffer for p in order.pending] == ["b", "a"]


def test_an_event_stands_for_what_was_there_before() -> None:
    order = Order().add(pending("a")).record(Const("event"), lambda p: True)
    order = order.add(pending("b", THERE))
    covered = order.covered(Const("event"))
    assert covered == frozenset({(HERE, "a")})
    assert order.covered(Const("another")) is None
    after = order.follow(SECOND, lambda p: p.identity in covered)
    assert [SECOND in p.after for p in after.pending] == [True, False]


def test_where_paths_meet_only_what_both_have_stays() -> None:
    one = Order().add(pending("a")).add(pending("b", THERE))
    other = Order().add(pending("a")._replace(after=frozenset({SECOND})))
    both = one.join(other)
    assert [p.buffer for p in both.pending] == ["a"]
    assert both.pending[0].after == {FIRST, SECOND}


def test_what_the_standard_library_waits_for() -> None:
    models = load("cuda")
    assert models.never_waits("std::max")
    assert not models.never_waits("std::future::get")
    assert not models.never_waits("wait_for_gpu")


def facts(body: str, before: str = "") -> FunctionFacts:
    text = f"""
#include <cstdio>
#include <cuda_runtime.h>
{before}
void work(float* d, int n, bool late) {{
    cudaStream_t s, t;
    if (cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)) return;
    if (cudaStreamCreate(&t)) return;
    float* h;
    if (cudaMallocHost(&h, 64)) return;
    cudaMemcpyAsync(h, d, 64, cudaMemcpyDeviceToHost, s);
    {body}
}}
"""
    program = read("work.cu", text, ParseOptions())
    models = {language: load(language) for language in ("cuda", "python")}
    found = analyze([program], models).functions
    return next(function for function in found if function.function == "work")


def reads(body: str, before: str = "") -> list[str]:
    ordering = facts(body, before).ordering
    return [read.text for read in ordering.early_reads] if ordering else []


def test_a_read_before_the_wait() -> None:
    assert reads('printf("%f", h[0]);') == ["`h[0]`"]
    assert reads("cudaStreamSynchronize(t); n = (int)h[3];") == ["`h[3]`"]
    assert reads("if (h[1] > 0) n = 1;") == ["`h[1]`"]
    assert reads("cudaMemcpy(d, d, 4, cudaMemcpyDeviceToDevice); n = (int)h[0];") == ["`h[0]`"]


def test_a_read_after_the_wait() -> None:
    assert reads("cudaStreamSynchronize(s); n = (int)h[0];") == []
    assert reads("cudaDeviceSynchronize(); n = (int)h[0];") == []
    assert reads("cudaEvent_t e; cudaEventCreate(&e); cudaEventRecord(e, s);"
                 "cudaEventSynchronize(e); n = (int)h[0];") == []  # fmt: skip
    assert reads("if (late) cudaStreamSynchronize(s); n = (int)h[0];") == []
    assert reads("settle(); n = (int)h[0];", "void settle();") == []
    assert reads("h[0] = 1; float* p = &h[2];") == []


def test_an_event_recorded_too_early_proves_nothing() -> None:
    assert reads("cudaEvent_t e; cudaEventCreate(&e); cudaEventRecord(e, t);"
                 "cudaEventSynchronize(e); n = (int)h[0];") == ["`h[0]`"]  # fmt: skip
