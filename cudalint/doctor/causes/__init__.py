"""The likely causes of out of memory: small pure functions over a record, in two tables."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.doctor.causes.cause import Cause
from cudalint.doctor.causes.failures import FAILURE_CAUSES
from cudalint.doctor.causes.machines import MACHINE_CAUSES
from cudalint.doctor.record import Case

__all__ = ["Cause", "causes"]

_ASIDE = 0.4
"""What is odd about the machine weighs less beside what a failure shows itself."""
_OF_HOST = frozenset({"host-memory", "shared-memory"})
"""What says nothing about a failure of the device."""


def causes(case: Case) -> tuple[Cause, ...]:
    """The causes that a record shows, the likeliest first; of one name only the likeliest."""
    found: dict[str, Cause] = {}
    for cause in sorted(_all(case), key=lambda one: -one.weight):
        found.setdefault(cause.name, cause)
    return tuple(found.values())


def _all(case: Case) -> Iterator[Cause]:
    if case.failure is not None:
        for ask in FAILURE_CAUSES:
            yield from ask(case.failure, case.machine)
    if case.machine is not None:
        for look in MACHINE_CAUSES:
            for cause in look(case.machine):
                if case.failure is None:
                    yield cause
                elif case.failure.memory != "device" or cause.name not in _OF_HOST:
                    yield cause.scaled(_ASIDE)
