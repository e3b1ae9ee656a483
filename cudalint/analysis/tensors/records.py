"""What operations did, and what their analysis asks of the run."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from cudalint.analysis.shape.arguments import given, named
from cudalint.analysis.shape.symbols import Symbols
from cudalint.analysis.tensors.lattice import (
    LIST,
    MODULE,
    NUMBER,
    OBJECT,
    Gradient,
    Kind,
    Recording,
    Value,
)
from cudalint.apis.loader import ApiModels
from cudalint.apis.model import TensorEffect
from cudalint.program import Call, Constant, Function, Operation, Variable

_MOST_OPERATIONS = 100_000
"""Of one block."""
_PARTS = 10**12
"""Numbers of operations end here; those of the parts that they make begin."""


class Form(enum.Enum):
    """How an operation's result depends on its operands."""

    COPY = "copy"
    ELEMENT = "element"
    """An element of something unknown: of a loader's batch, of a data set."""
    ARITHMETIC = "arithmetic"
    FUNCTION = "function"
    """A tensor function that gradients pass through."""
    MODEL = "model"
    CALL = "call"
    """A call of something unknown."""
    LEAF = "leaf"


@dataclass(frozen=True)
class Record:
    """What an operation did when it was last followed."""

    operation: Operation
    block: int
    form: Form
    operands: tuple[Value, ...]
    result: Value
    recording: Recording
    reads: frozenset[str] = frozenset()
    effect: TensorEffect | None = None
    callee: str = ""
    """The place that is called, of a call of an object."""
    part: str = ""
    """Of a part of what a function of the run returns: which (``[0]``, ``['loss']``)."""
    differentiated: bool = False
    """The function of the run that made it has already computed its gradient."""

    @property
    def runs_module(self) -> bool:
        """It is a call of a module, or of the object itself; ``super().__init__()`` is none."""
        call = self.operation
        makes = isinstance(call, Call) and is_constructor(call)
        return self.form is Form.MODEL or (self.callee == "this" and not makes)

    @property
    def is_placed(self) -> bool:
        """It says where its result goes, wherever its operands are."""
        return self.effect is not None and self.effect.device in ("host", "argument")

    @property
    def sources(self) -> list[int]:
        """The operations that made its operands."""
        return [origin for operand in self.operands for origin in operand.origins]


@dataclass(frozen=True)
class Outcome:
    """What a call of a function of the run gives back."""

    value: Value
    parts: Mapping[str, Value]
    resets: frozenset[str] = frozenset()
    """Members of its receiver that it empties or replaces."""
    differentiated: frozenset[str] = frozenset()
    """The parts whose gradient it has computed itself; empty text: the whole."""


PASS = "forward"
"""The method that a call of a module runs."""
RETURNED = 0
"""In place of a backward call: the caller computes the gradient of what is returned."""


@dataclass
class Evidence:
    """What later operations say of earlier ones."""

    attached: dict[int, frozenset[int]] = field(default_factory=dict)
    """Operation to the backward calls that its result flows into."""
    direct: dict[int, frozenset[int]] = field(default_factory=dict)
    """As ``attached``, where the backward call is on the result itself."""
    parameters: dict[int, frozenset[int]] = field(default_factory=dict)
    """The same for parameters, by position."""
    moved: frozenset[int] = frozenset()
    """Operations whose result was on the device."""


class Surroundings(Protocol):
    """What the analysis of a function asks of the rest of the run."""

    symbols: Symbols
    models: ApiModels

    def entry(self, function: Function) -> Recording:
        """Whether operations are recorded when it is called."""

    def outcome(self, function: Function, call: Call, records: frozenset[str]) -> Outcome | None:
        """What a call of a function of the run gives back."""

    def passed(self, function: Function, records: frozenset[str]) -> Outcome | None:
        """What a call of a module gives back, if its class is known."""

    def kind_of(self, function: Function, name: str) -> Value | None:
        """What the whole class or function says of a place: that it is a module, a list."""

    def evidence(self, function: Function) -> Evidence:
        """What was found before of a function."""

    def callee(
        self, caller: Function, call: Call, records: frozenset[str] = frozenset()
    ) -> Function | None:
        """The function of the run that a call means."""


def origin_at(block: int, index: int) -> int:
    """The number of an operation, which stands for what it makes; above zero."""
    return block * _MOST_OPERATIONS + index + 1


def position_of(origin: int) -> tuple[int, int]:
    """The block and the index of an operation, by its number or that of a part it makes."""
    whole = (origin - _PARTS) // 100 if origin >= _PARTS else origin
    return divmod(whole - 1, _MOST_OPERATIONS)


def part_origin(origin: int, number: int) -> int:
    """The number of a part of what an operation makes."""
    return _PARTS + origin * 100 + min(number, 99)


def made_by(effect: TensorEffect) -> Value | None:
    """What an API function returns whatever it is given, where that is so."""
    if effect.result == "function":
        return Value(Kind.FUNCTION, Gradient.UNKNOWN, large=effect.scalar is None)
    fixed = {"number": NUMBER, "list": LIST, "module": MODULE, "other": OBJECT}
    return fixed.get(effect.result or "")


def handed(record: Record, callee: Function) -> dict[int, Value]:
    """What a call hands to a function of the run, by the numbers of its parameters."""
    call = record.operation
    if not isinstance(call, Call):
        return {}
    values = record.operands[0 if call.receiver is None else 1 :]
    by_argument = {
        id(argument.value): value for argument, value in zip(call.arguments, values, strict=True)
    }
    arguments = given(call)
    return {
        number: by_argument[id(expression)]
        for number, parameter in enumerate(callee.parameters)
        if (expression := arguments.at(number, parameter.name)) is not None
    }


def is_constructor(call: Call) -> bool:
    """Whether a call makes an object, or is a constructor's of that of its base."""
    return call.kind == "constructor" or call.name.endswith(".__init__")


def is_off(call: Call) -> bool:
    """Whether a call is told ``False``."""
    return any(one.value == Constant(False) for one in call.arguments)


def gives_gradients(call: Call, effect: TensorEffect) -> bool:
    """Whether a call of ``backward`` has a result that is taken apart or used at once: the program
    computes its gradients by hand (autograd's gives ``None``, an engine's the loss)."""
    used = isinstance(call.target, Variable) and call.target.symbol.startswith("%")
    return used and bool(effect.backward) and not effect.result


def creates_graph(call: Call, effect: TensorEffect) -> bool:
    """Whether the gradients that a call computes are recorded, and so hold the graph that they were
    computed from as long as they are used."""
    return named(call, effect.create) not in (None, Constant(False))


def is_engine(call: Call, receiver: Value) -> bool:
    """Whether ``receiver.backward(x)`` computes the gradient of ``x``: the receiver is a
    framework's engine (``accelerator.backward(loss)``), not a tensor."""
    if not call.arguments or call.arguments[0].keyword:
        return False
    if isinstance(call.arguments[0].value, Constant):
        return False
    return not (receiver.tensorlike or receiver.may_attach or receiver.kind & Kind.TENSOR)
