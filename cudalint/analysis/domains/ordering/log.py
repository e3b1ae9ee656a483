"""What one run saw of the order of streams, gathered into facts."""

from __future__ import annotations

from dataclasses import replace

from cudalint.analysis.domains.ordering.walk import Access, accesses_of, values_read
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.facts.ordering import (
    EarlyRead,
    HostAccess,
    OrderingFacts,
    PageableCopy,
    StreamHazard,
)
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.values.values import Symbol
from cudalint.program import Expression, Operation, Variable
from cudalint.source import Span

Read = Operation | Expression
"""What reads values: an operation, or a condition."""


class OrderingLog:
    """Collects what all paths show; the same event on two paths counts once."""

    def __init__(self, run: FunctionRun) -> None:
        self.python = run.python
        self.non_blocking: set[str] = set()
        """Origins of the streams that do not wait for the default stream."""
        self.pinned: set[Symbol] = set()
        """Arrays whose memory is page-locked in place."""
        self.data_of: dict[str, Expression] = {}
        """Temporaries that hold the beginning of a container's memory, and the container."""
        self.hazards: dict[Span, StreamHazard] = {}
        self.early_reads: dict[object, EarlyRead] = {}
        self.pageable: dict[Span, PageableCopy] = {}
        self.host_accesses: dict[Span, HostAccess] = {}
        self.harmless_accesses: set[Span] = set()
        """Where, on some path, host memory is accessed: the code knows what it does."""
        self.streams: set[object] = set()
        self._accesses: dict[int, tuple[Read, tuple[Access, ...]]] = {}
        self._variables: dict[int, tuple[Read, frozenset[str]]] = {}
        self._waiting: frozenset[int] | None = None
        for _, call in calls(run.function):
            if (
                call.receiver is not None
                and isinstance(call.target, Variable)
                and not call.arguments
            ):
                model = run.models.lookup(call.name)
                if model is not None and model.table:
                    self.data_of[call.target.symbol] = call.receiver

    def accesses(self, operation: Read) -> tuple[Access, ...]:
        """The memory accesses of an operation or a condition, found once."""
        found = self._accesses.get(id(operation))
        if found is None:
            # The operation is kept, so that no other one gets its identity.
            found = (operation, tuple(accesses_of(operation, self.python)))
            self._accesses[id(operation)] = found
        return found[1]

    def variables(self, operation: Read) -> frozenset[str]:
        """The variables whose value an operation or a condition reads, found once."""
        found = self._variables.get(id(operation))
        if found is None:
            found = (operation, frozenset(values_read(operation)))
            self._variables[id(operation)] = found
        return found[1]

    def waiting_loops(self, run: FunctionRun) -> frozenset[int]:
        """The loops in which the host waits, or may wait, for something."""
        from cudalint.analysis.domains.ordering.calm import is_calm_call

        if self._waiting is None:
            self._waiting = frozenset(
                header
                for header in run.flow.loops
                if any(
                    not is_calm_call(run.symbols, call, run.filename, run.program.language)
                    for _, call in calls(run.flow.body(header))
                )
            )
        return self._waiting

    def facts(self, unchecked: tuple[tuple[str, Span], ...]) -> OrderingFacts | None:
        """What the paths showed of streams, if anything, and the launches that nobody checks."""
        found = OrderingFacts(
            hazards=tuple(self.hazards.values()),
            early_reads=tuple(self.early_reads.values()),
            pageable=tuple(self.pageable.values()),
            unchecked_launches=unchecked,
            streams=len(self.streams),
        )
        return None if found == replace(OrderingFacts(), streams=found.streams) else found

    def device_accesses(self) -> tuple[HostAccess, ...]:
        """The accesses through pointers that are device pointers on every path."""
        return tuple(
            access
            for span, access in self.host_accesses.items()
            if span not in self.harmless_accesses
        )
