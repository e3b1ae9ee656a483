"""What the functions and files of a run deal with, themselves or through what they call."""

from __future__ import annotations

from cudalint.analysis.shape.arguments import named
from cudalint.analysis.shape.callgraph import CallGraph
from cudalint.analysis.shape.operations import calls, operations
from cudalint.analysis.shape.symbols import Identity, Symbols, identity
from cudalint.analysis.shape.walk import texts
from cudalint.apis.loader import ApiModels
from cudalint.apis.model import ApiFunction
from cudalint.program import Call, Function, Launch, Program


class Subjects:
    """What the functions of a run deal with, themselves or through what they call."""

    def __init__(self, symbols: Symbols) -> None:
        graph = symbols.memo(CallGraph)
        owning: set[Identity] = set()
        owing: set[Identity] = set()
        arrays: set[Identity] = set()
        for function, program in symbols.functions():
            models = symbols.models(program.language)
            for _, _, operation in operations(function):
                if isinstance(operation, Launch):
                    owning.add(identity(function))
                    owing.add(identity(function))
                elif isinstance(operation, Call):
                    model = models.lookup(operation.name)
                    if model is not None and _owns(model):
                        owning.add(identity(function))
                        if owes(model, models):
                            owing.add(identity(function))
                    if model is not None and (model.returns or model.copies):
                        arrays.add(identity(function))
        self.owning = graph.reaching(owning)
        """Those that own, release or launch anything."""
        self.owing = graph.reaching(owing)
        """Those of them that have to do with more than the host's memory, which nobody owes."""
        self.dealing = graph.reaching(owning | arrays)
        """Those, and those that make or copy arrays: all others have no facts of sizes."""
        self.telling = graph.reached(self.dealing)
        """Those, and those that tell any of them something."""


def _owns(model: ApiFunction) -> bool:
    return bool(
        model.acquires or model.releases or model.sets or model.launches or model.opts_in
        or model.resets or model.status or model.reads_last_error or model.unwraps
    )  # fmt: skip


def owes(model: ApiFunction, models: ApiModels) -> bool:
    """Whether a function acquires, releases or launches anything but memory of the host, which
    nobody owes."""
    families = [one.family for one in model.acquires]
    families += [family for one in model.releases for family in one.families]
    known = [models.families.get(family) for family in families]
    return _owns(model) and not (
        known and all(one is not None and one.space == "host" and one.managed for one in known)
    )


def hook_kinds(symbols: Symbols, function: Function) -> frozenset[str]:
    """How a framework calls a method, as its base class says: for every batch, without gradients,
    to differentiate what it returns."""
    bases = symbols.lineage(function.record, function.filename) if function.record else ()
    return symbols.models("python").hook_kinds(bases, function.key.rpartition(".")[2])


def is_served(symbols: Symbols, function: Function) -> bool:
    """Whether a service calls a function for each request: an object of the module decorates it."""
    program = symbols.programs.get(function.filename)
    modules = [one for one in program.functions if one.kind == "module"] if program else []
    for decorator in function.decorators:
        owner, _, method = decorator.partition("(")[0].rpartition(".")
        for module in modules if owner else ():
            made = symbols.flow(module).only(f"::{owner}")
            name = made.name if isinstance(made, Call) else ""
            effect = symbols.models("python").lifetime_effect(name)
            if effect is not None and method in effect.serves:
                return True
    return False


def is_module(symbols: Symbols, record: str, filename: str) -> bool:
    """Whether a class is a module with weights, by what it derives from."""
    models = symbols.models("python")
    for base in symbols.lineage(record, filename):
        if base == record and "." not in base:
            continue
        lasting, effect = models.lifetime_effect(base), models.tensor_effect(base)
        if (lasting is not None and lasting.modules) or (
            effect is not None and effect.result == "module"
        ):
            return True
    return False


def packages(program: Program) -> frozenset[str]:
    """The packages (``torch``) whose functions, classes and types a Python file names."""
    names = [call.name for function in program.functions for _, call in calls(function)]
    names += [base for record in program.records for base in record.bases]
    for variable in program.variables.values():
        names += [variable.type.text or "", str(getattr(variable.constant, "name", ""))]
    return frozenset(name.partition(".")[0] for name in names)


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
            if named(call, "device") is not None:
                return True
            if any(text.startswith("cuda") for a in call.arguments for text in texts(a.value)):
                return True
    return False
