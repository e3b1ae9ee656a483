"""A command's out of memory: what its runs' traces show of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from cudalint.doctor.addresses import Block, holes_of, window
from cudalint.doctor.record import Failure, Site
from cudalint.runtime.events import Event, EventKind
from cudalint.runtime.evidence import stack_text

OUT_OF_MEMORY = 2
"""``cudaErrorMemoryAllocation``, and ``CUDA_ERROR_OUT_OF_MEMORY`` too."""
MOST_SITES = 20
_DEVICE = frozenset({"device", "managed", "array", "mipmapped-array"})
_PINNED = frozenset({"pinned", "host-registered"})
_FRAMEWORKS = {
    "torch": "PyTorch", "cupy": "CuPy", "numba": "Numba", "pycuda": "PyCUDA", "jax": "JAX",
    "rmm": "RMM",
}  # fmt: skip
_OBJECTS = tuple(_FRAMEWORKS)
"""How the API is called where an object of Python holds the memory."""
_RAISES = {"torch": "torch.OutOfMemoryError"}
_SEGMENT = "segment"
_PROCESS_END = "end of the program"
GROWS = 4
"""So many allocations in a row, hardly one of them released, are growth."""
_INSTALLED = ("/site-packages/", "/dist-packages/", "/usr/lib/python", "/torch/")
MODEL = ("torch/nn/", "torch/autograd/")
_BINDINGS = (".cpython-", ".abi3.", "libpython")
"""Modules of Python: they allocate what they are told to."""
_ALLOCATORS = (
    "libc10", "libtorch", "libtensorflow", "_pywrap_tensorflow", "xla_", "libjax", "pjrt", "librmm",
)  # fmt: skip
"""Libraries that take memory for a framework's allocator: what is in it, only hooks tell."""
_CUDA = ("libcudalint_", "libcudart.", "libcuda.", "libcupti.")
_Key = tuple[str, str, tuple[str, ...]]


@dataclass
class _Site:
    """A site while the trace is read."""

    event: Event
    library: str
    stack: tuple[str, ...]
    taken: int = 0
    given: int = 0
    later: int = 0
    live: dict[tuple[int, int], Event] = field(default_factory=dict)


def failure_of(
    events: Sequence[Event],
    *,
    memory: int = 0,
    simulated: bool = False,
    complete: bool = False,
    process: int | None = None,
) -> Failure | None:
    """The last out of memory of a process; ``None`` where no call found no memory. ``memory`` is
    the device's, where the trace tells; the stacks are resolved."""
    failed = _last_failure(events)
    if failed is None:
        return None
    pinned = failed.family in _PINNED
    sites = _followed(events, failed, _PINNED if pinned else _DEVICE)
    live = [event for site in sites.values() for event in site.live.values()]
    held = sum(event.bytes for event in live)
    told = [_told(key, site, complete) for key, site in sites.items() if site.live]
    told.sort(key=lambda site: -site.bytes)
    known = failed.source > 0 or (simulated and failed.family == "device")
    failure = Failure(
        source="command",
        memory="pinned" if pinned else "device",
        call=_RAISES.get(failed.api, failed.api),
        framework=_framework(failed.api),
        device=failed.device,
        asked=failed.bytes or None,
        total=(memory or None) if not pinned else None,
        free=failed.source if known else None,
        largest=failed.address if known and simulated else None,
        live=held,
        stack=stack_text(failed.stack),
        sites=tuple(told[:MOST_SITES]),
        cached=0 if simulated and not pinned else _cached(events, failed),
        others=0 if simulated and not pinned else None,
        peak=_peak(events, _PINNED if pinned else _DEVICE),
        pid=process,
    )
    return failure if pinned else _placed(failure, live, sites, simulated, memory)


def _framework(api: str) -> str:
    return _FRAMEWORKS.get(api.partition(".")[0], "")


def _last_failure(events: Sequence[Event]) -> Event | None:
    for event in reversed(events):
        if event.kind is EventKind.CALL and event.status == OUT_OF_MEMORY and not event.injected:
            return event
    return None


def _followed(
    events: Iterable[Event], failed: Event, families: frozenset[str]
) -> dict[_Key, _Site]:
    """What lived when the call failed, by site; and what became of it afterwards."""
    sites: dict[_Key, _Site] = {}
    owner: dict[tuple[str, int, int], _Site] = {}
    for event in events:
        key = event.family, event.device, event.address
        before = event.sequence < failed.sequence
        if event.kind is EventKind.ACQUIRE and event.family in families and before:
            stack, library = stack_text(event.stack), _library(event)
            site = sites.setdefault((event.api, library, stack), _Site(event, library, stack))
            site.taken += 1
            site.live[event.device, event.address] = event
            owner[key] = site
        elif event.kind is EventKind.RELEASE and key in owner:
            site = owner.pop(key)
            if before:
                site.given += 1
                site.live.pop((event.device, event.address), None)
            elif event.api != _PROCESS_END:
                site.later += 1
        elif event.kind is EventKind.RESET and before:
            for site in sites.values():
                site.live.clear()
    return sites


def _cached(events: Iterable[Event], failed: Event) -> int | None:
    """What PyTorch's allocator had taken and not handed out; ``None`` where its hook saw none."""
    taken: dict[tuple[int, int], int] = {}
    used: dict[tuple[int, int], int] = {}
    seen = False
    for event in events:
        if event.api != "torch" or event.sequence >= failed.sequence:
            continue
        held = taken if event.family == _SEGMENT else used
        seen |= event.family == _SEGMENT
        if event.kind is EventKind.ACQUIRE:
            held[event.device, event.address] = event.bytes
        elif event.kind is EventKind.RELEASE:
            held.pop((event.device, event.address), None)
    return max(sum(taken.values()) - sum(used.values()), 0) if seen else None


def _library(event: Event) -> str:
    """The library that allocated of its own accord: no line of source is nearer than its code."""
    for frame in event.stack:
        name = frame.module.rpartition("/")[2]
        if frame.line or (name and ".so" not in name) or any(part in name for part in _BINDINGS):
            return ""
        if name and not name.startswith(_CUDA):
            return name
    return ""


def _told(key: _Key, site: _Site, complete: bool) -> Site:
    api, library, stack = key
    count = len(site.live)
    files = [frame.filename for frame in site.event.stack]
    allocator = library.startswith(_ALLOCATORS)
    grows = not allocator and count >= GROWS and site.given * 5 <= site.taken
    return Site(
        place=place_of(site.event, stack, library),
        bytes=sum(event.bytes for event in site.live.values()),
        count=count,
        api=api,
        stack=stack,
        library="" if allocator else library,
        owner="object" if allocator or api.startswith(_OBJECTS) else "pointer",
        growth=count if grows else 0,
        released_later=(site.later * 10 >= count * 9) if complete or site.later else None,
        graph=any(part in name for name in files for part in MODEL),
    )


def own_line(stack: Sequence[str]) -> str:
    """The innermost line of the program rather than of an installed package."""
    own = (line for line in stack if not any(part in line for part in _INSTALLED))
    return next(own, stack[0] if stack else "")


def place_of(event: Event, stack: Sequence[str], library: str) -> str:
    """Where it was allocated, in one line: the program's own line rather than a package's."""
    if stack:
        return own_line(stack)
    if library:
        return library
    for frame in event.stack:
        name = frame.module.rpartition("/")[2]
        if frame.function or name:
            return f"{frame.function or hex(frame.offset)} in {name}" if name else frame.function
    return "an unknown place"


def _placed(
    failure: Failure, live: Sequence[Event], sites: dict[_Key, _Site], simulated: bool, memory: int
) -> Failure:
    """With what the addresses tell: the holes, who lies between, whose release makes room."""
    names: dict[tuple[int, int], Site] = {}
    for key, site in sites.items():
        told = _told(key, site, complete=False)
        names |= dict.fromkeys(site.live, told)
    blocks = sorted(
        Block(event.address, event.bytes)
        for event in live
        if event.device == (failure.device or 0) and event.address and event.family == "device"
    )
    holes = holes_of(blocks, simulated)
    device = failure.device or 0

    def named(found: Iterable[Block]) -> tuple[Site, ...]:
        return _grouped((names[device, block.start], block) for block in found)

    between = named(hole.above for hole in holes)
    room: tuple[Site, ...] = ()
    if failure.asked and simulated:
        room = named(window(blocks, failure.asked, memory))
    elif failure.asked and failure.free is not None:
        room = enough(failure.sites, failure.asked - failure.free)
    return msgspec.structs.replace(
        failure, holes=len(holes), between=between[:MOST_SITES], room=room[:MOST_SITES]
    )


def _grouped(found: Iterable[tuple[Site, Block]]) -> tuple[Site, ...]:
    """Blocks by site: only these blocks count."""
    sizes: dict[Site, list[int]] = {}
    for site, block in found:
        sizes.setdefault(site, []).append(block.bytes)
    grouped = [
        msgspec.structs.replace(site, bytes=sum(each), count=len(each))
        for site, each in sizes.items()
    ]
    return tuple(sorted(grouped, key=lambda site: -site.bytes))


def enough(sites: Sequence[Site], needed: int) -> tuple[Site, ...]:
    """The fewest sites that together hold so much; empty where all of them do not."""
    found: list[Site] = []
    for site in sorted(sites, key=lambda one: -one.bytes):
        if needed <= 0:
            break
        found.append(site)
        needed -= site.bytes
    return tuple(found) if needed <= 0 else ()


def _peak(events: Iterable[Event], families: frozenset[str]) -> int:
    used = peak = 0
    for event in _changes(events, families):
        used += event.bytes if event.kind is EventKind.ACQUIRE else -event.bytes
        peak = max(peak, used)
    return peak


def _changes(events: Iterable[Event], families: frozenset[str]) -> Iterator[Event]:
    for event in events:
        if event.family in families and event.kind in (EventKind.ACQUIRE, EventKind.RELEASE):
            yield event


def merged(native: Failure | None, hooked: Failure | None) -> Failure | None:
    """What a framework's hooks saw, with what the driver was asked for beside it: what the driver
    gave and no object holds is the frameworks' caches."""
    if native is None or hooked is None:
        return hooked or native
    cached = hooked.cached
    if native.memory == "device" and (native.live or 0) >= (hooked.live or 0):
        # Less, where an allocator maps memory by calls that are not followed.
        cached = (native.live or 0) - (hooked.live or 0)
    framework = hooked.framework or next(
        (_framework(site.api) for site in hooked.sites if site.owner == "object"), ""
    )
    return msgspec.structs.replace(
        hooked,
        asked=hooked.asked or native.asked,
        total=hooked.total or native.total,
        free=hooked.free if hooked.free is not None else native.free,
        process=native.live,
        cached=cached,
        framework=framework,
        notes=(*hooked.notes, *native.notes),
    )
