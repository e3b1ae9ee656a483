"""GPU301-305, 401, 405-407, 501, 505 and 506, over facts built by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from cudalint.analysis.facts import FileFacts, FunctionFacts, LaunchSite, Overflow, Transfer
from cudalint.apis.devices import limits_for
from cudalint.findings.finding import Confidence, Finding, Severity, Step
from cudalint.findings.rule import Limits, Rule
from cudalint.program import Parameter, Type
from cudalint_rules.copy_kind_mismatch import CopyKindMismatch
from cudalint_rules.copy_size_mismatch import CopySizeMismatch
from cudalint_rules.invalid_launch import InvalidLaunch
from cudalint_rules.memset_value import MemsetValue
from cudalint_rules.missing_dynamic_shared import MissingDynamicShared
from cudalint_rules.missing_shared_opt_in import MissingSharedOptIn
from cudalint_rules.over_budget_allocation import OverBudgetAllocation
from cudalint_rules.oversize_dynamic_shared import OversizeDynamicShared
from cudalint_rules.oversize_static_shared import OversizeStaticShared
from cudalint_rules.size_overflow import SizeOverflow
from cudalint_rules.unchecked_allocation import UncheckedAllocation
from cudalint_rules.unchunked_transfer import UnchunkedTransfer
from tests.rule_facts import (
    FILE,
    allocation,
    at,
    endpoint,
    fill,
    function,
    kernel,
    launch,
    site,
    transfer,
)

KIB, MIB, GIB = 1024, 1024**2, 1024**3
HOST = endpoint("h_in", "host")


def check(rule: type[Rule], facts: FunctionFacts, limits: Limits | None = None) -> list[Finding]:
    return list(rule(limits).check(facts))


def launched(rule: type[Rule], fact: LaunchSite, limits: Limits | None = None) -> list[str]:
    found = check(rule, function(launches=(fact,)), limits)
    assert all(finding.severity is Severity.ERROR for finding in found)
    assert all(finding.span == at(30) for finding in found)
    return [finding.message for finding in found]


# Shared memory ----------------------------------------------------------------------------------


def test_static_shared_memory() -> None:
    rule = OversizeStaticShared()
    fits, large = kernel("fits", 48 * KIB), kernel("large", 40 * KIB, 32 * KIB)
    (found,) = rule.check(FileFacts(FILE, "cuda", kernels=(fits, large)))
    assert found.message == (
        "`large` declares 72 KiB of static shared memory; more than 48 KiB needs CUDA 13 and an "
        "architecture-specific target, such as sm_90a"
    )
    assert (found.span, found.severity) == (at(2), Severity.WARNING)
    assert [step.message for step in found.steps] == ["s0 takes 40 KiB", "s1 takes 32 KiB"]


@pytest.mark.parametrize(
    ("size", "is_specific", "targets", "end"),
    [
        (64 * KIB, False, ("sm_90",), "no target allows more than 48 KiB"),
        (64 * KIB, False, ("sm_90a",), None),
        (64 * KIB, True, (), None),
        (300 * KIB, True, (), "no architecture allows more than 227 KiB"),
        (300 * KIB, False, (), "no architecture allows more than 227 KiB"),
        (100 * KIB, False, ("sm_120a", "sm_80"), "no target allows more than 99 KiB"),
    ],
)
def test_static_shared_memory_of_targets(
    size: int, is_specific: bool, targets: tuple[str, ...], end: str | None
) -> None:
    rule = OversizeStaticShared(limits_for(targets))
    large = msgspec.structs.replace(kernel("large", size), is_specific=is_specific)
    found = list(rule.check(FileFacts(FILE, "cuda", kernels=(large,))))
    assert [one.message.partition("; ")[2] for one in found] == ([end] if end else [])
    assert all(one.severity is Severity.ERROR for one in found)


def test_dynamic_shared_memory_that_no_device_offers() -> None:
    fact = launch(shared_bytes=4 * MIB, steps=(Step(FILE, at(4), "size is 1048576"),))
    assert launched(OversizeDynamicShared, fact) == [
        "`reduce` is launched with 4 MiB of shared memory for each block; no device offers more "
        "than 227 KiB"
    ]
    assert not launched(MissingSharedOptIn, fact)


def test_dynamic_and_static_add_up() -> None:
    fact = launch(shared_bytes=200 * KIB, kernel=kernel("reduce", 32 * KIB))
    assert launched(OversizeDynamicShared, fact) == [
        "`reduce` is launched with 232 KiB (32 KiB static and 200 KiB dynamic) of shared memory "
        "for each block; no device offers more than 227 KiB"
    ]
    assert not launched(OversizeDynamicShared, launch(shared_bytes=227 * KIB))
    assert not launched(OversizeDynamicShared, launch(shared_bytes=None))


@pytest.mark.parametrize(
    ("targets", "words"),
    [
        (("sm_86",), "sm_86 offers 99 KiB"),
        (("sm_75", "sm_86"), "the largest that the selected targets offer is 99 KiB (sm_86)"),
    ],
)
def test_dynamic_shared_memory_on_targets(targets: tuple[str, ...], words: str) -> None:
    limits = Limits(targets=targets, largest_shared=99 * KIB, largest_shared_target="sm_86")
    (message,) = launched(OversizeDynamicShared, launch(shared_bytes=100 * KIB), limits)
    assert message.endswith(words)


def test_too_much_static_memory_is_not_the_launch_s_fault() -> None:
    fact = launch(shared_bytes=4 * MIB, kernel=kernel("reduce", 64 * KIB))
    assert not launched(OversizeDynamicShared, fact)
    assert not launched(MissingSharedOptIn, fact)


def test_a_missing_opt_in() -> None:
    fact = launch(shared_bytes=64 * KIB, kernel=kernel())
    assert launched(MissingSharedOptIn, fact) == [
        "`reduce` is launched with 64 KiB of shared memory for each block; above 48 KiB "
        "`cudaFuncSetAttribute(reduce, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536)` must "
        "allow it first"
    ]
    python = check(MissingSharedOptIn, function(launches=(fact,), language="python"))
    assert "max_dynamic_shared_size_bytes" in python[0].message


@pytest.mark.parametrize(
    ("opted_in", "count"), [(-1, 0), (64 * KIB, 0), (96 * KIB, 0), (50 * KIB, 1), (None, 1)]
)
def test_an_opt_in_must_be_large_enough(opted_in: int | None, count: int) -> None:
    fact = launch(shared_bytes=64 * KIB, kernel=kernel(), opted_in=opted_in)
    messages = launched(MissingSharedOptIn, fact)
    assert len(messages) == count
    if opted_in == 50 * KIB:
        assert messages == [
            "`reduce` is launched with 64 KiB of dynamic shared memory, and opts in to 50 KiB"
        ]


def test_static_memory_counts_towards_the_opt_in() -> None:
    assert launched(
        MissingSharedOptIn, launch(shared_bytes=32 * KIB, kernel=kernel("reduce", 17 * KIB))
    )
    assert not launched(
        MissingSharedOptIn, launch(shared_bytes=32 * KIB, kernel=kernel("reduce", 16 * KIB))
    )


def test_a_kernel_out_of_sight_may_have_opted_in() -> None:
    fact = launch(shared_bytes=64 * KIB)
    (found,) = check(MissingSharedOptIn, function(launches=(fact,)))
    assert found.confidence is Confidence.MEDIUM
    assert not launched(MissingSharedOptIn, launch(shared_bytes=64 * KIB, opted_in=-1))


def test_missing_dynamic_shared_memory() -> None:
    reads = kernel(dynamic_shared="partial")
    assert launched(MissingDynamicShared, launch(kernel=reads)) == [
        "`reduce` reads the dynamic shared array `partial`, but is launched with 0 bytes for it"
    ]
    assert not launched(MissingDynamicShared, launch(kernel=reads, shared_bytes=None))
    assert not launched(MissingDynamicShared, launch(kernel=reads, shared_bytes=1024))
    assert not launched(MissingDynamicShared, launch(kernel=kernel()))
    assert not launched(MissingDynamicShared, launch())


# Dimensions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grid", "block", "reason"),
    [
        ((1, 1, 1), (64, 32, 1), "a block of 64 x 32 = 2048 threads is more than 1024"),
        ((1, 1, 1), (2048, 1, 1), "the block's x dimension is 2048, more than 1024"),
        ((1, 1, 1), (1, 1, 128), "the block's z dimension is 128, more than 64"),
        ((1, 1, 1), (0, 1, 1), "the block's x dimension is 0"),
        ((None, 1, 1), (256, None, 8), "a block of 256 x 8 = 2048 threads is more than 1024"),
        ((1, 65536, 1), (256, 1, 1), "the grid's y dimension is 65536, more than 65535"),
        ((2**31, 1, 1), (256, 1, 1), "the grid's x dimension is 2147483648, more than 2147483647"),
        ((0, 1, 1), (256, 1, 1), "the grid's x dimension is 0"),
        ((100_000, 65535, 65535), (32, 32, 1), None),
        ((None, None, None), (None, None, None), None),
        ((1, 1, 1), (16, 16, 4), None),
    ],
)
def test_dimensions(grid: Any, block: Any, reason: str | None) -> None:
    expected = [f"`reduce` cannot be launched: {reason}"] if reason else []
    assert launched(InvalidLaunch, launch(grid=grid, block=block)) == expected


def test_too_few_arguments_are_refused_by_some() -> None:
    parameters = (Parameter("out", "out", Type("object")), Parameter("n", "n", Type("object")))
    taken = kernel(parameters=parameters)
    assert launched(InvalidLaunch, launch(kernel=taken, argument_count=1)) == [
        "`reduce` is launched without all it takes: it is given 1 argument, and takes 2"
    ]
    assert launched(InvalidLaunch, launch(kernel=taken, argument_count=3)) == [
        "`reduce` cannot be launched: it is given 3 arguments, and takes 2"
    ]
    numba = kernel(parameters=parameters, dialect="numba")
    assert launched(InvalidLaunch, launch(kernel=numba, argument_count=1)) == [
        "`reduce` cannot be launched: it is given 1 argument, and takes 2"
    ]


def test_launch_bounds() -> None:
    bounded = kernel(max_threads=128)
    assert launched(InvalidLaunch, launch(kernel=bounded)) == [
        "`reduce` cannot be launched: a block of 256 threads breaks its __launch_bounds__(128)"
    ]
    assert not launched(InvalidLaunch, launch(kernel=bounded, block=(128, 1, 1)))


# Transfers --------------------------------------------------------------------------------------


def transfers(rule: type[Rule], *facts: Transfer, **limits: Any) -> list[Finding]:
    return check(rule, function(transfers=facts), Limits(**limits))


def test_a_large_copy() -> None:
    steps = (Step(FILE, at(3), "size is 10000"),)
    (found,) = transfers(UnchunkedTransfer, transfer(endpoint(), HOST, 800_000_000, steps=steps))
    assert found.message == (
        "cudaMemcpy copies 762.94 MiB of `h_in` to the device at once; copy it in chunks of at "
        "most 256 MiB"
    )
    assert (found.severity, found.steps) == (Severity.INFO, steps)


@pytest.mark.parametrize(
    ("limits", "severity"),
    [
        (Limits(), Severity.INFO),
        (Limits(max_transfer_text="256MiB"), Severity.WARNING),
        (Limits(device_memory=4 * GIB), Severity.WARNING),
        (Limits(device_memory=4 * GIB + 4), Severity.INFO),
    ],
)
def test_a_copy_is_weighed(limits: Limits, severity: Severity) -> None:
    facts = function(transfers=(transfer(endpoint(), HOST, GIB),))
    (found,) = UnchunkedTransfer(limits).check(facts)
    assert found.severity is severity


def test_a_whole_data_set_of_unknown_size() -> None:
    (found,) = transfers(UnchunkedTransfer, transfer(endpoint(), HOST, whole_data_set=True))
    assert found.severity is Severity.INFO
    assert found.message == (
        "cudaMemcpy moves the whole data set `h_in`, whatever its size, to the device; if it can "
        "be larger than device memory, copy it in chunks of at most 256 MiB"
    )


@pytest.mark.parametrize(
    ("copy", "count"),
    [
        (transfer(endpoint(), HOST, 256 * MIB), 0),
        (transfer(endpoint(), HOST, GIB, direction="device-to-host"), 0),
        (transfer(endpoint(), HOST, GIB, direction="default"), 1),
        (transfer(endpoint(), endpoint("d_in"), GIB, direction="default"), 0),
        (transfer(endpoint(), endpoint("p", None), GIB, direction=None), 0),
        (transfer(endpoint(), HOST, None), 0),
        (transfer(endpoint(), None, GIB), 0),
        (transfer(endpoint(), HOST, GIB, overflow=Overflow("n * n", GIB, "int")), 0),
    ],
)
def test_what_counts_as_a_large_copy(copy: Transfer, count: int) -> None:
    assert len(transfers(UnchunkedTransfer, copy)) == count


def test_the_threshold_can_be_set() -> None:
    copy = transfer(endpoint(), HOST, 800_000_000)
    assert not transfers(UnchunkedTransfer, copy, max_transfer=GIB)


def test_a_copy_beyond_the_allocation() -> None:
    small = endpoint("d_out", size=1024, allocation=site(10, "cudaMalloc"))
    (found,) = transfers(CopySizeMismatch, transfer(small, HOST, 4096))
    assert (
        found.message
        == "cudaMemcpy copies 4 KiB, but `d_out` has only 1 KiB (allocated at line 10)"
    )
    assert (found.severity, len(found.steps)) == (Severity.ERROR, 1)
    (source,) = transfers(CopySizeMismatch, transfer(endpoint(), endpoint("h", "host", size=4), 8))
    assert source.message == "cudaMemcpy copies 8 bytes, but `h` holds only 4 bytes"
    assert not transfers(CopySizeMismatch, transfer(small, HOST, 1024))
    assert not transfers(CopySizeMismatch, transfer(small, HOST))


def test_a_fill_beyond_the_allocation() -> None:
    fact = fill(0, size=4096, to=endpoint(size=1024))
    (found,) = check(CopySizeMismatch, function(fills=(fact,)))
    assert found.message == "cudaMemset sets 4 KiB, but `d_out` holds only 1 KiB"


@pytest.mark.parametrize(
    ("ratio", "element", "other", "counted", "found"),
    [
        (4, 4, None, True, 1),
        (4, None, None, True, 1),
        (4, 4, None, False, 0),
        (4, 8, None, True, 0),
        (1, 1, None, True, 0),
        (4, 4, 1, True, 0),
    ],
)
def test_elements_where_bytes_are_meant(
    ratio: int, element: int | None, other: int | None, counted: bool, found: int
) -> None:
    side = endpoint(size_ratio=ratio, element_bytes=element)
    source = replace(HOST, element_bytes=other)
    copy = transfer(side, source, text="n", element_count=counted)
    assert [finding.message for finding in transfers(CopySizeMismatch, copy)] == found * [
        f"cudaMemcpy copies `n` bytes, an element count: `d_out` has {ratio} times as many"
    ]


def test_constant_elements_where_bytes_are_meant() -> None:
    side = endpoint(size=4096, bytes_text="N * sizeof(int)", element_bytes=4)
    for size, found in ((1024, 1), (2048, 0)):
        copy = transfer(side, HOST, size, text="N", element_count=True)
        assert len(transfers(CopySizeMismatch, copy)) == found


def test_an_allocation_of_elements() -> None:
    side = endpoint(overrun_ratio=4, allocation=site(10))
    (found,) = transfers(CopySizeMismatch, transfer(side, HOST, text="n * sizeof(float)"))
    assert found.message == (
        "cudaMemcpy copies `n * sizeof(float)` bytes, 4 times what `d_out` has "
        "(allocated at line 10)"
    )


@pytest.mark.parametrize(
    ("target", "source", "direction", "reason"),
    [
        ("device", "host", "device-to-host", "its target `d_out` is device memory and its source "
         "`h_in` is host memory"),
        ("device", "device", "host-to-device", "its source `h_in` is device memory"),
        ("pinned", "device", "host-to-device", "its target `d_out` is pinned memory and its "
         "source `h_in` is device memory"),
        ("device", "host", "host-to-device", None),
        ("device", "pinned", "host-to-device", None),
        ("array", "host", "host-to-device", None),
        ("managed", "managed", "host-to-device", None),
        (None, None, "device-to-host", None),
        ("device", "host", "default", None),
        ("device", "host", None, None),
    ],
)  # fmt: skip
def test_directions(target: Any, source: Any, direction: str | None, reason: str | None) -> None:
    copy = transfer(endpoint("d_out", target), endpoint("h_in", source), direction=direction)
    messages = [found.message for found in transfers(CopyKindMismatch, copy)]
    assert messages == ([f"cudaMemcpy says {direction}, but {reason}"] if reason else [])


def test_a_direction_of_a_fill_is_nonsense() -> None:
    assert not transfers(CopyKindMismatch, transfer(endpoint("h", "host"), None))


@pytest.mark.parametrize(
    ("value", "text", "width", "message"),
    [
        (1.0, "1.0f", 1, "cudaMemset sets each byte of `d_out` to the integer 1, not each element "
         "to 1.0f"),
        (0.5, "", 1, "cudaMemset sets each byte of `d_out` to the integer 0, not each element to "
         "0.5"),
        (1000, "1000", 1, "cudaMemset sets each byte of `d_out` to 232: 1000 does not fit into "
         "0..255"),
        (-5, "", 1, "cudaMemset sets each byte of `d_out` to 251: -5 does not fit into 0..255"),
        (0x7FFFFFFF, "INT_MAX", 1, "cudaMemset sets each byte of `d_out` to 255: INT_MAX "
         "(2147483647) does not fit into 0..255"),
        (70000, "", 2, "cudaMemset sets each 16-bit unit of `d_out` to 4464: 70000 does not fit "
         "into 0..65535"),
        (1.0, "", 4, "cudaMemset sets each 32-bit unit of `d_out` to the integer 1, not each "
         "element to 1.0"),
        (0.0, "0.0f", 1, None),
        (0, "", 1, None),
        (255, "", 1, None),
        (-1, "", 1, None),
        (-1, "", 4, None),
        (0x3F3F3F3F, "", 1, None),
        (0xFFFFFFFF, "", 1, None),
        (1000, "", 4, None),
        (None, "value", 1, None),
    ],
)  # fmt: skip
def test_memset_values(value: float | None, text: str, width: int, message: str | None) -> None:
    fact = fill(value, text, element_bytes=width)
    messages = [found.message for found in check(MemsetValue, function(fills=(fact,)))]
    assert messages == ([message] if message else [])


# Allocations ------------------------------------------------------------------------------------


def test_over_budget() -> None:
    facts = function(allocations=(allocation(size=4 * GIB),))
    assert not check(OverBudgetAllocation, facts)
    limits = Limits(device_memory=3 * GIB, device_memory_text="3GiB")
    (found,) = check(OverBudgetAllocation, facts, limits)
    assert found.message == (
        "cudaMalloc asks for 4 GiB for `d_out`, more than the device memory of 3GiB"
    )
    assert found.severity is Severity.ERROR


def test_over_any_budget() -> None:
    facts = function(allocations=(allocation(size=2 * 1024 * GIB),))
    (found,) = check(OverBudgetAllocation, facts)
    assert found.message.endswith("more than the 268.22 GiB of the largest device there is")
    (targeted,) = check(OverBudgetAllocation, facts, Limits(targets=("sm_86",)))
    assert targeted.message.endswith("of the largest selected device")


@pytest.mark.parametrize(
    ("family", "count"), [("device", 1), ("array", 1), ("cupy", 1), ("managed", 0), ("pinned", 0)]
)
def test_only_device_memory_counts(family: str, count: int) -> None:
    facts = function(allocations=(allocation(size=4 * GIB, family=family),))
    assert len(check(OverBudgetAllocation, facts, Limits(device_memory=GIB))) == count


def test_a_size_that_overflows_is_reported_once() -> None:
    overflow = Overflow("w * h * 4", 1 << 32, "int")
    facts = function(
        allocations=(allocation(size=0, overflow=overflow),),
        transfers=(transfer(endpoint(), HOST, 0, overflow=overflow),),
    )
    (found,) = check(SizeOverflow, facts)
    assert found.message == (
        "the size `w * h * 4` of cudaMalloc is 4294967296 (4 GiB), which does not fit into `int`"
    )
    assert (found.span, found.severity) == (at(10), Severity.ERROR)
    assert [step.span for step in found.steps] == [at(20)]
    assert not check(OverBudgetAllocation, facts, Limits(device_memory=1))


def test_a_size_that_overflows_is_reported_where_it_is_computed() -> None:
    overflow = Overflow("ROWS * COLUMNS", 1 << 32, "int32", at(7))
    (found,) = check(SizeOverflow, function(allocations=(allocation(overflow=overflow),)))
    assert found.span == at(7)
    assert [(step.span, step.message) for step in found.steps] == [
        (at(10), "cudaMalloc uses this size")
    ]


def test_unchecked_allocations_are_one_finding() -> None:
    facts = function(
        allocations=(
            allocation("d_b", checked=False, row=12),
            allocation("d_a", MIB, checked=False, row=11),
            allocation("d_c", row=13),
            allocation("stream", checked=False, row=5, family="stream"),
            allocation("array", checked=False, row=4, family="cupy"),
        )
    )
    (found,) = check(UncheckedAllocation, facts)
    assert found.message == (
        "the status of `d_a` (cudaMalloc), 1 MiB, is never looked at, nor that of 1 other "
        "allocation here"
    )
    assert (found.severity, found.span.row) == (Severity.INFO, 11)
    assert [step.span.row for step in found.steps] == [12]
    assert not check(UncheckedAllocation, function(allocations=(allocation(),)))


@pytest.mark.parametrize(
    ("size", "severity"),
    [(256 * MIB - 1, Severity.INFO), (256 * MIB, Severity.WARNING), (None, Severity.INFO)],
)
def test_a_large_unchecked_allocation_is_a_warning(size: int | None, severity: Severity) -> None:
    facts = function(allocations=(allocation(size=size, checked=False),))
    assert [found.severity for found in check(UncheckedAllocation, facts)] == [severity]
