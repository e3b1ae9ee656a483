"""Follows the tensors of a whole run: functions, what they return to their callers, what callers
tell of them, and the classes that they belong to."""

from __future__ import annotations

import functools
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator

from cudalint.analysis.shape.callgraph import Site
from cudalint.analysis.shape.operations import calls, expressions, operands, operations
from cudalint.analysis.shape.places import place
from cudalint.analysis.shape.reach import closure
from cudalint.analysis.shape.subjects import hook_kinds, is_module
from cudalint.analysis.shape.symbols import Identity, Symbols, identity
from cudalint.analysis.tensors.evidence import gather
from cudalint.analysis.tensors.knowledge import Known
from cudalint.analysis.tensors.lattice import MODULE, NOTHING, Recording, Value
from cudalint.analysis.tensors.records import PASS, RETURNED, Evidence, Outcome, origin_at
from cudalint.analysis.tensors.scan import Scan, scan
from cudalint.analysis.tensors.solver import Solution, solve
from cudalint.program import THIS, Call, Function, FunctionReference, Variable, walk

MOST_ROUNDS = 4
"""How often evidence and callers' modes are carried around."""
MOST_DEPTH = 12
MOST_CALLERS = 3
"""Callers of callers that are asked whether they record gradients."""


class TensorRun:
    """The analysis of all Python functions of a run that have to do with tensors."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.models = symbols.models("python")
        self._known: dict[Identity, Known] = {}
        self._unrecorded: set[str] | None = None
        """The methods, by name, that are called where recording is off."""
        self._scans: dict[Identity, Scan] = {}
        self._classes: dict[tuple[str, str], Scan] = {}
        self.is_module = functools.cache(lambda record: is_module(symbols, record, ""))
        """Whether a class is a module with weights."""
        self._active: list[Identity] = []
        self._hooks: dict[Identity, frozenset[str]] = {}
        for function, program in symbols.functions():
            if program.language != "python":
                continue
            self._known[identity(function)] = Known(function, program)
        self._link_calls()

    # Functions of the run ---------------------------------------------------------------------

    def known(self, function: Function) -> Known:
        """What is kept of a function."""
        return self._known[identity(function)]

    def interesting(self, filenames: set[str]) -> list[Known]:
        """The functions of some files that compute gradients, put modules in evaluation mode or
        collect values in loops, and those that call them."""
        found: dict[Identity, Known] = {}
        pending: deque[tuple[Known, int]] = deque()
        for known in self._known.values():
            scan = self.scan(known.function)
            if known.function.filename in filenames and (
                scan.calls_backward
                or scan.evaluates
                or scan.inserts
                or scan.joins
                or scan.detaches
                or scan.calls_model
                or (scan.adds and (scan.lets_go or self._has_buffers(known.function)))
                or self.hook(known.function) - {"each_batch"}
                or self.is_evaluated(known.function)
                or any(self.scan(site.caller).evaluates for site in known.callers)
                or (scan.runs_module and self.is_module(known.function.record or ""))
            ):
                pending.append((known, 0))
        while pending:
            known, depth = pending.popleft()
            if identity(known.function) not in found:
                found[identity(known.function)] = known
                if depth < MOST_CALLERS:
                    pending.extend((self.known(site.caller), depth + 1) for site in known.callers)
        return list(found.values())

    def _has_buffers(self, method: Function) -> bool:
        record = method.record
        return record is not None and bool(self.class_scan(record, method.filename).buffers)

    def is_evaluated(self, method: Function) -> bool:
        """Whether the constructor of a method's class puts a module in evaluation mode."""
        constructor = self.symbols.method(method.record, "__init__", method.filename)
        return constructor is not None and bool(self.scan(constructor).evaluates)

    def callee(
        self, caller: Function, call: Call, records: frozenset[str] = frozenset()
    ) -> Function | None:
        """The function of the run that a call means; ``records`` are the classes that the receiver
        may be of, where that is not the caller's own."""
        if call.key and call.kind != "constructor":
            return self.symbols.function(call.key, caller.filename)
        if call.name.startswith(".") and call.receiver is not None:
            if call.receiver == THIS and caller.record is not None:
                records = frozenset({caller.record})
            record = next(iter(records)) if len(records) == 1 else None
            return self.symbols.method(record, call.name[1:], caller.filename)
        return None

    def _link_calls(self) -> None:
        for known in list(self._known.values()):
            function = known.function
            for at in operations(function):
                if isinstance(at.operation, Call):
                    callee = self.callee(function, at.operation, self._made(function, at.operation))
                    if callee is not None and identity(callee) in self._known:
                        site = Site(function, at, at.operation)
                        self._known[identity(callee)].callers.append(site)
                for part in walk(*operands(at.operation)):
                    if isinstance(part, FunctionReference) and part.key:
                        target = self.symbols.function(part.key, function.filename)
                        if target is not None and identity(target) in self._known:
                            self._known[identity(target)].referenced = True

    def _made(self, function: Function, call: Call) -> frozenset[str]:
        """The class that a call's receiver is made of, where one statement makes it."""
        made = self.symbols.flow(function).only(place(call.receiver) or "")
        if isinstance(made, Call) and made.kind == "constructor" and made.key:
            return frozenset({made.key})
        return frozenset()

    # Solving ----------------------------------------------------------------------------------

    def run(self, wanted: Iterable[Known]) -> None:
        """Solve functions until neither evidence nor modes change any more."""
        pending = list(wanted)
        for known in pending:
            known.entry = self._entry_mode(known)
        for _ in range(MOST_ROUNDS):
            changed: dict[Identity, Known] = {}
            for known in pending:
                self.solution(known)
            for known in pending:
                before = known.evidence
                known.evidence = gather(known, self)
                if known.evidence != before:
                    changed[identity(known.function)] = known
            for known in [k for k in self._known.values() if k.solution is not None]:
                mode, attached = self._entry_mode(known), self._returns_attached(known)
                if mode != known.entry or attached != known.returns_attached:
                    known.entry, known.returns_attached = mode, attached
                    changed[identity(known.function)] = known
            for known in [k for k in self._known.values() if k.solution is not None]:
                summary = self._summary(known)
                if summary == known.summary:
                    continue
                known.summary = summary
                for site in known.callers:
                    caller = self.known(site.caller)
                    if caller.solution is not None:
                        changed[identity(site.caller)] = caller
            for known in changed.values():
                known.solution = None
            pending = list(changed.values())
            if not pending:
                return
        for known in pending:
            self.solution(known)

    def solution(self, known: Known) -> Solution | None:
        """The solution of a function, made once; ``None`` while it is being made."""
        if known.solution is None:
            one = identity(known.function)
            if one in self._active or len(self._active) > MOST_DEPTH:
                return None
            self._active.append(one)
            try:
                known.solution = solve(known.function, self)
                known.summary = known.summary or self._summary(known)
            finally:
                self._active.pop()
        return known.solution

    def _summary(self, known: Known) -> object:
        solution = known.solution
        if solution is None:
            return None
        parts = {name: value.of() for name, value in solution.returned_parts.items()}
        parameters = {
            number for number, calls in known.evidence.parameters.items() if calls - {RETURNED}
        }
        return solution.returned.of(), parts, self._done(known), parameters

    def _done(self, known: Known) -> frozenset[str]:
        """The parts of what a function returns whose gradient it has computed itself."""
        solution, attached = known.solution, known.evidence.attached
        if solution is None or not attached:
            return frozenset()
        return frozenset(
            part
            for part, value in _returned(solution).items()
            if any(attached.get(origin, frozenset()) - {RETURNED} for origin in value.origins)
        )

    def _entry_mode(self, known: Known) -> Recording:
        decorated = self._decorated(known.function)
        if decorated:
            return decorated
        if "without_gradients" in self.hook(known.function):
            return Recording.OFF
        mode = Recording.NOTHING
        for site in known.callers:
            solution = self.known(site.caller).solution
            if solution is not None and site.caller is not known.function:
                record = solution.records.get(origin_at(*site.at.place))
                mode |= record.recording if record is not None else Recording.NOTHING
        if mode == Recording.OFF and not known.referenced:
            return mode
        parent = self._parent(known.function)
        if parent is not None and not known.callers and known.referenced:
            return Recording.EITHER
        return Recording.EITHER if mode == Recording.EITHER else Recording.ON

    def _parent(self, function: Function) -> Function | None:
        if function.parent is None:
            return None
        return self.symbols.function(function.parent, function.filename)

    def _decorated(self, function: Function) -> Recording:
        """What the decorators of a function switch recording to; nothing where they do not."""
        mode = Recording.NOTHING
        for text in function.decorators:
            name = text.partition("(")[0]
            effect = self.models.tensor_effect(name)
            effect = effect or self.models.tensor_effect("." + name.rpartition(".")[2])
            if effect is not None and effect.mode:
                off = effect.mode == "disabled" or text.endswith("(False)")
                return Recording.OFF if off else Recording.ON
            if effect is None or not effect.harmless:
                mode |= self._wrapper_mode(name, function.filename)
        return mode

    def _wrapper_mode(self, name: str, filename: str) -> Recording:
        """What a decorator switches recording to for what it wraps: nothing where it leaves that to
        the caller; either where it is out of sight, or has a switch in it and hides how."""
        decorator = self.symbols.function(name, filename)
        if decorator is None:
            return Recording.EITHER
        within = [
            known
            for known in self._known.values()
            if f"{known.function.parent}.<locals>".startswith(f"{decorator.key}.<locals>")
        ]
        parameters = [*decorator.parameters, *(p for k in within for p in k.function.parameters)]
        wrapped = {one.symbol for one in parameters}
        mode = Recording.NOTHING
        for known in within:
            solution = self.solution(known)
            for record in solution.records.values() if solution else ():
                call = record.operation
                called = call.callee if isinstance(call, Call) else None
                if isinstance(called, Variable) and called.symbol in wrapped:
                    mode |= record.recording
        if mode & Recording.OFF:
            return mode
        functions = (decorator, *(known.function for known in within))
        return Recording.EITHER if any(map(self._names_switch, functions)) else Recording.NOTHING

    def _names_switch(self, function: Function) -> bool:
        parts = (part for whole in expressions(function) for part in walk(whole))
        named = (part.name for part in parts if isinstance(part, FunctionReference))
        effects = map(self.models.tensor_effect, (*named, *(c.name for _, c in calls(function))))
        return any(effect is not None and effect.mode for effect in effects)

    def _returns_attached(self, known: Known) -> frozenset[str]:
        if "differentiated" in self.hook(known.function):
            parts = known.solution.returned_parts if known.solution is not None else {}
            return frozenset(one for one in ("['loss']", "[0]") if one in parts) or frozenset([""])
        found = {
            record.part
            for site in known.callers
            if (caller := self.known(site.caller)).solution is not None
            for origin in caller.evidence.attached
            if (record := caller.solution.records.get(origin)) is not None
            and record.operation == site.call
        }
        if known.solution is not None and known.solution.returned_parts:
            found.discard("")
        return frozenset(found)

    def looping_callers(self, known: Known) -> Iterator[Site]:
        """The calls of a function that are in loops."""
        for site in known.callers:
            if self.symbols.flow(site.caller).enclosing.get(site.at.block):
                yield site

    def hook(self, function: Function) -> frozenset[str]:
        """How a framework calls a method."""
        one = identity(function)
        if one not in self._hooks:
            self._hooks[one] = hook_kinds(self.symbols, function)
        return self._hooks[one]

    # Surroundings of one function -------------------------------------------------------------

    def entry(self, function: Function) -> Recording:
        """Whether operations are recorded when it is called."""
        return self.known(function).entry or self._entry_mode(self.known(function))

    def outcome(self, function: Function, call: Call, records: frozenset[str]) -> Outcome | None:
        """What a call of a function of the run gives back."""
        return self._outcome(self.callee(function, call, records))

    def passed(self, function: Function, records: frozenset[str]) -> Outcome | None:
        """What a call of a module gives back, if its class is known."""
        record = next(iter(records)) if len(records) == 1 else None
        return self._outcome(self.symbols.method(record, PASS, function.filename))

    def _outcome(self, callee: Function | None) -> Outcome | None:
        if callee is None or callee.is_generator or identity(callee) not in self._known:
            return None
        solution = self.solution(self.known(callee))
        if solution is None or solution.returned == NOTHING:
            return None  # of a method that only others fill in, nothing is known
        done = self._done(self.known(callee))
        return Outcome(solution.returned, solution.returned_parts, self.resets(callee), done)

    def resets(self, method: Function) -> frozenset[str]:
        """The members of its object that a method empties or replaces."""
        changed = self.scan(method).changed
        return frozenset(name[len("this.") :] for name in changed if name.startswith("this."))

    def kind_of(self, function: Function, name: str) -> Value | None:
        """What the whole function, class or module says of a place."""
        if name.startswith("new "):
            return MODULE if self.is_module(name[4:]) else None
        if name == "this":
            return MODULE if function.record and self.is_module(function.record) else None
        if name.startswith("this.") and function.record:
            return self.class_scan(function.record, function.filename).values.get(name)
        found = self.scan(function).values.get(name)
        if found is None and name.startswith("::"):
            module = self.symbols.programs.get(function.filename)
            for other in module.functions if module is not None else ():
                if other.kind == "module":
                    found = self.scan(other).values.get(name)
        if found is None and function.parent is not None:
            parent = self._parent(function)
            found = self.scan(parent).values.get(name) if parent is not None else None
        return found

    def scan(self, function: Function) -> Scan:
        """What the text of a function says of its places."""
        one = identity(function)
        if one not in self._scans:
            self._scans[one] = scan(function, self.models.tensor_effect, self.is_module)
        return self._scans[one]

    def calls_without_recording(self, method: str) -> bool:
        """Whether a function of the run that switches recording off, by itself or by a decorator,
        calls a method of this name, or one that does."""
        if self._unrecorded is None:
            by_name: dict[str, set[str]] = defaultdict(set)
            start: set[str] = set()
            for known in self._known.values():
                found = self.scan(known.function)
                by_name["." + known.function.name.rpartition(".")[2]] |= found.methods
                if found.switches or self._decorated(known.function) & Recording.OFF:
                    start |= found.methods
            self._unrecorded = closure(start, lambda name: by_name.get(name, ()))
        return method in self._unrecorded

    def is_switched(self, method: str) -> bool:
        """Whether a function of the run of this name (``.predict``) switches recording off."""
        return any(
            known.function.name.rpartition(".")[2] == method[1:]
            and (self.scan(known.function).switches or self._decorated(known.function))
            for known in self._known.values()
        )

    def class_scan(self, record: str, filename: str) -> Scan:
        """What all methods of a class, and of its bases in the run, say of its members."""
        key = (record, filename)
        if key not in self._classes:
            merged = self._classes[key] = Scan()
            for name in self.symbols.lineage(record, filename):
                for method in self.symbols.methods(name):
                    found = self.scan(method)
                    for_good = method.kind == "constructor" and found.switches_for_good
                    merged.freezes |= found.freezes or for_good
                    merged.bounded |= found.bounded
                    merged.buffers |= found.buffers
                    for member, value in found.values.items():
                        if member.startswith("this."):
                            known = merged.values.get(member)
                            merged.values[member] = value if known is None else known.join(value)
        return self._classes[key]

    def evidence(self, function: Function) -> Evidence:
        """What was found before of a function."""
        return self.known(function).evidence


def _returned(solution: Solution) -> dict[str, Value]:
    """What a function returns: its parts where it has some, else the whole."""
    return dict(solution.returned_parts) or {"": solution.returned}
