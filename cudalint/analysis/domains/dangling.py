"""Raw device pointers taken from arrays that die at the end of the expression (Python)."""

from __future__ import annotations

from dataclasses import replace

from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.engine.binding import Binding
from cudalint.analysis.engine.domain import Domain
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.facts import DanglingPointer
from cudalint.analysis.values.values import Array, Operation, Symbol
from cudalint.apis.model import ApiFunction
from cudalint.program import Assign, Binary, Call, Expression, Index, Member, Variable, render
from cudalint.program import Operation as ProgramOperation

_ARITHMETIC = ("+", "-", "*", "true/", "//", "%", "**", "@")


class DanglingLog:
    """Temporaries that hold a raw pointer into an array that is about to die."""

    def __init__(self, run: FunctionRun) -> None:
        self.pointers: dict[str, DanglingPointer] = {}


class Dangling(Domain):
    """Looks at what becomes of raw pointers."""

    def operating(self, run: FunctionRun, operation: ProgramOperation, state: State) -> None:
        if isinstance(operation, Assign) and run.python:
            _stored(run, operation, state)

    def modelled(
        self, run: FunctionRun, binding: Binding, name: str, model: ApiFunction, state: State
    ) -> None:
        if model.integer is not None:
            _converted(run, binding.call, state)
        if model.dangles is not None:
            _called(run, binding, model.dangles, name)


def _stored(run: FunctionRun, operation: Assign, state: State) -> None:
    """``pointer = f(x).data.ptr``: is a pointer into a temporary array stored in a variable?"""
    target, source = operation.target, operation.value
    if isinstance(target, Variable) and target.symbol.startswith("%"):
        return
    if isinstance(source, Variable) and source.symbol in run.log(DanglingLog).pointers:
        pointer = replace(run.log(DanglingLog).pointers[source.symbol], name=render(target))
        run.log(Recorder).dangling.setdefault(pointer.span, pointer)
        return
    names: list[str] = []
    base: Expression = source
    while isinstance(base, Member | Index):
        if isinstance(base, Index):
            names.clear()
        else:
            names.insert(0, base.field)
            attribute = run.models.attributes.get(".".join(names))
            if (
                attribute is not None
                and attribute.dangles
                and _dies(run, base.base, attribute.libraries, state)
            ):
                api = "." + ".".join(names)
                text = _text(run, base.base, state)
                pointer = DanglingPointer(render(target), text, operation.span, api)
                run.log(Recorder).dangling.setdefault(operation.span, pointer)
                return
        base = base.base


def _called(run: FunctionRun, binding: Binding, path: str, name: str) -> None:
    """``f(x).data_ptr()``: remember whose pointer the temporary result is."""
    base = binding.expression(path)
    if base is not None and _dies(run, base, (), binding.state):
        _note(run, binding.call, base, name, binding.state)


def _converted(run: FunctionRun, call: Call, state: State) -> None:
    """``int(f(x).gpudata)``: the object that owns the memory dies, its number is kept."""
    argument = call.arguments[0].value if len(call.arguments) == 1 else None
    if not isinstance(argument, Member):
        return
    attribute = run.models.attributes.get(argument.field)
    if attribute is None or not attribute.integer_dangles:
        return
    if _dies(run, argument.base, attribute.libraries, state):
        _note(run, call, argument.base, f".{argument.field}", state)


def _note(run: FunctionRun, call: Call, base: Expression, api: str, state: State) -> None:
    """A call gives a pointer into an array that dies: to a temporary, or to be kept."""
    target = call.target
    if isinstance(target, Variable):
        pointer = DanglingPointer(render(target), _text(run, base, state), call.span, api)
        if target.symbol.startswith("%"):
            run.log(DanglingLog).pointers[target.symbol] = pointer
        else:
            run.log(Recorder).dangling.setdefault(call.span, pointer)


def _dies(run: FunctionRun, base: Expression, libraries: tuple[str, ...], state: State) -> bool:
    """Whether the array is a temporary that nothing else keeps."""
    if isinstance(base, Binary):
        return True
    if not isinstance(base, Variable) or not base.symbol.startswith("%"):
        return False
    value = run.evaluator.value(base, state)
    if isinstance(value, Array):
        held = any(
            isinstance(other, Array) and other.origin == value.origin
            for location, other in state.values.items()
            if not location[0].startswith("%")
        )
        return value.owner and not held
    if isinstance(value, Symbol) and value.origin.startswith("call:"):
        name = value.origin.removeprefix("call:").partition("@")[0]
        effect = run.models.lifetime_effect(name)
        lent = effect is not None and effect.lives_elsewhere
        return name.partition(".")[0] in libraries and not lent
    return isinstance(value, Operation) and value.operator in _ARITHMETIC


def _text(run: FunctionRun, base: Expression, state: State) -> str:
    if not isinstance(base, Variable):
        return render(base)
    value = run.evaluator.value(base, state)
    origin = value.origin if isinstance(value, Array | Symbol) else None
    name = origin.origin if isinstance(origin, Symbol) else origin
    if name is None:
        return "the temporary"
    return f"the result of {name.partition(':')[2].partition('@')[0]}"
