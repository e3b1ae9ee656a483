"""Where the arrays of a Python function live, as far as its own lines say; paths do not count."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from cudalint.analysis.shape.arguments import inputs, named
from cudalint.analysis.shape.operations import definitions
from cudalint.analysis.shape.walk import names_device
from cudalint.apis.loader import ApiModels
from cudalint.program import (
    Assign,
    Binary,
    Call,
    Conditional,
    Constant,
    Expression,
    Function,
    FunctionReference,
    Index,
    Member,
    Operation,
    Slice,
    Tuple,
    Unary,
    Variable,
)

Placement = Literal["device", "asked", "host", ""]
"""``asked``: on the device that a variable names. Empty: unknown, or no array."""
_DEPTH = 12


class Placements:
    """Answers for one function."""

    def __init__(self, function: Function, models: ApiModels) -> None:
        self._models = models
        self._definitions = definitions(function)
        self._active: set[str] = set()

    def of(self, expression: Expression) -> Placement:
        """Where the value of an expression lives."""
        match expression:
            case Variable(symbol=symbol):
                return self._variable(symbol)
            case Index(base=base) | Slice(base=base) | Unary(operand=base):
                return self.of(base)
            case Binary(left=left, right=right):
                return _join((self.of(left), self.of(right)))
            case Conditional(then=then, otherwise=otherwise):
                return _join((self.of(then), self.of(otherwise)))
            case Tuple(items=items):
                return _join(self.of(item) for item in items)
            case Member(base=base, field=field):
                effect = self._models.tensor_effect(f".{field}")
                follows = effect is not None and effect.device == "follows"
                return self.of(base) if follows else ""
            case _:
                return ""

    def made_by(self, operation: Operation) -> Placement:
        """Where what an operation stores lives."""
        match operation:
            case Assign(value=value):
                return self.of(value)
            case Call():
                return self._call(operation)
            case _:
                return ""

    def _variable(self, symbol: str) -> Placement:
        if symbol in self._active or len(self._active) > _DEPTH:
            return ""
        self._active.add(symbol)
        try:
            return _join(self.made_by(op) for op in self._definitions.get(symbol, ()))
        finally:
            self._active.discard(symbol)

    def _call(self, call: Call) -> Placement:
        asked = named(call, "device")
        if asked is not None:
            place = self.device(asked)
            if place is not None:
                return place
        model = self._models.lookup(call.name)
        space = model.returns.space if model is not None and model.returns is not None else None
        if space in ("device", "host"):
            return "device" if space == "device" else "host"
        effect = self._models.tensor_effect(call.name)
        if effect is not None and effect.device in ("device", "host"):
            return "device" if effect.device == "device" else "host"
        if effect is not None and effect.device == "argument":
            if call.receiver is None:
                return "host"
            for given in call.arguments:
                place = self.device(given.value)
                if place is not None:
                    return place
            return self.of(call.receiver)
        if space != "same" and (effect is None or effect.device != "follows"):
            return ""
        return _join(self.of(source) for source in inputs(call))

    def device(self, expression: Expression) -> Placement | None:
        """The device that an argument names; ``None`` for what cannot name one (a dtype)."""
        match expression:
            case Constant(value=None):
                return None
            case Constant(value=str(text)):
                if names_device(text):
                    return "device"
                return "host" if text.startswith("cpu") else "asked"
            case Constant(value=bool()):
                return None
            case Constant(value=int()):
                return "device"
            case FunctionReference():
                return None
            case Conditional():
                return "asked"
            case Variable(symbol=symbol):
                for operation in self._definitions.get(symbol, ()):
                    if isinstance(operation, Assign) and operation.value != expression:
                        found = self.device(operation.value)
                        return "asked" if found is None else found
                    if isinstance(operation, Call) and operation.arguments:
                        first = operation.arguments[0].value
                        if isinstance(first, Constant):
                            return self.device(first)
                return "asked"
            case _:
                return "asked"


def _join(places: Iterable[Placement]) -> Placement:
    found = set(places)
    if "device" in found:
        return "device"
    if "asked" in found:
        return "asked"
    return "host" if "host" in found else ""
