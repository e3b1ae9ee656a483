"""Which call of a run is made to fail, and how the ledger is told.

Three ways to name a call: by its number among the fallible calls of the run (as events carry it in
``Event.call``), by function and count, or by the place that it is made from. A place is an address
in a module, because the ledger knows no lines: ``at_line`` finds it in the trace of a run without
faults.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath

from cudalint.runtime.events import Event, Frame

VARIABLE = "CUDALINT_FAULT"
SETTING = "getenv"
"""Never fails: instead what is set is not, and what is not set is 1."""
HOST_APIS = frozenset({"malloc", "calloc", "operator new", "fopen", "fread", SETTING})
"""The host's own calls that can be made to fail."""


@dataclass(frozen=True)
class Fault:
    """One call that fails. What is given must all hold; ``nth`` counts the calls for which it does.

    ``status`` 0 is the status with which that function usually fails: out of memory for what
    allocates or creates, invalid value for copies, out of resources for launches, launch failure
    (which is sticky) for what waits.
    """

    call: int = 0
    api: str = ""
    site: Frame | None = None
    """Any frame of the call's stack."""
    nth: int = 1
    status: int = 0
    always: bool = False
    """Fail from the ``nth`` on."""
    host: bool = False
    """Whether the host's own calls (``fopen``, ``malloc``, ``new``) are counted too."""

    def __post_init__(self) -> None:
        if not (self.call or self.api or self.site):
            raise ValueError("a fault needs the number of a call, a function or a place")
        if self.call < 0 or self.nth < 1:
            raise ValueError("calls count from 1")
        if any(character in self.api for character in ";="):
            raise ValueError(f"`{self.api}` is no function")

    def environment(self) -> dict[str, str]:
        """For the ledger."""
        parts = []
        if self.call:
            parts.append(f"call={self.call}")
        if self.api:
            parts.append(f"api={self.api}")
        if self.site is not None:
            parts.append(f"site={self.site.offset:#x}")
            parts.append(f"module={PurePath(self.site.module).name}")
        parts.append(f"nth={self.nth}")
        if self.status:
            parts.append(f"status={self.status}")
        if self.always:
            parts.append("always=1")
        return {VARIABLE: ";".join(parts)}


def at_line(
    events: Iterable[Event], filename: str, line: int, *, api: str = "", nth: int = 1
) -> Fault | None:
    """The fault for the ``nth`` fallible call made from a line, as a run without faults showed it;
    ``None`` where no such call was made. The events' frames must be resolved."""
    wanted = PurePath(filename)
    seen = 0
    for event in events:
        if not event.call or (api and event.api != api):
            continue
        for frame in event.stack:
            if frame.line == line and _same_file(PurePath(frame.filename), wanted):
                seen += 1
                if seen == nth:
                    return Fault(call=event.call)
                break
    return None


def _same_file(one: PurePath, other: PurePath) -> bool:
    if one.is_absolute() and other.is_absolute():
        return one == other
    shorter = min(len(one.parts), len(other.parts))
    return one.parts[-shorter:] == other.parts[-shorter:]
