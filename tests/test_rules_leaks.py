"""Which leak is whose: GPU101, 102, 103, 104 and 106."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cudalint.analysis.facts import Exit, FunctionFacts, Leak
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.rule import Rule
from cudalint_rules._leaks import classify, judge
from cudalint_rules.early_exit_leak import EarlyExitLeak
from cudalint_rules.exception_leak import ExceptionLeak
from cudalint_rules.handle_leak import HandleLeak
from cudalint_rules.overwritten_allocation import OverwrittenAllocation
from cudalint_rules.unpaired_allocation import UnpairedAllocation
from tests.rule_facts import acquired, at, end, function, klass, leak, leave, resource, site

FREED = (site(40),)
RETURN = leave(Exit.RETURN, 31, "cudaMemcpy fails (line 30)", on_failure=True)
CONDITION = leave(Exit.RETURN, 25, "n == 0")
THROW = leave(Exit.THROW, 33, "cudaMemset fails")
MAY_THROW = leave(Exit.THROW, 34, "parse() raises", explicit=False)
ANEW = leave(Exit.OVERWRITE, 10, overwritten_by="acquire")
NULL = leave(Exit.OVERWRITE, 22, overwritten_by="null")
STREAM = resource("stream", family="stream")
EACH = resource(in_loop=True)

LEAK_RULES: list[type[Rule]] = [
    UnpairedAllocation, EarlyExitLeak, ExceptionLeak, OverwrittenAllocation, HandleLeak,
]  # fmt: skip


def findings(*leaks: Leak, **facts: object) -> list[Finding]:
    given = function(leaks=leaks, **facts)
    return [finding for rule in LEAK_RULES for finding in rule().check(given)]


def only(*leaks: Leak, **facts: object) -> Finding:
    (found,) = findings(*leaks, **facts)
    return found


@pytest.mark.parametrize(
    ("fact", "code"),
    [
        (leak(end()), "GPU101"),
        (leak(end(), RETURN, THROW, MAY_THROW), "GPU101"),
        (leak(RETURN), "GPU101"),
        (leak(THROW), "GPU101"),
        (leak(MAY_THROW), None),
        (leak(end(), ANEW), "GPU101"),
        (leak(ANEW), "GPU101"),
        (leak(end(), NULL), "GPU101"),
        (leak(RETURN, released=FREED), "GPU102"),
        (leak(end(), released=FREED), "GPU102"),
        (leak(RETURN, THROW, MAY_THROW, released=FREED), "GPU102"),
        (leak(RETURN, handed_over=(site(40, "is stored"),)), "GPU102"),
        (leak(leave(Exit.OVERWRITE, 20, early=True), released=FREED), "GPU102"),
        (leak(THROW, released=FREED), "GPU103"),
        (leak(MAY_THROW, released=FREED), "GPU103"),
        (leak(THROW, handed_over=FREED), "GPU103"),
        (leak(NULL), "GPU104"),
        (leak(ANEW, released=FREED), "GPU104"),
        (leak(ANEW, end(), place_released=True), "GPU104"),
        (leak(NULL, RETURN, released=FREED), "GPU104"),
        (leak(NULL, of=STREAM), "GPU104"),
        (leak(end(), of=STREAM), "GPU106"),
        (leak(RETURN, of=STREAM, released=FREED), "GPU106"),
        (leak(THROW, of=STREAM, released=FREED), "GPU106"),
        (leak(end(), ANEW, of=STREAM), "GPU106"),
        (leak(), None),
    ],
)
def test_each_leak_belongs_to_one_rule(fact: Leak, code: str | None) -> None:
    assert classify(fact, function()) == code
    assert [finding.code for finding in findings(fact)] == ([code] if code else [])


def test_what_may_raise_adds_nothing_to_a_return() -> None:
    verdict = judge(leak(MAY_THROW, RETURN, THROW, released=FREED), function())
    assert verdict and verdict.exits == (RETURN, THROW)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (function(), Confidence.LOW),
        (function(language="python"), Confidence.MEDIUM),
    ],
)
def test_confidence_in_what_may_raise(facts: FunctionFacts, expected: Confidence) -> None:
    verdict = judge(leak(MAY_THROW, released=FREED), facts)
    assert verdict and verdict.confidence is expected
    certain = judge(leak(MAY_THROW, THROW, released=FREED), facts)
    assert certain and certain.confidence is Confidence.HIGH
    assert certain.exits == (THROW,)


def test_low_confidence_where_the_function_passes_it_on() -> None:
    verdict = judge(leak(MAY_THROW, handed_over=FREED), function(language="python"))
    assert verdict and verdict.confidence is Confidence.LOW


def test_low_confidence_where_a_condition_tells_released_from_lost() -> None:
    """It may be the condition of the acquisition, in other words."""
    mixed = replace(end(), held="unless ended")
    verdict = judge(leak(mixed, released=FREED), function())
    assert verdict and (verdict.code, verdict.confidence) == ("GPU102", Confidence.LOW)
    for other in (end(), RETURN, replace(mixed, on_failure=True)):
        surer = judge(leak(mixed, other, released=FREED), function())
        assert surer and surer.confidence is Confidence.HIGH


@pytest.mark.parametrize(
    ("fact", "severity"),
    [
        (leak(RETURN, released=FREED), Severity.INFO),
        (leak(THROW, released=FREED), Severity.INFO),
        (leak(RETURN, CONDITION, released=FREED), Severity.INFO),
        (leak(CONDITION, released=FREED), Severity.INFO),
        (leak(end(), RETURN), Severity.INFO),
        (leak(RETURN, of=STREAM, released=FREED), Severity.INFO),
        (leak(end(), of=STREAM), Severity.INFO),
        (leak(end(), of=EACH), Severity.WARNING),
        (leak(ANEW, released=FREED), Severity.WARNING),
    ],
)
def test_where_the_process_ends_is_info(fact: Leak, severity: Severity) -> None:
    assert only(fact, is_main=True).severity is severity
    assert only(fact, is_test=True).severity is severity
    assert only(fact).severity is Severity.WARNING


def test_what_nobody_handles_is_info() -> None:
    assert only(leak(THROW, released=FREED), unhandled=True).severity is Severity.INFO
    assert only(leak(THROW, CONDITION, released=FREED), unhandled=True).severity is Severity.WARNING


def test_an_unpaired_allocation_names_the_missing_call() -> None:
    found = only(leak(end()))
    assert found.message == (
        "`d_out` (cudaMalloc) is never released: no way out of `render` calls cudaFree"
    )
    assert (found.span, found.function, found.subject) == (at(10), "render", "d_out")


def test_an_unpaired_allocation_names_its_siblings() -> None:
    found = only(leak(end(), siblings=(site(40, "d_a"), site(41, "d_b"))))
    assert found.message == (
        "`d_out` (cudaMalloc) is never released; its siblings `d_a` and `d_b` are, at lines 40-41"
    )
    assert "its sibling d_b is released here" in [step.message for step in found.steps]
    one = only(leak(end(), siblings=(site(40, "d_a"),)))
    assert one.message.endswith("; its sibling `d_a` is, at line 40")


def test_an_unpaired_allocation_in_a_loop() -> None:
    found = only(leak(end(), of=resource(in_loop=True, through="grab")))
    assert found.message == (
        "`d_out` (grab) is never released: each iteration acquires another, and no way out of "
        "`render` calls cudaFree"
    )


def test_an_early_exit_names_both_lines() -> None:
    found = only(leak(RETURN, released=FREED))
    assert found.message == (
        "`d_out` (cudaMalloc) is not released when cudaMemcpy fails (returns at line 31); "
        "line 40 releases it otherwise"
    )
    assert [step.span.row for step in found.steps] == [31, 40]


def test_an_early_exit_names_all_exits() -> None:
    third = leave(Exit.RETURN, 36, "cudaMemset fails")
    found = only(leak(RETURN, CONDITION, third, released=(site(40), site(44))))
    assert found.message == (
        "`d_out` (cudaMalloc) is not released when cudaMemcpy fails (returns at line 31), nor on "
        "the way out at lines 25 and 36; lines 40 and 44 release it otherwise"
    )
    assert [step.span.row for step in found.steps] == [25, 31, 36, 40, 44]


def test_an_early_exit_before_it_is_passed_on() -> None:
    returned, stored = site(40, "is returned"), site(42, "is stored")
    found = only(leak(RETURN, handed_over=(returned,)))
    assert found.message.endswith("(returns at line 31); otherwise it is returned at line 40")
    found = only(leak(RETURN, handed_over=(returned, stored)))
    assert found.message.endswith("; otherwise it is passed on at lines 40 and 42")


def test_an_exception_names_the_call() -> None:
    found = only(leak(MAY_THROW, released=FREED), language="python")
    assert found.message == (
        "`d_out` (cudaMalloc) is not released when parse() raises (leaves at line 34); "
        "line 40 releases it otherwise"
    )


@pytest.mark.parametrize(
    ("fact", "words"),
    [
        (leak(NULL, released=FREED), "is set to null at line 22 while it is still owned; the "
         "release at line 40 comes too late for it"),
        (leak(ANEW, released=FREED), "is acquired anew on each iteration while the last one is "
         "still owned; the release at line 40 comes too late for it"),
        (leak(leave(Exit.OVERWRITE, 15, overwritten_by="acquire"), released=FREED),
         "is acquired anew at line 15 while the first one is still owned; the release at line 40 "
         "comes too late for it"),
        (leak(leave(Exit.OVERWRITE, 15, overwritten_by="value")),
         "is overwritten at line 15 while it is still owned, and nothing else points to it"),
        (leak(leave(Exit.OVERWRITE, 45, overwritten_by="value"), released=FREED),
         "is overwritten at line 45 while it is still owned, and nothing else points to it"),
    ],
)  # fmt: skip
def test_an_overwrite_says_by_what(fact: Leak, words: str) -> None:
    assert only(fact).message == f"`d_out` (cudaMalloc) {words}"


def test_a_member_acquired_again() -> None:
    again = acquired("data_", 12, "Ring::configure", "method")
    facts = klass(overwritten=(again,), released_by_destructor={"data_": site(9)})
    (found,) = OverwrittenAllocation().check(facts)
    assert found.message == (
        "`data_` (cudaMalloc) replaces what `data_` may still own: `Ring::configure` does not "
        "release it first; line 9 frees only the last"
    )
    assert (found.span, found.subject) == (at(12), "Layer.data_")
    assert not list(OverwrittenAllocation().check(klass(overwritten=(again,))))


def test_a_handle_is_destroyed() -> None:
    assert only(leak(end(), of=STREAM)).message == (
        "`stream` (cudaStreamCreate) is never destroyed: no way out of `render` calls "
        "cudaStreamDestroy"
    )
    assert only(leak(RETURN, of=STREAM, released=FREED)).message == (
        "`stream` (cudaStreamCreate) is not destroyed when cudaMemcpy fails (returns at line 31); "
        "line 40 releases it otherwise"
    )
