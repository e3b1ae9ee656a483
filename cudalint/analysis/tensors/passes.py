"""What shows that a recorded call is a pass through a model for inference (GPU602): that the model
is run at all, and that nobody can want its gradients, which GPU603 asks as well."""

from __future__ import annotations

from cudalint.analysis.shape.operations import calls, expressions
from cudalint.analysis.shape.places import place
from cudalint.analysis.shape.reach import closure
from cudalint.analysis.shape.subjects import is_served
from cudalint.analysis.tensors.adapting import methods_run
from cudalint.analysis.tensors.consumption import is_outside
from cudalint.analysis.tensors.lattice import Gradient, Kind, Recording
from cudalint.analysis.tensors.records import Form, Record, origin_at
from cudalint.analysis.tensors.view import View
from cudalint.program import THIS, Call, Function, Return, walk


def is_run(view: View, call: Call, record: Record) -> bool:
    """Whether a call of an object in evaluation mode, or of a method of it that no path shows, runs
    its weights: the object itself is called, or a module in it, or all methods of the run that have
    the name run them."""
    if call.callee is not None:
        return place(call.callee) == record.callee
    name = call.name.removeprefix(".")
    if _is_submodule(view, name):
        return True
    methods = _methods(view, name)
    return bool(methods) and all(_runs_weights(view, one) for one in methods)


def records_nothing(view: View, call: Call, model: str) -> bool:
    """Whether what a call of a model runs switches recording off itself, on some way at least: all
    that it is made of there is run with recording off."""
    methods = methods_run(view.run, view.function, call, model)
    return any((one := view.of(m)) is not None and _switches_off(one) for _, m in methods)


def _switches_off(view: View) -> bool:
    """Whether something that a function returns is made by calls with recording off alone."""

    def made_of(origin: int) -> list[int]:
        record = view.records.get(origin)
        return record.sources if record is not None else []

    for end, returned in view.returned():
        origins = closure(view.value(end, returned).origins, made_of)
        made = [view.records[one] for one in origins if one in view.records]
        run = [one.recording for one in made if one.runs_module or one.form is Form.CALL]
        if run and all(one == Recording.OFF for one in run):
            return True
    return False


def is_for_inference(view: View, record: Record) -> bool:
    """Whether a call of whose result only numbers are made is inference by what surrounds it: the
    class trains nothing, and puts the model in evaluation mode; or one of its methods makes such an
    object, puts that in evaluation mode and hands it out, and the object calls itself; or a service
    calls the function for each request."""
    methods = view.run.symbols.class_methods(view.function)
    scans = [view.run.scan(one) for one in methods]
    if any(one.calls_backward or one.steps for one in scans):
        return False
    asking = (view.function, *(site.caller for site in view.known.callers))
    return (
        any(record.callee in one.evaluates for one in scans)
        or (record.callee == THIS.symbol and any(_hands_out_evaluated(view, o) for o in methods))
        or any(is_served(view.run.symbols, one) for one in asking)
    )


def _hands_out_evaluated(view: View, method: Function) -> bool:
    """Whether a method makes an object of its class, and returns it in evaluation mode."""
    made = {
        place(call.target)
        for _, call in calls(method)
        if call.kind == "constructor" and call.key == method.record
    }
    ends = (block.terminator for block in method.blocks)
    returned = {place(end.value) for end in ends if isinstance(end, Return)}
    return not made.isdisjoint(view.run.scan(method).evaluates & returned)


def _methods(view: View, name: str) -> list[Function]:
    """The methods of modules of the run that have a name."""
    return [
        function
        for function, _ in view.run.symbols.functions()
        if function.record is not None
        and function.name.rpartition(".")[2] == name
        and view.run.is_module(function.record)
    ]


def _is_submodule(view: View, name: str) -> bool:
    """Whether modules of the run have a module of their own by this name."""
    made = (
        view.run.scan(function).values.get(f"this.{name}")
        for function, _ in view.run.symbols.functions()
        if function.kind == "constructor" and view.run.is_module(function.record or "")
    )
    return any(value is not None and value.kind == Kind.MODULE for value in made)


def ends_in_callers(view: View) -> bool:
    """Whether all callers are known, and none differentiates what it is given, hands it on or
    stores it."""
    if view.known.referenced or view.known.returns_attached or not view.known.callers:
        return False
    for site in view.known.callers:
        caller, origin = view.of(site.caller), origin_at(*site.at.place)
        if caller is None or caller.function.kind == "module":
            return False
        given = caller.derived({origin}, may_have_graph)
        returned = [caller.value(end, value) for end, value in caller.returned()]
        if any(value.origins & given for value in returned) or any(
            one in caller.evidence.attached
            or is_outside(caller.function, getattr(caller.records[one].operation, "target", None))
            for one in given & caller.records.keys()
        ):
            return False
    return True


def may_have_graph(record: Record) -> Gradient:
    """Whether the result of an operation may hold a graph; empty where it does not."""
    return record.result.gradient & (Gradient.ATTACHED | Gradient.UNKNOWN)


def switches_itself(view: View, name: str) -> bool:
    """Whether a method of the run by this name switches recording off, itself or through others of
    its class."""
    return any(
        view.run.is_switched(f".{other}")
        for function, _ in view.run.symbols.functions()
        if function.name.rpartition(".")[2] == name
        for other in (name, *_reached(view, function))
    )


def _runs_weights(view: View, method: Function) -> bool:
    """Whether a method has to do with a module in its module, itself or through others of the
    class."""
    members = view.run.class_scan(method.record or "", method.filename).values
    modules = {name for name, value in members.items() if value.kind == Kind.MODULE}
    reached = _reached(view, method)
    return any(f"this.{name}" in modules for one in reached.values() for name in _own(one)) or any(
        place(part) in modules
        for one in reached.values()
        for whole in expressions(one)
        for part in walk(whole)
    )


def _reached(view: View, method: Function) -> dict[str, Function]:
    """A method and those of its class that it calls, by name."""
    methods = reversed(view.run.symbols.class_methods(method))
    named = {one.name.rpartition(".")[2]: one for one in methods}
    first = method.name.rpartition(".")[2]
    reached = closure((first,), lambda name: _own(named[name]) if name in named else ())
    return {name: named[name] for name in reached if name in named}


def _own(method: Function) -> list[str]:
    """What a method calls of its object, by name."""
    return [call.name[1:] for _, call in calls(method) if place(call.receiver) == "this"]
