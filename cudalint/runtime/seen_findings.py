"""Findings that only a run showed: leaks, misuse, failed calls that no static finding covers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.verdict import Evidence, Outcome, Verdict
from cudalint.runtime.events import Event, EventKind, Frame, Violation
from cudalint.runtime.evidence import (
    KEPT,
    evidence_of,
    leaked,
    run_name,
    shown,
    stack_text,
    still_running,
)
from cudalint.runtime.observation import Observation
from cudalint.runtime.question import Question, real_path
from cudalint.runtime.sites import Sites
from cudalint.source import Span

LIBRARY_LEAK = ("GPU107", "library-leak")
_MEMORY = ("GPU101", "unpaired-allocation")
_HANDLE = ("GPU106", "handle-leak")
_MISUSE = {
    Violation.DOUBLE_FREE: ("GPU201", "double-free"),
    Violation.USE_AFTER_FREE: ("GPU202", "use-after-free"),
    Violation.INVALID_HANDLE: ("GPU202", "use-after-free"),
    Violation.WRONG_DEALLOCATOR: ("GPU203", "mismatched-deallocation"),
    Violation.INVALID_POINTER: ("GPU204", "invalid-free"),
    Violation.STREAM_ORDER: ("GPU206", "stream-order-free"),
    Violation.HOST_DEREFERENCE: ("GPU207", "host-dereference"),
    Violation.LAUNCH_REFUSED: ("GPU304", "invalid-launch"),
    Violation.MISSING_SHARED: ("GPU305", "missing-dynamic-shared"),
    Violation.OUT_OF_BOUNDS: ("GPU405", "copy-size-mismatch"),
    Violation.COPY_DIRECTION: ("GPU406", "copy-kind-mismatch"),
    Violation.FILL_VALUE: ("GPU407", "memset-value"),
    Violation.UNSYNCHRONIZED_READ: ("GPU408", "unsynchronized-read"),
}
_LAUNCHES = frozenset({"GPU301", "GPU302", "GPU303", "GPU304"})
_SHARED_LIBRARY = ".so"
_NOT_OURS = ("/libcudalint_ledger.", "/libcudart.", "/libcuda.")


def seen_findings(
    seen: Observation, static: Iterable[Finding], roots: Sequence[Path], device: str
) -> Iterator[Finding]:
    """What the run without faults showed and no static finding of the target speaks of.

    ``roots`` are the folders of the target's own sources."""
    questions = [Question.of(finding) for finding in static]
    folders = tuple(real_path(str(root)) + "/" for root in roots)
    sites = Sites(seen.events, [root / "-" for root in roots])
    told: set[tuple[str, str, int]] = set()
    explained = seen.hooked and any(
        one.finding.code in _LAUNCHES and evidence_of(one, seen) for one in questions
    )
    for code, name, event, message, outcome in _events(seen, folders):
        frame = own_frame(event.stack, folders)
        if frame is None or _covered(event, questions):
            continue
        if event.kind is EventKind.ACQUIRE:
            frame = sites.frame(event.stack) or frame  # of a wrapper, its caller
        if explained and event.violation is Violation.LAUNCH_REFUSED:
            continue
        key = (code, frame.filename, frame.line)
        if key in told:
            continue
        told.add(key)
        evidence = Evidence(
            message, run_name(seen), bytes=event.bytes or None, stack=stack_text(event.stack)
        )
        yield Finding(
            code,
            name,
            Severity.ERROR if event.violation is not None
            else Severity.INFO if outcome is Outcome.KEPT
            else Severity.WARNING,
            Confidence.HIGH,
            f"{message} (seen at run time)",
            shown(frame.filename),
            Span(frame.line, 1, frame.line, 1),
            function=frame.function,
            subject=event.api,
            runtime=Verdict(outcome, device, (evidence,)),
        )  # fmt: skip


def own_frame(stack: Sequence[Frame], folders: tuple[str, ...]) -> Frame | None:
    """The innermost frame in the target's own sources."""
    for frame in stack:
        if frame.line and real_path(frame.filename).startswith(folders):
            return frame
    return None


def library_of(event: Event, folders: tuple[str, ...]) -> str:
    """The library that made a call, where it was none of the target's own code: its file's name."""
    for frame in event.stack:
        if frame.line and real_path(frame.filename).startswith(folders):
            return ""
        name = Path(frame.module).name
        if _SHARED_LIBRARY in name and not any(part in f"/{name}" for part in _NOT_OURS):
            return name
    return ""


def _events(
    seen: Observation, folders: tuple[str, ...]
) -> Iterator[tuple[str, str, Event, str, Outcome]]:
    kept = seen.account.kept if seen.ended else ()
    grown = _grown(kept, folders)
    for event in (*leaked(seen), *grown):
        if not _alive_at_exit(event, folders, seen):
            library = library_of(event, folders)
            by = f"that {library} acquired are" if library else f"from {event.api} is"
            message = f"{_held(event)} {by} never released"
            yield *_leak_code(event, library), event, message, Outcome.CONFIRMED
    for event in kept:
        if event in grown:
            continue
        message = f"{_held(event)} from {event.api} is {KEPT}"
        yield *_leak_code(event, library_of(event, folders)), event, message, Outcome.KEPT
    for event in seen.account.violations:
        if event.violation in _MISUSE:
            text = f"{event.violation.label}: {event.text}"
            yield *_MISUSE[event.violation], event, text, Outcome.CONFIRMED


def _grown(kept: Sequence[Event], folders: tuple[str, ...]) -> list[Event]:
    """What a library keeps and acquires anew by each call of the same line: that is no buffer for
    the life of the process, it grows."""
    times = Counter(event.stack for event in kept)
    return [event for event in kept if times[event.stack] > 1 and library_of(event, folders)]


def _held(event: Event) -> str:
    return f"{event.bytes:,} bytes of {event.family} memory" if event.bytes else event.family


def _leak_code(event: Event, library: str) -> tuple[str, str]:
    if library:
        return LIBRARY_LEAK
    return _MEMORY if event.bytes else _HANDLE


def _alive_at_exit(event: Event, folders: tuple[str, ...], seen: Observation) -> bool:
    """Whether any of the target's own functions that led to the acquisition was never left."""
    return any(
        still_running(event.stack, index, seen)
        for index, frame in enumerate(event.stack)
        if frame.line and real_path(frame.filename).startswith(folders)
    )


def _covered(event: Event, questions: Sequence[Question]) -> bool:
    return any(place.index(event.stack) is not None for one in questions for place in one.places)
