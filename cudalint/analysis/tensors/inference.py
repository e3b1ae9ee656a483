"""Models in evaluation mode whose calls are recorded for gradients nobody asks for (GPU602)."""

from __future__ import annotations

from cudalint.analysis.facts.tensors import RecordedInference
from cudalint.analysis.tensors.lattice import Gradient, Kind, Recording
from cudalint.analysis.tensors.places import place
from cudalint.analysis.tensors.records import Form, Record
from cudalint.analysis.tensors.view import View
from cudalint.findings.finding import Step
from cudalint.program import Call, Return, Use, variables


def recorded(view: View) -> tuple[RecordedInference, ...]:
    """The first recorded call of each model that the function itself put in evaluation mode."""
    scan = view.run.scan(view.function)
    if not scan.evaluates or scan.calls_backward or scan.steps or scan.switches:
        return ()
    if scan.freezes or scan.needs_gradient or _hands_back_gradients(view):
        return ()
    if _is_frozen_elsewhere(view):
        return ()
    found: dict[str, RecordedInference] = {}
    for origin, record in sorted(view.records.items()):
        call = record.operation
        if record.form is not Form.MODEL or not isinstance(call, Call):
            continue
        if record.recording != Recording.ON or record.result.gradient != Gradient.ATTACHED:
            continue
        loops = [loop for loop in view.loops_around(record.block) if not loop.bounded]
        evaluated = _evaluation(view, record.callee, origin)
        if not loops or evaluated is None or record.callee in found:
            continue
        if _is_detached_by_force(view, origin):
            continue
        name = view.text(call.callee) if call.callee is not None else _method(view, call)
        found[record.callee] = RecordedInference(
            model=name,
            span=call.span,
            evaluated=view.site(evaluated.span, name),
            loop=loops[0].site,
            result=view.text(call.target) if call.target is not None else "",
            steps=(
                Step(view.function.filename, evaluated.span, f"`{name}` is put in evaluation mode"),
                Step(view.function.filename, call.span, "the call is recorded for gradients"),
            ),
        )
    return tuple(found.values())


def _method(view: View, call: Call) -> str:
    if call.receiver is None:
        return call.name
    owner = view.text(call.receiver)
    name = call.name.removeprefix(".")
    return f"{'self' if owner == 'this' else owner}.{name}"


def _evaluation(view: View, name: str, origin: int) -> Call | None:
    """The ``eval()`` of a module that is in force at a call."""
    latest: Call | None = None
    for _, _, operation in view.operations():
        if not isinstance(operation, Call) or operation.receiver is None:
            continue
        effect = view.effect(operation)
        if effect is None or place(operation.receiver) != name:
            continue
        if effect.evaluates:
            latest = latest or operation
        elif effect.trains and operation.span.row <= view.records[origin].operation.span.row:
            return None
    if latest is None or latest.span.row > view.records[origin].operation.span.row:
        return None
    return latest


def _is_frozen_elsewhere(view: View) -> bool:
    """Some other place in the class or the module switches gradients off for good."""
    function = view.function
    if function.record and view.run.class_scan(function.record, function.filename).freezes:
        return True
    program = view.run.linker.programs.get(function.filename)
    for other in program.functions if program is not None else ():
        scan = view.run.scan(other)
        if scan.freezes or (other.kind == "module" and scan.switches):
            return True
    return False


def _hands_back_gradients(view: View) -> bool:
    """What the function gives to its callers still has its graph: they may want it."""
    if view.function.is_generator and any(
        isinstance(operation, Use)
        and operation.reason == "yield"
        and view.value(origin, operation.value).may_attach
        for origin, _, operation in view.operations()
    ):
        return True
    if view.known.returns_attached:
        return True
    for number in view.solution.states:
        block = view.function.blocks[number]
        if not isinstance(block.terminator, Return) or block.terminator.value is None:
            continue
        returned = view.transfer.value(
            view.state_before(number * 100_000 + len(block.operations) + 1), block.terminator.value
        )
        if returned.may_attach or (returned.gradient & Gradient.UNKNOWN and returned.tensorlike):
            return True
        if any(
            value.may_attach
            for name in variables(block.terminator.value)
            for place_name, value in view.solution.states[number].values.items()
            if place_name.startswith(name + "[")
        ):
            return True
    return False


def _is_detached_by_force(view: View, origin: int) -> bool:
    """Something is done with the result that raises if it has a gradient: it has none."""
    reached = {origin}
    for _ in range(4):
        before = len(reached)
        for other, record in view.records.items():
            if other in reached:
                continue
            if any(reached & operand.origins for operand in record.operands):
                if record.effect is not None and record.effect.needs_detached:
                    first = record.operands[0] if record.operands else None
                    if first is not None and first.gradient & Gradient.ATTACHED:
                        return True
                if _passes(record):
                    reached.add(other)
        if len(reached) == before:
            break
    return False


def _passes(record: Record) -> bool:
    return record.form in (Form.COPY, Form.ARITHMETIC, Form.FUNCTION, Form.ELEMENT) and not (
        record.result.is_detached or record.result.kind == Kind.NUMBER
    )
