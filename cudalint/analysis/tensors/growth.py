"""Lists of device tensors that grow by one with every iteration (GPU603)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cudalint.analysis.facts.resources import Site
from cudalint.analysis.facts.tensors import DeviceListGrowth
from cudalint.analysis.shape.callgraph import CallGraph
from cudalint.analysis.shape.operations import operands, operations
from cudalint.analysis.shape.places import place, places_read, root_of
from cudalint.analysis.shape.reach import closure
from cudalint.analysis.shape.symbols import identity
from cudalint.analysis.shape.walk import space_of_device
from cudalint.analysis.tensors.consumption import Fate, fate
from cudalint.analysis.tensors.keeping import Keeping, is_container, keepings
from cudalint.analysis.tensors.lattice import Device, Gradient, Kind, Recording, Value
from cudalint.analysis.tensors.passes import ends_in_callers
from cudalint.analysis.tensors.records import Form, Record
from cudalint.analysis.tensors.view import Loop, View
from cudalint.apis.model import TensorEffect
from cudalint.findings.finding import Step
from cudalint.program import EACH, Assign, Call, Index, Slice, walk

MOST_DEPTH = 6


def growths(view: View) -> tuple[DeviceListGrowth, ...]:
    """The lists in which a function collects device tensors."""
    name = view.function.key.rpartition(".")[2]
    effect = view.run.models.tensor_effect("." + name)
    if view.function.record is not None and effect is not None and effect.calls_module:
        return ()
    found: dict[object, DeviceListGrowth] = {}
    computed: dict[object, bool] = {}
    given: set[object] = set()
    light: set[object] = set()
    for keeping in keepings(view):
        if keeping.how != "appended" or keeping.through:
            continue
        value = view.value(keeping.origin, keeping.value)
        growth = _growth(view, keeping, value) or _queued(view, keeping, value)
        if growth is not None and keeping.span not in found:
            found[keeping.span] = growth
            computed[keeping.span] = _is_computed(view, value)
            if _is_given(view, value):
                given.add(keeping.span)
            if value.gradient == Gradient.DETACHED:
                light.add(keeping.span)
    return tuple(
        replace(one, light=span in light or _is_labelled(span, found, computed, given))
        for span, one in found.items()
    )


def _is_labelled(
    span: object,
    found: dict[object, DeviceListGrowth],
    computed: dict[object, bool],
    given: set[object],
) -> bool:
    """Whether it is what the data says, as a rule few numbers each, or what a model says that a
    loop collects beside it."""
    loop = found[span].loop
    return span in given or (
        loop is not None
        and any(
            other.loop == loop and computed[at] != computed[span] for at, other in found.items()
        )
    )


def _is_computed(view: View, value: Value) -> bool:
    """Whether a model has a part in what is kept, which is no part of the data then."""

    def made_from(origin: int) -> list[int]:
        record = view.records.get(origin)
        return record.sources if record is not None and record.form is not Form.MODEL else []

    origins = closure(value.origins, made_from)
    made = [view.records[one] for one in origins if one in view.records]
    return any(one.runs_module or _runs_part(view, one) for one in made)


def _runs_part(view: View, record: Record) -> bool:
    """Whether a call is of a module in a module, or of a method of one."""
    call = record.operation
    if record.form is not Form.CALL or record.effect is not None or not isinstance(call, Call):
        return False
    receiver = place(call.receiver)
    if receiver is None or receiver.startswith("this"):
        return False  # what a module makes of its own parts, those that call it need where it is
    known = view.run.kind_of(view.function, receiver)
    return known is not None and known.kind == Kind.MODULE


def _is_given(view: View, value: Value) -> bool:
    """Whether what is kept is what the loop goes over, at most moved to the device: what a model
    learns from, as a rule, and not what it sees."""
    records = [view.records.get(origin) for origin in value.origins]
    return bool(records) and all(
        record is not None
        and (
            record.form is Form.ELEMENT
            or (
                record.effect is not None
                and record.effect.device == "argument"
                and _is_given(view, record.operands[0])
            )
        )
        for record in records
    )


def _growth(view: View, keeping: Keeping, value: Value) -> DeviceListGrowth | None:
    name = keeping.name
    loops = view.loops_around(keeping.block)
    if not value.large or not name or name.startswith("%"):
        return None
    if value.device & Device.HOST or value.is_number or _was_fetched(view, value):
        return None
    if _is_trained_on(view, keeping, value):
        return None  # its graph keeps it where it is
    if not is_container(view, keeping) or _is_short(view, keeping, value):
        return None
    if not loops:
        return _over_batches(view, keeping, name)
    loop = loops[0]
    base = keeping.symbol
    if loop.bounded or view.assigned_in(loop, root_of(base)):
        return None
    if view.is_emptied(loop.body, name, {keeping.origin}):
        return None
    joined = _joined(view, name, loop.body)
    if joined is not None:
        return replace(_told(view, keeping, loop, joined), unsure=_is_out_of_sight(view, value))
    inferred = _is_inferred(view, value)
    later = _later(view, keeping, loop, inferred)
    if later is None or not (later[1] or inferred):
        return None
    return replace(_told(view, keeping, loop, later), apart=True, unsure=not inferred)


def _is_trained_on(view: View, keeping: Keeping, value: Value) -> bool:
    """Whether a gradient of a value is computed, or may be: the function stores it, or hands it to
    callers that do not let it end, and something that runs the function computes gradients."""
    if not value.origins.isdisjoint(view.evidence.attached):
        return True
    own = identity(view.function)
    callers = view.run.symbols.memo(CallGraph).reaching([own]) - {own}
    if value.gradient == Gradient.DETACHED or not any(
        view.run.scan(function).calls_backward
        for function, _ in view.run.symbols.functions()
        if identity(function) in callers
    ):
        return False
    return bool(fate(view, {keeping.origin}) & Fate.ESCAPES) or not ends_in_callers(view)


def _is_out_of_sight(view: View, value: Value) -> bool:
    """Whether nothing but the copy to the host that follows says that a value is on the device: it
    comes from functions out of sight, and is not made of what a loader or model gives."""
    made = [view.records.get(origin) for origin in value.origins]
    return all(
        record is not None
        and record.form is Form.CALL
        and isinstance(call := record.operation, Call)
        and not record.part
        and view.run.callee(view.function, call) is None
        and not any(
            one.device & Device.DEVICE or (one.tensorlike and not _was_fetched(view, one))
            for one in record.operands
        )
        for record in made
    )


def _was_fetched(view: View, value: Value) -> bool:
    """Whether a value is made of what was brought to the host, and nothing of it by a model or on
    the device since. That something made of it is copied to the host later is no sign: on another
    way that may be on the device."""

    def made_of(origin: int) -> Iterator[int]:
        record = view.records.get(origin)
        if record is None or _is_elsewhere(view, origin, record):
            return
        yield from record.sources
        if record.form is Form.ELEMENT:
            known = view.state_before(origin).values
            wholes = (known.get(root_of(name)) for name in record.reads)
            yield from (one for whole in wholes if whole is not None for one in whole.origins)

    made = {
        one: view.records[one] for one in closure(value.origins, made_of) if one in view.records
    }
    return any(map(_is_fetched, made.values())) and all(
        one.result.device == Device.HOST or not _is_elsewhere(view, origin, one)
        for origin, one in made.items()
    )


def _is_elsewhere(view: View, origin: int, record: Record) -> bool:
    """Whether a result does not live where the operands do, or lives on the device anyway."""
    runs = record.runs_module or any(one.kind & Kind.MODULE for one in record.operands)
    on_device = record.result.device & Device.DEVICE and origin not in view.evidence.moved
    return bool(runs or record.is_placed or on_device)


def _is_fetched(record: Record) -> bool:
    call, effect = record.operation, record.effect
    return isinstance(call, Call) and effect is not None and _brings_to_host(call, effect)


def _is_inferred(view: View, value: Value) -> bool:
    """Whether a value comes from a model that may be on a device, and has no graph."""
    own = view.run.is_module(view.function.record or "")
    if not (own or view.may_use_device):
        return False
    made = [view.records.get(origin) for origin in value.origins]
    unrecorded = all(one is not None and one.recording == Recording.OFF for one in made)
    if value.gradient != Gradient.DETACHED and not (made and unrecorded):
        return False
    return _is_computed(view, value)


def _later(view: View, keeping: Keeping, loop: Loop, inferred: bool) -> tuple[Site, str] | None:
    """Where the elements of a list go to the host one by one after the loop (and how), or are
    joined and handed to the caller. Nothing else is done with them. Of what may be no tensor, no
    part shows that it is one."""

    def is_kept(record: Record) -> bool:
        call, effect = record.operation, record.effect
        if record.block in loop.body:
            return False
        if not isinstance(call, Call):
            is_part = record.form is Form.ELEMENT and (inferred or record.result.kind & Kind.TENSOR)
            return bool(record.form is Form.COPY or is_part)
        if effect is None or _brings_to_host(call, effect):
            return False
        return bool(effect.inserts) or _keeps_as_is(call, effect)

    made = view.value(keeping.origin, keeping.value).origins
    held = view.derived(made, is_kept)
    later: tuple[Site, str] | None = None
    joined: tuple[Site, str] | None = None
    for user in sorted({user for one in held for user in view.users.get(one, ())} - held):
        record = view.records[user]
        call, effect = record.operation, record.effect
        if record.block in loop.body:
            continue
        if effect is None or not isinstance(call, Call):
            return None
        if call.name.startswith(".") and effect.device == "host" and not effect.needs_detached:
            later = later or (view.site(call.span, call.name), f"{call.name}()")
        elif effect.concatenates:
            joined = (view.site(call.span, call.name), "") if _is_handed_over(view, user) else None
        elif not record.result.is_number:
            return None
    return later or joined


def _is_handed_over(view: View, origin: int) -> bool:
    """Whether a joined tensor goes to the caller as it is, or under another shape."""

    def is_same(record: Record) -> bool:
        return record.form is Form.COPY or (
            record.form is Form.FUNCTION
            and record.effect is not None
            and record.effect.scalar is None
            and sum(operand.tensorlike for operand in record.operands) == 1
        )

    same = view.derived({origin}, is_same)
    used = {user for one in same for user in view.users.get(one, ())} - same
    returned = any(
        view.value(end, part).origins & same
        for end, value in view.returned()
        for part in walk(value)
    )
    return returned and not used


def _told(
    view: View, keeping: Keeping, loop: Loop | None, joined: tuple[Site, str]
) -> DeviceListGrowth:
    text = view.text(keeping.place)
    each = "iteration" if loop is not None else "batch"
    site, how = joined
    return DeviceListGrowth(
        name=view.text(keeping.value),
        place=text,
        span=keeping.span,
        loop=loop.site if loop is not None else None,
        joined=site,
        to_host=how,
        steps=(
            Step(view.function.filename, keeping.span, f"each {each} appends to `{text}`"),
            Step(
                site.filename,
                site.span,
                f"what `{text}` holds goes to the host: {how}" if how else f"`{text}` is joined",
            ),
        ),
    )


def _over_batches(view: View, keeping: Keeping, name: str) -> DeviceListGrowth | None:
    """A member that a hook appends to for every batch, and another method joins for the host."""
    if "each_batch" not in view.run.hook(view.function) or not name.startswith("this."):
        return None
    if view.is_emptied(None, name, {keeping.origin}) or _mentions(view, name) > 1:
        return None
    joined: tuple[Site, str] | None = None
    for other in view.run.symbols.methods(view.function.record):
        inner = view.of(other)
        if other.key == view.function.key or inner is None:
            continue
        found = _joined(inner, name, frozenset())
        if _mentions(inner, name) > (found is not None):
            return None  # it is needed on the device too
        joined = joined or found
    return _told(view, keeping, None, joined) if joined is not None else None


def _queued(view: View, keeping: Keeping, value: Value) -> DeviceListGrowth | None:
    """A list of the module that a function adds a tensor to, as its callers give it, for another
    function to go through."""
    program = view.run.symbols.programs.get(view.function.filename)
    given = {-one - 1 for one in value.origins if one < 0}
    if program is None or not keeping.name.startswith("::") or len(given) != 1:
        return None
    declared = view.function.parameters[given.pop()].type.text.partition("[")[0]
    effect = view.run.models.lifetime_effect(declared)
    if effect is None or not effect.tensor_types or view.loops_around(keeping.block):
        return None
    for other in program.functions:
        for at in operations(other) if other is not view.function else ():
            one = at.operation.value if isinstance(at.operation, Assign) else None
            if isinstance(one, Index) and one.index == EACH and place(one.base) == keeping.name:
                site = Site(other.filename, at.operation.span, "")
                told = _told(view, keeping, None, (site, ""))
                said = f"`{told.place}` is gone through here"
                steps = (*told.steps[:1], Step(site.filename, site.span, said))
                return replace(told, queued=True, apart=True, unsure=True, steps=steps)
    return None


def _mentions(view: View, name: str) -> int:
    """How many operations read a place other than to empty it."""
    count = 0
    for _, _, operation in view.operations():
        made = operation.target if isinstance(operation, Assign | Call) else None
        read = [part for part in operands(operation) if part is not made or place(part) != name]
        if isinstance(operation, Call) and operation.receiver is not None:
            effect = view.effect(operation)
            if effect is not None and effect.clears:
                read.remove(operation.receiver)
        count += any(name in places_read(expression) for expression in read)
    return count + sum(name in places_read(value) for _, value in view.returned())


def _is_short(view: View, keeping: Keeping, value: Value) -> bool:
    """A list of the elements of something that is on the device as a whole anyway."""
    call = view.defining_call(keeping.value)
    return isinstance(keeping.value, Index | Slice) or (call is None and not value.origins)


def _joined(view: View, name: str, body: frozenset[int]) -> tuple[Site, str] | None:
    """Where the list becomes one tensor that does nothing else than go to the host."""
    for origin, block, operation in view.operations():
        if not isinstance(operation, Call) or block in body:
            continue
        effect = view.effect(operation)
        if effect is None or not operation.arguments:
            continue
        if not effect.concatenates or place(operation.arguments[0].value) != name:
            continue
        how = _goes_to_host(view, origin, 0)
        if how:
            return view.site(operation.span, how), how
    return None


def _goes_to_host(view: View, origin: int, depth: int) -> str:
    """How the only thing that is done with a value brings it to the host."""
    if depth > MOST_DEPTH:
        return ""
    users = view.users.get(origin, [])
    if any(origin in view.value(end, value).origins for end, value in view.returned()):
        return ""
    if len(users) != 1:
        return ""
    other, record = users[0], view.records[users[0]]
    user = record.operation
    if isinstance(user, Assign):
        return _goes_to_host(view, other, depth + 1) if record.form is Form.COPY else ""
    effect = record.effect
    if effect is None or not isinstance(user, Call):
        return ""
    if _brings_to_host(user, effect):
        return f"{user.name}()" if user.name.startswith(".") else user.name
    return _goes_to_host(view, other, depth + 1) if _keeps_as_is(user, effect) else ""


def _brings_to_host(call: Call, effect: TensorEffect) -> bool:
    if effect.needs_detached:
        # `.numpy()` raises for a device tensor: what it is called on is on the host already.
        return False
    if effect.device == "host":
        return True
    return effect.device == "argument" and any(
        space_of_device(getattr(argument.value, "value", None)) == "host"
        for argument in call.arguments
    )


def _keeps_as_is(call: Call, effect: TensorEffect) -> bool:
    """Only reshapes or detaches."""
    return effect.gradient in ("detached", "follows") and not call.arguments
