"""Values that are kept across iterations with their graphs (GPU601)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from cudalint.analysis.facts.resources import Site
from cudalint.analysis.facts.tensors import GraphRetention
from cudalint.analysis.shape.arguments import given
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.shape.places import holder, is_inside, place, root_of
from cudalint.analysis.shape.reach import closure
from cudalint.analysis.tensors.consumption import Fate, consumption
from cudalint.analysis.tensors.frozen import is_of_frozen
from cudalint.analysis.tensors.gathered import is_gathered
from cudalint.analysis.tensors.graphless import has_no_graph
from cudalint.analysis.tensors.keeping import Keeping, is_container, keepings
from cudalint.analysis.tensors.lattice import Gradient, Kind, Recording, Value
from cudalint.analysis.tensors.passes import may_have_graph
from cudalint.analysis.tensors.records import Form, Record, creates_graph
from cudalint.analysis.tensors.together import in_one_turn
from cudalint.analysis.tensors.view import Loop, View
from cudalint.findings.finding import Step
from cudalint.program import (
    Assign,
    Call,
    Expression,
    Index,
    Member,
    Tuple,
    walk,
)
from cudalint.source import Span


def retentions(view: View) -> tuple[GraphRetention, ...]:
    """The values that a function keeps with their graphs."""
    all_kept = list(keepings(view))
    found: dict[tuple[Span, str], GraphRetention] = {}
    for keeping in all_kept:
        retention = _retention(view, keeping, all_kept)
        if retention is not None:
            found.setdefault((keeping.span, retention.place), retention)
    return (*found.values(), *_collected(view))


def _collected(view: View) -> Iterator[GraphRetention]:
    """What a method returns beside the value whose gradient the framework computes, and that the
    framework keeps."""
    if "collected" not in view.run.hook(view.function):
        return
    for end, returned in view.returned():
        items = returned.items[1:] if isinstance(returned, Tuple) else ()
        for item in items:
            made = view.flow.only(place(item) or "")
            table = made.value if isinstance(made, Assign) else None
            if made is None or not isinstance(table, Tuple) or table.kind != "dict":
                continue
            for key, kept in zip(table.items[::2], table.items[1::2], strict=False):
                value = view.value(end, Index(item, key))
                if value.gradient == Gradient.ATTACHED and _backward_calls(view, value):
                    keeping = Keeping(end, 0, Index(item, key), kept, "stored", made.span)
                    by = "the framework, which keeps it"
                    yield fact_of(view, keeping, value, 0, None, (), by)


def _kept(view: View, keeping: Keeping) -> Value:
    """What is kept; of the result of a call that is out of sight, with the graphs of its parts."""
    value = view.value(keeping.origin, keeping.value)
    name = place(keeping.value)
    made = [view.records.get(origin) for origin in value.origins]
    if name is None or any(one is None or one.form is not Form.CALL for one in made):
        return value
    for inner, part in view.state_before(keeping.origin).values.items():
        if inner != name and is_inside(inner, name) and part.gradient == Gradient.ATTACHED:
            return replace(value.join(part), gradient=part.gradient, origins=part.origins)
    return value


def _retention(view: View, keeping: Keeping, kept: list[Keeping]) -> GraphRetention | None:
    value = _kept(view, keeping)
    if not keeping.is_recorded(view) or not is_container(view, keeping):
        return None
    calls = _backward_calls(view, value) if value.may_attach else set()
    if any(_creates(view, call) for call in calls):
        return None
    if not calls:
        return _let_go_late(view, keeping, value, kept) or _buffered(view, keeping, value)
    if _is_read_by_evidence(view, keeping) or is_of_frozen(view, value):
        return None
    for loop in view.loops_around(keeping.block):
        inside = {
            call for call in calls if call in view.records and view.records[call].block in loop.body
        }
        if not inside:
            continue
        kept_here = keeping.origin, keeping.value
        inside = {
            call
            for call in inside
            if any(
                in_one_turn(view, loop, made, kept_here, call) for made in _attached(view, value)
            )
        }
        if not inside:
            return None
        outlives = not loop.bounded and _outlives(view, keeping, loop, kept)
        if not outlives or _is_one_step(view, keeping, loop, kept):
            return None
        siblings = _siblings(view, keeping, kept, loop.body)
        return fact_of(view, keeping, value, min(inside), loop.site, siblings)
    return _repeated(view, keeping, value, calls, kept)


def _creates(view: View, backward: int) -> bool:
    """Whether a backward call records the gradients, which hold the graph that they were computed
    from as long as they are used."""
    record = view.records.get(backward)
    if record is None or record.effect is None or not isinstance(record.operation, Call):
        return False
    return creates_graph(record.operation, record.effect)


def _attached(view: View, value: Value) -> list[int]:
    """The origins of a value that may have a graph."""
    return [
        origin
        for origin in sorted(value.origins)
        if (record := view.records.get(origin)) is None or record.result.may_attach
    ]


def _buffered(view: View, keeping: Keeping, value: Value) -> GraphRetention | None:
    """Added to a buffer by what runs a module, made of what the module is given: with the graph of
    the modules before it."""
    function = view.function
    if (
        not runs_module(view)
        or keeping.how != "added"
        or not any(one < 0 for one in inputs(view, value))
    ):
        return None
    buffers = view.run.class_scan(function.record or "", function.filename).buffers
    may_attach = value.gradient & (Gradient.ATTACHED | Gradient.UNKNOWN) and not value.is_number
    if keeping.symbol not in buffers or not may_attach:
        return None
    fact = fact_of(view, keeping, value, 0, None, (), "whoever calls the module")
    sure = value.gradient == Gradient.ATTACHED or _is_trained(view)
    on_device = view.may_use_device
    return replace(fact, variable="", buffer=True, sure=sure, on_device=on_device)


def _is_trained(view: View) -> bool:
    """Whether the module has weights of its own: so have those before it, whose graph comes with
    what it is given."""
    made = (call for one in view.run.symbols.class_methods(view.function) for _, call in calls(one))
    return any(
        (place(call.target) or "").startswith("this.")
        and (effect := view.run.models.tensor_effect(call.name)) is not None
        and effect.gradient == "attached"
        for call in made
    )


def runs_module(view: View) -> bool:
    """Whether the function is what a call of a module runs."""
    return view.function.record is not None and _is_run(view, view.function.key)


def _is_run(view: View, name: str) -> bool:
    effect = view.run.models.tensor_effect("." + name.rpartition(".")[2])
    return effect is not None and effect.calls_module


def calls_module(view: View, record: Record) -> bool:
    """Whether an operation runs a module, or what looks like one, recorded for gradients."""
    call = record.operation
    if record.form is Form.CALL and isinstance(call, Call) and call.receiver is not None:
        return _is_run(view, call.name) and bool(record.result.gradient & Gradient.UNKNOWN)
    return record.form is Form.MODEL and record.result.may_attach


def inputs(view: View, value: Value) -> set[int]:
    """All that a value is made of, with the wholes of which it takes parts."""

    def made_of(origin: int) -> Iterator[int]:
        record = view.records.get(origin)
        if record is None or record.result.is_detached:
            return
        yield from record.sources
        known = view.state_before(origin).values
        for name in record.reads:
            yield from known[root_of(name)].origins if root_of(name) in known else ()

    return closure(value.origins, made_of)


def _let_go_late(
    view: View, keeping: Keeping, value: Value, kept: list[Keeping]
) -> GraphRetention | None:
    """Kept in a loop with a graph that nobody computes a gradient of: of what is collected, all
    that is used in the end is a number, or it is detached only then."""
    loops = view.loops_around(keeping.block)
    record = view.records.get(keeping.origin)
    may_attach = value.gradient & (Gradient.ATTACHED | Gradient.UNKNOWN) and not value.is_number
    if not loops or loops[0].bounded or record is None or not may_attach:
        return None
    loop = loops[0]
    if record.recording != Recording.ON or not _outlives(view, keeping, loop, kept):
        return None
    collected = consumption(view, {keeping.origin})
    after = [end for end in collected.ends if end.block not in loop.body]
    detached = [end for end in after if end.effect is not None and end.effect.detaches]
    sure = value.gradient == Gradient.ATTACHED
    if not sure and isinstance(keeping.value, Member | Index):
        return None  # picked out of what is there anyway
    if not sure and (has_no_graph(view, value) or _is_one_step(view, keeping, loop, kept)):
        return None
    if is_gathered(view, keeping):
        return None
    if not sure:
        detached = [
            end
            for end in detached
            if _is_of_what_is_kept(view, keeping, end) and not _becomes_array(view, end)
        ]
    by = (after if sure else detached)[:1]
    if collected.fate != Fate.NUMBERS or not by or not isinstance(by[0].operation, Call):
        return None
    if _is_of_what_was_there(view, value, loop) or _is_needed_anyway(view, value, loop):
        return None
    call = by[0].operation
    let_go = view.site(call.span, call.name.removeprefix("."))
    fact = fact_of(view, keeping, value, 0, loop.site, _siblings(view, keeping, kept, loop.body))
    steps = (
        Step(let_go.filename, keeping.span, f"`{fact.name}` is kept in `{fact.place}`"),
        Step(let_go.filename, call.span, "and let go of here"),
    )
    return replace(fact, let_go=let_go, sure=sure, on_device=view.may_use_device, steps=steps)


def _is_of_what_is_kept(view: View, keeping: Keeping, end: Record) -> bool:
    """Whether what is detached is what was kept, or computed of it: not a part of it, nor what a
    method out of sight gave of it, which shows no more than that it is some object."""

    def made_of(origin: int) -> list[int]:
        record = view.records.get(origin)
        if record is None or (record.form is Form.ELEMENT and not record.result.kind & Kind.TENSOR):
            return []
        inserts = record.effect is not None and record.effect.inserts
        return [] if record.form is Form.CALL and not inserts else record.sources

    held = view.value(keeping.origin, keeping.place).origins
    kept = {keeping.origin} | held | view.value(keeping.origin, keeping.value).origins
    reached = closure(end.sources, made_of)
    return not kept.isdisjoint(reached)


def _becomes_array(view: View, end: Record) -> bool:
    """Whether what is detached goes on to NumPy: it has to be, as far as its author knows, whether
    or not there is a graph, and so says nothing of one."""

    def is_same(record: Record) -> bool:
        return record.form is Form.COPY or (
            record.form is Form.FUNCTION and len(record.operands) == 1
        )

    own = {origin for origin, record in view.records.items() if record is end}
    users = (user for one in view.derived(own, is_same) for user in view.users.get(one, ()))
    effects = (view.records[user].effect for user in users)
    return any(effect is not None and effect.needs_detached for effect in effects)


def _is_of_what_was_there(view: View, value: Value, loop: Loop) -> bool:
    """Whether all that a loop makes of a value are elements of what a model gave before the loop,
    and what functions make of these: whoever has the whole has their graphs."""
    inside = {
        origin: made
        for origin in inputs(view, value)
        if (made := view.records.get(origin)) is not None
        and made.block in loop.body
        and may_have_graph(made)
    }

    def is_of_these(origin: int) -> bool:
        made = view.records.get(origin)
        return origin in inside or (made is not None and not may_have_graph(made))

    def was_there(made: Record) -> bool:
        whole = inputs(view, replace(made.result, origins=frozenset(made.sources)))
        given_by = [view.records.get(origin) for origin in whole if origin not in inside]
        return any(one is not None and one.form is Form.MODEL for one in given_by)

    return any(made.form is Form.ELEMENT for made in inside.values()) and all(
        was_there(made)
        if made.form is Form.ELEMENT
        else made.form not in (Form.MODEL, Form.CALL) and all(map(is_of_these, made.sources))
        for made in inside.values()
    )


def _is_needed_anyway(view: View, value: Value, loop: Loop) -> bool:
    """Whether what models or calls out of sight gave a value in a loop also goes into something
    whose gradient is computed after the loop: until then the graph is there, whoever holds it."""
    inside = {
        origin: made
        for origin in inputs(view, value)
        if (made := view.records.get(origin)) is not None
        and made.block in loop.body
        and may_have_graph(made)
    }
    given = {origin for origin, made in inside.items() if made.form in (Form.MODEL, Form.CALL)}
    shared = given | {
        origin
        for origin, made in inside.items()
        if made.form is Form.ELEMENT and inputs(view, made.result.of(origin)) & given
    }
    reached = view.derived(shared, may_have_graph)
    backward = {call for one in reached for call in view.evidence.attached.get(one, ())}
    return any(
        call in view.records and view.records[call].block not in loop.body for call in backward
    )


def _is_one_step(view: View, keeping: Keeping, loop: Loop, kept: list[Keeping]) -> bool:
    """Whether a loop collects the terms of one update of the weights, after which the place is
    made anew."""
    if view.updates(loop):
        return False
    around = [outer for outer in view.loops_around(keeping.block) if loop.body < outer.body]
    return any(
        view.updates(outer) and not _outlives(view, keeping, outer, kept) for outer in around[:1]
    )


def _repeated(
    view: View, keeping: Keeping, value: Value, calls: set[int], kept: list[Keeping]
) -> GraphRetention | None:
    """Kept in a member by a function that a framework or a loop calls for every step."""
    symbol = keeping.symbol
    if symbol.startswith(("this.", "::")):
        by = "the framework" if "differentiated" in view.run.hook(view.function) else ""
        loops = (site.caller.name for site in view.run.looping_callers(view.known))
        by = by or next((f"a loop in {one}" for one in loops), "")
    else:
        by = _kept_by_caller(view, keeping)
    if not by:
        return None
    if view.is_emptied(None, keeping.name, {keeping.origin}):
        return None
    record = view.function.record
    if record is not None and symbol.startswith("this."):
        merged = view.run.class_scan(record, view.function.filename)
        if symbol in merged.bounded or symbol in _popped(view, record):
            return None
    siblings = _siblings(view, keeping, kept, None)
    return fact_of(view, keeping, value, min(calls), None, siblings, by)


def _kept_by_caller(view: View, keeping: Keeping) -> str:
    """The caller that calls the function in a loop, with an object that is there before it and that
    a value is added to a part of."""
    names = [parameter.symbol for parameter in view.function.parameters]
    if keeping.symbol not in names or keeping.name == keeping.symbol:
        return ""
    number = names.index(keeping.symbol)
    for site in view.known.callers:
        flow = view.run.symbols.flow(site.caller)
        headers = flow.enclosing.get(site.at.block, ())
        given_object = given(site.call).at(number, view.function.parameters[number].name)
        name = holder(given_object) if given_object is not None else None
        if name is not None and any(name not in flow.assigned[header] for header in headers):
            return f"a loop in {site.caller.name}"
    return ""


def _popped(view: View, record: str) -> set[str]:
    """Members whose elements some method takes out one by one (a window)."""
    return {
        name
        for method in view.run.symbols.methods(record)
        for _, call in calls(method)
        if (effect := view.run.models.tensor_effect(call.name)) is not None and effect.clears
        if (model := view.run.models.lookup_method(call.name, None)) is not None and model.elements
        if (name := place(call.receiver)) is not None
    }


def _backward_calls(view: View, value: Value) -> set[int]:
    """The backward calls that show that a value had a gradient: on it, or on what it is derived
    from."""

    def derived_from(origin: int) -> Iterable[int]:
        record = view.records.get(origin)
        is_direct = origin < 0 or origin in view.evidence.attached
        through = record is not None and record.result.may_attach and not is_direct
        return record.sources if record is not None and through else ()

    calls: set[int] = set()
    for origin in closure(value.origins, derived_from):
        if origin < 0:
            calls |= view.evidence.parameters.get(-origin - 1, frozenset())
            continue
        calls |= view.evidence.attached.get(origin, frozenset())
        record = view.records.get(origin)
        if record is not None and record.effect is not None and record.effect.backward:
            calls.add(origin)
        is_direct = origin in view.evidence.attached
        if not is_direct and record is not None and record.part and record.result.may_attach:
            # Another part of what the same call returned: `result["loss"]` beside `result["kl"]`.
            for other in view.evidence.attached:
                made = view.records.get(other)
                if made is not None and made.operation is record.operation:
                    calls |= view.evidence.attached[other]
    return calls


def _is_read_by_evidence(view: View, keeping: Keeping) -> bool:
    """Whether what is kept goes into a gradient itself: then its graph is wanted."""
    name = keeping.name
    if keeping.origin in view.evidence.attached and keeping.how == "added":
        return True
    for origin in view.evidence.attached:
        record = view.records.get(origin)
        if origin != keeping.origin and record is not None:
            own = isinstance(record.operation, Assign) and record.operation.augmented
            if not own and any(is_inside(read, name) for read in record.reads):
                return True
    return any(
        record.effect is not None
        and record.effect.backward
        and isinstance(call := record.operation, Call)
        and is_inside(place(call.receiver) or "%", name)
        for record in view.records.values()
    )


def _outlives(view: View, keeping: Keeping, loop: Loop, kept: list[Keeping]) -> bool:
    """Whether a place is still there, with all it holds, in the next iteration."""
    name, base = keeping.name, keeping.symbol
    same = {other.origin for other in kept if other.name == name}
    record = view.records.get(keeping.origin)
    is_held = keeping.how == "stored" or (record is not None and isinstance(record.operation, Call))
    variable = base.partition(".")[0]
    if is_held and not base.startswith("this.") and view.assigned_in(loop, variable):
        own = {view.records[other].operation for other in same if other in view.records}
        if any(
            operation not in own
            for operation in view.flow.definitions.get(variable, ())
            if any(operation in block.operations for block in view.flow.body(loop.header))
        ):
            return False
    return not view.is_emptied(loop.body, name, same)


def _siblings(
    view: View, keeping: Keeping, kept: list[Keeping], body: frozenset[int] | None
) -> tuple[Site, ...]:
    found: dict[str, Site] = {}
    for other in kept:
        if other.origin == keeping.origin or (body is not None and other.block not in body):
            continue
        name = view.text(other.place)
        value = view.value(other.origin, other.value)
        if name == view.text(keeping.place) or "%" in name or not _is_let_go(view, other, value):
            continue
        found.setdefault(name, view.site(other.span, name))
    return tuple(found.values())[:4]


def _is_let_go(view: View, keeping: Keeping, value: Value) -> bool:
    """Whether a value is a tensor that was detached from its graph, or the number in one: not just
    any number."""

    def detaches(part: Expression) -> bool:
        call = view.defining_call(part)
        name, of = call.name if call else "", call.receiver if call else None
        if isinstance(part, Member):
            name, of = "." + part.field, part.base
        effect = view.run.models.tensor_effect(name)
        had = of is not None and view.value(keeping.origin, of).may_attach
        return had and effect is not None and effect.gradient == "detached"

    return (value.is_number or value.is_detached) and any(map(detaches, walk(keeping.value)))


def fact_of(
    view: View,
    keeping: Keeping,
    value: Value,
    backward: int,
    loop: Site | None,
    siblings: tuple[Site, ...],
    called_by: str = "",
) -> GraphRetention:
    """The finding of what a function keeps: with the backward call, by its number, that shows that
    it has a gradient, and the loop or the caller that makes it grow."""
    name = view.text(keeping.value)
    place = _written_place(view, keeping)
    differentiated, inside = None, ""
    steps = _steps(view, value)
    record = view.records.get(backward)
    if record is not None and isinstance(call := record.operation, Call):
        inside = (call.key or call.name) if record.differentiated else ""
        differentiated = view.site(call.span, _differentiated_text(view, call))
        said = f"the gradient of `{differentiated.text}` is computed"
        if inside:
            said = f"`{inside.rpartition('.')[2]}` computes its gradient and returns it"
        steps += (Step(view.function.filename, call.span, said),)
    of_part = value != view.value(keeping.origin, keeping.value)
    how = "stored in" if keeping.how == "stored" else f"{keeping.how} to"
    kept = f"`{name}` is {how} `{place}` with its graph"
    return GraphRetention(
        name=name,
        variable="" if of_part else view.variable(keeping.origin, keeping.value),
        place=place,
        how=keeping.how,
        span=keeping.span,
        differentiated=differentiated,
        direct=not of_part
        and any(backward in view.evidence.direct.get(one, ()) for one in value.origins),
        derived=of_part or not any(one in view.evidence.attached for one in value.origins),
        large=value.large,
        siblings=siblings,
        inside=inside,
        loop=loop,
        called_by=called_by,
        through=keeping.through,
        chosen=_is_chosen(view, keeping.value),
        steps=(*steps, Step(view.function.filename, keeping.span, kept)),
    )


def _is_chosen(view: View, value: Expression) -> bool:
    """Whether a variable or a member says which element it is, or is of (``parts[key].mean()``)."""
    if any(isinstance(one, Index) and place(one.index) is not None for one in walk(value)):
        return True
    call = view.defining_call(value) if (place(value) or "").startswith("%") else None
    if call is None:
        return False
    given = (call.receiver, *(argument.value for argument in call.arguments))
    return any(_is_chosen(view, one) for one in given if one is not None)


def _written_place(view: View, keeping: Keeping) -> str:
    """The place as the code writes it; of a comprehension, the variable that it goes to."""
    if not keeping.symbol.startswith("%"):
        return view.text(keeping.place)
    given = (op for _, _, op in view.operations() if isinstance(op, Assign))
    target = next((one.target for one in given if one.value == keeping.place), None)
    return view.text(target) if target is not None else "[...]"


def _differentiated_text(view: View, call: Call) -> str:
    effect = view.effect(call)
    on: Expression | None = call.arguments[0].value if call.arguments else None
    if effect is not None and effect.backward == "this" and call.receiver is not None:
        scaled = view.defining_call(call.receiver)
        positional = call.arguments and not call.arguments[0].keyword
        if not positional:
            on = call.receiver
            if scaled is not None and scaled.arguments and scaled.name == ".scale":
                on = scaled.arguments[0].value
    return view.text(on) if on is not None else "it"


def _steps(view: View, value: Value) -> tuple[Step, ...]:
    made = [view.records[origin] for origin in sorted(value.origins) if origin in view.records]
    said = "it is computed here, recorded for gradients"
    return tuple(Step(view.function.filename, one.operation.span, said) for one in made[:1])
