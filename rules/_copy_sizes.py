"""Copies and fills whose size does not fit their sides."""

from __future__ import annotations

from dataclasses import dataclass

from cudalint.analysis.facts import Endpoint, Fill, FunctionFacts, Transfer, readable
from cudalint.findings.finding import Confidence, Severity
from cudalint_rules._wording import format_against, quoted


@dataclass(frozen=True)
class Mismatch:
    """A side that a size does not fit, and what to say of it."""

    endpoint: Endpoint
    message: str
    confidence: Confidence = Confidence.HIGH
    severity: Severity | None = None
    times: int | None = None
    """How many bytes an element has, where elements are given for bytes."""


def mismatch_of(operation: Transfer | Fill) -> Mismatch | None:
    """A side that a copy or fill goes beyond, or has elements for bytes of."""
    if isinstance(operation, Transfer):
        if operation.overflow:
            return None
        sides = [operation.to, *([operation.source] if operation.source else [])]
        verb = "copies"
    else:
        sides, verb = [operation.to], "sets"
    api = readable(operation.api)
    for side in sides:
        if operation.bytes is not None and side.bytes is not None and operation.bytes > side.bytes:
            size, room = format_against(operation.bytes, side.bytes)
            has = "has" if side.allocation else "holds"
            message = f"{api} {verb} {size}, but {quoted(side.name)} {has} only {room}"
            return Mismatch(side, message)
        if side.overrun_ratio or side.overrun_element:
            times = side.overrun_ratio or quoted(side.overrun_element)
            message = f"{api} {verb} {quoted(operation.bytes_text)} bytes, "
            message += f"{times} times what {quoted(side.name)} has"
            if side.overrun_ratio:
                return Mismatch(side, message)
            # The type may be one byte in size.
            return Mismatch(side, message, Confidence.LOW, Severity.WARNING)
        if side.overrun_bytes and operation.bytes is None:
            more = f"{side.overrun_bytes:,}"
            message = f"{api} {verb} {quoted(operation.bytes_text)} bytes, "
            message += f"{more} more than {quoted(side.name)} has"
            return Mismatch(side, message)
    for side in sides:
        ratio = _ratio(operation, side)
        # Of bytes there are as many as elements.
        if ratio and operation.element_count and all(end.element_bytes != 1 for end in sides):
            message = f"{api} {verb} {quoted(operation.bytes_text)} bytes, an element count: "
            message += f"{quoted(side.name)} has {ratio} times as many"
            return Mismatch(side, message, times=ratio)
        if side.counted and side.element_bytes and side.element_bytes > 1:
            message = f"{api} {verb} {quoted(operation.bytes_text)} bytes, the number of elements: "
            message += f"each in {quoted(side.name)} has {side.element_bytes}"
            return Mismatch(side, message, times=side.element_bytes)
    return None


def _ratio(operation: Transfer | Fill, side: Endpoint) -> int | None:
    """How many times larger the allocation is, if that could be the size of an element."""
    ratio = side.size_ratio
    if ratio is None and operation.bytes and side.bytes and side.bytes % operation.bytes == 0:
        ratio = side.bytes // operation.bytes
    if ratio is None or ratio < 2 or side.element_bytes not in (None, ratio):
        return None
    return ratio


def part_of_larger(operation: Transfer | Fill, facts: FunctionFacts) -> Mismatch | None:
    """All of one side, which is a part of the other, whose rest no copy of the function moves."""
    if not isinstance(operation, Transfer) or operation.source is None:
        return None
    sides = (operation.to, operation.source)
    for whole, larger in (sides, sides[::-1]):
        if not whole.whole or not larger.times_unknown or whole.space == larger.space:
            continue
        moving = [
            one
            for one in facts.transfers
            if any(end and end.allocation == larger.allocation for end in (one.to, one.source))
        ]
        if moving == [operation]:
            message = f"{readable(operation.api)} copies {quoted(operation.bytes_text)} bytes, all "
            message += f"of {quoted(whole.name)}, but only a part of the "
            message += f"{quoted(larger.bytes_text)} of {quoted(larger.name)}, and nothing copies "
            return Mismatch(larger, f"{message}the rest", Confidence.LOW, Severity.WARNING)
    return None
