"""Finds in one run what shows a finding: the meeting of what a rule says and what the ledger saw.

A finding and an event belong together by file and line: any frame of the event's stack may stand
on the finding's lines, because the call may be in a wrapper that these lines call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from cudalint.findings.verdict import Evidence
from cudalint.runtime.events import Event, EventKind, Frame, Violation
from cudalint.runtime.faults import SETTING
from cudalint.runtime.frameworks import measures
from cudalint.runtime.frameworks.watches import GROWTH, PEAKS
from cudalint.runtime.observation import Observation
from cudalint.runtime.question import Question
from cudalint.runtime.sites import same_call

LEAKS = frozenset({"GPU101", "GPU102", "GPU103", "GPU104", "GPU105", "GPU106"})
_VIOLATIONS = {
    "GPU201": (Violation.DOUBLE_FREE,),
    "GPU202": (
        Violation.USE_AFTER_FREE, Violation.INVALID_HANDLE, Violation.DOUBLE_FREE,
        Violation.INVALID_POINTER,
    ),
    "GPU203": (
        Violation.WRONG_DEALLOCATOR, Violation.INVALID_POINTER, Violation.INVALID_HANDLE,
    ),
    "GPU204": (Violation.INVALID_POINTER, Violation.WRONG_DEALLOCATOR),
    "GPU206": (Violation.STREAM_ORDER,),
    "GPU207": (Violation.HOST_DEREFERENCE, Violation.USE_AFTER_FREE),
    "GPU302": (Violation.LAUNCH_REFUSED,),
    "GPU303": (Violation.LAUNCH_REFUSED,),
    "GPU304": (Violation.LAUNCH_REFUSED,),
    "GPU305": (Violation.MISSING_SHARED,),
    "GPU405": (Violation.OUT_OF_BOUNDS,),
    "GPU406": (Violation.COPY_DIRECTION,),
    "GPU407": (Violation.FILL_VALUE,),
    "GPU408": (Violation.UNSYNCHRONIZED_READ,),
}  # fmt: skip
_OF_BLOCKS = {
    "GPU201": _VIOLATIONS["GPU201"],
    "GPU202": (Violation.USE_AFTER_FREE,),
    "GPU203": _VIOLATIONS["GPU203"],
}
"""What an owner may do where its life ends."""
_REFUSALS = frozenset({"GPU202", "GPU203", "GPU302", "GPU303", "GPU304", "GPU405", "GPU406"})
"""Where a call at the place that fails by itself is evidence too: a real runtime says no more."""
KEPT = "kept until the end: a global, a static or a thread-local still leads to it"
_MOST_FRAMES = 8
_OUT_OF_MEMORY = 2
_NOT_THE_PROGRAM = ("libcudalint_", "libcuda", "libcupti", "libpython", "python")


Search = Callable[[Question, Observation], Iterator[tuple[Event | None, str]]]


def judged(code: str) -> bool:
    """Whether a run can show findings of a rule at all."""
    return code in LEAKS or code in _VIOLATIONS or code in _SEARCHES


def measurable(code: str) -> bool:
    """Whether only a measure shows findings of a rule: bytes, or growth by pass."""
    return code in GROWTH | PEAKS or code in measures.SEARCHES


def evidence_of(question: Question, seen: Observation) -> Evidence | None:
    """What a run shows of a finding; ``None`` where it shows nothing."""
    code = question.finding.code
    search = _leaked if code in LEAKS else (_SEARCHES | measures.SEARCHES).get(code, _violated)
    for event, message in search(question, seen):
        return Evidence(
            message=message,
            run=run_name(seen),
            fault=fault_name(seen),
            bytes=event.bytes if event is not None and event.bytes else None,
            stack=stack_text(event.stack) if event is not None else (),
        )
    return None


def run_name(seen: Observation) -> str:
    """The run in words."""
    fault = fault_name(seen)
    run = "without faults"
    if seen.injected is not None:
        run = f"{fault} answers otherwise" if seen.injected.api == SETTING else f"{fault} fails"
    if seen.uncaught:
        run += f", and nobody catches the exception ({seen.uncaught}): the ledger does, at main"
    return run


def fault_name(seen: Observation) -> str:
    """The call that was made to fail, with its place."""
    event = seen.injected
    if event is None:
        return ""
    for frame in event.stack:
        if frame.line and not _is_system(frame.filename):
            return f"{event.api} at {shown(frame.filename)}:{frame.line}"
    return f"call {event.call}, {event.api}"


def stack_text(stack: Sequence[Frame]) -> tuple[str, ...]:
    """``file:line (function)``, innermost first; what has no line is left out. Where nothing has
    one, ``function (program+0x1234)``, as the symbols tell."""
    lines = tuple(
        f"{shown(frame.filename)}:{frame.line}" + (f" ({frame.function})" if frame.function else "")
        for frame in stack
        if frame.line and not _is_system(frame.filename)
    )
    return (lines or tuple(_symbols(stack)))[:_MOST_FRAMES]


def has_lines(stack: Iterable[Frame]) -> bool:
    """Whether any frame has a line of a program's own."""
    return any(frame.line and not _is_system(frame.filename) for frame in stack)


def _symbols(stack: Iterable[Frame]) -> Iterator[str]:
    for frame in stack:
        name = os.path.basename(frame.module)  # noqa: PTH119
        library = ".so" in name and frame.module.startswith(("/usr/", "/lib", "/opt/"))
        ours = name.startswith(_NOT_THE_PROGRAM) or "/nvidia/" in frame.module
        if name and not (library or ours or frame.function == "_start"):
            place = f"{name}+{frame.offset:#x}"
            yield f"{frame.function} ({place})" if frame.function else place


def shown(filename: str) -> str:
    """A path as reports show it: relative to the working directory when below it."""
    try:
        relative = os.path.relpath(filename)
    except ValueError:
        return filename
    return filename if relative.startswith("..") else relative


def _is_system(filename: str) -> bool:
    return filename.startswith(("/usr/", "/opt/")) or "/nvidia/cu" in filename


# Leaks ------------------------------------------------------------------------------------------


def amount(event: Event) -> str:
    """How much was acquired: ``4,096 bytes``, ``a stream``, ``an address-range``."""
    article = "an" if event.family[:1] in "aeiou" else "a"
    return f"{event.bytes:,} bytes" if event.bytes else f"{article} {event.family}"


def leaked(seen: Observation) -> Iterator[Event]:
    """The acquisitions that nothing released, of a run that came to its end."""
    if seen.ended:
        yield from seen.account.leaks


def still_running(stack: Sequence[Frame], index: int, seen: Observation) -> bool:
    """Whether the call of the function that frame ``index`` belongs to was never left, because
    ``exit`` was called below it: the end of the process is no leak of that function."""
    return any(same_call(stack, index, ending) for ending in seen.exits)


def _lost_before_exit(stack: Sequence[Frame], index: int, seen: Observation) -> bool:
    """Whether a resource was lost although ``exit`` ended the program, which proves nothing of what
    the functions that were still running held: where ``main`` called it after the function of frame
    ``index`` had met the fault and was left."""
    if not seen.exits:
        return True
    fault = seen.injected
    met = fault is not None and same_call(stack, index, fault.stack)
    return met and seen.exited_in_main


def _leaked(question: Question, seen: Observation) -> Iterator[tuple[Event | None, str]]:
    member = question.finding.code == "GPU105"
    if member and seen.called_exit:
        return  # Destructors of what was alive did not run.
    places = question.places if question.finding.code == "GPU104" else (question.place,)
    for place in places:
        found = []
        for event in leaked(seen):
            index = place.index(event.stack)
            if index is None or still_running(event.stack, index, seen):
                continue
            if _lost_before_exit(event.stack, index, seen):
                found.append(event)
        if found:
            times = f", {len(found)} times" if len(found) > 1 else ""
            yield found[0], f"{amount(found[0])} from {found[0].api} not released at the end{times}"


def kept(question: Question, seen: Observation) -> Evidence | None:
    """What was acquired at a finding's place and is kept, not lost: at the end the program's own
    memory still points at it."""
    for event in seen.account.kept:
        if seen.ended and question.place.index(event.stack) is not None:
            message = f"{amount(event)} from {event.api} {KEPT}"
            return Evidence(
                message, run_name(seen), fault_name(seen), event.bytes or None,
                stack_text(event.stack),
            )  # fmt: skip
    return None


def unproven(question: Question, seen: Observation) -> str:
    """Why what was not released at a finding's place is no evidence; empty where all was, or where
    the functions that held it were never left."""
    for event in leaked(seen):
        index = question.place.index(event.stack)
        if index is not None and not still_running(event.stack, index, seen):
            return "the program ended by `exit`, which proves nothing of what was still held"
    return ""


def nothing_lost(question: Question, seen: Observation) -> bool:
    """Whether a run came to its end, acquired at the finding's place, and released it or keeps
    it."""

    def here(events: Iterable[Event]) -> bool:
        return any(question.place.index(event.stack) is not None for event in events)

    return (
        seen.ended
        and here(event for event in seen.events if event.kind is EventKind.ACQUIRE)
        and not here(seen.account.leaks)
    )


# Misuse -----------------------------------------------------------------------------------------


def _violated(question: Question, seen: Observation) -> Iterator[tuple[Event | None, str]]:
    code = question.finding.code
    kinds = _VIOLATIONS[code]
    for event in seen.account.violations:
        if event.violation in kinds and question.place.index(event.stack) is not None:
            yield event, event.text
    yield from _by_owner(question, seen)
    if code == "GPU201":
        yield from _left(question, seen)
    if code in _REFUSALS:
        yield from _refused(question, seen)


def _left(question: Question, seen: Observation) -> Iterator[tuple[Event | None, str]]:
    """A second release at another place that the finding names, of what its own place released."""
    left = {
        event.address
        for event in seen.events
        if event.kind is EventKind.RELEASE and question.place.index(event.stack) is not None
    }
    for event in seen.account.violations:
        again = any(step.index(event.stack) is not None for step in question.steps)
        if again and event.address in left and event.violation is Violation.DOUBLE_FREE:
            yield event, event.text


def _by_owner(question: Question, seen: Observation) -> Iterator[tuple[Event | None, str]]:
    """What an owner does to a block where its life ends, in the finding's function: that is another
    line than the finding's."""
    if question.finding.code not in _OF_BLOCKS:
        return
    function = question.finding.function.rpartition("::")[2].partition("<")[0]
    kinds = _OF_BLOCKS[question.finding.code]
    blocks = {
        event.address
        for event in seen.events
        if event.kind is EventKind.ACQUIRE
        and any(place.index(event.stack) is not None for place in question.places)
    }
    for event in seen.account.violations:
        inside = any(question.place.shares(frame, function) for frame in event.stack)
        if inside and event.address in blocks and event.violation in kinds:
            yield event, event.text


def _refused(question: Question, seen: Observation) -> Iterator[tuple[Event | None, str]]:
    for event in seen.account.failures:
        if not event.injected and question.place.index(event.stack) is not None:
            yield event, f"{event.api} fails with status {event.status}"


def _copied_owner(question: Question, seen: Observation) -> Iterator[tuple[Event | None, str]]:
    """A second release by the destructor of the class that was copied."""
    destructors = question.steps
    name = "~" + question.finding.subject.rpartition("::")[2].partition("<")[0]
    for event in seen.account.violations:
        if event.violation not in (Violation.DOUBLE_FREE, Violation.INVALID_POINTER):
            continue
        by_name = any(frame.function.partition("<")[0] == name for frame in event.stack)
        if by_name or any(place.index(event.stack) is not None for place in destructors):
            yield event, f"{event.text}, by {name}"


def _oversize_kernel(question: Question, seen: Observation) -> Iterator[tuple[Event | None, str]]:
    name = question.finding.function.rpartition("::")[2].partition("<")[0]
    for event in seen.account.violations:
        # A framework tells of the compiler's refusal in its own words.
        text = event.text if seen.hooked else event.text.partition(":")[0]
        if event.violation is Violation.LAUNCH_REFUSED and name in text:
            yield event, event.text


def _too_much_shared(question: Question, seen: Observation) -> Iterator[tuple[Event | None, str]]:
    yield from _violated(question, seen)
    function = question.finding.function.rpartition("::")[2]
    if seen.hooked:
        # A framework opts in for the program, at another line.
        for event in seen.account.violations:
            refused = event.violation is Violation.LAUNCH_REFUSED
            if refused and any(question.place.shares(frame, function) for frame in event.stack):
                yield event, event.text
    for event in seen.account.failures:
        opt_in = event.api == "cudaFuncSetAttribute" and not event.injected
        if opt_in and any(question.place.shares(frame, function) for frame in event.stack):
            yield event, "cudaFuncSetAttribute refuses as much as the launch needs"


def _mismatched_copy(question: Question, seen: Observation) -> Iterator[tuple[Event | None, str]]:
    for place in question.places:
        for event in seen.account.violations:
            if event.violation is Violation.OUT_OF_BOUNDS and place.index(event.stack) is not None:
                yield event, event.text
    yield from _refused(question, seen)
    sizes: dict[int, int] = {}
    for event in seen.events:
        if event.kind is EventKind.ACQUIRE and event.bytes:
            sizes[event.address] = event.bytes
        elif event.kind in (EventKind.COPY, EventKind.FILL) and event.bytes:
            for whole in (sizes.get(event.address, 0), sizes.get(event.source, 0)):
                parts = whole // event.bytes
                part = whole % event.bytes == 0 and parts in (2, 4, 8, 12, 16, 24, 32)
                if part and question.place.index(event.stack) is not None:
                    yield event, f"{event.bytes:,} of {whole:,} bytes: one of every {parts}"


def _wrong_way(question: Question, seen: Observation) -> Iterator[tuple[Event | None, str]]:
    yield from _violated(question, seen)
    for event in seen.events:
        onto_itself = event.kind is EventKind.COPY and event.bytes and event.address == event.source
        if onto_itself and question.place.index(event.stack) is not None:
            yield event, f"{event.bytes:,} bytes are copied onto themselves"


def _filled(question: Question, seen: Observation) -> Iterator[tuple[Event | None, str]]:
    yield from _violated(question, seen)
    for event in seen.events:
        if event.kind is EventKind.FILL and question.place.index(event.stack) is not None:
            yield event, f"every byte of {event.bytes:,} is set to {event.value & 0xFF:#04x}"


def _out_of_memory(question: Question, seen: Observation) -> Iterator[tuple[Event | None, str]]:
    for event in seen.account.failures:
        refused = event.status == _OUT_OF_MEMORY and not event.injected
        if refused and any(place.index(event.stack) is not None for place in question.places):
            yield event, f"{event.api} fails: out of memory"


def _over_budget(question: Question, seen: Observation) -> Iterator[tuple[Event | None, str]]:
    yield from _out_of_memory(question, seen)
    yield from measures.over_budget(question, seen)


def _over_peak(question: Question, seen: Observation) -> Iterator[tuple[Event | None, str]]:
    yield from _out_of_memory(question, seen)
    yield from measures.over_peak(question, seen)


def _unchecked(question: Question, seen: Observation) -> Iterator[tuple[Event | None, str]]:
    """The allocation failed, and the program went on with what it did not get."""
    failed = seen.injected
    if failed is None or all(place.index(failed.stack) is None for place in question.places):
        return
    for event in seen.account.violations:
        if event.sequence > failed.sequence:
            yield event, f"after the failure: {event.text}"
    for event in seen.account.failures:
        if event.sequence > failed.sequence and not event.injected:
            yield event, f"after the failure, {event.api} fails with status {event.status}"
    if seen.result.signal is not None:
        yield failed, f"after the failure, the program is {seen.result.ending}"
    for event in seen.events:
        after = event.sequence > failed.sequence
        if after and event.kind in (EventKind.LAUNCH, EventKind.COPY) and not event.status:
            yield event, f"after the failure, {event.api} runs as if nothing had happened"


def _reset(question: Question, seen: Observation) -> Iterator[tuple[Event | None, str]]:
    for event in (*seen.account.reset, *leaked(seen)):
        ran = any(
            one.kind in (EventKind.RESET, EventKind.CALL)
            and question.place.index(one.stack) is not None
            for one in seen.events
        )
        if ran:
            yield event, f"{event.bytes:,} bytes from {event.api} are not released by it"


_SEARCHES: dict[str, Search] = {
    "GPU108": _reset,
    "GPU205": _copied_owner,
    "GPU301": _oversize_kernel,
    "GPU302": _too_much_shared,
    "GPU405": _mismatched_copy,
    "GPU406": _wrong_way,
    "GPU407": _filled,
    "GPU501": _over_budget,
    "GPU502": _over_peak,
    "GPU506": _unchecked,
}
