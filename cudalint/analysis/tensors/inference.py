"""Models in evaluation mode whose calls are recorded for gradients nobody asks for (GPU602)."""

from __future__ import annotations

import math
from dataclasses import replace

from cudalint.analysis.facts.resources import Site
from cudalint.analysis.facts.tensors import RecordedInference
from cudalint.analysis.shape.arguments import given
from cudalint.analysis.shape.callgraph import Site as CallSite
from cudalint.analysis.shape.operations import calls, expressions, operands
from cudalint.analysis.shape.places import place
from cudalint.analysis.shape.reach import closure
from cudalint.analysis.tensors.adapting import computes_gradients
from cudalint.analysis.tensors.consumption import Fate, consumption, fate
from cudalint.analysis.tensors.frozen import calls_frozen, may_freeze
from cudalint.analysis.tensors.lattice import Device, Gradient, Kind, Recording, Value
from cudalint.analysis.tensors.passes import (
    ends_in_callers,
    is_for_inference,
    is_run,
    may_have_graph,
    records_nothing,
    switches_itself,
)
from cudalint.analysis.tensors.records import Form, Record, position_of
from cudalint.analysis.tensors.run import TensorRun
from cudalint.analysis.tensors.view import Loop, View
from cudalint.findings.finding import Step
from cudalint.program import THIS, Call, Function, Member, Use, Variable, variables, walk

_MOST_CALLERS = 3
"""Loops that are named."""


def recorded(view: View) -> tuple[RecordedInference, ...]:
    """The first call of each model that is recorded in a loop, though nothing computes a gradient:
    the model is in evaluation mode, or only numbers are made of what it returns."""
    scan = view.run.scan(view.function)
    if scan.switches or scan.freezes or scan.needs_gradient or _is_frozen_elsewhere(view):
        return ()
    if calls_frozen(view) or _is_given_unrecorded(view):
        return ()
    hands_back = _hands_back_gradients(view)
    evaluates = (
        scan.evaluates or _evaluated_in_constructor(view) or _evaluated_parameters(view)
    ) and not (hands_back and not ends_in_callers(view))
    found: dict[str, RecordedInference] = {}
    for origin, record in sorted(view.records.items()):
        if record.recording != Recording.ON or record.callee in found or record.part:
            continue
        call = record.operation
        if not isinstance(call, Call) or _is_detached_by_force(view, origin):
            continue
        one = _in_evaluation(view, origin, record, call) if evaluates else None
        if one is not None and hands_back:
            one = replace(one, in_sight=False)
        if not any(other.evaluated for other in found.values()):
            one = one or _counted(view, origin, record, call)
        if one is None:
            continue
        model = record.callee
        if not computes_gradients(view.run, view.function, call, model) and not records_nothing(
            view, call, model
        ):
            found[model] = one
    return tuple(found.values())


def _is_given_unrecorded(view: View) -> bool:
    """Whether a function of the run gives tensors of which nothing is recorded."""
    made = (view.run.callee(view.function, call) for _, call in calls(view.function))
    return any(one is not None and view.run.scan(one).makes_unrecorded for one in made)


def _in_evaluation(view: View, origin: int, record: Record, call: Call) -> RecordedInference | None:
    """A call of a model that the function itself, or all that call it, put in evaluation mode; or
    of a method of such a model that is out of sight."""
    is_method = record.form is Form.CALL and _may_run_module(view, record, call)
    if not is_method and (
        record.form is not Form.MODEL
        or record.result.gradient not in (Gradient.ATTACHED, Gradient.UNKNOWN)
    ):
        return None
    scan = view.run.scan(view.function)
    trains = scan.calls_backward or scan.steps
    loops = [loop for loop in view.loops_around(record.block) if not loop.bounded]
    if trains:
        loops = [loop for loop in loops if not _trains_in(view, loop)]
    model = record.callee
    if is_method and call.callee is None:
        model = place(call.receiver) or ""
    evaluated = _evaluation(view, model, origin)
    callers = [] if loops or trains or is_method else _looping(view)
    if evaluated is None or _is_differentiated(view, origin):
        return None
    again = bool(loops or callers)
    if not (again or (not trains and _is_detached_at_last(view, call))):
        return None
    name = _written(view, call)
    model_text = model.replace("this.", "self.")
    return RecordedInference(
        model=name,
        span=call.span,
        evaluated=evaluated,
        loop=loops[0].site if loops else None,
        called_by=callers[0].caller.name if callers else "",
        in_sight=not (is_method or callers)
        and not (trains and fate(view, _made_by(view, call)) & Fate.ESCAPES),
        certain=again and (not is_method or is_run(view, call, record)),
        trained_beside=_is_trained_beside(view, record, evaluated),
        on_device=view.may_use_device,
        steps=(
            Step(evaluated.filename, evaluated.span, f"`{model_text}` is put in evaluation mode"),
            Step(view.function.filename, call.span, "the call is recorded for gradients"),
            *_steps(callers),
        ),
    )


def _is_trained_beside(view: View, record: Record, evaluated: Site) -> bool:
    """Whether the loop of a call, or one around that in which the model stays in evaluation mode,
    calls what computes gradients."""
    at = {one.block for one in view.records.values() if one.operation.span == evaluated.span}
    around = view.loops_around(record.block)
    return any(
        view.calls_backward(loop)
        for number, loop in enumerate(around)
        if not number or at.isdisjoint(loop.body)
    )


def _looping(view: View) -> list[CallSite]:
    """The calls of the function in loops, unless something out of sight may call it, or something
    calls methods of this name without recording."""
    if view.known.referenced or view.run.hook(view.function) or _called_without_recording(view):
        return []
    return list(view.run.looping_callers(view.known))


def _steps(callers: list[CallSite]) -> tuple[Step, ...]:
    said = "the function is called in a loop here"
    return tuple(Step(one.caller.filename, one.call.span, said) for one in callers[:_MOST_CALLERS])


def _may_run_module(view: View, record: Record, call: Call) -> bool:
    """Whether a call is of an object, or of a method out of sight that may run the module: it is
    given something of the loop, its result is used, and no method of that name switches recording
    off."""
    if call.callee is not None:
        return bool(may_have_graph(record))
    if record.effect is not None or call.receiver is None or not call.name.startswith("."):
        return False
    if view.run.callee(view.function, call, record.operands[0].records) is not None:
        return False
    given = [one for one in record.operands[1:] if one.origins or one.tensorlike]
    if not given or call.target is None or all(_was_fetched(view, one, call) for one in given):
        return False
    return not switches_itself(view, call.name[1:]) and not _leaves_object_alone(view, call.name)


def _was_fetched(view: View, value: Value, call: Call) -> bool:
    """Whether a value was brought to the host, from what the object that is called gave before: it
    is through with the device."""

    def made_of(origin: int) -> list[int]:
        record = view.records.get(origin)
        return record.sources if record is not None else []

    made = (view.records.get(origin) for origin in closure(value.origins, made_of))
    receivers = {place(getattr(one.operation, "receiver", None)) for one in made if one is not None}
    return value.device == Device.HOST and place(call.receiver) in receivers


def _leaves_object_alone(view: View, method: str) -> bool:
    """Whether no method of the run of this name has to do with its object: it runs no module."""
    found = [
        function
        for function, _ in view.run.symbols.functions()
        if function.record is not None and function.name.rpartition(".")[2] == method[1:]
    ]
    read = (part for one in found for whole in expressions(one) for part in walk(whole))
    return bool(found) and THIS not in read


def _counted(view: View, origin: int, record: Record, call: Call) -> RecordedInference | None:
    """A call of a model of whose result nothing but numbers is made, out of sight of any gradient:
    in a loop, in a function that a loop calls, or of a model that is large in itself."""
    if not record.runs_module or not may_have_graph(record):
        return None
    if not _is_read(view, call):
        return None  # of what is thrown away nothing is made
    scan = view.run.scan(view.function)
    if scan.calls_backward or scan.steps or view.known.referenced:
        return None
    if view.run.hook(view.function) or _called_without_recording(view):
        return None
    loops = [loop for loop in view.loops_around(record.block) if not loop.bounded]
    callers = [] if loops else _looping(view)
    large = bool(view.transfer.told_by_keyword(call).kind)
    if loops or callers or large:
        if fate(view, _made_by(view, call)) != Fate.NUMBERS:
            return None
    elif not _is_detached_at_last(view, call):
        return None
    said = "the call is recorded for gradients"
    return RecordedInference(
        model=_written(view, call),
        span=call.span,
        evaluated=None,
        loop=loops[0].site if loops else None,
        called_by=callers[0].caller.name if callers else "",
        in_sight=False,
        certain=bool(loops or callers or large) and is_for_inference(view, record),
        on_device=view.may_use_device,
        steps=(Step(view.function.filename, call.span, said), *_steps(callers)),
    )


def _is_detached_at_last(view: View, call: Call) -> bool:
    """Whether nothing but numbers and detached tensors is made of what a call returns, and there is
    something to detach them: whoever wrote that knows that they have a graph."""
    made = _made_by(view, call)
    if fate(view, made) != Fate.NUMBERS:
        return False
    return any(_detaches(view, end) for end in consumption(view, made).ends)


def _detaches(view: View, end: Record) -> bool:
    """Whether an operation is there to let go of a graph, or is given what did (``.data``)."""
    parts = (part for one in operands(end.operation) for part in walk(one))
    read = [f".{part.field}" for part in parts if isinstance(part, Member)]
    effects = [end.effect, *map(view.run.models.tensor_effect, read)]
    return any(effect is not None and effect.detaches for effect in effects)


def _is_read(view: View, call: Call) -> bool:
    """Whether anything in the function reads what a call gives."""
    target = call.target
    return target is not None and (
        not isinstance(target, Variable)
        or any(target.symbol in variables(one) for one in expressions(view.function))
    )


def _called_without_recording(view: View) -> bool:
    """Whether something of the run that calls a method of this name switches recording off."""
    return view.run.calls_without_recording("." + view.function.name.rpartition(".")[2])


def _made_by(view: View, call: Call) -> list[int]:
    """The numbers of a call and of the parts of what it returns."""
    return [origin for origin, record in view.records.items() if record.operation is call]


def _written(view: View, call: Call) -> str:
    if call.callee is not None:
        return view.text(call.callee)
    return call.name if call.receiver is None else view.text(call.receiver) + call.name


def _is_differentiated(view: View, origin: int) -> bool:
    reached = view.derived({origin}, may_have_graph)
    return bool(reached & set(view.evidence.attached))


def _evaluation(view: View, name: str, origin: int) -> Site | None:
    """The ``eval()`` of a module that is in force at a call."""
    modes = _mode_calls(view.function, view.run, name)
    row: float = view.records[origin].operation.span.row
    function = view.function
    if not modes and (constructor := _evaluated_in_constructor(view)) is not None:
        modes, row, function = _mode_calls(constructor, view.run, name), math.inf, constructor
    evaluated = _in_force(modes, row)
    if evaluated is not None:
        return Site(function.filename, evaluated.span, name)
    return _evaluated_parameters(view).get(name) if not modes else None


def _in_force(modes: list[tuple[Call, bool]], row: float) -> Call | None:
    """The first ``eval()`` after which nothing before a row trains any more."""
    before = [(call, evaluates) for call, evaluates in modes if call.span.row <= row]
    if not before or not before[-1][1]:
        return None
    trained = max((call.span.row for call, evaluates in before if not evaluates), default=0)
    return next((call for call, _ in before if call.span.row > trained), None)


def _evaluated_parameters(view: View) -> dict[str, Site]:
    """The parameters that all known callers put in evaluation mode before they hand them over."""
    found: dict[str, Site] = {}
    if view.known.referenced or not view.known.callers:
        return found
    for number, parameter in enumerate(view.function.parameters):
        evaluated: list[Site] = []
        for site in view.known.callers:
            model = place(given(site.call).at(number, parameter.name))
            modes = _mode_calls(site.caller, view.run, model) if model is not None else []
            call = _in_force(modes, site.call.span.row)
            if call is None or model is None or may_freeze(view.run, site.caller, model):
                break
            evaluated.append(Site(site.caller.filename, call.span, model))
        if len(evaluated) == len(view.known.callers):
            found[parameter.symbol] = evaluated[0]
    return found


def _mode_calls(function: Function, run: TensorRun, name: str) -> list[tuple[Call, bool]]:
    """The calls that put a module in evaluation (true) or training mode, by row."""
    found = []
    for _, call in calls(function):
        effect = run.models.tensor_effect(call.name) if call.receiver is not None else None
        # `net = build().eval()`: it gives the module back.
        named = name in (place(call.receiver), place(call.target))
        if effect is not None and named and (effect.evaluates or effect.trains):
            found.append((call, effect.evaluates))
    return sorted(found, key=lambda one: one[0].span)


def _evaluated_in_constructor(view: View) -> Function | None:
    """The constructor of the method's class, where it puts a member in evaluation mode that nothing
    in the class trains."""
    record = view.function.record
    if record is None or view.function.kind == "constructor":
        return None
    if not view.run.is_evaluated(view.function):
        return None
    for method in view.run.symbols.methods(record):
        scan = view.run.scan(method)
        if scan.calls_backward or scan.steps or scan.freezes:
            return None
        effects = (view.run.models.tensor_effect(call.name) for _, call in calls(method))
        if any(effect is not None and effect.trains for effect in effects):
            return None
    return view.run.symbols.method(record, "__init__", view.function.filename)


def _trains_in(view: View, loop: Loop) -> bool:
    """Whether a loop computes gradients, updates weights or calls what computes gradients."""
    trained = any(e.backward or e.steps or e.trains for _, _, e in view.effects(loop))
    return trained or view.calls_backward(loop)


def _is_frozen_elsewhere(view: View) -> bool:
    """Some other place in the class or the module switches gradients off for good, or a module of
    the file computes gradients while it is run."""
    function = view.function
    if function.record and view.run.class_scan(function.record, function.filename).freezes:
        return True
    program = view.run.symbols.programs.get(function.filename)
    for other in program.functions if program is not None else ():
        scan = view.run.scan(other)
        if scan.freezes or (other.kind == "module" and scan.switches_for_good):
            return True
        effect = view.run.models.tensor_effect("." + other.key.rpartition(".")[2])
        runs = other.record is not None and effect is not None and effect.calls_module
        if runs and (scan.needs_gradient or scan.calls_backward):
            return True
    return False


def _hands_back_gradients(view: View) -> bool:
    """What the function gives to its callers still has its graph: they may want it."""
    if _nobody_differentiates(view):
        return False
    if view.function.is_generator and any(
        isinstance(operation, Use)
        and operation.reason == "yield"
        and view.value(origin, operation.value).may_attach
        for origin, _, operation in view.operations()
    ):
        return True
    if view.known.returns_attached:
        return True
    models = [origin for origin, one in view.records.items() if one.form is Form.MODEL]
    computed = view.derived(models, may_have_graph)
    for end, value in view.returned():
        returned = view.value(end, value)
        unknown = returned.gradient & Gradient.UNKNOWN and returned.tensorlike
        if returned.may_attach or (unknown and returned.origins & computed):
            return True
        start = view.solution.states[position_of(end)[0]]
        if any(
            held.may_attach
            for name in variables(value)
            for place_name, held in start.values.items()
            if place_name.startswith(name + "[")
        ):
            return True
    return False


def _nobody_differentiates(view: View) -> bool:
    """The function has callers in the run, and nothing in its file computes gradients."""
    program = view.run.symbols.programs.get(view.function.filename)
    if program is None or not view.known.callers or view.known.returns_attached:
        return False
    if view.known.referenced or any(
        site.caller.filename != view.function.filename for site in view.known.callers
    ):
        return False
    return not any(
        scan.calls_backward or scan.steps or scan.needs_gradient
        for scan in map(view.run.scan, program.functions)
    )


def _is_detached_by_force(view: View, origin: int) -> bool:
    """Something is done with the result that raises if it has a gradient: it has none."""
    reached = view.derived({origin}, _passes)
    users = [view.records[user] for one in reached for user in view.users.get(one, ())]
    return any(
        user.effect is not None and user.effect.needs_detached and user.operands[0].may_attach
        for user in users
    )


def _passes(record: Record) -> bool:
    return record.form in (Form.COPY, Form.ARITHMETIC, Form.FUNCTION, Form.ELEMENT) and not (
        record.result.is_detached or record.result.kind == Kind.NUMBER
    )
