"""What the API models of containers do: make them, fill and empty them, point into them."""

from __future__ import annotations

from cudalint.analysis.domains.ownership import objects
from cudalint.analysis.domains.ownership.escape import escape_object, guard
from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.engine import containers
from cudalint.analysis.engine.binding import Binding
from cudalint.analysis.engine.containers import Element
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.values.elements import KEYS, LENGTH, OTHER_LENGTH, count, element_part
from cudalint.analysis.values.values import (
    Address,
    Const,
    Location,
    Operation,
    Pointer,
    Value,
    bag,
    integer,
)
from cudalint.apis.model import ApiFunction
from cudalint.program import Constant, Expression, Tuple

_CONTENT = ".value"
"""Where what holds one value or none (``std::optional``) keeps it; itself tells whether it does."""


def contain(
    run: FunctionRun,
    binding: Binding,
    name: str,
    model: ApiFunction,
    state: State,
) -> Value | None:
    """Do what a model says of its receiver, a container; the result, where it is part of that."""
    receiver = binding.call.receiver
    container = None if receiver is None else run.evaluator.location(receiver, state)
    if receiver is None or container is None:
        return None
    if model.boxes:
        _box(run, binding, model, container, state)
    refers = run.evaluator.refers(binding.call.target)
    if model.unboxes:
        content = (*container, _CONTENT)
        return Address(content) if refers else state.read(content)
    if model.holds:
        _make(run, binding, model, container, state)
    for text in model.inserts:
        _insert(run, binding, text, model, container, state)
    selected = _selected(run, binding, model, container, state)
    if model.removes:
        containers.remove(state, container, selected if model.removes == "some" else model.removes)
        if state.values.get((*container, LENGTH)) in (KEYS, OTHER_LENGTH):
            selected = "[]"
    if model.counts:
        return _count(run, receiver, name, model, container, state)
    if model.table:
        return Address((*container, "[0]"))
    if not (model.elements or model.iterates):
        return None
    if model.iterates and model.at in ("first", "end"):
        if model.at == "first":
            return Address(containers.first(state, container))
        end = containers.end(state, container)
        return (
            Operation(f"{name}()", (run.evaluator.value(receiver, state),))
            if end is None
            else (Address(end))
        )
    place: Location = (*container, selected)
    if model.entries and not model.iterates:
        place = (*place, ".second")
    return Address(place) if model.iterates or refers else state.read(place)


def length(run: FunctionRun, container: Location, state: State) -> int | None:
    """How many elements there are: by what was put in, or by the type."""
    known = count(state.values, container)
    info = run.evaluator.variable(str(container[0])) if len(container) == 1 else None
    return info.type.elements if known is None and info is not None else known


def _selected(
    run: FunctionRun, binding: Binding, model: ApiFunction, container: Location, state: State
) -> str:
    """Which element is meant."""
    if not model.at:
        return "[]"
    if model.at in ("first", "last", "end"):
        number = length(run, container, state)
        if not number or state.values.get((*container, LENGTH)) == KEYS:
            return "[]"
        return "[0]" if model.at == "first" else f"[{number - 1}]"
    value = binding.value(model.at)
    if isinstance(value, Address) and value.location[:-1] == container:
        return str(value.location[-1])  # an iterator
    return "[]" if value is None else element_part(value)


def _count(
    run: FunctionRun,
    receiver: Expression,
    name: str,
    model: ApiFunction,
    container: Location,
    state: State,
) -> Value:
    number = length(run, container, state)
    if number is not None:
        return Const(number) if model.counts == "elements" else Const(number == 0)
    return Operation(f"{name}()", (run.evaluator.value(receiver, state),))


# Filling ----------------------------------------------------------------------------------------


def _element(
    run: FunctionRun, expression: Expression, state: State
) -> list[tuple[Location, Value]]:
    """What a new element holds: itself, and in its members."""
    location = run.evaluator.location(expression, state)
    if location is not None and objects.ends(run, location):
        escape_object(run, location, state)  # the container ends its elements
    inside = list(run.evaluator.inside(expression, state))
    if inside and (location is None or location not in state.values):
        return inside
    return [((), run.evaluator.value(expression, state)), *inside]


def _make(
    run: FunctionRun, binding: Binding, model: ApiFunction, container: Location, state: State
) -> None:
    given = [argument.value for argument in binding.call.arguments]
    keyed = model.entries
    elements: list[Element] | None = None
    if not given:
        elements = []
    elif isinstance(given[0], Tuple):
        elements = [_element(run, item, state) for item in given[0].items]
    elif list(run.evaluator.inside(given[0], state)):
        state.replace(container, _element(run, given[0], state))
        return
    elif (number := integer(run.evaluator.value(given[0], state))) is not None:
        each = _element(run, given[1], state) if len(given) > 1 else []
        elements = [each] * number if 0 <= number <= containers.MOST_ELEMENTS else None
    held = state.reachable(run.evaluator.value(one, state) for one in given)
    containers.begin(state, container, elements, keyed)
    if elements is None and held:
        state.write((*container, "[]"), bag(held))


def _insert(
    run: FunctionRun,
    binding: Binding,
    text: str,
    model: ApiFunction,
    container: Location,
    state: State,
) -> None:
    """The value becomes an element of the receiver."""
    expression, value = binding.expression(text), binding.value(text)
    receiver = binding.call.receiver
    if expression is None or value is None or receiver is None:
        return
    guard(run, value, state)
    element = _element(run, expression, state)
    held = state.reachable([value, *(inner for _, inner in element)])
    if isinstance(container[0], str) and container[0].startswith("%"):
        state.escape(held)  # `blocks().push_back(p)`: somebody else has the container
        return
    if isinstance(value, Pointer) and _holds_objects(run, model, container):
        state.escape(held)  # the element is made of it: an owner, maybe
        return
    some: Location = (*container, "[]")
    for resource in sorted(held):
        run.log(Recorder).named(resource.origin, f"{run.show(receiver)}[...]", some)
    around = run.flow.enclosing.get(run.position.block)
    several = len(binding.call.arguments) > 1 and model.at in ("first", "last")
    if (around or several) and (*container, LENGTH) in state.values:
        containers.blur(state, container)  # each iteration puts another one in
    if _placed(binding, text, model, container, element, state):
        return
    if (*container, LENGTH) in state.values:
        containers.blur(state, container)
    elif not str(container[0]).startswith("%"):
        state.values[(*container, LENGTH)] = OTHER_LENGTH
    if held:
        state.write(some, bag(held))
    state.keep_inputs((value, *(inner for _, inner in element)))


def _holds_objects(run: FunctionRun, model: ApiFunction, container: Location) -> bool:
    """Whether the elements of a container are of a class."""
    info = run.evaluator.variable(str(container[0])) if len(container) == 1 else None
    arguments = info.type.arguments if info is not None else ()
    number = 1 if model.entries else 0
    return number < len(arguments) and arguments[number].kind == "record"


def _placed(
    binding: Binding,
    text: str,
    model: ApiFunction,
    container: Location,
    element: list[tuple[Location, Value]],
    state: State,
) -> bool:
    """Whether the element has found its place among others that are known."""
    if model.at == "last":
        return containers.append(state, container, element)
    if model.at == "first":
        return containers.prepend(state, container, element)
    if not model.at or state.values.get((*container, LENGTH)) != KEYS:
        return False
    key = binding.value(model.at)
    part = "[]" if key is None else element_part(key)
    if part == "[]" or model.at == text:
        return part != "[]"
    apart = model.at.partition(".")[0] != text
    for rest, value in element:
        state.write((*container, part, *((".second", *rest) if apart else rest)), value)
    return True


# One value or none ------------------------------------------------------------------------------


def _box(
    run: FunctionRun, binding: Binding, model: ApiFunction, container: Location, state: State
) -> None:
    given = [argument.value for argument in binding.call.arguments]
    state_of = run.evaluator.location(given[0], state) if given else None
    if state_of is not None and (*state_of, _CONTENT) in state.values:
        state.replace(container, state.parts_of(state_of))
        return
    element = _element(run, given[0], state) if given else []
    state.forget(container)
    nothing = not given or (isinstance(given[0], Constant) and given[0].text == model.boxes)
    state.values[container] = Const(not nothing)
    for rest, value in () if nothing else element:
        state.write((*container, _CONTENT, *rest), value)
