"""What a failure shows: pure functions over small records."""

from __future__ import annotations

import msgspec
import pytest

from cudalint.doctor.causes import causes
from cudalint.doctor.episode import enough, failure_of, merged
from cudalint.doctor.record import Case, Failure, Host, Machine, Setting, Site
from cudalint.doctor.rescue import rescue
from cudalint.runtime.events import Event, EventKind, Frame

GIB = 1 << 30
FULL = Failure("command", call="cudaMalloc", asked=4 * GIB, total=80 * GIB, free=2 * GIB,
               live=78 * GIB, cached=0, others=0)  # fmt: skip
GROWING = Site("a.py:3 (step)", 70 * GIB, 70, "cudaMalloc", growth=70)


def first(failure: Failure, machine: Machine | None = None) -> str:
    return causes(Case(failure=failure, machine=machine))[0].name


def site(**changes: object) -> Failure:
    one = msgspec.structs.replace(GROWING, **changes)
    return msgspec.structs.replace(FULL, sites=(one,))


def test_growth_that_is_never_released_is_a_leak() -> None:
    assert first(site(released_later=False)) == "leak"
    sure = causes(Case(failure=site(released_later=False)))[0]
    unsure = causes(Case(failure=site(released_later=None)))[0]
    assert (unsure.name, unsure.weight < sure.weight) == ("leak", True)


def test_growth_that_is_kept_is_a_collection() -> None:
    assert first(site(released_later=True)) == "growing-collection"
    assert first(site(owner="object", released_later=False)) == "growing-collection"


def test_growth_by_a_library_is_the_library() -> None:
    assert first(site(library="libvendor.so")) == "library"


def test_no_growth_is_a_working_set() -> None:
    assert first(site(growth=0)) == "working-set"


def test_a_small_part_that_grows_does_not_outrank() -> None:
    small = msgspec.structs.replace(GROWING, bytes=GIB, released_later=False)
    assert first(msgspec.structs.replace(FULL, sites=(small,))) == "working-set"


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"asked": 100 * GIB}, "oversize-request"),
        ({"asked": 100 * GIB, "product": 190 * GIB}, "capped-device"),
        ({"free": 8 * GIB, "largest": GIB}, "fragmentation"),
        ({"cached": 30 * GIB, "framework": "PyTorch", "call": "torch.OutOfMemoryError",
          "live": 40 * GIB}, "cache-fragmentation"),
        ({"cached": 30 * GIB, "framework": "PyTorch", "live": 40 * GIB}, "cached-pool"),
        ({"others": 60 * GIB, "live": 10 * GIB}, "another-process"),
        ({"limit": 20 * GIB, "framework": "CuPy", "process": 18 * GIB, "live": 18 * GIB},
         "framework-limit"),
        ({"memory": "pinned"}, "pinned-limit"),
        ({"memory": "host", "signs": ("killed",)}, "host-memory"),
        ({"memory": "host", "signs": ("shared-memory",)}, "shared-memory"),
        ({"signs": ("ecc",)}, "memory-errors"),
        ({"total": None, "live": None, "asked": None}, "working-set"),
    ],
)  # fmt: skip
def test_causes_of_a_failure(changes: dict[str, object], name: str) -> None:
    failure = msgspec.structs.replace(FULL, **changes)
    assert first(failure) == name


def test_a_whole_device_is_no_cap() -> None:
    names = [
        one.name for one in causes(Case(failure=msgspec.structs.replace(FULL, product=81 * GIB)))
    ]
    assert "capped-device" not in names


def test_the_machine_stands_behind_what_the_failure_shows() -> None:
    machine = Machine(
        host=Host(shared=1, shared_used=0), settings=(Setting("CUDA_MODULE_LOADING", "x", "wrong"),)
    )
    found = [one.name for one in causes(Case(failure=FULL, machine=machine))]
    assert found[0] == "working-set"
    assert "settings" in found
    assert "shared-memory" not in found


# Traces -----------------------------------------------------------------------------------------


def event(kind: EventKind, number: int, size: int = 0, address: int = 0, **more: object) -> Event:
    at = Frame(function="step", filename="/w/train.cpp", line=12)
    values = {"api": "cudaMalloc", "family": "device", "stack": (at,)} | more
    return Event(kind=kind, sequence=number, bytes=size, address=address, **values)  # type: ignore[arg-type]


def run(*, released: bool) -> list[Event]:
    events = [event(EventKind.ACQUIRE, n, GIB, n << 30) for n in range(1, 9)]
    events.append(event(EventKind.CALL, 9, GIB, 0, status=2))
    if released:
        events += [event(EventKind.RELEASE, 9 + n, GIB, n << 30) for n in range(1, 9)]
    return events


@pytest.mark.parametrize(("released", "name"), [(True, "growing-collection"), (False, "leak")])
def test_what_becomes_of_it_after_the_failure_decides(released: bool, name: str) -> None:
    failure = failure_of(run(released=released), memory=8 * GIB, simulated=True, complete=True)
    assert failure is not None
    assert (failure.live, failure.asked, failure.free, failure.peak) == (8 * GIB, GIB, 0, 8 * GIB)
    assert failure.sites[0].growth == 8
    assert first(failure) == name


def test_a_failure_that_was_asked_for_is_none() -> None:
    events = [event(EventKind.CALL, 1, GIB, 0, status=2, injected=True)]
    assert failure_of(events) is None
    assert failure_of([event(EventKind.CALL, 1, GIB, 0, status=1)]) is None


def test_what_is_freed_each_pass_does_not_grow() -> None:
    events: list[Event] = []
    for number in range(1, 40, 2):
        events.append(event(EventKind.ACQUIRE, number, GIB, 1 << 30))
        events.append(event(EventKind.RELEASE, number + 1, GIB, 1 << 30))
    events.append(event(EventKind.CALL, 99, GIB, 0, status=2))
    failure = failure_of(events)
    assert failure is not None
    assert (failure.sites, failure.live) == ((), 0)


def test_the_cache_is_what_the_driver_gave_and_no_object_holds() -> None:
    native = msgspec.structs.replace(FULL, live=70 * GIB, sites=(), cached=None)
    owned = Site("t.py:1", 20 * GIB, api="torch", owner="object")
    hooked = msgspec.structs.replace(FULL, live=20 * GIB, sites=(owned,), framework="")
    both = merged(native, hooked)
    assert both is not None
    assert (both.cached, both.process, both.framework) == (50 * GIB, 70 * GIB, "PyTorch")
    assert merged(native, None) is native
    assert merged(None, hooked) is hooked


def test_the_fewest_sites_that_make_room() -> None:
    sites = [Site("a", 1), Site("b", 5), Site("c", 3)]
    assert [one.place for one in enough(sites, 6)] == ["b", "c"]
    assert enough(sites, 10) == ()
    assert enough(sites, 0) == ()


def test_what_would_have_made_room() -> None:
    failure = msgspec.structs.replace(
        FULL, room=(Site("a.py:3", 2 * GIB),), largest=GIB, cached=3 * GIB, others=9 * GIB,
        framework="PyTorch", product=100 * GIB, call="torch.OutOfMemoryError",
    )  # fmt: skip
    assert [line.partition(":")[0] for line in rescue(failure)] == [
        "the release of 2.00 GiB", "a request of at most 1.00 GiB",
        "giving back the 3.00 GiB that allocators hold without use", "segments that grow",
        "the end of the other processes, which hold 9.00 GiB", "the whole device, of 100.00 GiB",
    ]  # fmt: skip
    assert rescue(msgspec.structs.replace(failure, asked=None)) == ()


@pytest.mark.parametrize(
    ("module", "library"),
    [
        ("/opt/vendor/libvendor.so.2", "libvendor.so.2"),
        ("/v/cuda/bindings/runtime.cpython-312-x86_64-linux-gnu.so", ""),
        ("/v/torch/lib/libc10_cuda.so", ""),
        ("/w/program", ""),
    ],
)
def test_whose_memory_it_is(module: str, library: str) -> None:
    stack = (Frame("/usr/lib/libcudart.so.13", 1), Frame(module, 2), Frame("/w/program", 3))
    events = [event(EventKind.ACQUIRE, n, GIB, n << 30, stack=stack) for n in range(1, 9)]
    failure = failure_of([*events, event(EventKind.CALL, 9, GIB, 0, status=2)])
    assert failure is not None
    assert failure.sites[0].library == library


def test_what_pytorch_took_and_did_not_hand_out() -> None:
    torch = {"api": "torch", "stack": ()}
    events = [
        event(EventKind.ACQUIRE, 1, 8 * GIB, 1 << 40, family="segment", **torch),
        event(EventKind.ACQUIRE, 2, 2 * GIB, 1 << 40, **torch),
        event(EventKind.ACQUIRE, 3, GIB, 2 << 40, family="segment", **torch),
        event(EventKind.RELEASE, 4, GIB, 2 << 40, family="segment", **torch),
        event(EventKind.CALL, 5, 7 * GIB, 0, status=2),
    ]
    failure = failure_of(events)
    assert failure is not None
    assert (failure.live, failure.cached) == (2 * GIB, 6 * GIB)


def test_a_call_that_does_not_say_what_it_asked_for() -> None:
    events = [event(EventKind.CALL, 1, 0, 0, status=2, family="", api="cudaMallocArray")]
    failure = failure_of(events, memory=GIB, simulated=True)
    assert failure is not None
    assert (failure.asked, failure.free, failure.largest) == (None, None, None)
