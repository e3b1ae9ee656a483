"""On which sides the memory of a copy is, and which its direction says."""

from __future__ import annotations

from cudalint.analysis.facts import Endpoint, Fill, Transfer, readable
from cudalint.findings.finding import Severity
from cudalint.findings.repair import CopyKind
from cudalint_rules._wording import listing, quoted

SIDES = {"host": "host", "pinned": "host", "device": "device", "array": "device"}
"""Which side of a direction a memory space is on; managed memory is on both."""


def repair_of(copy: Transfer, wrong: list[tuple[str, Endpoint]]) -> CopyKind | None:
    """The direction that the pointers have. Where both are on the wrong side, they may have been
    exchanged as well, and where memory is pinned, that of the device may have been meant."""
    if copy.source is None or copy.source.space not in SIDES or copy.to.space not in SIDES:
        return None
    new = f"{SIDES[copy.source.space]}-to-{SIDES[copy.to.space]}"
    safe = len(wrong) == 1 and wrong[0][1].space != "pinned"
    return CopyKind(copy.span, copy.direction or "", new, safe=safe)


def wrong_sides(copy: Transfer) -> list[tuple[str, Endpoint]]:
    """The sides of a copy that are in other memory than its direction says, with their roles."""
    source_side, separator, target_side = (copy.direction or "").partition("-to-")
    if not separator or copy.source is None:
        return []
    ends = (("target", copy.to, target_side), ("source", copy.source, source_side))
    return [
        (role, end) for role, end, side in ends if end.space in SIDES and SIDES[end.space] != side
    ]


def of_sides(copy: Transfer, wrong: list[tuple[str, Endpoint]]) -> str:
    """What a copy says, and where the memory of its sides is."""
    reasons = [f"its {role} {quoted(end.name)} is {end.space} memory" for role, end in wrong]
    return f"{readable(copy.api)} says {copy.direction}, but {listing(reasons)}"


def severity_of(copy: Transfer, wrong: list[tuple[str, Endpoint]]) -> Severity | None:
    """``None``: the copy is refused, or goes where nobody wants it."""
    if all(end.space == "pinned" for _, end in wrong):
        return Severity.INFO
    sides = [SIDES.get(end.space or "") for end in (copy.to, copy.source) if end is not None]
    return Severity.WARNING if sides == ["device", "device"] else None


def of_pointer(of: Transfer | Fill, place: Endpoint, verb: str) -> str:
    """What a copy or a fill does to a pointer in place of what it points to."""
    return (
        f"{readable(of.api)} {verb} the pointer itself, {quoted(place.name)}, not what it points to"
    )


def of_shadow(of: Transfer | Fill, end: Endpoint) -> str:
    """What a copy or a fill gets where a variable of the device is named."""
    return (
        f"{readable(of.api)} gets the host's address of {quoted(end.name)}, which lives on the"
        " device: only cudaMemcpyToSymbol, cudaMemcpyFromSymbol and the address that"
        " cudaGetSymbolAddress gives lead there"
    )
