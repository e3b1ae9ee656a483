"""Whether a value that may have a graph has none for certain, asked of the functions that made it
and of those that hand it over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from cudalint.analysis.shape.symbols import Identity, identity
from cudalint.analysis.tensors.lattice import Recording, Value
from cudalint.analysis.tensors.passes import may_have_graph
from cudalint.analysis.tensors.records import Form, Record, handed, origin_at
from cudalint.analysis.tensors.view import View
from cudalint.program import Call, Use

MOST_DEPTH = 8


def has_no_graph(view: View, value: Value) -> bool:
    """Whether all that a value may be is without a graph: gradients that were not recorded, results
    of functions that record nothing, what is computed of these, or handed over by all callers."""
    return _Frame(view).is_without(value, set())


@dataclass(frozen=True)
class _Frame:
    """A function, in one call or in any."""

    view: View
    given: Mapping[int, Value] = field(default_factory=dict)
    caller: _Frame | None = None

    def is_without(self, value: Value, seen: set[tuple[Identity, int, int]]) -> bool:
        if value.is_number or value.is_detached:
            return True
        return bool(value.origins) and all(self._was_made(one, seen) for one in value.origins)

    @property
    def _depth(self) -> int:
        return 0 if self.caller is None else self.caller._depth + 1

    def _was_made(self, origin: int, seen: set[tuple[Identity, int, int]]) -> bool:
        """Whether what an operation made, or a parameter, is without a graph; what is made of
        itself is, if all else is."""
        key = (identity(self.view.function), origin, self._depth)
        if key in seen:
            return True
        seen.add(key)
        if origin < 0:
            handed_over = list(self._handed_over(-origin - 1))
            return bool(handed_over) and all(f.is_without(v, seen) for f, v in handed_over)
        record = self.view.records.get(origin)
        if record is None or origin in self.view.evidence.attached:
            return False
        if not may_have_graph(record):
            return True
        if record.form is Form.CALL:
            return self._is_returned_without(record, seen)
        asked_for = record.effect is not None and record.effect.gradient == "attached"
        if record.form in (Form.MODEL, Form.LEAF) or asked_for:
            return False
        return bool(record.operands) and all(self.is_without(one, seen) for one in record.operands)

    def _handed_over(self, number: int) -> Iterator[tuple[_Frame, Value]]:
        """What is handed over for a parameter: by the call, or by all known ones."""
        if self.caller is not None:
            if number in self.given:
                yield self.caller, self.given[number]
            return
        known = self.view.known
        for site in () if known.referenced else known.callers:
            caller = self.view.of(site.caller)
            record = caller.records.get(origin_at(*site.at.place)) if caller is not None else None
            value = handed(record, self.view.function).get(number) if record is not None else None
            if caller is None or value is None:
                value = Value()
            yield _Frame(caller or self.view), value

    def _is_returned_without(self, record: Record, seen: set[tuple[Identity, int, int]]) -> bool:
        call = record.operation
        if not isinstance(call, Call) or self._depth >= MOST_DEPTH:
            return False
        records = record.operands[0].records if call.receiver is not None else frozenset()
        callee = self.view.run.callee(self.view.function, call, records)
        inner = self.view.of(callee) if callee is not None else None
        if callee is None or inner is None:
            return False
        if self.view.run.entry(callee) == Recording.OFF:
            return True
        frame = _Frame(inner, handed(record, callee), self)
        returned = list(_returned(inner, record.part))
        return bool(returned) and all(frame.is_without(one, seen) for one in returned)


def _returned(view: View, part: str) -> Iterator[Value]:
    """What a function returns or yields, or a part of that."""
    solution = view.solution
    if part:
        yield from (v for name, v in solution.returned_parts.items() if name == part)
        return
    if not view.function.is_generator:
        yield solution.returned
    for origin, _, operation in view.operations():
        if isinstance(operation, Use) and operation.reason == "yield":
            yield view.value(origin, operation.value)
