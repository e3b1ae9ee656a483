"""The functions, classes and kernels of a run, and which of them a name in a file means."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Sequence as Ordered
from typing import Any, TypeVar

from cudalint.analysis.facts import LaunchSite
from cudalint.analysis.shape.flow import Flow
from cudalint.analysis.shape.operations import expressions, operations, targets
from cudalint.analysis.shape.reach import closure
from cudalint.apis.loader import ApiModels
from cudalint.program import (
    Call,
    Function,
    Kernel,
    Program,
    Record,
    Type,
    variables,
)

Memo = TypeVar("Memo")


_BY_COMPILER = ("implicit", "defaulted")

Identity = tuple[str, str]
"""Of a function: its file and its key."""
MOST_DEFINITIONS = 4
"""Of one function: of more nobody knows which one a call means."""


def identity(function: Function) -> Identity:
    """What tells a function from all others of a run."""
    return function.filename, function.key


class Symbols:
    """All programs of a run. Where several files define the same name (each sample has a
    ``main``), the definition in the same file counts, else the one that shares most of the path.
    Where several functions do, each program links another one."""

    def __init__(self, programs: Ordered[Program], models: dict[str, ApiModels]) -> None:
        self.programs: dict[str, Program] = {}
        for program in programs:
            # A file comes before the sources in its strings.
            self.programs.setdefault(program.filename, program)
        self._models = models
        self._functions: dict[str, list[tuple[Function, Program]]] = {}
        self._kernels: dict[str, list[Kernel]] = {}
        self._records: dict[str, dict[str, Record]] = {}
        self._derived: dict[str, list[Record]] = {}
        """By class: those that derive from it directly."""
        self.opt_ins: dict[tuple[str, str], int] = {}
        """By the kernel's name and the file that defines it, or that opts in."""
        self._callees: dict[tuple[str, str, str], list[tuple[Function, Program]]] = {}
        self._memos: dict[Any, Any] = {}
        self._plain_copies: dict[tuple[str, str, bool], bool] = {}
        self._flows: dict[int, tuple[Function, Flow]] = {}
        self._methods: dict[str | None, list[Function]] = {}
        self._nested: dict[str | None, list[Function]] = {}
        overridden: dict[str, set[str]] = {}
        for program in programs:
            for function in program.functions:
                known = self._functions.setdefault(function.key, [])
                if not any(
                    other.filename == function.filename and other.span == function.span
                    for other, _ in known
                ):
                    known.append((function, program))
                    self._methods.setdefault(function.record, []).append(function)
                    self._nested.setdefault(function.parent, []).append(function)
            for record in program.records:
                for method, above in record.virtual.items():
                    overridden.setdefault(method, set()).update(above)
                by_file = self._records.setdefault(record.key, {})
                earlier = by_file.get(record.filename)
                if earlier is None or len(record.fields) > len(earlier.fields):
                    by_file[record.filename] = record
                    for base in record.bases if earlier is None else ():
                        self._derived.setdefault(base, []).append(record)
            for kernel in program.kernels:
                for name in dict.fromkeys((kernel.key, kernel.name)):
                    kernels = self._kernels.setdefault(name, [])
                    if kernel not in kernels:
                        kernels.append(kernel)
        self._overridden = {
            method: closure([method], lambda one: overridden.get(one, ())) for method in overridden
        }
        """By method: itself and all that it overrides."""

    def models(self, language: str) -> ApiModels:
        """The API models of a language."""
        return self._models[language]

    def functions(self) -> list[tuple[Function, Program]]:
        """Every function of the run once, in the order of the files."""
        return [pair for pairs in self._functions.values() for pair in pairs]

    def definitions(self, key: str | None, filename: str) -> list[tuple[Function, Program]]:
        """The definitions that a call in a file may mean, and the programs that have them."""
        known = self._functions.get(key or "", ())
        known = [pair for pair in known if self._is_same_class(pair[0], filename)]
        found = _nearest(known, filename, lambda pair: pair[0].filename)
        return found if len(found) <= MOST_DEFINITIONS else []

    def _is_same_class(self, method: Function, filename: str) -> bool:
        """Whether a file means by the name of a method's class that class: two programs may each
        have a class of one name."""
        homes = self._records.get(method.record or "", {})
        if len(homes) <= 1 or method.filename == filename:
            return True
        own, meant = (self.record(method.record, one) for one in (method.filename, filename))
        return own is None or meant is None or own is meant

    def definition(self, key: str | None, filename: str) -> tuple[Function, Program] | None:
        """The only definition that a call in a file may mean, and the program that has it."""
        return _only(self.definitions(key, filename))

    def function(self, key: str | None, filename: str) -> Function | None:
        """The only definition that a call in a file may mean."""
        found = self.definition(key, filename)
        return found[0] if found else None

    def record(self, key: str | None, filename: str) -> Record | None:
        """The class or struct that a file means by a key."""
        if not key or key not in self._records:
            return None
        known = list(self._records[key].values())
        return _only(_nearest(known, filename, lambda record: record.filename))

    def lineage(
        self, key: str, filename: str, below: frozenset[str] = frozenset()
    ) -> dict[str, Record | None]:
        """A class and all that it derives from, in the order in which a method is looked for, by
        their keys; ``None`` for those out of sight."""
        record = self.record(key, filename)
        found = {key: record}
        for base in record.bases if record is not None else ():
            if record is not None and base not in below:
                for above, known in self.lineage(base, record.filename, below | {key}).items():
                    found.pop(above, None)
                    found[above] = known
        return found

    def classes(self, key: str | None, filename: str) -> list[Record]:
        """A class and all that it derives from, as far as they are in the run."""
        found = self.lineage(key, filename).values() if key else ()
        return [record for record in found if record is not None]

    def copies_members(self, record: Record, assigns: bool) -> bool:
        """Whether a copy of an object, or what ``assigns`` one, copies its members as they are: no
        class that it derives from or contains says how, as far as they are in the run."""
        asked = record.filename, record.key, assigns
        if asked not in self._plain_copies:
            self._plain_copies[asked] = all(
                (one.copy_assignment if assigns else one.copy_constructor) in _BY_COMPILER
                and all(
                    inner is None or self.copies_members(inner, assigns)
                    for _, inner in self.contained(one)
                )
                for one in self.classes(record.key, record.filename)
            )
        return self._plain_copies[asked]

    def contained(self, record: Record) -> Iterator[tuple[Type, Record | None]]:
        """The types of a class's own data members, of arrays those of their elements, and their
        classes as far as they are in the run."""
        for field in record.fields:
            kind = field.type
            while kind.kind == "array" and kind.pointee is not None:
                kind = kind.pointee
            yield kind, self.record(kind.record, record.filename) if kind.kind == "record" else None

    def fields(self, key: str | None, filename: str) -> dict[str, Type]:
        """The types of a class's data members, those of its bases too."""
        classes = self.classes(key, filename)[::-1]
        return {field.name: field.type for record in classes for field in record.fields}

    def concrete(self, key: str) -> list[str]:
        """The classes that an object may be of that is known to be of a class: this one, if it is
        in the run, and all that derive from it."""
        found = closure([key], lambda one: [record.key for record in self._derived.get(one, ())])
        known = ((one, next(iter(self._records.get(one, {}).values()), None)) for one in found)
        return sorted(one for one, record in known if record is not None and not record.is_abstract)

    def is_polymorphic(self, record: str) -> bool:
        """Whether a class of the run has virtual methods, its own or inherited."""
        known = next(iter(self._records.get(record, {}).values()), None)
        return known is not None and any(
            one.virtual for one in self.classes(record, known.filename)
        )

    def overrider(self, method: str, record: str, filename: str) -> str:
        """What runs where a virtual method is called of an object of a class."""
        for known in self.classes(record, filename):
            for own in known.virtual:
                if method in self._overridden[own]:
                    return own
        return method

    def callees(self, call: Call, filename: str) -> list[tuple[Function, Program]]:
        """The functions of the run that a call may mean."""
        if not (call.virtual and call.key and call.record):
            return self.definitions(call.key, filename)
        asked = (call.key, call.record, filename)
        if asked not in self._callees:
            concrete = self.concrete(call.record)
            keys = dict.fromkeys(self.overrider(call.key, one, filename) for one in concrete)
            self._callees[asked] = [one for key in keys for one in self.definitions(key, filename)]
        return self._callees[asked]

    def method(self, record: str | None, name: str, filename: str) -> Function | None:
        """A method of a Python class, its own or inherited."""
        for key, known in self.lineage(record, filename).items() if record else ():
            found = self.function(f"{key}.{name}", known.filename if known else filename)
            if found is not None:
                return found
        return None

    def kernel(self, key: str | None, name: str, filename: str) -> Kernel | None:
        """The kernel that a launch in a file means."""
        for known in (key, name):
            if known and known in self._kernels:
                kernels = self._kernels[known]
                here = [kernel for kernel in kernels if kernel.filename == filename]
                if known != key and len(here) > 1:
                    return None  # strings of one file may each define a kernel of that name
                return _only(_nearest(kernels, filename, lambda kernel: kernel.filename))
        return None

    def opt_in(self, kernel: str, amount: int, filename: str) -> None:
        """A kernel's dynamic shared memory limit is raised in a file; -1: by an unknown amount. A
        kernel without a name may be any."""
        name = short_name(kernel)
        where = (name, self._home(None, kernel, filename))
        earlier = self.opt_ins.get(where)
        unknown = amount < 0 or not name or (earlier is not None and earlier < 0)
        self.opt_ins[where] = -1 if unknown else max(amount, earlier or 0)

    def opted_in(self, launch: LaunchSite, filename: str) -> int | None:
        """What ``opt_in`` said of a launch's kernel; -1 too where the kernel of either side cannot
        be told."""
        name = short_name(launch.kernel_name)
        names = {name, launch.kernel.name if launch.kernel is not None else name}
        home = launch.kernel.filename if launch.kernel is not None else filename
        found = [
            amount if other in names else -1
            for (other, where), amount in self.opt_ins.items()
            if (other in ("", *names) or launch.given or (name == "kernel" and not launch.kernel))
            and (where == home or self._know(where, home))
        ]
        return None if not found else -1 if -1 in found else max(found)

    def _home(self, key: str | None, kernel: str, filename: str) -> str:
        found = self.kernel(key, kernel, filename) or self.kernel(key, short_name(kernel), filename)
        return found.filename if found is not None else filename

    def _know(self, one: str, other: str) -> bool:
        """Whether one of two files includes or imports the other."""
        return any(
            program is not None and name in program.includes
            for program, name in ((self.programs.get(one), other), (self.programs.get(other), one))
        )

    def private_globals(self, function: Function, program: Program) -> frozenset[str]:
        """The module variables that only the module's own code mentions."""
        shared = {
            symbol
            for other in program.functions
            if other.kind != "module"
            for symbol in mentioned(other)
            if symbol.startswith("::")
        }
        return frozenset(mentioned(function) - shared)

    def methods(self, record: str | None) -> Ordered[Function]:
        """The methods of a class with a body in the run, those that the compiler writes too."""
        return self._methods.get(record, ()) if record else ()

    def nested(self, key: str) -> Ordered[Function]:
        """The lambdas and functions that a function defines in its body."""
        return self._nested.get(key, ())

    def class_methods(self, function: Function) -> list[Function]:
        """The methods of a method's class, itself too, and of all that the class derives from."""
        lineage = self.lineage(function.record, function.filename) if function.record else ()
        return [method for name in lineage for method in self.methods(name)]

    def has_finalizer(self, function: Function) -> bool:
        """Whether the class of a method has a destructor (``__del__``)."""
        return any(one.kind == "destructor" for one in self.methods(function.record))

    def flow(self, function: Function) -> Flow:
        """The shape of a function of the run, made once."""
        found = self._flows.get(id(function))
        if found is None:
            # The function is kept, so that no other one gets its identity.
            found = self._flows[id(function)] = (function, Flow(function))
        return found[1]

    def memo(self, kind: Callable[[Symbols], Memo]) -> Memo:
        """What somebody keeps of the run as a whole, begun when it is first asked for."""
        found: Memo | None = self._memos.get(kind)
        if found is None:
            found = self._memos[kind] = kind(self)
        return found


def mentioned(function: Function) -> set[str]:
    """All variables that a function mentions."""
    written = (target for at in operations(function) for target in targets(at.operation))
    return {symbol for part in (*expressions(function), *written) for symbol in variables(part)}


Candidate = TypeVar("Candidate")


def _nearest(
    candidates: Ordered[Candidate], filename: str, name_of: Callable[[Candidate], str]
) -> list[Candidate]:
    """The candidate in the same file, else those that share most of the path."""
    if len(candidates) <= 1:
        return list(candidates)
    shared = [_shared(name_of(item), filename) for item in candidates]
    most = max(shared)
    found = [item for item, count in zip(candidates, shared, strict=True) if count == most]
    return found[:1] if most == _SAME_FILE else found


def _only(found: Ordered[Candidate]) -> Candidate | None:
    return found[0] if len(found) == 1 else None


_SAME_FILE = 1 << 30


def _shared(one: str, other: str) -> int:
    return _SAME_FILE if one == other else shared_folders(one, other)


def shared_folders(one: str, other: str) -> int:
    """How many leading folders two file names have in common."""
    count = 0
    for a, b in zip(one.split("/")[:-1], other.split("/")[:-1], strict=False):
        if a != b:
            break
        count += 1
    return count


def short_name(name: str) -> str:
    """A kernel's name without its scope and template arguments."""
    return name.partition("<")[0].rpartition("::")[2].rpartition(".")[2].strip("&() ")
