"""Whether a call may make the host wait, or order streams, out of the path engine's sight."""

from __future__ import annotations

import re

from cudalint.analysis.engine.evaluate import is_status
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.shape.symbols import Symbols
from cudalint.apis.loader import ApiModels
from cudalint.apis.model import ApiFunction
from cudalint.program import Call, Function, Operation

_STANDARD = re.compile(r"(std::|operator|__builtin_|builtins\.|__gnu_cxx::)")
_WAITING = re.compile(
    r"thread|future|promise|mutex|lock|condition_variable|wait|async|barrier|latch|semaphore|atomic"
    r"|chrono|sleep",
    re.IGNORECASE,
)
"""What the standard library has that waits: for a callback, or for another thread that waited."""


class _Calm:
    """The functions of a run of which it is known already."""

    def __init__(self, symbols: Symbols) -> None:
        self.known: dict[tuple[str, str, bool], bool] = {}


def waits(model: ApiFunction) -> bool:
    """Whether a modelled call waits, or makes a stream wait."""
    return model.synchronizes or (model.order is not None and model.order.waits is not None)


def is_standard(name: str) -> bool:
    """Whether an unmodelled function is one of the language's own that waits for nothing."""
    return _STANDARD.match(name) is not None and _WAITING.search(name) is None


def checks_status(run: FunctionRun, call: Call, state: State) -> bool:
    """Whether a call is given the status of an earlier one, to look at it."""
    return any(is_status(run.evaluator.value(a.value, state)) for a in call.arguments)


def is_calm(
    symbols: Symbols, key: str, filename: str, language: str, trusted: bool = False
) -> bool:
    """Whether a function of the run waits for nothing. What it calls out of sight may wait, except
    where it is ``trusted`` not to."""
    identity = (key, filename, trusted)
    calm = symbols.memo(_Calm).known
    known = calm.get(identity)
    if known is None:
        calm[identity] = True  # while a recursive call asks
        function = symbols.function(key, filename)
        known = function is not None and _body_is_calm(symbols, function, language, trusted)
        calm[identity] = known
    return known


def _body_is_calm(symbols: Symbols, function: Function, language: str, trusted: bool) -> bool:
    models = symbols.models(language)
    return all(
        is_calm_operation(symbols, call, function.filename, models, trusted)
        for _, call in calls(function)
    )


def is_calm_operation(
    symbols: Symbols,
    operation: Operation,
    filename: str,
    models: ApiModels,
    trusted: bool = False,
) -> bool:
    """Whether an operation waits for nothing."""
    if not isinstance(operation, Call):
        return True
    model = models.lookup(operation.name)
    if model is not None and not model.guess:
        return not waits(model)
    if operation.key and symbols.function(operation.key, filename) is not None:
        return is_calm(symbols, operation.key, filename, models.language, trusted)
    return trusted or is_standard(operation.name) or operation.kind == "copy"
