"""Where the arrays of a Python function live, as far as its own lines say; paths do not count."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from cudalint.analysis.shape.arguments import inputs, named
from cudalint.analysis.shape.symbols import Symbols
from cudalint.analysis.shape.walk import names_device, space_of_device, texts
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
    """Answers for one function; ``sure``: by lines that all say the same of a variable."""

    def __init__(self, function: Function, symbols: Symbols, *, sure: bool = False) -> None:
        self._sure = sure
        self._parameters = {one.symbol: one for one in function.parameters}
        self._models = symbols.models("python")
        program = symbols.programs.get(function.filename)
        modules = [one for one in program.functions if one.kind == "module"] if program else []
        self._definitions: dict[str, list[Operation]] = {}
        for one in (*modules, function):  # its own last: they replace the others
            self._definitions.update(symbols.flow(one).definitions)
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
                return self._one_of((self.of(then), self.of(otherwise)))
            case Tuple(items=items):
                return _join(self.of(item) for item in items)
            case Member(base=base, field=field):
                effect = self._models.tensor_effect(f".{field}")
                return self.of(base) if effect is not None and effect.device == "follows" else ""
            case _:
                return ""

    def made_by(self, operation: Operation) -> Placement:
        """Where what an operation stores lives."""
        if isinstance(operation, Assign):
            return self.of(operation.value)
        return self._call(operation) if isinstance(operation, Call) else ""

    def _variable(self, symbol: str) -> Placement:
        if symbol in self._active or len(self._active) > _DEPTH:
            return ""
        self._active.add(symbol)
        try:
            return self._one_of(self.made_by(one) for one in self._definitions.get(symbol, ()))
        finally:
            self._active.discard(symbol)

    def _one_of(self, places: Iterable[Placement]) -> Placement:
        found = set(places)
        return _join(found) if not self._sure or len(found) == 1 else ""

    def moves(self, call: Call) -> bool:
        """Whether a call is there to bring its receiver to a device."""
        return call.receiver is not None and self.told_by(call) in ("device", "asked")

    def told_by(self, call: Call) -> Placement:
        """Where a call itself says that what it makes shall live; empty where it says nothing."""
        asked = named(call, "device")
        if asked is not None and getattr(asked, "value", asked) is not None:
            return self.device(asked) or "asked"
        effect = self._models.tensor_effect(call.name)
        if effect is not None and effect.device in ("device", "host"):
            return "device" if effect.device == "device" else "host"
        if effect is None or effect.device != "argument" or call.receiver is None:
            return ""
        given = [argument.value for argument in call.arguments if not argument.keyword]
        known = next((place for place in map(self.device, given) if place), None)
        return known or ("asked" if any(map(self._may_be_device, given)) else "")

    def _call(self, call: Call) -> Placement:
        model = self._models.lookup(call.name)
        space = model.returns.space if model is not None and model.returns is not None else None
        if told := self.told_by(call):
            return told
        if space in ("device", "host"):
            return "device" if space == "device" else "host"
        effect = self._models.tensor_effect(call.name)
        if effect is not None and effect.device == "argument":
            return "host" if call.receiver is None else self.of(call.receiver)
        if space != "same" and (effect is None or effect.device != "follows"):
            return ""
        return _join(self.of(source) for source in inputs(call))

    def device(self, expression: Expression, behind: frozenset[str] = frozenset()) -> Placement:
        """The device that an argument names; empty for what may be none (an element type), and for
        a variable whose value comes from the one that asks (``behind``)."""
        match expression:
            case Constant(value=value):
                return space_of_device(value) or ""
            case Member(field=field):
                return "asked" if self._models.is_device(f".{field}") else ""
            case Variable(symbol=symbol):
                return "" if symbol in behind else self._device_in(symbol, behind | {symbol})
            case _:
                return "asked" if any(map(names_device, texts(expression))) else ""

    def _may_be_device(self, expression: Expression) -> bool:
        """Whether an argument may name one: no constant, no element type."""
        match expression:
            case Variable(symbol=symbol):
                made = self._definitions.get(symbol, ())
                types = (isinstance(getattr(one, "value", None), FunctionReference) for one in made)
                return not made or not all(types)
            case Member(field=field):
                effect = self._models.lifetime_effect(f".{field}")
                return effect is None or not effect.few
            case _:
                return not isinstance(expression, Constant | FunctionReference)

    def _device_in(self, symbol: str, behind: frozenset[str]) -> Placement:
        given = self._parameters.get(symbol)
        if given is not None and (
            self._models.is_device(given.type.text)
            or (given.default is not None and any(map(names_device, texts(given.default))))
        ):
            return "asked"
        for operation in self._definitions.get(symbol, ()):
            if isinstance(operation, Assign) and operation.value != Variable(symbol, symbol):
                return self.device(operation.value, behind)
            if isinstance(operation, Call) and self._models.is_device(operation.name):
                first = operation.arguments[0].value if operation.arguments else None
                return (self.device(first) if isinstance(first, Constant) else "") or "asked"
        return ""


def _join(places: Iterable[Placement]) -> Placement:
    found = set(places)
    ranked: tuple[Placement, ...] = ("device", "asked", "host")
    return next((place for place in ranked if place in found), "")
