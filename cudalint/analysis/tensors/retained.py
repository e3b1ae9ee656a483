"""Backward calls that keep the graph in every iteration (GPU606)."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts.resources import Site
from cudalint.analysis.facts.tensors import RetainedGraph
from cudalint.analysis.shape.arguments import named
from cudalint.analysis.shape.places import place, root_of
from cudalint.analysis.shape.reach import closure, ways
from cudalint.analysis.tensors.evidence import retains
from cudalint.analysis.tensors.lattice import Gradient, Value
from cudalint.analysis.tensors.records import Form, Record, position_of
from cudalint.analysis.tensors.retention import _differentiated_text
from cudalint.analysis.tensors.view import Loop, View
from cudalint.findings.finding import Step
from cudalint.program import Assign, Call


def retained_graphs(view: View) -> tuple[RetainedGraph, ...]:
    """The backward calls of a function that keep the graph from one iteration to the next."""
    found: dict[object, RetainedGraph] = {}
    for origin, record in view.records.items():
        call, effect = record.operation, record.effect
        if not isinstance(call, Call) or effect is None or not effect.retain:
            continue
        if not retains(call, effect) or effect.gradient:
            continue
        loops = view.loops_around(record.block)
        if not loops or loops[0].bounded or not view.updates(loops[0]):
            continue  # without an update the next iteration has no graph of its own
        loop = loops[0]
        value = record.operands[0] if record.operands else None
        if value is None:
            continue
        carried = _carried(view, value, loop)
        others = _other_uses(view, loop, origin)
        if others and (carried is None or not _is_last(view, loop, origin)):
            continue
        name = _differentiated_text(view, call)
        steps: tuple[Step, ...] = ()
        if carried is not None:
            steps = (
                Step(carried[0].filename, carried[0].span, f"`{carried[0].text}` is computed"),
            )
        found.setdefault(
            call.span,
            RetainedGraph(
                name,
                call.span,
                loop.site,
                carried[0] if carried else None,
                carried is not None and carried[1],
                steps,
                view.may_use_device,
            ),
        )
    return tuple(found.values())


def _other_uses(view: View, loop: Loop, origin: int) -> bool:
    """Whether something else in the loop may need the graph: a second backward call, a gradient
    that is differentiated again, a function that is given the value."""
    for other, record in view.records.items():
        call, effect = record.operation, record.effect
        if other == origin or record.block not in loop.body or not isinstance(call, Call):
            continue
        if effect is not None and (effect.backward or named(call, effect.create) is not None):
            return True
        given = other > origin and effect is None and record.form is Form.CALL
        if given and any(inner in view.evidence.attached for inner in record.sources):
            return True
    return view.calls_backward(loop)


def _is_last(view: View, loop: Loop, origin: int) -> bool:
    return not any(other > origin and effect.backward for other, _, effect in view.effects(loop))


def _carried(view: View, value: Value, loop: Loop) -> tuple[Site, bool] | None:
    """A value with a graph that goes into another one and comes from an earlier iteration, or (then
    true) from before the loop."""

    def graph(origin: int) -> Record | None:
        record = view.records.get(origin)
        with_graph = Gradient.ATTACHED | Gradient.UNKNOWN
        return record if record is not None and record.result.gradient & with_graph else None

    def made_from(origin: int) -> Iterator[int]:
        record = graph(origin)
        if record is not None and record.block in loop.body:
            yield from _made(view, record)
            for operand in record.operands:
                yield from () if operand.is_detached else operand.origins

    reached = {one: record for one in closure(value.origins, made_from) if (record := graph(one))}
    for origin, record in sorted(reached.items(), key=lambda item: item[0]):
        if record.block not in loop.body and _is_computed(view, origin):
            target = getattr(record.operation, "target", None)
            text = view.text(target) if target else "a value"
            return view.site(record.operation.span, text), True
    return _from_earlier(view, loop, sorted(o for o, r in reached.items() if r.block in loop.body))


def _is_computed(view: View, origin: int) -> bool:
    """Whether a value from before the loop has a graph, not only a gradient: weights are leaves."""
    record = view.records.get(origin)
    if record is None:
        return False
    if record.form is Form.COPY:
        return any(_is_computed(view, inner) for one in record.operands for inner in one.origins)
    call = record.operation
    if record.form is Form.CALL and isinstance(call, Call) and call.kind == "indirect":
        return bool(record.result.gradient & Gradient.UNKNOWN)
    made = record.form in (Form.MODEL, Form.FUNCTION, Form.ARITHMETIC)
    weight = record.effect is not None and record.effect.gradient == "attached"
    return made and not weight and record.result.may_attach


def _from_earlier(view: View, loop: Loop, inside: list[int]) -> tuple[Site, bool] | None:
    """A variable that is read in the loop before it is assigned there, and holds a graph."""
    entry = view.solution.states.get(loop.header)
    if entry is None:
        return None
    for origin in inside:
        record = view.records[origin]
        called = place(getattr(record.operation, "receiver", None))
        for name in sorted(record.reads | ({called} if called else set())):
            held = entry.values.get(name)
            if held is None or name.startswith("%") or not _may_hold_graph(held):
                continue
            made = [
                inner
                for inner in held.origins
                if inner in view.records
                and view.records[inner].block in loop.body
                and _may_hold_graph(view.records[inner].result)
            ]
            before = view.state_before(origin).values.get(name)
            if not made or before is None or not before.origins & set(made):
                continue
            if _assigned_before(view, loop, name, origin):
                continue
            first = view.records[made[0]].operation
            return view.site(first.span, name.replace("this.", "self.")), False
    return None


def _may_hold_graph(value: Value) -> bool:
    unknown = bool(value.gradient & Gradient.UNKNOWN) and value.tensorlike
    return value.may_attach or unknown


def _made(view: View, record: Record) -> list[int]:
    """The calls whose results an operation takes parts of."""
    wholes = {root_of(name) for name in record.reads if root_of(name) != name}
    return [
        origin
        for origin, other in view.records.items()
        if isinstance(other.operation, Call) and place(other.operation.target) in wholes
    ]


def _assigned_before(view: View, loop: Loop, name: str, origin: int) -> bool:
    """Whether every iteration assigns a variable before an operation reads it."""
    block, _ = position_of(origin)
    writers = [
        number
        for other, number, operation in view.operations()
        if isinstance(operation, Assign | Call)
        and place(operation.target) == name
        and number in loop.body
        and not (number == block and other >= origin)
    ]
    if block in writers:
        return True
    # Is there a way from the loop's header to the operation past all that assign it?
    others = {block, *loop.body}.difference(writers)
    return block not in closure(others & {loop.header}, ways(view.function.blocks, others))
