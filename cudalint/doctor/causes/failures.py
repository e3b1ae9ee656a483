"""Causes that a failure shows: a command's, a text's, a snapshot's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from cudalint.doctor.causes.cause import Cause
from cudalint.doctor.causes.machines import holder_text, others_of
from cudalint.doctor.record import Failure, Gpu, Machine, Site
from cudalint.doctor.rescue import site_text
from cudalint.doctor.sizes import size

_MOST = 5
_OFF = 0.2
_EXPAND = (
    "`export PYTORCH_ALLOC_CONF=expandable_segments:True` (before PyTorch 2.9:"
    " PYTORCH_CUDA_ALLOC_CONF)"
)


def oversize(failure: Failure, machine: Machine | None) -> Iterator[Cause]:
    """One request that no empty device could serve."""
    if failure.memory != "device" or failure.asked is None or not failure.total:
        return
    fits_product = failure.product is not None and failure.asked <= failure.product
    if failure.asked > failure.total and not fits_product:
        yield Cause(
            "oversize-request",
            f"one request asks for {size(failure.asked)}; the whole device has"
            f" {size(failure.total)}", 97,
            (f"{failure.call or 'the call'} asked for {failure.asked:,} bytes",
             *_at(failure)),
            ("work in pieces that fit; check the shape and the element type: a size that is wrong"
             " by a factor shows here first", "`cudalint check .` (GPU401, GPU501, GPU505)"),
        )  # fmt: skip


def capped(failure: Failure, machine: Machine | None) -> Iterator[Cause]:
    """A MIG slice, or another part of a device."""
    product, total = failure.product, failure.total
    if failure.memory != "device" or not product or not total or total * 20 > product * 19:
        return
    wanted = (failure.live or 0) + (failure.asked or 0)
    if wanted > product:
        return
    yield Cause(
        "capped-device",
        f"this process gets {size(total)} of a device of {size(product)}: a MIG slice, or a limit",
        87, (f"it wanted {size(wanted)} in all: the whole device would have had room",
             *_at(failure)),
        ("`nvidia-smi -L` shows the instances; ask for a larger one (Slurm: --gres=gpu:PROFILE)",
         "or make it fit: `cudalint check --device-memory "
         f"{total // 1024**2}MiB .`"),
    )  # fmt: skip


def framework_limit(failure: Failure, machine: Machine | None) -> Iterator[Cause]:
    """The framework refuses by itself."""
    limit, asked = failure.limit, failure.asked
    held = failure.process if failure.process is not None else failure.live
    if limit is None or not asked or (held or 0) + asked <= limit:
        return
    if failure.total and limit * 20 > failure.total * 19:
        return
    variable = {
        "CuPy": "CUPY_GPU_MEMORY_LIMIT or set_limit()",
        "PyTorch": "set_per_process_memory_fraction()",
        "JAX": "XLA_PYTHON_CLIENT_MEM_FRACTION",
    }.get(failure.framework, "its own limit")
    yield Cause(
        "framework-limit", f"{failure.framework or 'the framework'} keeps to {size(limit)}: the"
        " device itself was not asked", 93,
        (f"{size(asked)} were asked for, and {size(held)} held already",),
        (f"raise {variable}",),
    )  # fmt: skip


def fragmentation(failure: Failure, machine: Machine | None) -> Iterator[Cause]:
    """There is enough, but not in one piece."""
    asked, free, largest = failure.asked, failure.free, failure.largest
    if failure.memory != "device" or asked is None:
        return
    if free is not None and largest is not None and largest < asked <= free:
        yield Cause(
            "fragmentation",
            f"{size(free)} are free, but the largest piece has {size(largest)}:"
            f" {size(asked)} do not fit", 96,
            (*([f"{failure.holes} free ranges lie between blocks"] if failure.holes else []),
             *(f"between them: {site_text(site)}" for site in failure.between[:_MOST])),
            ("allocate what lives long first, and what is of one size from a pool",
             "reuse buffers instead of freeing and allocating them (GPU503)",
             *([_EXPAND] if failure.framework == "PyTorch" else [])),
        )  # fmt: skip


def cached(failure: Failure, machine: Machine | None) -> Iterator[Cause]:
    """An allocator keeps what it does not use."""
    asked, kept = failure.asked, failure.cached
    if failure.memory != "device" or not kept or asked is None:
        return
    free = failure.free or 0
    short = asked - free
    if kept * 10 < max(short, 1) * 9 or kept < 32 * 1024**2:
        return
    holder = failure.framework or "an allocator"
    foreign = (
        failure.source == "command" and failure.call.startswith("cu") and "." not in failure.call
    )
    if foreign:
        yield Cause(
            "cached-pool",
            f"{size(kept)} lie unused in {holder}'s cache, out of reach of {failure.call}", 94,
            (f"{failure.call} asked for {size(asked)}; the program uses {size(failure.live)} of"
             f" {size(failure.process)} that its process holds",),
            ("give it back before: `torch.cuda.empty_cache()`, CuPy: `free_all_blocks()`, CUDA:"
             " `cudaMemPoolTrimTo(pool, 0)`",
             "or let both use one allocator (`cupy.cuda.set_allocator`, RMM)"),
        )  # fmt: skip
        return
    # Little beside what is used: it would have been enough this time, and not the next.
    weight = 91 if kept * 20 >= (failure.live or 0) else 55
    yield Cause(
        "cache-fragmentation",
        f"{size(kept)} are held by {holder} without use, in pieces too small for {size(asked)}",
        weight,
        (f"used {size(failure.live)}, held without use {size(kept)}",
         *([f"the largest piece has {size(failure.largest)}"] if failure.largest else []),
         *(f"between them: {site_text(site)}" for site in failure.between[:_MOST])),
        (_EXPAND, "keep shapes alike: sizes that vary each step leave pieces that fit nothing"),
    )  # fmt: skip


def another_process(failure: Failure, machine: Machine | None) -> Iterator[Cause]:
    """Somebody else holds what is missing."""
    if failure.memory != "device":
        return
    gpu = gpu_of(failure, machine)
    holders = others_of(gpu) if gpu is not None else []
    others = failure.others
    if not others:
        return
    total = failure.total or (gpu.total if gpu else None)
    short = (failure.asked or 0) - (failure.free or 0)
    decisive = others >= short and (total is None or others * 8 > total)
    own = failure.process if failure.process is not None else failure.live
    if failure.asked and total and failure.asked > total:
        return
    weight = 92.0 if decisive and others >= (own or 0) else 78.0 if decisive else 35.0
    evidence = tuple(holder_text(one) for one in holders) or (
        f"the text says that others hold {size(others)} of {size(total)}",
    )
    yield Cause(
        "another-process", f"other processes hold {size(others)} of the device", weight, evidence,
        ("`nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv`",
         "`cudalint doctor` on that machine says whose they are",),
    )  # fmt: skip


def leak(failure: Failure, machine: Machine | None) -> Iterator[Cause]:
    """A line that allocates again and again, and loses it."""
    for site in _growing(failure):
        if site.owner == "object" or site.released_later or site.library:
            continue
        sure = site.released_later is False
        yield Cause(
            "leak", f"memory from {site.place} is allocated again and again, and not released",
            _weight(90 if sure else 76, site, failure),
            (site_text(site), *_stack(site),
             "none of it was released before the end" if sure else
             "the program did not live on: whether it would have released it is not known"),
            ("`cudalint check .` (GPU101 to GPU105) finds leaks without a run",
             "`cudalint run --timeline memory.html -- COMMAND` shows it over time"),
        )  # fmt: skip


def growing_list(failure: Failure, machine: Machine | None) -> Iterator[Cause]:
    """Something that keeps all of it."""
    if list(kept_graph(failure, machine)):
        return
    for site in _growing(failure):
        if site.library or not (site.owner == "object" or site.released_later):
            continue
        how = (
            "objects of Python hold it" if site.owner == "object" else "it was released at the end"
        )
        yield Cause(
            "growing-collection",
            f"what {site.place} allocates is kept, pass after pass: a list, a dict, a cache",
            _weight(89, site, failure),
            (site_text(site), *_stack(site), f"{how}: something still refers to each of them"),
            ("keep what you need on the host (`.cpu()`, `cupy.asnumpy`), or a sum in place of a"
             " list", "`cudalint check .` (GPU603, GPU608) finds such lists without a run"),
        )  # fmt: skip


def kept_graph(failure: Failure, machine: Machine | None) -> Iterator[Cause]:
    """Autograd's graph of each pass lives on: so does what the model was given."""
    held_by_objects = [site for site in failure.sites if site.owner == "object"]
    passes, alike, held = 0, [], 0
    for count in {site.count for site in held_by_objects if site.growth and not site.graph}:
        # Each pass adds a whole number of blocks to each line of the model, and takes some of
        # them back.
        step = [
            one for one in held_by_objects
            if one.count >= count and abs(one.count / count - round(one.count / count)) <= _OFF
            if one.growth or one.graph
        ]  # fmt: skip
        total = sum(one.bytes for one in step)
        if total > held and any(one.graph for one in step):
            passes, alike, held = count, step, total
    if len(alike) >= 2 and failure.live and held * 4 >= failure.live:
        yield Cause(
            "kept-graph",
            f"autograd's graphs of about {passes} passes live on, with {size(held)} of"
            " intermediate results", min(93.0, 70 + 40 * held / failure.live),
            (f"{len(alike)} lines grew in step:",
             *(site_text(site) for site in alike[:_MOST])),
            ("keep numbers, not tensors: `total += loss.item()`, or `loss.detach()`",
             "evaluate under `torch.no_grad()`; no `retain_graph=True` in the loop",
             "`cudalint check .` (GPU601, GPU602, GPU606)"),
        )  # fmt: skip


def library(failure: Failure, machine: Machine | None) -> Iterator[Cause]:
    """A library allocates of its own accord (GPU107)."""
    taken: dict[str, list[Site]] = {}
    for site in failure.sites:
        if site.library:
            taken.setdefault(site.library, []).append(site)
    for name, sites in taken.items():
        held = sum(site.bytes for site in sites)
        if failure.live and held * 4 >= failure.live:
            yield Cause(
                "library", f"{name} took {size(held)} of its own accord",
                min(94.0, 60 + 60 * held / failure.live),
                tuple(site_text(site) for site in sites[:_MOST]),
                ("release its handles and workspaces, or give it a smaller workspace; a handle that"
                 " is made in a loop takes its memory each time (GPU107)",),
            )  # fmt: skip
    if "library" in failure.signs:
        known = "not-initialized" not in failure.signs
        yield Cause(
            "library", f"{failure.framework or 'a library'} found no memory for its own buffers"
            f" ({failure.call})" if known else
            f"{failure.call} is often a library that found no memory for its handle",
            72 if known else 50,
            ("a library allocates beside the framework's cache: what that holds is missing to it",),
            ("leave it some room: a smaller batch, `torch.cuda.empty_cache()` before its first use,"
             " or `torch.cuda.set_per_process_memory_fraction(0.9)`",
             "`cudalint doctor` tells what else holds memory"),
        )  # fmt: skip


def pinned(failure: Failure, machine: Machine | None) -> Iterator[Cause]:
    """Page-locked host memory: the limits of the host, not of the device."""
    if failure.memory != "pinned":
        return
    host = machine.host if machine is not None else None
    limits = []
    if host is not None:
        limits = [
            f"{name} {size(value)}"
            for name, value in (
                ("host memory", host.total), ("available", host.available),
                ("the cgroup grants", host.cgroup_limit), ("`ulimit -l`", host.locked),
                ("`ulimit -v`", host.address_space),
            )
            if value is not None
        ]  # fmt: skip
    yield Cause(
        "pinned-limit",
        f"{failure.call or 'the call'} found no page-locked host memory: this is not the device's",
        96,
        (f"asked for {size(failure.asked)}, page-locked already {size(failure.live)}",
         *([", ".join(limits)] if limits else []), *_at(failure)),
        ("pin a few buffers and reuse them, in place of whole data sets; pageable memory for the"
         " rest", "`ulimit -l; free -g; cat /sys/fs/cgroup/memory.max`"),
    )  # fmt: skip


def host_memory(failure: Failure, machine: Machine | None) -> Iterator[Cause]:
    """The host's memory, which is often taken for the device's."""
    if failure.memory != "host":
        return
    if "shared-memory" in failure.signs:
        yield Cause(
            "shared-memory", "a data loader's worker found no shared memory (/dev/shm)", 95,
            (failure.call,),
            ("`docker run --shm-size=8g ...` or `--ipc=host`; `df -h /dev/shm`",
             "fewer workers: `DataLoader(num_workers=2)`"),
        )  # fmt: skip
        return
    by = "Slurm" if "slurm" in failure.signs else "the kernel"
    killed = "killed" in failure.signs
    title = (
        f"{by} ended the process for the *host's* memory: this is not the device's"
        if killed
        else "the *host's* memory ran out: this is not the device's"
    )
    yield Cause(
        "host-memory", title, 94 if killed else 90,
        (failure.call, *([f"it held {size(failure.process)}"] if failure.process else []),
         *failure.notes),
        ("Slurm: ask for more with `--mem`, and see `sacct -j JOB -o JobID,MaxRSS,ReqMem,State`",
         "`dmesg -T | grep -i -A2 'killed process'`", "load in pieces; fewer data loader workers"),
    )  # fmt: skip


def too_much(failure: Failure, machine: Machine | None) -> Iterator[Cause]:
    """Nothing odd: it just needs more than there is."""
    if failure.memory not in ("device", "unknown"):
        return
    live = failure.live if failure.live is not None else failure.process
    asked, total = failure.asked, failure.total
    if live is None or total is None or live * 20 < total:
        yield Cause(
            "working-set", "the device had no room for what was asked for", 30,
            ("what else held memory, this does not tell",),
            ("`cudalint doctor` on that machine", "`cudalint doctor -- COMMAND` runs it again and"
             " tells what lives when it fails"),
        )  # fmt: skip
        return
    share = live / total
    yield Cause(
        "working-set",
        f"the program itself holds {size(live)} of {size(total)}, and asks for {size(asked)} more",
        20 + 55 * min(share, 1.0),
        tuple(site_text(site) for site in failure.sites[:_MOST]),
        ("a smaller batch or precision, gradient checkpointing, or work in pieces",
         "`cudalint check --device-memory "
         f"{total // 1024**2}MiB .` tells the peak by line (GPU502)"),
    )  # fmt: skip


def memory_errors(failure: Failure, machine: Machine | None) -> Iterator[Cause]:
    """The device itself is ill."""
    if "ecc" in failure.signs:
        yield Cause(
            "memory-errors", "the device has uncorrectable memory errors", 95, (failure.call,),
            ("`nvidia-smi -q -d ECC,ROW_REMAPPER`; `dmesg | grep -i xid`; reset or replace it",),
        )  # fmt: skip


def preallocated(failure: Failure, machine: Machine | None) -> Iterator[Cause]:
    """JAX takes its share at once."""
    settings = {one.name: one.value for one in machine.settings} if machine is not None else {}
    if failure.framework != "JAX" or settings.get("XLA_PYTHON_CLIENT_PREALLOCATE") == "false":
        return
    yield Cause(
        "preallocation", "JAX takes 75 % of the device at its first operation, and keeps to it", 45,
        ("XLA_PYTHON_CLIENT_PREALLOCATE is not false",),
        ("`export XLA_PYTHON_CLIENT_PREALLOCATE=false`, or XLA_PYTHON_CLIENT_MEM_FRACTION=.90 for"
         " more",),
    )  # fmt: skip


def _growing(failure: Failure) -> Iterator[Site]:
    for site in failure.sites:
        if site.growth and site.bytes * 5 >= (failure.live or 0):
            yield site


def _weight(most: float, site: Site, failure: Failure) -> float:
    """Less where it is a small part of what lives."""
    share = site.bytes / failure.live if failure.live else 1.0
    return most * min(1.0, 0.6 + 0.6 * share)


def gpu_of(failure: Failure, machine: Machine | None) -> Gpu | None:
    """The device that failed. CUDA's numbers need not be the driver's, the UUIDs are one."""
    if machine is None or failure.source != "command":
        return None
    ordinal = failure.device or 0
    uuid = next((one.uuid for one in machine.measured if one.ordinal == ordinal), None)
    for gpu in machine.gpus:
        if gpu.uuid == uuid or any(part.uuid == uuid for part in gpu.slices):
            return gpu
    return machine.gpus[0] if len(machine.gpus) == 1 else None


def _stack(site: Site) -> Sequence[str]:
    """Who called it."""
    at = site.stack.index(site.place) + 1 if site.place in site.stack else 1
    return tuple(f"called from {line}" for line in site.stack[at : at + 2])


def _at(failure: Failure) -> Sequence[str]:
    return tuple(f"at {line}" for line in failure.stack[:2])


FAILURE_CAUSES: tuple[Callable[[Failure, Machine | None], Iterator[Cause]], ...] = (
    oversize, capped, framework_limit, fragmentation, cached, another_process, leak, growing_list,
    kept_graph, library, pinned, host_memory, too_much, memory_errors, preallocated,
)  # fmt: skip
