"""Which line an allocation is for."""

from __future__ import annotations

from cudalint.runtime.events import Event, EventKind, Frame
from cudalint.runtime.sites import Sites

MAIN = Frame(function="main", filename="/a/main.cu", line=50)


def frame(function: str, line: int) -> Frame:
    return Frame(function=function, filename="/a/main.cu", line=line, offset=line)


class History:
    """Events of a run that is made up."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def add(self, kind: EventKind, address: int, *stack: Frame) -> tuple[Frame, ...]:
        self.events.append(
            Event(kind, len(self.events) + 1, family="device", address=address, stack=stack)
        )
        return stack


def test_callers_of_a_wrapper() -> None:
    run = History()
    scratch = frame("scratch", 3)
    one = run.add(EventKind.ACQUIRE, 1, scratch, frame("load", 10), MAIN)
    two = run.add(EventKind.ACQUIRE, 2, scratch, frame("store", 20), MAIN)
    run.add(EventKind.RELEASE, 1, frame("store", 22), MAIN)
    sites = Sites(run.events)
    assert [found.line for stack in (one, two) if (found := sites.frame(stack))] == [10, 20]


def test_wrappers_of_wrappers() -> None:
    run = History()
    inner, outer = frame("allocate", 3), frame("Buffer", 8)
    stacks = [
        run.add(EventKind.ACQUIRE, line, inner, outer, frame("work", line), MAIN)
        for line in (11, 12, 13)
    ]
    stacks.append(run.add(EventKind.ACQUIRE, 9, inner, frame("other", 30), MAIN))
    run.add(EventKind.KEPT, 11)
    found = [sites.line for stack in stacks if (sites := Sites(run.events).frame(stack))]
    assert found == [11, 12, 13, 30]


def test_a_function_that_releases_what_it_acquires_is_the_site() -> None:
    run = History()
    first = run.add(EventKind.ACQUIRE, 1, frame("work", 3), frame("main", 50))
    run.add(EventKind.RELEASE, 1, frame("work", 5), frame("main", 50))
    run.add(EventKind.ACQUIRE, 1, frame("work", 3), frame("main", 51))
    run.add(EventKind.RELEASE, 1, frame("work", 5), frame("main", 51))
    found = Sites(run.events).frame(first)
    assert found is not None
    assert found.line == 3


def test_what_nothing_releases_is_where_it_is_acquired() -> None:
    run = History()
    first = run.add(EventKind.ACQUIRE, 1, frame("work", 3), frame("main", 50))
    run.add(EventKind.ACQUIRE, 2, frame("work", 3), frame("main", 51))
    found = Sites(run.events).frame(first)
    assert found is not None
    assert found.line == 3


def test_a_function_that_builds_many_is_the_site() -> None:
    run = History()
    stacks = [
        run.add(EventKind.ACQUIRE, 10 * line + caller, frame("build", line), frame("f", caller))
        for line in (3, 4, 5)
        for caller in (7, 8)
    ]
    run.add(EventKind.RELEASE, 37, frame("end", 9))
    found = [one.line for stack in stacks if (one := Sites(run.events).frame(stack))]
    assert found == [3, 3, 4, 4, 5, 5]


def test_no_frame_is_the_programs_own() -> None:
    assert Sites(()).frame((Frame(module="/usr/lib/libx.so", offset=3),)) is None
