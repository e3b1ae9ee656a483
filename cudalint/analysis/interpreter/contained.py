"""What the API models of containers do: make them, fill and empty them, point into them."""

from __future__ import annotations

from dataclasses import dataclass

from cudalint.analysis.domains.ownership import objects
from cudalint.analysis.domains.ownership.escape import escape_object, give_away, guard
from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.domains.ownership.stores import keep_in
from cudalint.analysis.engine import containers
from cudalint.analysis.engine.binding import Binding
from cudalint.analysis.engine.containers import Element
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.shape.members import referred, type_of
from cudalint.analysis.values.elements import KEYS, LENGTH, OTHER_LENGTH, count, element_part
from cudalint.analysis.values.values import (
    Address,
    Const,
    Input,
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
    run: FunctionRun, binding: Binding, name: str, model: ApiFunction, state: State
) -> Value | None:
    """Do what a model says of its receiver, a container; the result, where it is part of that."""
    receiver = binding.call.receiver
    container = None if receiver is None else run.evaluator.location(receiver, state)
    if receiver is None or container is None:
        return None
    return _Contained(run, binding, name, model, state, receiver, container).result()


def length(run: FunctionRun, container: Location, state: State) -> int | None:
    """How many elements there are: by what was put in, or by the type."""
    known = count(state.values, container)
    declared = run.evaluator.type_of(container)
    return declared.elements if known is None and declared is not None else known


@dataclass
class _Contained:
    """A modelled call whose receiver is a container, on one path."""

    run: FunctionRun
    binding: Binding
    name: str
    model: ApiFunction
    state: State
    receiver: Expression
    container: Location

    def result(self) -> Value | None:
        """Do what the model says."""
        model, state, container = self.model, self.state, self.container
        if model.boxes:
            self._box()
        refers = self.run.evaluator.kind(self.binding.call.target) == "reference"
        if model.unboxes:
            content = (*container, _CONTENT)
            return Address(content) if refers else state.read(content)
        if model.holds:
            self._make()
        for text in model.inserts:
            self._insert(text)
        selected = self._selected()
        if model.removes:
            which = selected if model.removes == "some" else model.removes
            containers.remove(state, container, which)
            state.stored |= {location for location, into in state.put if into == container}
            if self._length() in (KEYS, OTHER_LENGTH):
                selected = "[]"
        if model.counts:
            number = length(self.run, container, state)
            if number is None:
                return self._unknown()
            return Const(number) if model.counts == "elements" else Const(number == 0)
        if model.table:
            return Address((*container, "[0]"))
        if model.iterates and model.at == "first":
            return Address(containers.first(state, container))
        if model.iterates and model.at == "end":
            end = containers.end(state, container)
            return self._unknown() if end is None else Address(end)
        if not (model.elements or model.iterates):
            return None
        place: Location = (*container, selected)
        if model.entries and not model.iterates:
            place = (*place, ".second")
        return Address(place) if model.iterates or refers else state.read(place)

    def _length(self) -> Value | None:
        return self.state.values.get((*self.container, LENGTH))

    def _unknown(self) -> Value:
        whole = self.run.evaluator.value(self.receiver, self.state)
        return Operation(f"{self.name}()", (whole,))

    def _selected(self) -> str:
        """Which element is meant."""
        at = self.model.at
        if not at:
            return "[]"
        if at in ("first", "last", "end"):
            number = length(self.run, self.container, self.state)
            if not number or self._length() == KEYS:
                return "[]"
            return "[0]" if at == "first" else f"[{number - 1}]"
        value = self.binding.value(at)
        if isinstance(value, Address) and value.location[:-1] == self.container:
            return str(value.location[-1])  # an iterator
        return "[]" if value is None else element_part(value)

    # Filling ----------------------------------------------------------------------------------

    def _element(self, expression: Expression) -> list[tuple[Location, Value]]:
        """What a new element holds: itself, and in its members."""
        run, state = self.run, self.state
        location = run.evaluator.location(expression, state)
        if location is not None and objects.ends(run, location):
            escape_object(run, location, state)  # the container ends its elements
        whole = run.evaluator.value(expression, state)
        parts = run.evaluator.inside(expression, state)
        if location is not None and whole == Input(location) and run.evaluator.is_local(location):
            return [*parts]  # a copy of an object is another one
        return [((), whole), *parts]

    def _make(self) -> None:
        evaluator, state, container = self.run.evaluator, self.state, self.container
        given = [argument.value for argument in self.binding.call.arguments]
        elements: list[Element] | None = None
        if not given:
            elements = []
        elif isinstance(given[0], Tuple):
            elements = [self._element(item) for item in given[0].items]
        elif list(evaluator.inside(given[0], state)):
            state.replace(container, self._element(given[0]))
            return
        elif (number := integer(evaluator.value(given[0], state))) is not None:
            each = self._element(given[1]) if len(given) > 1 else []
            elements = [each] * number if 0 <= number <= containers.MOST_ELEMENTS else None
        held = state.reachable(evaluator.value(one, state) for one in given)
        containers.begin(state, container, elements, self.model.entries)
        if elements is None and held:
            state.write((*container, "[]"), bag(held))

    def _insert(self, text: str) -> None:
        """The value becomes an element of the receiver."""
        run, state, container = self.run, self.state, self.container
        expression, value = self.binding.expression(text), self.binding.value(text)
        if expression is None or value is None:
            return
        guard(run, value, state)
        element = self._element(expression)
        held = state.reachable([value, *(inner for _, inner in element)])
        outside = container[0].startswith("%")
        made = isinstance(value, Pointer) and self._holds_objects()
        if outside or (made and run.evaluator.kind(expression) != "record"):
            # `blocks().push_back(p)`: somebody else has the container; or the element is made of
            # it: an owner, maybe.
            give_away(run, (value, *(inner for _, inner in element)), state)
            return
        some: Location = (*container, "[]")
        for resource in sorted(held):
            run.log(Recorder).named(resource.origin, f"{run.show(self.receiver)}[...]", some)
        around = run.flow.enclosing.get(run.position.block)
        several = len(self.binding.call.arguments) > 1 and self.model.at in ("first", "last")
        if (around or several) and self._length() is not None:
            containers.blur(state, container)  # each iteration puts another one in
        if self._placed(text, element):
            return
        containers.blur(state, container)
        if held:
            state.write(some, bag(held))
        keep_in(run, container, (value, *(inner for _, inner in element)), state)

    def _holds_objects(self) -> bool:
        """Whether the elements are of a class."""
        run = self.run
        declared = referred(type_of(self.receiver, run.function, run.program, run.symbols))
        arguments = declared.arguments if declared is not None else ()
        number = 1 if self.model.entries else 0
        return number < len(arguments) and arguments[number].kind == "record"

    def _placed(self, text: str, element: list[tuple[Location, Value]]) -> bool:
        """Whether the element has found its place among others that are known."""
        at = self.model.at
        if at == "last":
            return containers.append(self.state, self.container, element)
        if at == "first":
            return containers.prepend(self.state, self.container, element)
        if not at or self._length() != KEYS:
            return False
        key = self.binding.value(at)
        part = "[]" if key is None else element_part(key)
        if part == "[]" or at == text:
            return part != "[]"
        apart = (".second",) if at.partition(".")[0] != text else ()
        for rest, value in element:
            self.state.write((*self.container, part, *apart, *rest), value)
        return True

    # One value or none ------------------------------------------------------------------------

    def _box(self) -> None:
        state, container = self.state, self.container
        given = [argument.value for argument in self.binding.call.arguments]
        other = self.run.evaluator.location(given[0], state) if given else None
        if other is not None and (*other, _CONTENT) in state.values:
            state.replace(container, state.parts_of(other))
            return
        element = self._element(given[0]) if given else []
        state.forget(container)
        empty = not given or (isinstance(given[0], Constant) and given[0].text == self.model.boxes)
        state.values[container] = Const(not empty)
        for rest, value in () if empty else element:
            state.write((*container, _CONTENT, *rest), value)
