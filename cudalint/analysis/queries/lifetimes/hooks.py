"""Hooks that stay on a module when the call that needed them is over (Python)."""

from __future__ import annotations

from cudalint.analysis.facts.lifetimes import Hook
from cudalint.analysis.facts.resources import Site
from cudalint.analysis.shape.callgraph import CallGraph
from cudalint.analysis.shape.flow import Flow
from cudalint.analysis.shape.operations import (
    At,
    calls,
    operands,
    operations,
)
from cudalint.analysis.shape.places import holder, place
from cudalint.analysis.shape.reach import closure, ways
from cudalint.analysis.shape.symbols import Symbols, identity
from cudalint.analysis.shape.walk import holds
from cudalint.analysis.shape.wording import substitute, written_calls
from cudalint.apis.loader import ApiModels
from cudalint.program import (
    Call,
    Expression,
    Function,
    Index,
    Member,
    Operation,
    Return,
    Use,
    Variable,
    render,
    variables,
)


def hooks(function: Function, symbols: Symbols, models: ApiModels) -> tuple[Hook, ...]:
    """The hooks of a function that it leaves behind."""
    registered = [
        (at, call)
        for at, call in calls(function)
        if (effect := models.lifetime_effect(call.name)) is not None and effect.hooks
    ]
    if not registered or function.kind in ("module", "constructor", "destructor", "lambda"):
        return ()
    written = written_calls(function)
    found = []
    for at, call in registered:
        shown = render(substitute(call.receiver, written)) if call.receiver is not None else ""
        module = "self" if shown == "this" else shown
        handles = _handles(function, call)
        if handles is None:
            continue  # somebody else has it
        removals = [
            other
            for other, removal in calls(function)
            if (effect := models.lifetime_effect(removal.name)) is not None
            and effect.unhooks
            and removal.receiver is not None
            and variables(removal.receiver) & handles
        ]
        handle = next((name for name in sorted(handles) if not name.startswith("%")), "")
        if not removals:
            if _ends_with_the_call(function, call, symbols):
                found.append(Hook(call.name, module, call.span, handle))
            continue
        skipped = _skipped(function, at, removals, symbols)
        if skipped is not None:
            removal = removals[0].operation
            found.append(
                Hook(
                    call.name,
                    module,
                    call.span,
                    handle,
                    skipped=Site(function.filename, skipped.span, ""),
                    removal=Site(function.filename, removal.span, ""),
                    yields=isinstance(skipped, Use),
                )
            )
    return tuple(found)


def _handles(function: Function, call: Call) -> set[str] | None:
    """The local variables that hold the handle; ``None`` where something outlives the function
    that holds it too."""
    if call.target is None:
        return set()
    if not isinstance(call.target, Variable) or call.target.symbol.startswith("::"):
        return None
    held = {call.target.symbol}
    size = 0
    while size != len(held):
        size = len(held)
        for at in operations(function):
            operation = at.operation
            if operation is call:
                continue
            if not any(holds(part, held) for part in operands(operation)):
                continue
            target = getattr(operation, "target", None)
            if isinstance(operation, Call):
                receiver = operation.receiver
                if receiver is not None and variables(receiver) & held:
                    if operation.name in (".__enter__", ".__exit__"):
                        return None  # a context manager of its own
                    continue
                if not isinstance(receiver, Variable) or receiver.symbol.startswith(("::", "this")):
                    return None  # handed over
                held.add(receiver.symbol)  # a list of handles
            elif isinstance(operation, Use):
                return None
            elif target is not None:
                outer = holder(target)
                if outer is None or outer.startswith(("::", "this")):
                    return None
                held.add(outer)
    others = {symbol for symbol, info in function.variables.items() if info.storage in _NOT_ITS_OWN}
    if held & others:
        return None
    for block in function.blocks:
        leave = block.terminator
        if isinstance(leave, Return) and leave.value is not None and variables(leave.value) & held:
            return None
    return held


_NOT_ITS_OWN = ("parameter", "captured", "global", "static")


def _ends_with_the_call(function: Function, hook: Call, symbols: Symbols) -> bool:
    """Whether the function itself runs the module that it hooks, which was there before: the hook
    serves this call, and the next call adds another."""
    if hook.receiver is None or function.is_main or _runs_once(function, symbols):
        return False
    owner = _origin(function, symbols.flow(function), hook.receiver)
    if owner is None:
        return False
    for _, call in calls(function):
        if call is hook or call.span < hook.span:
            continue
        ran = call.callee if call.kind == "indirect" else None
        if ran is None and call.receiver is not None and call.key is None:
            ran = Member(call.receiver, call.name[1:]) if call.name.startswith(".") else None
        if ran is None:
            continue
        if holder(ran) == owner and (
            call.kind == "indirect" or (owner.startswith("this.") and place(ran) == owner)
        ):
            return True
    return False


def _origin(function: Function, flow: Flow, receiver: Expression) -> str | None:
    """The parameter, or the member of ``self``, that a module is a part of; ``None`` for a module
    that the function made itself."""
    current = holder(receiver)
    for _ in range(8):
        if current is None or current == "this" or current.startswith("this."):
            return current
        if current not in flow.definitions:
            info = function.variables.get(current)
            outside = current.startswith("::")
            return current if outside or (info and info.storage in _NOT_ITS_OWN) else None
        by = flow.only(current)
        source = _source(by) if by is not None else None
        current = holder(source) if source is not None else None
    return None


def _source(operation: Operation) -> Expression | None:
    if isinstance(operation, Call):
        return operation.receiver
    value = getattr(operation, "value", None)
    return value if isinstance(value, Variable | Member | Index) else None


def _runs_once(function: Function, symbols: Symbols) -> bool:
    """Whether all that calls it in the run is a program's own code, once."""
    graph, one = symbols.memo(CallGraph), identity(function)
    callers = [site.caller for site in graph.sites(one)]
    return bool(callers) and all(c.is_main for c in callers) and one not in graph.repeated


def _skipped(
    function: Function, start: At, removals: list[At], symbols: Symbols
) -> Call | Use | None:
    """What may raise past the removals: a yield, or a call of something out of sight."""
    removing = {at.place for at in removals}
    ahead = symbols.flow(function).passed(start.place, removing) - removing
    raising = [
        at.operation
        for at in operations(function)
        if at.place in ahead
        and isinstance(at.operation, Call | Use)
        and _may_raise(at.operation)
        and not _removed_on(function, function.blocks[at.block].unwind, removing)
    ]
    return next((one for one in raising if isinstance(one, Use)), next(iter(raising), None))


def _removed_on(function: Function, unwind: int | None, removing: set[tuple[int, int]]) -> bool:
    """Whether an exception meets a removal on its way, or is taken."""
    blocks = function.blocks
    after = closure(() if unwind is None else (unwind,), ways(blocks, range(len(blocks))))
    return any(block in after for block, _ in removing)


def _may_raise(operation: Call | Use) -> bool:
    if isinstance(operation, Use):
        return operation.reason == "yield"
    return operation.kind == "indirect"
