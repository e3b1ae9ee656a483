"""What a callee says of its inputs, in the terms of its caller."""

from __future__ import annotations

from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.domains.ownership.releases import is_attachment
from cudalint.analysis.engine.conditions import STATUSES
from cudalint.analysis.engine.evaluate import is_status
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.engine.summary import RETURN
from cudalint.analysis.shape.arguments import bindings, given
from cudalint.analysis.shape.walk import plain
from cudalint.analysis.values.addresses import past_tables
from cudalint.analysis.values.arithmetic import rewrite
from cudalint.analysis.values.elements import is_index
from cudalint.analysis.values.projection import project
from cudalint.analysis.values.values import (
    Address,
    Bag,
    Const,
    Input,
    Location,
    Operation,
    Pointer,
    Polynomial,
    Symbol,
    Value,
    bag,
)
from cudalint.findings.finding import Step
from cudalint.program import THIS, Call, Function, Variable


class Translation:
    """One call of a function of the run."""

    def __init__(self, run: FunctionRun, call: Call, definition: Function, site: str) -> None:
        self.run = run
        self.call = call
        self.definition = definition
        self.site = site
        cut = given(call).cut
        bound = bindings(call, definition.parameters)
        self.arguments = {
            one.symbol: (one, bound.get(one.symbol, None if cut else one.default))
            for one in definition.parameters
        }
        self.out: dict[Symbol, Symbol] = {}
        """What the callee's resources are in the caller."""
        self.given: dict[Location, Value] | None = None
        """What the inputs are in the caller, while its state stays as it is."""

    def translate(self, value: Value, state: State) -> Value:
        """A value of the callee, in the caller's terms."""

        def change(inner: Value) -> Value | None:
            made = type(inner)
            if made is Operation and (some := _element(inner)) is not None:
                value = self._given(some, state)
                known = isinstance(value, Pointer | Bag) or _element(value) is not None
                return value if known else Operation("element", (value,))
            if made is Operation or made is Polynomial:
                return None  # most are
            if isinstance(inner, Input):
                return self._given(inner.location, state)
            if isinstance(inner, Address):
                target = self.locate(inner.location, state)
                return Symbol("local address") if target is None else Address(target)
            if isinstance(inner, Pointer) and inner.resource in self.out:
                return Pointer(self.out[inner.resource], inner.offset)
            if isinstance(inner, Bag):
                return bag(self.out.get(r, r) for r in inner.resources)
            if isinstance(inner, Symbol):
                return self.out.get(inner) or self.symbol(inner)
            return None

        return rewrite(value, change)

    def symbol(self, symbol: Symbol) -> Symbol:
        """An unknown value of the callee: another one at each call."""
        prefix = next((kind for kind in STATUSES if symbol.origin.startswith(kind)), "")
        origin = f"{prefix}{self.definition.key}:{symbol.origin.removeprefix(prefix)}@{self.site}"
        if prefix and origin not in self.run.conditions.calls:
            step = Step(self.run.filename, self.call.span, "")
            self.run.conditions.calls[origin] = (step, self.definition.name, Const(0))
        return Symbol(origin, symbol.older)

    def _given(self, location: Location, state: State) -> Value:
        if self.given is None:
            return self._input(location, state)
        value = self.given.get(location)
        if value is None:
            value = self.given[location] = self._input(location, state)
        return value

    def _input(self, location: Location, state: State) -> Value:
        root = location[0]
        if root in self.arguments:
            parameter, expression = self.arguments[root]
            if expression is None:
                return Symbol(f"argument:{root}@{self.site}")
            if parameter.by == "reference" or len(location) > 1:
                place = self.run.evaluator.location(plain(expression), state)
                if place is not None:
                    if len(location) == 1:
                        return self.run.evaluator.value(expression, state)
                    return state.read((*place, *location[1:]))
            return project(self.run.evaluator.value(expression, state), location[1:])
        if root == "@" and location[-1] == ".value" and not isinstance(location[1], str):
            status = self.translate(location[1], state)
            if is_status(status):
                return status  # an enumerator's number is the status itself
        target = self.locate(location, state)
        if target is None:
            return Symbol(f"input:{location!r}@{self.site}"[:200])
        return state.read(target)

    def locate(self, location: Location, state: State) -> Location | None:
        """A location of the callee, in the caller's terms; ``None`` for what it cannot name."""
        place = self._locate(location, state)
        return place if place is None or self.run.python else past_tables(place, state.values)

    def _locate(self, location: Location, state: State) -> Location | None:
        root = location[0]
        evaluator = self.run.evaluator
        if root == RETURN:
            return None
        if root == "this":
            receiver = self.call.receiver
            if receiver is None and self.call.kind == "constructor":
                return None  # a new object, not the one whose method makes it
            if receiver is None or receiver == THIS:
                function = self.run.function
                inside = function.record is not None or function.parent is not None
                return location if inside else None
            if self.run.python:
                value = evaluator.value(receiver, state)
                return ("@", value, *location[1:])
            place = evaluator.location(receiver, state)
            return None if place is None else (*place, *location[1:])
        if root == "@":
            inner = location[1]
            if isinstance(inner, str):
                return None
            pointer = self.translate(inner, state)
            return evaluator.pointed(pointer, location[2:])
        if root in self.arguments:
            expression = self.arguments[root][1]
            if expression is None:
                return None
            place = evaluator.location(plain(expression), state)
            return None if place is None else (*place, *location[1:])
        return None if self._is_of_another(root) else location  # a global, or what is captured

    def _is_of_another(self, root: str) -> bool:
        """Whether it is the callee's own, or a lambda that was made in another function has
        captured it there."""
        info = self.definition.variables.get(root)
        function, inner = self.run.function, self.definition
        if self.run.python or info is None:
            return False
        if info.storage in ("local", "temporary"):
            return True
        if info.storage != "captured" or function.parent:
            return False
        outer = inner.parent
        while outer is not None and outer != function.key:
            around = self.run.symbols.function(outer, self.definition.filename)
            outer = around.parent if around is not None else None
        return outer is None

    def is_named_by_caller(self, location: Location) -> bool:
        """Whether a place of the callee is one that its caller has named: ``*p``, ``p[i]``, or a
        reference."""
        root, *rest = location
        if root == "@" and isinstance(location[1], Input):
            root, *rest = *location[1].location, *rest[1:]
        given = any(root == parameter.symbol for parameter in self.definition.parameters)
        return given and all(isinstance(part, str) and is_index(part) for part in rest)

    def written(self, location: Location | None) -> str:
        """A location in the words of the source: of a temporary, what it stands for."""
        shown = self.shown(location)
        root = location[0] if location else ""
        if not root.startswith("%"):
            return shown
        return self.run.show(Variable(root, root)) + shown.removeprefix(root)

    def shown(self, location: Location | None) -> str:
        """A location for messages; empty where there is none."""
        return shown_location(location, self.run) if location else ""


def _element(value: Value) -> Location | None:
    """The place of which a value is what some element holds."""
    match value:
        case Operation(operator="element", operands=(Input(location=some),)) if "[]" in some:
            return some
    return None


def shown_location(location: Location, run: FunctionRun) -> str:
    """A location as a person would write it: ``state->d_in``, ``streams[...]``, ``this->ptr``."""
    root = location[0]
    rest = "".join("[...]" if part == "[]" else str(part) for part in location[1:])
    if root == "@":
        pointer = location[1]
        rest = "".join("[...]" if p == "[]" else str(p) for p in location[2:])
        name = _pointer_name(pointer, run)
        if is_attachment(location):
            return name
        if not rest:
            return f"*{name}"
        if rest.startswith(".") and not run.python:
            return f"{name}->{rest[1:]}"
        return f"{name}{rest}"
    if root == "this":
        return f"self{rest}" if run.python else rest.removeprefix(".")
    variable = run.evaluator.variable(str(root))
    name = variable.name if variable else str(root).split("#")[0].lstrip(":")
    return f"{name}{rest}"


def _pointer_name(pointer: object, run: FunctionRun) -> str:
    if isinstance(pointer, Input):
        return shown_location(pointer.location, run)
    if isinstance(pointer, Pointer):
        acquired = run.log(Recorder).of(pointer.resource)
        return acquired.name if acquired else "pointer"
    return "object"
