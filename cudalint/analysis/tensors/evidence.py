"""Evidence that flows backwards: whose gradient is computed was attached, and so was what went into
it; what is brought to the host was on the device."""

from __future__ import annotations

from cudalint.analysis.shape.arguments import named_constant
from cudalint.analysis.shape.places import place
from cudalint.analysis.shape.reach import closure
from cudalint.analysis.tensors.knowledge import Known
from cudalint.analysis.tensors.lattice import Gradient, Kind, Recording, Value
from cudalint.analysis.tensors.records import (
    RETURNED,
    Evidence,
    Form,
    Record,
    Surroundings,
    handed,
    is_engine,
)
from cudalint.apis.model import TensorEffect
from cudalint.program import Call, Function

MOST_DEPTH = 60


def gather(known: Known, run: Surroundings) -> Evidence:
    """The evidence in one solved function."""
    solution = known.solution
    assert solution is not None
    gathering = _Gathering(solution.records)
    for origin, record in solution.records.items():
        call = record.operation
        if not isinstance(call, Call):
            continue
        is_backward = record.effect is not None and record.effect.backward == "this"
        if record.differentiated or is_backward:
            gathering.done(origin)
        if record.part:
            continue
        for value in differentiated(record, call, run, known.function):
            gathering.mark(value, origin, 0)
    for part in sorted(known.returns_attached):
        returned = solution.returned_parts.get(part) if part else solution.returned
        if returned is not None:
            gathering.mark(returned, RETURNED, 0)
    return gathering.evidence()


def differentiated(record: Record, call: Call, run: Surroundings, caller: Function) -> list[Value]:
    """The values whose gradients a call computes."""
    effect = record.effect
    if not record.recording & Recording.ON and (effect is None or not effect.backward):
        return []
    offset = 0 if call.receiver is None else 1
    if effect is not None and effect.backward:
        if effect.backward == "this":
            # `accelerator.backward(loss)`: the receiver is an engine, the loss its argument.
            receiver = record.operands[0] if record.operands and offset else None
            if receiver is not None and not is_engine(call, receiver):
                return [receiver]
            return [value for value in record.operands[offset : offset + 1] if value.origins]
        return list(record.operands[offset : offset + 1])
    records = record.operands[0].records if offset and record.operands else frozenset()
    callee = run.callee(caller, call, records)
    if callee is None:
        return []
    wanted = run.evidence(callee).parameters
    return [
        value
        for number, value in handed(record, callee).items()
        if wanted.get(number, frozenset()) - {RETURNED}
    ]


def retains(call: Call, effect: TensorEffect) -> bool:
    """Whether a backward call is told to keep the graph, for certain."""
    return named_constant(call, effect.retain) is True


class _Gathering:
    def __init__(self, records: dict[int, Record]) -> None:
        self.records = records
        self.called = {record.callee for record in records.values() if record.callee}
        """Objects that are called as functions: models, mostly."""
        self.attached: dict[int, set[int]] = {}
        self.direct: dict[int, set[int]] = {}
        self.parameters: dict[int, set[int]] = {}
        self.moved: set[int] = set()
        for record in records.values():
            self._mark_moved(record)

    def evidence(self) -> Evidence:
        return Evidence(
            {origin: frozenset(calls) for origin, calls in self.attached.items()},
            {origin: frozenset(calls) for origin, calls in self.direct.items()},
            {number: frozenset(calls) for number, calls in self.parameters.items()},
            frozenset(self.moved),
        )

    def done(self, origin: int) -> None:
        """The gradient of an operation's result has been computed by the operation itself."""
        self.attached.setdefault(origin, set()).add(origin)
        self.direct.setdefault(origin, set()).add(origin)

    def mark(self, value: Value, backward: int, depth: int) -> None:
        """The gradient of a value is computed."""
        for origin in value.origins:
            self._mark_origin(origin, backward, depth)

    def _mark_origin(self, origin: int, backward: int, depth: int) -> None:
        if origin < 0:
            self.parameters.setdefault(-origin - 1, set()).add(backward)
            return
        record = self.records.get(origin)
        if record is None or depth > MOST_DEPTH or record.form is Form.LEAF:
            return
        if not record.result.gradient & (Gradient.ATTACHED | Gradient.UNKNOWN):
            return
        if record.form is not Form.COPY and not record.recording & Recording.ON:
            return
        known = self.attached.setdefault(origin, set())
        if depth == 0:
            self.direct.setdefault(origin, set()).add(backward)
        if backward in known:
            return
        known.add(backward)
        if record.form is Form.ELEMENT:
            return
        if record.form is Form.COPY:
            for inner in record.sources:
                self._mark_origin(inner, backward, depth + 1 if depth else 0)
            return
        candidates = [
            operand
            for operand in record.operands
            if operand.gradient & (Gradient.ATTACHED | Gradient.UNKNOWN) and not operand.is_number
        ]
        alone = record.form in (Form.ARITHMETIC, Form.FUNCTION) and len(candidates) == 1
        for operand in candidates:
            for inner in operand.origins:
                if alone or self._is_strong(inner, 0):
                    self._mark_origin(inner, backward, depth + 1)

    def _is_strong(self, origin: int, depth: int) -> bool:
        """Whether an operation looks like one whose result gradients flow through."""
        record = self.records.get(origin)
        if record is None or depth > 8:
            return False
        if record.result.may_attach or record.form is Form.MODEL:
            return True
        if record.form in (Form.FUNCTION, Form.ARITHMETIC, Form.COPY):
            return any(operand.may_attach for operand in record.operands) or any(
                self._is_strong(inner, depth + 1) for inner in record.sources if inner != origin
            )
        if record.form is Form.CALL:
            call = record.operation
            receiver = getattr(call, "receiver", None)
            return any(operand.may_attach or operand.tensorlike for operand in record.operands) or (
                receiver is not None
                and (place(receiver) in self.called or record.operands[0].kind == Kind.MODULE)
            )
        return False

    def _mark_moved(self, record: Record) -> None:
        effect = record.effect
        if effect is None or effect.device != "host" or not isinstance(record.operation, Call):
            return
        if effect.needs_detached or not record.operands:
            return
        self.moved |= {
            origin
            for origin in closure(record.operands[0].origins, self._stays)
            if (made := self.records.get(origin)) is not None
            and made.form is not Form.ELEMENT
            and (made.form in (Form.MODEL, Form.CALL) or not made.is_placed)
        }

    def _stays(self, origin: int) -> list[int]:
        """What an operation's result shares its device with."""
        made = self.records.get(origin)
        if made is None or made.form in (Form.ELEMENT, Form.MODEL, Form.CALL) or made.is_placed:
            return []
        return made.sources
