"""The report in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cudalint.doctor.causes import Cause
from cudalint.doctor.causes.machines import holder_text, measured_of
from cudalint.doctor.record import Case, Failure, Gpu, Machine, Measured
from cudalint.doctor.rescue import rescue, site_text
from cudalint.doctor.sizes import size

_NUMBERS = (
    ("asked", "how much was asked for"), ("total", "how much the device has"),
    ("free", "how much was free"), ("largest", "the largest free block"),
    ("live", "what the program itself held"), ("cached", "what its allocator held without use"),
    ("others", "what other processes held"),
)  # fmt: skip
_MOST = 10


def render(case: Case, found: Sequence[Cause]) -> Iterator[str]:
    """The lines of a report; the first character of a heading is no blank."""
    if case.failure is not None:
        yield from _failure(case.failure)
    if case.machine is not None and (case.failure is None or case.machine.gpus):
        yield from _machine(case.machine)
    yield from _causes(found, case)


def unknown(failure: Failure) -> tuple[str, ...]:
    """What the source does not tell, in words."""
    if failure.memory == "host":
        return ("what held the host's memory",)
    numbers = _NUMBERS if failure.memory != "pinned" else _NUMBERS[:1]
    names = [text for name, text in numbers if getattr(failure, name) is None]
    if not failure.sites and failure.live != 0:
        names.append("which lines hold it")
    return tuple(names)


# The failure ------------------------------------------------------------------------------------


def _failure(failure: Failure) -> Iterator[str]:
    kind = {"device": "device memory", "pinned": "page-locked host memory", "host": "host memory",
            "unknown": "memory, the device's or the host's"}[failure.memory]  # fmt: skip
    by = f" ({failure.framework})" if failure.framework else ""
    if failure.source == "snapshot":
        yield f"A snapshot of {failure.framework or 'memory'}"
    else:
        yield f"Out of memory: {failure.call}{by}, {kind}"
    if failure.device_name:
        yield f"    on              {failure.device_name}"
    for name, value in (
        ("asked for", failure.asked), ("device", failure.total),
        ("whole product", failure.product), ("free", failure.free),
        ("largest block", failure.largest), ("used", failure.live),
        ("held, unused", failure.cached), ("process in all", failure.process),
        ("other processes", failure.others), ("own limit", failure.limit),
        ("peak", failure.peak), ("grew by", failure.growth),
    ):  # fmt: skip
        if value is not None:
            yield f"    {name:<16}{size(value)}"
    if failure.holes:
        yield f"    {'holes':<16}{failure.holes} free ranges between blocks"
    yield from (f"    at              {line}" for line in failure.stack[:_MOST])
    if failure.sites:
        yield ""
        yield "What lived then, by where it was allocated"
        yield from (f"    {site_text(site)}" for site in failure.sites[:_MOST])
        if len(failure.sites) > _MOST:
            rest = failure.sites[_MOST:]
            yield f"    {size(sum(one.bytes for one in rest))} from {len(rest)} other places"
    if ways := rescue(failure):
        yield ""
        yield "What would have made room"
        yield from (f"    {way}" for way in ways)
    yield from (f"    note: {note}" for note in failure.notes)
    if lacking := unknown(failure):
        yield ""
        yield f"Not known: {', '.join(lacking)}."
    yield ""


# The machine ------------------------------------------------------------------------------------


def _machine(machine: Machine) -> Iterator[str]:
    if machine.driver:
        cuda = f", CUDA up to {machine.cuda}" if machine.cuda else ""
        within = f"; in {machine.container}" if machine.container else ""
        yield f"Driver {machine.driver}{cuda}{within}"
    told = set()
    for gpu in machine.gpus:
        seen = measured_of(machine, gpu)
        told.add(seen.ordinal if seen is not None else -1)
        yield from _gpu(gpu, seen)
    for one in machine.measured:
        if one.ordinal not in told:
            yield f"Device {one.ordinal}: {one.name} {one.uuid}".rstrip()
            yield f"    {'total':<16}{size(one.total)}"
            yield from _measured(one)
    yield from _grant(machine)
    yield from _host(machine)
    if machine.settings:
        yield "Settings"
        for setting in machine.settings:
            value = f"={setting.value}" if setting.value else ""
            says = setting.problem or setting.meaning
            yield f"    {setting.name}{value}{': ' + says if says else ''}"
    if machine.missing:
        yield "Missing"
        for lacking in machine.missing:
            yield f"    {lacking.why}"
            yield f"        next: {lacking.next}"
    yield ""


def _gpu(gpu: Gpu, seen: Measured | None) -> Iterator[str]:
    yield f"GPU {gpu.index}: {gpu.name} ({gpu.uuid})"
    reserved = f", {size(gpu.reserved)} reserved by the driver" if gpu.reserved is not None else ""
    yield f"    {'total':<16}{size(gpu.total)}{reserved}"
    yield f"    {'free':<16}{size(gpu.free)}, {size(gpu.used)} used"
    if seen is not None:
        yield from _measured(seen)
    others = [one for one in gpu.holders if not one.ours]
    for number, holder in enumerate(others[:_MOST]):
        yield f"    {'held by' if not number else '':<16}{holder_text(holder)}"
    if not others:
        yield f"    {'held by':<16}no other process that can be seen"
    mode = gpu.compute_mode
    if mode != "default":
        yield f"    {'compute mode':<16}{mode}"
    if gpu.mig:
        yield f"    {'MIG':<16}on, {len(gpu.slices)} instances"
        for part in gpu.slices:
            yield f"    {'':<16}{part.profile} {part.uuid}: {size(part.free)} of {size(part.total)}"
    health = gpu.health
    if health.ecc is not None:
        yield (
            f"    {'memory errors':<16}{health.uncorrected} uncorrectable, {health.corrected}"
            f" corrected, {health.remapped} rows remapped"
            f"{', a remapping waits for a reset' if health.pending else ''}"
            f"{', a remapping failed' if health.failed else ''}"
            f"{'' if health.ecc else ' (ECC is off)'}"
        )


def _measured(one: Measured) -> Iterator[str]:
    if one.error:
        yield f"    {'to CUDA':<16}device {one.ordinal}: {one.error}"
        return
    yield f"    {'to CUDA':<16}device {one.ordinal}, on which a new process finds {size(one.free)}"
    if one.largest is not None:
        yield f"    {'largest block':<16}{size(one.largest)} ({one.largest:,} bytes), probed"
    if one.context is not None:
        yield f"    {'a context':<16}{size(one.context)}, measured"
    if one.pool is not None:
        keeps = "everything" if one.pool.threshold > 1 << 60 else size(one.pool.threshold)
        yield (
            f"    {'default pool':<16}{size(one.pool.used)} used of {size(one.pool.reserved)} held;"
            f" after synchronising it keeps {keeps}"
        )


def _grant(machine: Machine) -> Iterator[str]:
    grant = machine.grant
    if grant.visible is None and not grant.job and not grant.denied:
        return
    yield "Granted"
    if grant.visible is not None:
        hidden = f", which hides {', '.join(grant.hidden)}" if grant.hidden else ""
        yield f"    CUDA_VISIBLE_DEVICES={grant.visible}{hidden}"
    if grant.job:
        yield f"    Slurm job {grant.job}: GPUs {grant.slurm or 'none'}"
    if grant.denied:
        yield f"    not to be opened: {', '.join(grant.denied)}"


def _host(machine: Machine) -> Iterator[str]:
    host = machine.host
    if host.total is None:
        return
    yield "Host"
    yield f"    {'memory':<16}{size(host.available)} available of {size(host.total)}"
    if host.cgroup_limit is not None:
        granted = size(host.cgroup_limit)
        yield f"    {'cgroup':<16}{size(host.cgroup_used)} used of {granted} granted"
    locked = "unlimited" if host.locked is None else size(host.locked)
    yield f"    {'page-locked':<16}`ulimit -l` is {locked}: RDMA heeds it, CUDA does not"
    if host.shared is not None:
        yield f"    {'/dev/shm':<16}{size(host.shared_used)} used of {size(host.shared)}"
    for name, value in (("`ulimit -v`", host.address_space), ("`ulimit -d`", host.data)):
        if value is not None:
            yield f"    {name:<16}{size(value)}"


# The causes -------------------------------------------------------------------------------------


def _causes(found: Sequence[Cause], case: Case) -> Iterator[str]:
    if not found:
        lacking = case.machine is not None and case.machine.missing
        asked = "what can be seen from here" if lacking else "this"
        yield f"No cause of out of memory in {asked}."
        return
    yield "Likely causes, the likeliest first"
    for number, cause in enumerate(found, 1):
        yield ""
        yield f"{number}. {cause.title} ({cause.likelihood})"
        yield from (f"    {line}" for line in cause.evidence)
        yield from (f"    next: {step}" for step in cause.next)
