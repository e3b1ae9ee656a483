"""What ``run`` tells of each process of a command: what it lost, kept, misused, and its peaks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cudalint.runtime.account import Account
from cudalint.runtime.events import Event, EventKind
from cudalint.runtime.evidence import has_lines, shown, stack_text
from cudalint.runtime.sites import Sites

_MOST_SITES = 50
_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
_LOCAL_RANKS = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID")
_NO_CALLS = frozenset({EventKind.NOTE, EventKind.LIBRARY, EventKind.END, EventKind.KEPT})
_ASKING = frozenset({
    "cuInit", "cuDriverGetVersion", "cuGetProcAddress", "cuGetProcAddress_v2", "cuGetExportTable",
    "cudaDriverGetVersion", "cudaRuntimeGetVersion",
})  # fmt: skip
Told = dict[str, Any]


def calls(events: Sequence[Event]) -> tuple[int, int]:
    """How many calls of CUDA there were, and how many of them worked; those that only ask what
    there is are none."""
    made = [
        event
        for event in events
        if event.api and event.kind not in _NO_CALLS and (event.status or event.api not in _ASKING)
    ]
    return len(made), sum(not event.status for event in made)


def process_told(
    process: int, events: Sequence[Event], summary: Account, *, complete: bool
) -> Told:
    """One process, as plain data."""
    sites = Sites(events)
    job = summary.job
    uncaught = (event.text for event in events if event.api == "uncaught")
    return {
        "process": process,
        "rank": next((job[name] for name in _RANKS if name in job), None),
        "local_rank": next((job[name] for name in _LOCAL_RANKS if name in job), None),
        "complete": complete,
        "uncaught": next(uncaught, None),
        "peak": summary.peak,
        "devices": [
            {"device": _physical(device, job), "peak": peak,
             "leaked": sum(one.bytes for one in _lost(summary, complete) if one.device == device)}
            for device, peak in summary.peaks.items()
        ],
        "leaks": _by_site(_lost(summary, complete), sites),
        "kept": _by_site(summary.kept if complete else (), sites),
        "violations": [
            {"what": event.violation.label, "message": event.text, "stack": stack_text(event.stack)}
            for event in summary.violations
            if event.violation is not None
        ],
        "failures": [
            {"api": event.api, "status": event.status, "stack": stack_text(event.stack)}
            for event in summary.failures
        ],
        "notes": list(summary.notes),
        "has_lines": all(
            has_lines(event.stack)
            for event in (*summary.violations, *_lost(summary, complete))
            if event.stack
        ),
    }  # fmt: skip


def _lost(summary: Account, complete: bool) -> tuple[Event, ...]:
    return summary.leaks if complete else ()


def _physical(device: int, job: Mapping[str, str]) -> str:
    """Which device of the machine it is, where the job has each process see its own."""
    visible = job.get("CUDA_VISIBLE_DEVICES", "").split(",")
    return visible[device].strip() if device < len(visible) and visible[device] else str(device)


def _by_site(events: Sequence[Event], sites: Sites) -> list[Told]:
    found: dict[tuple[object, ...], Told] = {}
    for event in events:
        stack = stack_text(event.stack)
        frame = sites.frame(event.stack)
        place = f"{shown(frame.filename)}:{frame.line}" if frame is not None else None
        if frame is not None and frame.function:
            place = f"{place} ({frame.function})"
        one = found.setdefault(
            (event.api, event.family, *stack),
            {"site": place, "api": event.api, "family": event.family, "count": 0, "bytes": 0,
             "stack": stack},
        )  # fmt: skip
        one["count"] += 1
        one["bytes"] += event.bytes
    return sorted(found.values(), key=lambda one: -one["bytes"])


# As text ----------------------------------------------------------------------------------------


def process_lines(told: Told, *, many: bool) -> Iterator[str]:
    """One process, as people read it."""
    if many:
        yield f"{_name(told)}:"
    for one in told["violations"][:_MOST_SITES]:
        yield f"{one['what']}: {one['message']}"
        yield from (f"    at {frame}" for frame in one["stack"])
    for site in told["leaks"][:_MOST_SITES]:
        yield f"leaked: {_amount(site)}{_for(site)}"
        yield from (f"    at {frame}" for frame in site["stack"])
    for site in told["kept"][:_MOST_SITES]:
        place = site["site"] or (site["stack"] or ["an unknown place"])[0]
        yield f"kept to the end (a global leads to it): {_amount(site)}, at {place}"
    if not told["complete"]:
        yield "the process did not come to its end: its leaks are not known"
    if told["uncaught"]:
        yield (
            f"nobody catches the exception ({told['uncaught']}): what is said of leaks is as if"
            " `main` did"
        )
    leaked = sum(site["bytes"] for site in told["leaks"])
    lost = f"{_count(len(told['leaks']), 'leaking site')}, {leaked:,} bytes"
    kept = sum(site["bytes"] for site in told["kept"])
    yield (
        f"{lost if told['complete'] else 'leaks not known'};"
        f" {_count(len(told['violations']), 'misuse')}; peak {told['peak']:,} bytes"
        + (f"; {kept:,} bytes kept to the end" if kept else "")
    )


def job_lines(processes: Sequence[Told]) -> Iterator[str]:
    """The sums of a command with several processes: by device, and of all."""
    devices: dict[str, list[tuple[Told, Told]]] = {}
    for told in processes:
        for device in told["devices"]:
            devices.setdefault(device["device"], []).append((told, device))
    for number, used in sorted(devices.items()):
        names = ", ".join(_name(told) for told, _ in used[:8])
        more = f" and {len(used) - 8} more" if len(used) > 8 else ""
        yield (
            f"device {number}: peaks of {sum(one['peak'] for _, one in used):,} bytes in all,"
            f" {sum(one['leaked'] for _, one in used):,} bytes leaked ({names}{more})"
        )
    leaks = [site for told in processes for site in told["leaks"]]
    yield (
        f"all {len(processes)} processes: {_count(len(leaks), 'leaking site')},"
        f" {sum(site['bytes'] for site in leaks):,} bytes;"
        f" {_count(sum(len(told['violations']) for told in processes), 'misuse')}"
    )


def _name(told: Told) -> str:
    process = f"process {told['process']}"
    return f"rank {told['rank']} ({process})" if told["rank"] is not None else process


def _amount(site: Told) -> str:
    times = f" in {site['count']} allocations" if site["count"] > 1 and site["bytes"] else ""
    if not site["bytes"]:
        return f"{_count(site['count'], site['family'])}, from {site['api']}"
    return f"{site['bytes']:,} bytes of {site['family']}{times}, from {site['api']}"


def _for(site: Told) -> str:
    """For whom a wrapper acquired it."""
    inner = site["stack"][0] if site["stack"] else None
    return f", for {site['site']}" if site["site"] and site["site"] != inner else ""


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
