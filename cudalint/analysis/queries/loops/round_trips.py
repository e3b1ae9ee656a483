"""Arrays that go to the host for one step and back (Python)."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts.loops import RoundTrip
from cudalint.analysis.shape.arguments import given_at, inputs
from cudalint.analysis.shape.operations import calls, operations
from cudalint.analysis.shape.placement import Placements
from cudalint.analysis.shape.places import place
from cudalint.analysis.shape.symbols import Symbols
from cudalint.apis.loader import ApiModels
from cudalint.apis.paths import parse_path
from cudalint.program import Call, Function, Launch


def round_trips(function: Function, symbols: Symbols, models: ApiModels) -> Iterator[RoundTrip]:
    """The copies to the device of what a function that is no library's made of an array that had
    been fetched for it."""
    fetched = dict(_fetched(function, symbols, models))
    made: dict[str, Call] = {}
    for at in operations(function) if fetched else ():
        call, name = at.operation, place(getattr(at.operation, "target", None))
        if not isinstance(call, Call):
            made.pop(name or "", None)
            continue
        if name is not None:
            made[name] = call
        model = models.lookup(call.name)
        copies = model.copies if model is not None else None
        if model is None or copies is None or copies.direction != "host-to-device":
            continue
        source = place(given_at(call, parse_path(copies.source, model.parameters)))
        step = made.get(source or "")
        if step is None or models.lookup(step.name) is not None or _is_builtin(step):
            continue
        names = [name for one in inputs(step) if (name := place(one)) in fetched]
        if names and made.get(names[0]) is fetched[names[0]]:
            fetch = fetched[names[0]]
            yield RoundTrip(step.name.removeprefix("."), call.span, fetch.span)


def _fetched(function: Function, symbols: Symbols, models: ApiModels) -> Iterator[tuple[str, Call]]:
    """The places that hold the copy of a device array on the host, with the call that made it."""
    placements = Placements(function, symbols)
    launched = {
        place(argument.value)
        for at in operations(function)
        if isinstance(at.operation, Launch)
        for argument in at.operation.arguments
    }
    for _, call in calls(function):
        name, model = place(call.target), models.lookup(call.name)
        if name is None:
            continue
        effect = models.tensor_effect(call.name)
        if call.receiver is None:
            copies = model is not None and model.copies is not None
            is_fetch = copies and effect is not None and effect.device == "host"
        elif effect is None or effect.device != "host" or call.arguments:
            continue
        else:
            is_fetch = place(call.receiver) in launched or placements.of(call.receiver) == "device"
        if is_fetch:
            yield name, call


def _is_builtin(call: Call) -> bool:
    return call.name.startswith("builtins.")
