"""Events to series, sites and maps."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudalint.runtime.account import account
from cudalint.runtime.events import Event, EventKind, Frame
from cudalint.runtime.timeline.data import timeline
from cudalint.runtime.trace import Mode
from tests.runtime.timelines import BASE, Program, frame, many, recorded


def levels(events: Iterable[Event]) -> list[int]:
    """Live bytes of device memory after each step, in the plainest way."""
    live: dict[int, int] = {}
    found = [0]
    for event in events:
        if event.kind is EventKind.ACQUIRE:
            live[event.address] = event.bytes
        elif event.kind is EventKind.RELEASE:
            del live[event.address]
        elif event.kind is EventKind.RESET and live:
            live.clear()
        else:
            continue
        found.append(sum(live.values()))
    return found


def test_levels_of_sites() -> None:
    program = Program()
    image = program.acquire(1000, frame(5))
    tile = program.acquire(3000, frame(6))
    program.release(tile)
    program.acquire(500, frame(6))
    program.release(image)
    seen = timeline(recorded(program.end()))
    (space,) = seen.spaces
    assert [moment.step for moment in space.moments] == [0, 1, 2, 3, 4, 5]
    assert [moment.time for moment in space.moments] == [0, 1000, 2000, 3000, 4000, 5000]
    assert space.total == (0, 1000, 4000, 1000, 1500, 500)
    assert (space.peak.step, space.peak_bytes, space.end_bytes) == (2, 4000, 500)
    first, second = seen.sites
    assert (first.line, first.count, first.total, first.at_peak, first.left_count) == (
        5, 1, 1000, 1000, 0,
    )  # fmt: skip
    assert (second.line, second.count, second.total, second.largest, second.most) == (
        6, 2, 3500, 3000, 3000,
    )  # fmt: skip
    assert (second.left_count, second.left_bytes, second.at_peak) == (1, 500, 3000)
    # What leaks is drawn at the bottom.
    assert [one.site for one in space.series] == [second.number, first.number]
    assert space.series[0].values == (0, 0, 3000, 0, 500, 500)


def test_leaks_are_marked() -> None:
    program = Program()
    program.acquire(64, frame(5))
    program.release(program.acquire(128, frame(6)))
    (space,) = timeline(recorded(program.end())).spaces
    (leak,) = space.leaks
    assert (leak.moment.step, leak.level, leak.sites, leak.count, leak.bytes) == (
        1, 64, (0,), 1, 64,
    )  # fmt: skip


def test_what_a_program_that_was_ended_holds_is_no_leak() -> None:
    program = Program()
    program.acquire(64)
    (space,) = timeline(recorded(program.events, complete=False)).spaces
    assert space.end_bytes == 64
    assert space.leaks == ()


def test_reset_is_no_leak() -> None:
    program = Program()
    program.acquire(64)
    program.acquire(64)
    program.reset()
    seen = timeline(recorded(program.end()))
    assert seen.spaces[0].end_bytes == 0
    assert seen.spaces[0].leaks == ()
    assert seen.sites[0].reset_count == 2
    assert seen.sites[0].left_count == 0


def test_kinds_of_memory_are_apart() -> None:
    program = Program()
    program.acquire(64)
    program.acquire(128, family="pinned", api="cudaMallocHost")
    program.acquire(256, family="managed", api="cudaMallocManaged")
    program.acquire(0, family="stream", api="cudaStreamCreate")
    seen = timeline(recorded(program.end()))
    assert [(space.key, space.peak_bytes) for space in seen.spaces] == [
        ("device", 64),
        ("managed", 256),
        ("pinned", 128),
    ]
    assert [site.space for site in seen.sites] == ["device", "pinned", "managed", "handle"]
    assert seen.sites[3].left_count == 1


@pytest.mark.parametrize("events", [(), (Event(EventKind.END, 1, 5),)])
def test_nothing_allocated(events: tuple[Event, ...]) -> None:
    seen = timeline(recorded(events))
    assert (seen.sites, seen.spaces, seen.map, seen.steps) == ((), (), None, 0)


def test_only_handles() -> None:
    program = Program()
    program.acquire(0, family="stream", api="cudaStreamCreate")
    seen = timeline(recorded(program.end()))
    assert seen.spaces == ()
    assert seen.map is None
    assert len(seen.sites) == 1


def test_release_of_what_was_never_acquired() -> None:
    events = [Event(EventKind.RELEASE, 1, 5, family="device", address=7, bytes=64)]
    assert timeline(recorded(events)).steps == 0


def test_time_never_falls() -> None:
    events = [
        Event(EventKind.ACQUIRE, 1, 50, family="device", address=BASE, bytes=64),
        Event(EventKind.ACQUIRE, 2, 40, family="device", address=BASE + 512, bytes=64),
    ]
    (space,) = timeline(recorded(events)).spaces
    assert [moment.time for moment in space.moments] == [0, 50, 50]


# Sites ------------------------------------------------------------------------------------------


def test_one_site_per_line_with_its_callers() -> None:
    program = Program()
    helper = frame(7, function="allocate")
    for caller in (20, 30, 30):
        program.acquire(64, helper, frame(caller))
    (site,) = timeline(recorded(program.end())).sites
    assert (site.line, site.function, site.count) == (7, "allocate", 3)
    assert [(stack[1].line, count) for stack, count in site.stacks] == [(30, 2), (20, 1)]


def test_a_site_in_a_library() -> None:
    program = Program()
    program.acquire(64, Frame(module="/usr/lib/libfilter.so.2", offset=0x1234))
    program.acquire(64, Frame(module="/usr/lib/libfilter.so.2", offset=0x99, function="plan"))
    program.acquire(64, Frame())
    labels = [site.label for site in timeline(recorded(program.end())).sites]
    assert labels == ["libfilter.so.2+0x1234", "plan in libfilter.so.2", "unknown place"]


def test_the_own_line_counts_not_the_header(tmp_path: Path) -> None:
    program = Program()
    own = tmp_path / "main.cu"
    program.acquire(64, frame(9, "/include/wrap.hpp"), frame(4, str(own)))
    (site,) = timeline(recorded(program.end(), roots=(own,))).sites
    assert (Path(site.filename), site.line) == (own, 4)
    (site,) = timeline(recorded(program.end(), roots=(tmp_path,))).sites
    assert (Path(site.filename), site.line) == (own, 4)


# Many events ------------------------------------------------------------------------------------


def test_many_events_keep_peak_and_leaks() -> None:
    events = many(30_000)
    seen = timeline(recorded(events))
    (space,) = seen.spaces
    plain = levels(events)
    assert len(space.moments) < 4200
    assert space.peak_bytes == max(plain) == max(space.total)
    assert space.peak.step in {moment.step for moment in space.moments}
    assert [plain[moment.step] for moment in space.moments] == list(space.total)
    assert space.moments[-1].step == len(plain) - 1
    left = account(events).leaks
    assert sum(leak.count for leak in space.leaks) == len(left)
    assert sum(leak.bytes for leak in space.leaks) == sum(leak.bytes for leak in left)
    assert len(space.leaks) <= 201
    assert sum(site.left_count for site in seen.sites) == len(left)
    assert sum(site.at_peak for site in seen.sites) == space.peak_bytes
    assert len(space.series) <= 8
    assert seen.map is not None
    assert len(seen.map.columns) <= 203


def test_a_spike_of_one_event_is_not_lost() -> None:
    program = Program()
    for number in range(6000):
        program.release(program.acquire(512 if number != 3456 else 1 << 20))
    (space,) = timeline(recorded(program.end())).spaces
    assert space.peak_bytes == 1 << 20
    assert (1 << 20) in space.total


Actions = list[tuple[int, int, int]]
steps = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 40), st.integers(1, 5000)), max_size=60
)


def play(actions: Actions) -> Program:
    program = Program()
    live: list[int] = []
    for action, pick, size in actions:
        if action < 2 and live:
            program.release(live.pop(pick % len(live)))
        elif action == 5 and pick == 0:
            program.reset()
            live.clear()
        else:
            live.append(program.acquire(size, frame(pick)))
    return program


@settings(deadline=None, max_examples=150)
@given(steps)
def test_any_run_adds_up(actions: Actions) -> None:
    events = play(actions).end()
    seen = timeline(recorded(events))
    plain = levels(events)
    left = account(events).leaks
    assert sum(site.left_bytes for site in seen.sites) == sum(one.bytes for one in left)
    for space in seen.spaces:
        assert [plain[moment.step] for moment in space.moments] == list(space.total)
        assert space.peak_bytes == max(plain)
        for values in zip(*(one.values for one in space.series), strict=True):
            assert min(values) >= 0
        assert [sum(v) for v in zip(*(one.values for one in space.series), strict=True)] == list(
            space.total
        )


# Addresses --------------------------------------------------------------------------------------


def test_map_of_blocks_and_holes() -> None:
    program = Program()
    blocks = [program.acquire(size * 512, frame(size)) for size in (1, 2, 3)]
    program.release(blocks[1])
    seen = timeline(recorded(program.end(), memory=512 * 100)).map
    assert seen is not None
    assert (seen.cell, seen.cells) == (512, 6)
    full, last = seen.columns[3], seen.columns[4]
    assert full.runs == ((0, 1), (1, 2), (2, 3))
    assert (full.blocks, full.holes, full.largest_free) == (3, 0, 512 * 94)
    assert last.runs == ((0, 1), (-1, 2), (2, 3))
    assert (last.blocks, last.holes, last.hole_bytes, last.largest_hole) == (2, 1, 1024, 1024)
    assert last.largest_free == 512 * 94
    assert (seen.peak, seen.worst) == (3, 4)


def test_largest_free_block_may_be_a_hole() -> None:
    program = Program()
    first = program.acquire(512 * 60)
    program.acquire(512 * 30)
    program.release(first)
    seen = timeline(recorded(program.end(), memory=512 * 100)).map
    assert seen is not None
    assert seen.columns[-1].largest_free == 512 * 60
    assert seen.columns[-1].runs == ((-1, 60), (0, 30))


def test_a_small_block_between_large_holes_is_seen() -> None:
    program = Program()
    below = program.acquire(64 << 20)
    program.acquire(1, frame(2))
    above = program.acquire(64 << 20)
    program.acquire(64 << 20)
    program.release(below)
    program.release(above)
    seen = timeline(recorded(program.end())).map
    assert seen is not None
    assert 1 in {site for site, _ in seen.columns[-1].runs}


def test_real_addresses_far_apart_lie_side_by_side() -> None:
    def acquire(number: int, address: int) -> Event:
        return Event(
            EventKind.ACQUIRE, number, number, family="device", address=address, bytes=1024
        )

    events = [acquire(1, BASE), acquire(2, BASE + 2048), acquire(3, BASE + (1 << 40))]
    seen = timeline(recorded(events, mode=Mode.OBSERVE)).map
    assert seen is not None
    assert [(region.offset, region.length) for region in seen.regions] == [(0, 3072), (3072, 1024)]
    last = seen.columns[-1]
    assert (last.holes, last.hole_bytes, last.largest_free) == (1, 1024, None)


def test_arrays_have_no_address() -> None:
    program = Program()
    program.acquire(512)
    program.acquire(512, family="array", api="cudaMallocArray")
    seen = timeline(recorded(program.end())).map
    assert seen is not None
    assert seen.undrawn == 1
    assert seen.columns[-1].blocks == 1


@settings(deadline=None, max_examples=150)
@given(steps)
def test_any_map_is_right(actions: Actions) -> None:
    events = play(actions).end()
    seen = timeline(recorded(events, memory=1 << 30)).map
    if seen is None:
        return
    base = seen.regions[0].start
    live: dict[int, int] = {}
    at = {column.moment.step: column for column in seen.columns}
    step = 0
    for event in events:
        if event.kind is EventKind.ACQUIRE:
            live[event.address] = event.bytes
        elif event.kind is EventKind.RELEASE:
            del live[event.address]
        elif event.kind is EventKind.RESET:
            if not live:
                continue
            live.clear()
        else:
            continue
        step += 1
        column = at[step]
        top = base
        holes = []
        for address in sorted(live):
            if address > top:
                holes.append(address - top)
            top = address + -(-live[address] // 512) * 512
        assert (column.blocks, column.bytes) == (len(live), sum(live.values()))
        assert (column.holes, column.hole_bytes) == (len(holes), sum(holes))
        assert column.largest_hole == max(holes, default=0)
        assert column.largest_free == max([base + (1 << 30) - top, *holes])
        assert sum(cells for _, cells in column.runs) == -(-(top - base) // seen.cell)


def test_bands_are_those_of_a_wrappers_callers() -> None:
    program = Program()
    inner = frame(3, function="scratch")
    first = program.acquire(1000, inner, frame(10, function="load"), frame(50))
    program.acquire(2000, inner, frame(20, function="store"), frame(51))
    program.release(first)
    sites = timeline(recorded(program.end())).sites
    assert [(site.line, site.function, site.total) for site in sites] == [
        (10, "load", 1000), (20, "store", 2000),
    ]  # fmt: skip


def test_what_is_kept_is_no_leak() -> None:
    program = Program()
    table = program.acquire(1000, frame(5))
    program.acquire(500, frame(6))
    program._add(EventKind.KEPT, "", "device", table, 0, ())
    seen = timeline(recorded(program.end()))
    (space,) = seen.spaces
    assert space.end_bytes == 1500
    assert [(site.line, site.left_bytes) for site in seen.sites] == [(5, 0), (6, 500)]
    assert [(leaks.sites, leaks.bytes) for leaks in space.leaks] == [((1,), 500)]
    summary = account(program.events)
    assert [event.bytes for event in summary.leaks] == [500]
    assert [event.bytes for event in summary.kept] == [1000]
