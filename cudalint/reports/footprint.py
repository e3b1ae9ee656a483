"""The table of peaks: how much device memory each function holds at most, where, and what."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts.capacity import Footprint, Holder
from cudalint.project.units import size_text
from cudalint.reports.report import Report
from cudalint.reports.style import Style

_MOST_HOLDERS = 5
_MOST_UNKNOWN = 6


def render(report: Report, style: Style) -> str:
    """One block per function: the peak, what is alive there, and what is not known."""
    blocks = ["\n".join(_block(one, style)) + "\n" for one in report.footprints or ()]
    if not blocks:
        return "No device memory is allocated in what was read.\n"
    return "\n".join([style.paint("Peak of live device memory", "bold") + "\n", *blocks])


def _block(one: Footprint, style: Style) -> Iterator[str]:
    peak = one.peak
    where = f"{one.filename}:{one.span.row}"
    amount = f"at least {size_text(peak.bytes)}" if peak.unknown else size_text(peak.bytes)
    name = style.paint(one.function, "bold")
    if not peak.bytes:
        yield f"{where}: {name}: unknown"
    else:
        at = f"{peak.filename}:{peak.span.row}" if peak.filename else f"line {peak.span.row}"
        yield f"{where}: {name}: {style.paint(amount, 'bold')} at {at}"
    shown = peak.holders[:_MOST_HOLDERS]
    width = max((len(size_text(holder.bytes)) for holder in shown), default=0)
    for holder in shown:
        yield f"    {size_text(holder.bytes):>{width}}  {_held(holder, one)}"
    rest = peak.holders[_MOST_HOLDERS:]
    if rest:
        yield f"    {size_text(sum(holder.bytes for holder in rest)):>{width}}  {len(rest)} more"
    if peak.unknown:
        names = [f"`{name}`" for name in peak.unknown[:_MOST_UNKNOWN]]
        more = len(peak.unknown) - len(names)
        yield f"    unknown: {', '.join(names)}{f' and {more} more' if more > 0 else ''}"


def _held(holder: Holder, one: Footprint) -> str:
    place = f"line {holder.span.row}"
    if holder.filename and holder.filename != one.filename:
        place = f"{holder.filename}:{holder.span.row}"
    kind = ", temporary" if holder.temporary else ""
    many = f", {holder.count} times" if holder.count > 1 else ""
    return f"{holder.name} ({place}{kind}{many})"
