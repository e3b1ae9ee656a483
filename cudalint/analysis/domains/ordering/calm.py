"""Whether a call may make the host wait, or order streams, out of the path engine's sight."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cudalint.analysis.engine.evaluate import is_status
from cudalint.analysis.engine.state import State
from cudalint.apis.loader import ApiModels
from cudalint.apis.model import ApiFunction
from cudalint.program import Call, Function, Operation

if TYPE_CHECKING:
    from cudalint.analysis.interpreter.worklist import FunctionRun
    from cudalint.analysis.summaries import Linker

_STANDARD = re.compile(r"(std::|operator|__builtin_|builtins\.|__gnu_cxx::)")
_WAITING = re.compile(
    r"thread|future|promise|mutex|lock|condition_variable|wait|async|barrier|latch|semaphore|atomic"
    r"|chrono|sleep",
    re.IGNORECASE,
)
"""What the standard library has that waits: for a callback, or for another thread that waited."""


def waits(model: ApiFunction) -> bool:
    """Whether a modelled call waits, or makes a stream wait."""
    return model.synchronizes or (model.order is not None and model.order.waits is not None)


def is_standard(name: str) -> bool:
    """Whether an unmodelled function is one of the language's own that waits for nothing."""
    return _STANDARD.match(name) is not None and _WAITING.search(name) is None


def checks_status(run: FunctionRun, call: Call, state: State) -> bool:
    """Whether a call is given the status of an earlier one, to look at it."""
    return any(is_status(run.evaluator.value(a.value, state)) for a in call.arguments)


def is_calm(linker: Linker, key: str, filename: str, language: str, trusted: bool = False) -> bool:
    """Whether a function of the run waits for nothing. What it calls out of sight may wait, except
    where it is ``trusted`` not to."""
    identity = (key, filename, trusted)
    known = linker.calm.get(identity)
    if known is None:
        linker.calm[identity] = True  # while a recursive call asks
        function = linker.function(key, filename)
        known = function is not None and _body_is_calm(linker, function, language, trusted)
        linker.calm[identity] = known
    return known


def _body_is_calm(linker: Linker, function: Function, language: str, trusted: bool) -> bool:
    models = linker.models(language)
    return all(
        is_calm_operation(linker, operation, function.filename, models, trusted)
        for block in function.blocks
        for operation in block.operations
    )


def is_calm_operation(
    linker: Linker,
    operation: Operation,
    filename: str,
    models: ApiModels,
    trusted: bool = False,
) -> bool:
    """Whether an operation waits for nothing."""
    if not isinstance(operation, Call):
        return True
    model = models.lookup(operation.name) if operation.name else None
    if model is not None and not model.guess:
        return not waits(model)
    if operation.key and linker.function(operation.key, filename) is not None:
        return is_calm(linker, operation.key, filename, models.language, trusted)
    return trusted or is_standard(operation.name) or operation.kind == "copy"
