"""Who shares memory with whom in a function, and what a loop does to it."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.facts import Transfer
from cudalint.analysis.shape.arguments import given_at, inputs
from cudalint.analysis.shape.loops import can_avoid
from cudalint.analysis.shape.operations import (
    At,
    operands,
    operations,
    targets,
    terminal,
)
from cudalint.analysis.shape.places import names
from cudalint.analysis.shape.symbols import Identity, Symbols, identity
from cudalint.apis.model import ApiFunction
from cudalint.apis.paths import parse_path
from cudalint.program import (
    AddressOf,
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Delete,
    Dereference,
    Expression,
    Function,
    Index,
    Launch,
    Member,
    Operation,
    Slice,
    Tuple,
    Type,
    Unknown,
    Variable,
)
from cudalint.source import Span


def shared_names(expression: Expression, python: bool) -> Iterator[str]:
    """The variables whose memory a value shares: ``a`` for ``a[i:j]``, none for Python's ``a + b``
    (a new array), ``p`` for C++'s ``p + 1``."""
    match expression:
        case Variable() | Member(base=Variable(symbol="this")):
            yield from names(expression)
        case Member(base=base) | Index(base=base) | Slice(base=base):
            yield from shared_names(base, python)
        case Cast(operand=operand) | Dereference(pointer=operand) | AddressOf(place=operand):
            yield from shared_names(operand, python)
        case Conditional(then=then, otherwise=otherwise):
            yield from shared_names(then, python)
            yield from shared_names(otherwise, python)
        case Binary(left=left, right=right) if not python:
            yield from shared_names(left, python)
            yield from shared_names(right, python)
        case Tuple(items=items) | Unknown(reads=items):
            for item in items:
                yield from shared_names(item, python)


class Uses:
    """The operations of a function by loop, and the groups of names that may share memory."""

    def __init__(self, run: FunctionRun) -> None:
        self.run = run
        self.flow = run.flow
        self.python = run.python
        self.places = [
            at for number in self.flow.order for at in operations([self.flow.blocks[number]])
        ]
        self._leader: dict[str, str] = {}
        for place in self.places:
            self._join(place.operation)
        self._elsewhere: frozenset[str] | None = None

    # Loops --------------------------------------------------------------------------------------

    def inside(self, header: int) -> list[At]:
        """The operations of a loop."""
        body = self.flow.loops[header]
        return [place for place in self.places if place.block in body]

    def in_each_iteration(self, block: int, header: int) -> bool:
        """Whether no iteration of a loop goes past a block and on to the next one."""
        return not can_avoid(self.flow, self.flow.loops[header], header, header, block)

    def loop_span(self, header: int) -> Span:
        """Where a loop starts."""
        return self.flow.head(header) or self.run.function.span

    # Groups -------------------------------------------------------------------------------------

    def group(self, roots: set[str]) -> frozenset[str]:
        """All names that may share memory with some."""
        leaders = {self._find(name) for name in roots}
        return frozenset({*roots, *(name for name in self._leader if self._find(name) in leaders)})

    def _find(self, name: str) -> str:
        while (above := self._leader.get(name, name)) != name:
            name = above
        return name

    def _unite(self, found: list[str]) -> None:
        for name in found:
            self._leader.setdefault(name, name)
            self._leader[self._find(name)] = self._find(found[0])

    def _join(self, operation: Operation) -> None:
        if isinstance(operation, Assign):
            shared = list(shared_names(operation.value, self.python))
            if shared:
                self._unite([*shared_names(operation.target, self.python), *shared])
        elif isinstance(operation, Call):
            self._join_call(operation)

    def _join_call(self, call: Call) -> None:
        model = self.model(call)
        shared = [name for value in inputs(call) for name in shared_names(value, self.python)]
        made = list(shared_names(call.target, self.python)) if call.target is not None else []
        if model is not None:
            returns = model.returns
            keeps: list[object] = [model.inserts, model.takes, model.swaps, model.assigns]
            if returns is None:
                keeps += [model.aliases, model.elements, model.table]
            else:
                keeps += [returns.view_of, returns.may_alias and not self.moves(call)]
            if any(keeps):
                self._unite([*made, *shared])
            return
        library = self.python and call.key is None and call.kind == "function"
        if library and call.name and not call.name.rpartition(".")[2][:1].isupper():
            return
        self._unite([*made, *shared])

    def moves(self, call: Call) -> bool:
        """Whether a call copies from the host to the device: its result is other memory."""
        transfer = self.transfer(call)
        source = transfer.source if transfer is not None else None
        from_host = source is not None and source.space in ("host", "pinned")
        return from_host and transfer is not None and transfer.to.space != "host"

    def transfer(self, call: Call) -> Transfer | None:
        """The copy that a call makes."""
        return self.run.log(Recorder).transfers.get((call.span, call.name))

    def model(self, call: Call) -> ApiFunction | None:
        """What is known of a called function of a library."""
        if not call.name:
            return None
        if call.name.startswith("."):
            return self.run.models.lookup_method(call.name, "host")
        model = self.run.models.lookup(call.name)
        return None if model is not None and model.guess and call.key else model

    # What a loop does ---------------------------------------------------------------------------

    def rebinds(self, header: int, found: set[str]) -> bool:
        """Whether a loop gives one of some variables another value."""
        operations = [place.operation for place in self.inside(header)]
        written = [target for one in operations for target in targets(one)]
        written += [one.place for one in operations if isinstance(one, Delete)]
        return any(isinstance(t, Variable | Member) and found & set(names(t)) for t in written)

    def writes(
        self, header: int, group: frozenset[str], but: At | None = None, lent: bool = False
    ) -> bool:
        """Whether a loop may write to the memory that a group of names shares. ``lent``: other
        objects' methods and callable objects (a network) only read what they are given."""
        return any(
            self.changes(place.operation, group, lent)
            for place in self.inside(header)
            if place != but
        )

    def changes(self, operation: Operation, group: frozenset[str], lent: bool = False) -> bool:
        """Whether an operation may write to the memory of a group of names."""
        match operation:
            case Assign(target=target, augmented=augmented):
                whole = isinstance(target, Variable) or (isinstance(target, Member) and self.python)
                if whole and not augmented:
                    return False
                return bool(group & set(shared_names(target, False)))
            case Launch():
                return self._launch_writes(operation, group)
            case Call():
                return self._call_writes(operation, group, lent)
            case _:
                return False

    def _launch_writes(self, launch: Launch, group: frozenset[str]) -> bool:
        kernel = self.run.symbols.kernel(launch.kernel_key, launch.kernel, self.run.filename)
        parameters = kernel.parameters if kernel is not None else ()
        return any(
            position >= len(parameters) or not _is_input(parameters[position].type)
            for position, argument in enumerate(launch.arguments)
            if group & set(names(argument.value))
        )

    def _call_writes(self, call: Call, group: frozenset[str], lent: bool) -> bool:
        model = self.model(call)
        given = [a for a in call.arguments if group & set(names(a.value))]
        received = call.receiver is not None and bool(group & set(names(call.receiver)))
        if not given and not received:
            return False
        if any(argument.keyword == "out" for argument in given):
            return True
        if model is not None:
            if model.swaps or model.assigns or model.releases:
                return True
            effects = (model.copies, model.sets)
            written = [*model.host_writes, *(one.to for one in effects if one is not None)]
            if any(self._at(call, model, to) & group for to in written if to != "return"):
                return True
            return not self.python and model.copies is None and bool(given)
        if not self.python:
            # ``v.data()``: no argument tells it to change anything.
            return call.kind != "method" or bool(call.arguments) or call.target is None
        if received and not given:
            return call.name.endswith("_") and not call.name.endswith("__")
        if call.kind == "function" and call.key is None:
            return False  # a library's function
        return not (lent and call.key is None)

    def _at(self, call: Call, model: ApiFunction, path: str) -> set[str]:
        found = given_at(call, parse_path(path, model.parameters))
        return set(names(found)) if found is not None else set()

    def written_elsewhere(self, found: set[str]) -> bool:
        """Whether another function of the file writes to one of some members or globals, or a
        function in this one uses one of its variables."""
        if self._elsewhere is None:
            self._elsewhere = frozenset(self.run.symbols.memo(_Writers).elsewhere(self.run))
        private = self.run.private_globals
        return any(name in self._elsewhere and name not in private for name in found)

    def reads(self, symbols: frozenset[str]) -> Iterator[tuple[At | None, int, Expression]]:
        """Every expression of the function that mentions one of some names: the operation (none for
        a condition or a returned value), its block, and the operand."""
        for place in self.places:
            for operand in operands(place.operation):
                if symbols & set(names(operand)):
                    yield place, place.block, operand
        for number in self.flow.order:
            value = terminal(self.flow.blocks[number])
            if value is not None and symbols & set(names(value)):
                yield None, number, value


def _is_input(declared: Type) -> bool:
    """Whether a kernel only reads what is passed for a parameter."""
    if declared.text == "object":
        return declared.constant
    return declared.pointee is not None and declared.pointee.constant


class _Writers:
    """By function: the names that it writes, or gives to others, each looked through once."""

    def __init__(self, _: Symbols) -> None:
        self._known: dict[tuple[Identity, bool], frozenset[str]] = {}

    def elsewhere(self, run: FunctionRun) -> Iterator[str]:
        """What other functions of a file may write of what a function sees."""
        for function in run.program.functions:
            if function.key != run.function.key and function.kind != "constructor":
                inner = function.parent == run.function.key
                which = identity(function), inner
                if which not in self._known:
                    self._known[which] = frozenset(_written(function, inner, run.python))
                yield from self._known[which]


def _written(function: Function, inner: bool, python: bool) -> Iterator[str]:
    """The names that a function writes or gives to others: those that all share, but of a function
    ``inner`` to the one that asks."""
    for _, _, operation in operations(function):
        found = [n for t in targets(operation) for n in shared_names(t, python)]
        if inner or isinstance(operation, Call | Launch):
            found += [n for operand in operands(operation) for n in names(operand)]
        yield from (n for n in found if inner or n.startswith(("::", "this.")))
