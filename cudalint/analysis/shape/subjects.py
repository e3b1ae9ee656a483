"""What the functions and files of a run deal with, themselves or through what they call."""

from __future__ import annotations

from cudalint.analysis.shape.operations import calls, operations
from cudalint.analysis.shape.symbols import Symbols
from cudalint.analysis.shape.walk import texts
from cudalint.apis.loader import ApiModels
from cudalint.apis.model import ApiFunction
from cudalint.program import Call, Launch, Program

Identity = tuple[str, str]
"""Of a function: its file and key."""


class Subjects:
    """What the Python functions of a run deal with, themselves or through what they call."""

    def __init__(self, symbols: Symbols) -> None:
        self._callers: dict[Identity, set[Identity]] = {}
        self._callees: dict[Identity, set[Identity]] = {}
        owning: set[Identity] = set()
        arrays: set[Identity] = set()
        for function, program in symbols.functions():
            if program.language != "python":
                continue
            identity = (function.filename, function.key)
            for _, _, operation in operations(function):
                if isinstance(operation, Launch):
                    owning.add(identity)
                elif isinstance(operation, Call):
                    model = symbols.models("python").lookup(operation.name)
                    if model is not None and _owns(model):
                        owning.add(identity)
                    if model is not None and (model.returns or model.copies):
                        arrays.add(identity)
                    self._note_call(symbols, identity, operation)
        self.owning = _closure(owning, self._callers)
        """Those that own, release or launch anything."""
        self.dealing = _closure(owning | arrays, self._callers)
        """Those, and those that make or copy arrays: all others have no facts of sizes."""
        self.telling = _closure(self.dealing, self._callees)
        """Those, and those that tell any of them something."""

    def _note_call(self, symbols: Symbols, caller: Identity, call: Call) -> None:
        callee = symbols.function(call.key, caller[0]) if call.key else None
        if callee is not None:
            identity = (callee.filename, callee.key)
            self._callers.setdefault(identity, set()).add(caller)
            self._callees.setdefault(caller, set()).add(identity)


def _closure(start: set[Identity], following: dict[Identity, set[Identity]]) -> set[Identity]:
    found, pending = set(start), list(start)
    while pending:
        new = following.get(pending.pop(), set()) - found
        found |= new
        pending.extend(new)
    return found


def _owns(model: ApiFunction) -> bool:
    return bool(
        model.acquires or model.releases or model.sets or model.launches or model.opts_in
        or model.resets or model.status or model.reads_last_error or model.unwraps
    )  # fmt: skip


def uses_device(program: Program, models: ApiModels) -> bool:
    """Whether anything in the file may go to a device."""
    for function in program.functions:
        for _, call in calls(function):
            effect = models.tensor_effect(call.name)
            moves = effect is not None and (
                effect.device == "device"
                or (effect.device == "argument" and call.receiver is not None)
            )
            if moves or ".cuda" in call.name:
                return True
            if any(given.keyword == "device" for given in call.arguments):
                return True
            if any(text.startswith("cuda") for a in call.arguments for text in texts(a.value)):
                return True
    return False
