"""Whether a call may make the host wait, or order streams, out of the path engine's sight."""

from __future__ import annotations

from cudalint.analysis.engine.evaluate import is_status
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.shape.callgraph import CallGraph
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.shape.symbols import Symbols, identity
from cudalint.apis.model import ApiFunction
from cudalint.program import Call, Function


class _Waiting:
    """The functions of a run that may wait: without trust in what is out of sight, and with it."""

    def __init__(self, symbols: Symbols) -> None:
        graph = symbols.memo(CallGraph)
        self.functions = {
            trusted: graph.reaching(
                identity(function)
                for function, program in symbols.functions()
                if any(
                    _may_wait(symbols, call, function.filename, program.language, trusted)
                    for _, call in calls(function)
                )
            )
            for trusted in (False, True)
        }


def _may_wait(symbols: Symbols, call: Call, filename: str, language: str, trusted: bool) -> bool:
    """Whether a call may wait by itself, and not in a function of the run."""
    models = symbols.models(language)
    model = models.lookup(call.name)
    if model is not None and not model.guess:
        return waits(model)
    if symbols.function(call.key, filename) is not None:
        return False
    return not (trusted or models.never_waits(call.name) or call.kind == "copy")


def waits(model: ApiFunction) -> bool:
    """Whether a modelled call waits, or makes a stream wait."""
    return model.synchronizes or (model.order is not None and model.order.waits is not None)


def checks_status(run: FunctionRun, call: Call, state: State) -> bool:
    """Whether a call is given the status of an earlier one, to look at it."""
    return any(is_status(run.evaluator.value(a.value, state)) for a in call.arguments)


def is_calm(symbols: Symbols, function: Function, trusted: bool = False) -> bool:
    """Whether a function of the run waits for nothing. What it calls out of sight may wait, except
    where it is ``trusted`` not to."""
    return identity(function) not in symbols.memo(_Waiting).functions[trusted]


def is_calm_call(symbols: Symbols, call: Call, filename: str, language: str) -> bool:
    """Whether a call waits for nothing, whatever it calls."""
    function = symbols.function(call.key, filename)
    return not _may_wait(symbols, call, filename, language, False) and (
        function is None or is_calm(symbols, function)
    )
