"""GPU001, 002, 105, 108, 201-205 and 208, over facts built by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cudalint.analysis.facts import (
    ClassFacts,
    Cleanup,
    DanglingPointer,
    FileFacts,
    MemberAcquisition,
    Misuse,
    MisuseKind,
    OwnerCopy,
    Unfinished,
)
from cudalint.findings.finding import Confidence, Finding, Severity, Step
from cudalint.findings.rule import Rule
from cudalint.findings.suppressions import UnusedSuppression
from cudalint.program import MISSING_HEADER, Dropped
from cudalint_rules.copyable_owner import CopyableOwner
from cudalint_rules.dangling_device_pointer import DanglingDevicePointer
from cudalint_rules.double_free import DoubleFree
from cudalint_rules.incomplete_parse import IncompleteParse
from cudalint_rules.invalid_free import InvalidFree
from cudalint_rules.member_leak import MemberLeak
from cudalint_rules.mismatched_deallocation import MismatchedDeallocation
from cudalint_rules.no_op_cleanup import NoOpCleanup
from cudalint_rules.unused_suppression import UnusedSuppressionRule
from cudalint_rules.use_after_free import UseAfterFree
from tests.rule_facts import FILE, acquired, at, function, klass, record, resource, site

MISUSE_RULES: list[type[Rule]] = [DoubleFree, UseAfterFree, MismatchedDeallocation, InvalidFree]


def misused(kind: MisuseKind, api: str = "cudaFree", **more: object) -> Finding:
    steps = (Step(FILE, at(10), "acquired"),)
    fact = Misuse(kind, "d_out", api, at(44), steps, **more)  # type: ignore[arg-type]
    facts = function(misuses=(fact,))
    (found,) = (finding for rule in MISUSE_RULES for finding in rule().check(facts))
    assert (found.severity, found.confidence) == (Severity.WARNING, Confidence.LOW)
    facts = function(misuses=(replace(fact, certain=True),))
    (found,) = (finding for rule in MISUSE_RULES for finding in rule().check(facts))
    assert (found.severity, found.span, found.steps) == (Severity.ERROR, at(44), steps)
    assert (found.subject, found.function) == ("d_out", "render")
    return found


def test_double_free() -> None:
    found = misused(MisuseKind.DOUBLE_FREE, released=site(40))
    assert found.code == "GPU201"
    assert found.message == (
        "`d_out` is released again by cudaFree: line 40 has released it already"
    )
    again = misused(MisuseKind.DOUBLE_FREE, released=site(44))
    assert again.message.endswith("an earlier iteration has released it already")
    assert misused(MisuseKind.DOUBLE_FREE).message == "`d_out` is released again by cudaFree"


def test_use_after_free() -> None:
    found = misused(MisuseKind.USE_AFTER_FREE, "cudaMemcpy", released=site(40))
    assert found.code == "GPU202"
    assert found.message == ("`d_out` is passed to cudaMemcpy after its release at line 40")


def test_mismatched_deallocation() -> None:
    pinned = resource("d_out", family="pinned", api="cudaMallocHost")
    found = misused(MisuseKind.MISMATCH, resource=pinned)
    assert found.code == "GPU203"
    assert found.message == (
        "`d_out` (pinned host memory from cudaMallocHost) cannot be released by cudaFree; "
        "use cudaFreeHost"
    )
    unknown = misused(MisuseKind.MISMATCH, "free")
    assert unknown.message == "`d_out` cannot be released by free"


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (MisuseKind.INTERIOR, "it points into `d_in`, not to its start"),
        (MisuseKind.STACK, "it is the address of a local variable, not of an allocation"),
        (MisuseKind.UNINITIALIZED, "it has no value yet on this path"),
    ],
)
def test_invalid_free(kind: MisuseKind, reason: str) -> None:
    found = misused(kind, resource=resource("d_in"))
    assert (found.code, found.message) == ("GPU204", f"cudaFree cannot release `d_out`: {reason}")


# GPU105 -----------------------------------------------------------------------------------------


def members(facts: ClassFacts) -> list[Finding]:
    return list(MemberLeak().check(facts))


def test_a_forgotten_sibling() -> None:
    facts = klass(
        acquired("weights_", 10),
        acquired("bias_", 11),
        acquired("bias_", 30, "Layer::resize", "method"),
        released_by_destructor={"weights_": site(20)},
        destructor=site(19, "~Layer"),
    )
    (found,) = members(facts)
    assert found.message == (
        "`bias_` (cudaMalloc) is never released by `Layer`: its sibling `weights_` is, at line 20"
    )
    assert (found.span, found.subject, found.confidence) == (
        at(11),
        "Layer.bias_",
        Confidence.HIGH,
    )
    assert [step.message for step in found.steps] == [
        "acquired in Layer::resize too",
        "~Layer does not release it",
        "cudaFree releases a sibling here",
    ]


def test_a_destructor_that_releases_nothing() -> None:
    (found,) = members(klass(acquired("data", 10), destructor=site(19, "~Layer")))
    assert found.message == (
        "`data` (cudaMalloc) is never released by `Layer`: `~Layer` does not release it"
    )


def test_elements_of_an_array_are_one_member() -> None:
    elements = acquired("tables[...]", 10)
    (found,) = members(klass(elements, acquired("tables[0]", 11)))
    assert found.subject == "Layer.tables"
    assert found.message.startswith("`tables[...]` (cudaMalloc) is never")
    assert not members(klass(elements, released_by_destructor={"tables": site(20)}))


def test_a_class_without_clean_up() -> None:
    (found,) = members(klass(acquired("stream", 10, family="stream")))
    assert found.message == (
        "`stream` (cudaStreamCreate) is never released by `Layer`, which has no destructor or "
        "closing method that could"
    )


def test_a_struct_that_only_one_function_knows_is_less_certain() -> None:
    (found,) = members(klass(acquired("data", 10, "layer_init", "function")))
    assert found.confidence is Confidence.MEDIUM
    assert found.message.endswith("by `Layer`: no function of this run releases it")


def test_a_struct_with_a_function_that_empties_it() -> None:
    facts = klass(
        acquired("data", 10, "layer_init", "function"),
        released_elsewhere={"bias": site(20, filename="layer_free.cu")},
    )
    (found,) = members(facts)
    assert found.confidence is Confidence.HIGH
    assert found.message.endswith("its sibling `bias` is, at layer_free.cu line 20")


def test_a_container_that_keeps_it() -> None:
    facts = klass(MemberAcquisition("saved_", resource("copy", 10), "Layer::save", "method"))
    (found,) = members(facts)
    assert found.message.startswith("`copy` (cudaMalloc), kept in `saved_`, is never released by")


@pytest.mark.parametrize(
    "more",
    [
        {"released_by_destructor": {"data": site(20)}},
        {"released_elsewhere": {"data": site(20)}},
        {"escaping": frozenset({"data"})},
        {"unseen": True},
    ],
)
def test_a_member_that_is_not_lost(more: dict[str, object]) -> None:
    assert not members(klass(acquired("data", 10), **more))


def test_making_room_for_a_new_value_is_no_clean_up() -> None:
    facts = klass(
        acquired("data", 10),
        released_elsewhere={"data": site(30)},
        replaced=frozenset({"data"}),
    )
    assert len(members(facts)) == 1


# GPU108 -----------------------------------------------------------------------------------------


def cleanups(*facts: Cleanup) -> list[str]:
    return [found.message for found in NoOpCleanup().check(function(cleanups=facts))]


def test_a_release_of_null_at_the_end() -> None:
    assert cleanups(Cleanup("cudaFree", at(40), True, True)) == [
        "cudaFree of a null pointer releases nothing"
    ]


def test_a_release_of_null_that_creates_the_context() -> None:
    assert not cleanups(Cleanup("cudaFree", at(3), True, last=False, first=True))
    assert not cleanups(Cleanup("cudaFree", at(3), True, last=True, first=True))
    assert not cleanups(Cleanup("cudaFree", at(20), True, last=False))


def test_a_reset_names_what_is_owned() -> None:
    owned = (resource("d_a"), resource("d_b"))
    assert cleanups(Cleanup("cudaDeviceReset", at(40), False, True, owned)) == [
        "cudaDeviceReset stands in for the release of `d_a` and `d_b`, and takes everything else "
        "in the process's context with it"
    ]
    assert not cleanups(Cleanup("cudaDeviceReset", at(40), False, True))


def test_one_allocation_is_named_once() -> None:
    owned = (resource("d_a"),)
    assert cleanups(
        Cleanup("cudaDeviceReset", at(41), False, True, owned),
        Cleanup("cudaFree", at(40), True, True, owned),
    ) == ["cudaFree of a null pointer releases nothing; `d_a` is still owned here"]


# The others -------------------------------------------------------------------------------------


def test_a_copied_owner() -> None:
    copy = OwnerCopy(record("Volume"), ("data",), at(33), "passing by value", site(12, "~Volume"))
    (found,) = CopyableOwner().check(function(copies=(copy,)))
    assert found.message == (
        "passing by value copies only the pointer `data`, which the destructor of `Volume` "
        "(line 12) then releases twice"
    )
    assert (found.span, found.subject, len(found.steps)) == (at(33), "Volume", 1)


def test_a_dangling_pointer() -> None:
    fact = DanglingPointer("pointer", "cp.asarray(x)", at(8), ".data.ptr")
    (found,) = DanglingDevicePointer().check(function(dangling=(fact,)))
    assert found.message == (
        "`pointer` outlives the array it points into: `cp.asarray(x)` is a temporary and dies at "
        "the end of this expression; keep it in a variable"
    )


def test_what_could_not_be_read() -> None:
    rule = IncompleteParse()
    assert not list(rule.check(FileFacts(FILE, "cuda", functions_read=9)))
    lost = (
        Dropped(at(30), "`solve`", "its return type is unknown"),
        Dropped(at(20), "`load`", "`Image` is unknown"),
    )
    (found,) = rule.check(FileFacts(FILE, "cuda", dropped=lost, functions_read=9))
    assert found.message == (
        "`load` was not read: `Image` is unknown; nor was 1 other part of this file "
        "(9 functions read)"
    )
    assert (found.severity, found.span.row, len(found.steps)) == (Severity.INFO, 20, 1)
    assert not found.missing


def test_missing_headers_are_named() -> None:
    lost = tuple(
        Dropped(at(row), what, MISSING_HEADER) for row, what in ((2, "b.h"), (1, "a.h"), (3, "b.h"))
    )
    (found,) = IncompleteParse().check(FileFacts(FILE, "cuda", dropped=lost))
    assert found.missing == ("a.h", "b.h")


def test_what_was_not_followed_to_its_end() -> None:
    def facts(*names: str, dropped: tuple[Dropped, ...] = ()) -> FileFacts:
        unfinished = tuple(Unfinished(name, FILE, at(40)) for name in names)
        return FileFacts(FILE, "cuda", dropped=dropped, functions_read=1, unfinished=unfinished)

    (found,) = IncompleteParse().check(facts("solve"))
    assert found.message == (
        "not all paths of `solve` were followed: there are too many (1 function read)"
    )
    assert (found.span.row, found.steps) == (40, ())
    (found,) = IncompleteParse().check(facts("a", "b", "c", "d", "e"))
    assert "`a`, `b`, `c` and 2 more were followed" in found.message
    assert len(found.steps) == 4
    (found,) = IncompleteParse().check(facts("a", dropped=(Dropped(at(2), "`x`", "why"),)))
    assert found.message == (
        "`x` was not read: why; not all paths of `a` were followed: there are too many "
        "(1 function read)"
    )
    assert (found.span.row, [step.span.row for step in found.steps]) == (2, [40])
    unfinished = tuple(Unfinished(name, FILE, at(9), memory_full=name > "a") for name in "abc")
    (found,) = IncompleteParse().check(FileFacts(FILE, "cuda", unfinished=unfinished))
    assert found.message.startswith(
        "not all paths of `a` were followed: there are too many; "
        "not all paths of `b` and `c` were followed: a worker's memory was full"
    )


@pytest.mark.parametrize(
    ("unused", "message"),
    [
        (UnusedSuppression(at(3), "noqa", ("GPU101",)), "there is no GPU101 here to suppress"),
        (
            UnusedSuppression(at(3), "x", ("GPU101", "GPU999"), ("GPU999",), ("GPU609",)),
            "there is no GPU101 here to suppress; GPU999 is no rule (did you mean GPU609?)",
        ),
        (
            UnusedSuppression(at(3), "cudalint: ignore", ()),
            "`cudalint: ignore` names no rule and suppresses nothing: say which, as in [GPU101]",
        ),
    ],
)
def test_an_unused_suppression(unused: UnusedSuppression, message: str) -> None:
    facts = FileFacts(FILE, "cuda", unused_suppressions=(unused,))
    (found,) = UnusedSuppressionRule().check(facts)
    assert (found.message, found.span) == (message, at(3))


def test_a_struct_that_goes_out_of_sight_is_told_of_with_low_confidence() -> None:
    (sure,) = members(klass(acquired("d_data", 10)))
    (taken,) = members(klass(acquired("d_data", 10), taken=True))
    assert taken.confidence is Confidence.LOW
    assert sure.confidence is not Confidence.LOW
    assert not members(klass(acquired("d_data", 10), unseen=True))
