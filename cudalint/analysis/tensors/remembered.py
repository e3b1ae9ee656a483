"""What a module computes for its first call, and keeps with its graph for all others (GPU601)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cudalint.analysis.facts.tensors import GraphRetention
from cudalint.analysis.shape.operations import operations
from cudalint.analysis.shape.places import place, root_of
from cudalint.analysis.shape.reach import closure
from cudalint.analysis.shape.walk import texts
from cudalint.analysis.tensors.keeping import Keeping
from cudalint.analysis.tensors.lattice import Gradient, Recording, Value
from cudalint.analysis.tensors.passes import may_have_graph
from cudalint.analysis.tensors.records import Form
from cudalint.analysis.tensors.retention import calls_module, fact_of, inputs, runs_module
from cudalint.analysis.tensors.view import View
from cudalint.program import (
    THIS,
    Assign,
    Binary,
    Branch,
    Call,
    Constant,
    Delete,
    Expression,
    Member,
    Unary,
)


def remembered(view: View) -> Iterator[GraphRetention]:
    """What a module computes with its parts the first time only, and keeps with its graph."""
    function = view.function
    if function.record is None:
        return
    if not (view.run.is_module(function.record) or runs_module(view)):
        return
    for origin, block, operation in view.operations():
        target = getattr(operation, "target", None)
        name, record = place(target) or "", view.records.get(origin)
        if not isinstance(target, Member) or name.count(".") != 1 or record is None:
            continue
        value = record.result
        attached = value.gradient & (Gradient.ATTACHED | Gradient.UNKNOWN) and not value.is_number
        if record.recording != Recording.ON or not attached or not _is_first(view, block, name):
            continue
        made = (view.records.get(one) for one in inputs(view, value.of(origin)))
        if any(one is not None and calls_module(view, one) for one in made):
            keeping = Keeping(origin, block, target, target, "stored", operation.span)
            fact = fact_of(view, keeping, value, 0, None, (), "")
            fact = replace(fact, name="what is computed", variable="", remembered=True)
            sure = _is_taken_from_module(view, value.of(origin))
            yield replace(fact, sure=sure, on_device=view.may_use_device)


def _is_first(view: View, block: int, name: str) -> bool:
    """Whether a block is only run where the object has no such member yet, or none in it; and
    nothing takes the member away again."""
    kept = 0
    for method in view.run.symbols.methods(view.function.record):
        for at in operations(method):
            one = at.operation
            if isinstance(one, Delete) and place(one.place) == name:
                return False
            if place(getattr(one, "target", None)) == name:
                empty = isinstance(one, Assign) and one.value == Constant(None)
                if empty and method.kind != "constructor":
                    return False
                kept += not empty
    branches = (other.terminator for other in view.function.blocks)
    return kept == 1 and any(
        isinstance(branch, Branch)
        and (missing := _is_missing(view, branch.condition, name)) is not None
        and block == (branch.then if missing else branch.otherwise)
        for branch in branches
    )


def _is_missing(view: View, condition: Expression, name: str) -> bool | None:
    """What a condition is where a member is not there: ``self.x is None``, ``hasattr(self, "x")``;
    ``None`` where it asks for something else."""
    if isinstance(condition, Unary) and condition.operator == "!":
        said = _is_missing(view, condition.operand, name)
        return None if said is None else not said
    if isinstance(condition, Binary):
        asks = condition.right == Constant(None) and place(condition.left) == name
        return {"==": True, "is": True, "!=": False}.get(condition.operator) if asks else None
    call = view.defining_call(condition)
    given = [one.value for one in call.arguments] if call is not None else []
    asks = THIS in given and any(f"this.{text}" == name for one in given for text in texts(one))
    return False if asks else None


def _is_taken_from_module(view: View, value: Value) -> bool:
    """Whether a value is the result of a module, a part of it, or computed from one."""

    def taken_from(origin: int) -> Iterator[int]:
        record = view.records.get(origin)
        if record is None or not may_have_graph(record):
            return
        read, operands, call = record.reads, record.operands, record.operation
        if record.form is Form.CALL and isinstance(call, Call):
            # What it is given, it may have asked for its extents only.
            owner = place(call.receiver)
            read = frozenset((owner,) if owner is not None else ())
            operands = operands[:1] if call.receiver is not None else ()
        known = view.state_before(origin).values
        wholes = [known[root] for root in map(root_of, read) if root in known]
        for held in (*wholes, *operands):
            yield from held.origins

    taken = (view.records.get(one) for one in closure(value.origins, taken_from))
    return any(one is not None and calls_module(view, one) for one in taken)
