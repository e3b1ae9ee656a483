"""What one run showed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cudalint.runtime.account import Account
from cudalint.runtime.events import Event, Frame
from cudalint.runtime.execute import RunResult
from cudalint.runtime.faults import Fault
from cudalint.runtime.frameworks import programs as frameworks

_MAIN = ("main", "<module>")


@dataclass(frozen=True)
class Limits:
    """What is too much, in bytes."""

    transfer: int = 256 * 1024**2
    memory: int | None = None
    """Of the device; ``None`` where only its failures tell."""


_TERMINATED = "terminate called "


@dataclass(frozen=True)
class Observation:
    """What one run showed."""

    fault: Fault | None
    events: tuple[Event, ...]
    account: Account
    result: RunResult
    exits: tuple[tuple[Frame, ...], ...] = ()
    """The stacks of calls of ``exit``."""
    complete: bool = False
    """Whether every process that used CUDA came to its end by itself."""
    uncaught: str = ""
    """The type of an exception that left ``main`` and that the ledger caught in its place."""
    limits: Limits = field(default_factory=Limits)
    passes: Mapping[int, tuple[frameworks.Sample, ...]] = field(default_factory=dict)
    """Live memory at each pass over a watched line, by the number of the watch."""
    refused: Mapping[int, int] = field(default_factory=dict)
    """By the number of a watch whose line failed: the bytes that graphs kept anew before it."""
    hooked: bool = False
    """Whether hooks in Python frameworks saw it."""

    @property
    def injected(self) -> Event | None:
        """The call that was made to fail."""
        return self.account.injected

    @property
    def ended(self) -> bool:
        """Whether the program came to its end by itself, and the trace with it: also by an
        exception that nobody caught, once the stack was unwound."""
        by_itself = self.result.ended or (bool(self.uncaught) and not self.result.timed_out)
        return by_itself and self.complete

    @property
    def terminated(self) -> bool:
        """Whether an exception ended it that nobody can catch, out of a destructor say: nothing of
        the program runs after that."""
        return _TERMINATED in self.result.stderr and not self.result.ended

    @property
    def called_exit(self) -> bool:
        """Whether it ended by ``exit``, not by the end of ``main``."""
        return bool(self.exits)

    @property
    def exited_in_main(self) -> bool:
        """Whether every call of ``exit`` was made by ``main``, which survived what happened."""
        return all(stack and stack[0].function in _MAIN for stack in self.exits)

    @property
    def exit_text(self) -> str:
        """What it said last where it did not end well; empty where it did."""
        if self.result.exit_status == 0 and not self.result.timed_out:
            return ""
        last = (self.result.stderr.strip("\0 \n").splitlines() or [""])[-1]
        return f"{self.result.ending}: {last}" if last else self.result.ending
