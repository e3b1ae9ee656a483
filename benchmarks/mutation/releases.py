"""Finds the releases of a program, and the acquisitions whose resources they end."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchmarks.mutation.model import (
    CONDITIONAL,
    EARLY_RETURN,
    KINDS,
    REMOVED,
    Release,
    Target,
)
from benchmarks.mutation.process_life import ProcessLife
from cudalint.analysis import analyze
from cudalint.analysis.domains.ownership.objects import Owners
from cudalint.analysis.domains.ownership.recorder import Acquired, Recorder
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.facts import ClassFacts
from cudalint.analysis.interpreter.exits import is_outside
from cudalint.analysis.queries.destructor_releases import released_members
from cudalint.analysis.queries.member_table import member_of
from cudalint.analysis.shape.arguments import bindings
from cudalint.analysis.shape.callgraph import CallGraph
from cudalint.analysis.shape.operations import expressions
from cudalint.analysis.shape.symbols import identity as identity_of
from cudalint.analysis.summaries import Linker
from cudalint.analysis.values.values import Input, Location
from cudalint.apis.loader import ApiModels
from cudalint.apis.model import ReleaseEffect
from cudalint.apis.paths import parse_path
from cudalint.program import (
    AddressOf,
    Assign,
    Branch,
    Call,
    Cast,
    Constant,
    Expression,
    Function,
    FunctionReference,
    Member,
    Operation,
    Program,
    Return,
    Variable,
    render,
    variables,
    walk,
)
from cudalint.source import Span

_MOST_CALLERS = 6
"""Levels of callers that are asked for what a helper releases."""
_FAILURES = {"cudaError_t": "return cudaErrorUnknown", "CUresult": "return CUDA_ERROR_UNKNOWN"}
_NAME = re.compile(r"[A-Za-z_]\w*")


def releases(programs: Sequence[Program], models: dict[str, ApiModels]) -> list[Release]:
    """Every release in the programs of a unit, once."""
    return list(_Finder(programs, models).releases())


class _Finder:
    def __init__(self, programs: Sequence[Program], models: dict[str, ApiModels]) -> None:
        self.linker = Linker(programs, models)
        self.runs = {
            (function.filename, function.key): run
            for function, program in self.linker.functions()
            if (run := self.linker.run_of(function, program)) is not None
        }
        self.classes: dict[tuple[str, str], ClassFacts] = {
            (facts.filename, facts.record.key): facts for facts in analyze(programs, models).classes
        }
        self.filled = _filled(programs)
        self.referred = {
            part.key
            for function, _ in self.linker.functions()
            for expression in expressions(function)
            for part in walk(expression)
            if isinstance(part, FunctionReference)
        }
        self.callers: dict[tuple[str, str], list[tuple[FunctionRun, Call]]] = {}
        self._find_callers()
        runs = list(self.runs.values())
        self.life = ProcessLife(self.linker, runs, self.callers, self.referred)

    def _find_callers(self) -> None:
        lambdas: dict[str, list[tuple[str, str]]] = {}
        for identity, run in self.runs.items():
            if run.function.kind == "lambda" and run.function.parent is not None:
                lambdas.setdefault(run.function.parent, []).append(identity)
        for run in self.runs.values():
            for call in _calls(run.function):
                if call.key is not None:
                    for callee, _ in self.linker.callees(call, run.filename):
                        self._add_caller(identity_of(callee), run, call)
                elif call.kind == "indirect":
                    for identity in lambdas.get(run.function.key, ()):
                        self._add_caller(identity, run, call)

    def _add_caller(self, callee: tuple[str, str], run: FunctionRun, call: Call) -> None:
        self.callers.setdefault(callee, []).append((run, call))

    # Releases ---------------------------------------------------------------------------------

    def releases(self) -> Iterator[Release]:
        """Every call that releases what it is given."""
        seen: set[tuple[str, Span]] = set()
        for run in self.runs.values():
            for call in _calls(run.function):
                model = run.models.lookup(call.name) if call.name else None
                if model is None and call.name.startswith("."):
                    model = run.models.lookup_method(call.name, None)
                effects = model.releases if model is not None else ()
                if model is None or (model.guess and self._has_body(run, call)):
                    continue
                for effect in effects if isinstance(effects, tuple) else (effects,):
                    if not _is_owed(effect, run.models):
                        continue
                    handle = _handle(call, effect, model.parameters)
                    if handle is None or isinstance(handle, Constant):
                        continue
                    if (run.filename, call.span) not in seen:
                        seen.add((run.filename, call.span))
                        release = self._release(run, call, effect, model.parameters)
                        if release is not None:
                            yield release

    def _has_body(self, run: FunctionRun, call: Call) -> bool:
        return bool(call.key and self.linker.definitions(call.key, run.filename))

    def _release(
        self,
        run: FunctionRun,
        call: Call,
        effect: ReleaseEffect,
        parameters: tuple[str, ...],
    ) -> Release | None:
        """``None`` where nothing is owed; without targets where nothing in sight was acquired."""
        place = _handle(call, effect, parameters)
        handle = render(place) if place is not None else ""
        acquired, members = self._targets(run, call.span), self._members(run, call.span)
        found_by = "path" if acquired else "member"
        acquired += members
        if acquired and all(target.managed for target in acquired):
            return None  # collected by itself: nothing is owed
        owed = [one for one in acquired if not one.managed]
        if not owed:
            owed, found_by = self._guessed(effect, {_last_name(handle), *self._given(run, place)})
        exempt = self._exempt(run, call, effect, parameters)
        if found_by == "name" and self._is_empty(run, owed):
            reason = "nothing is owned there: the acquisition has failed or is still to come"
            exempt = dict.fromkeys(KINDS, reason)
        if found_by == "family" and place is not None and self._is_unseen(run, place):
            reason = "what it releases comes from a function out of sight"
            exempt = dict.fromkeys(KINDS, reason)
        if found_by == "family" and self._is_asked_from_afar(run, place):
            exempt = dict.fromkeys(KINDS, "whoever passes it is out of sight")
        if EARLY_RETURN not in exempt and (
            self._is_left_to_destructor(run, call) or self._is_taken_out(run, call, place)
        ):
            exempt[EARLY_RETURN] = "the object keeps it, and its destructor releases it"
        if self._is_asked_for(run, call, place):
            reason = "its caller asks whether it was released, and releases it"
            exempt.setdefault(EARLY_RETURN, reason)
        if _is_renewed(run, call):
            reason = "its place gets something new afterwards: who releases that releases it"
            exempt.setdefault(EARLY_RETURN, reason)
        if any(one.filename == run.filename and _within(one.span, call.span) for one in acquired):
            exempt.setdefault(EARLY_RETURN, "the same statement acquires it")
        if owed and all(map(self.life.keeps, owed)):
            reason = "a global keeps it until the process ends, and it is acquired once"
            exempt = dict.fromkeys(KINDS, reason)
        if self.life.keeps_on_device(run, place, owed):
            reason = "a variable of the device keeps it until the process ends, as a global would"
            exempt = dict.fromkeys(KINDS, reason)
        if isinstance(place, Member) and not run.python and place.field not in self.filled:
            exempt = dict.fromkeys(KINDS, "nothing is ever put into this member")
        targets = tuple(
            dict.fromkeys(
                target for one in [*owed, *self._seen_by_callers(owed)] for target in _targets(one)
            )
        )
        return Release(
            filename=run.filename,
            span=call.span,
            api=call.name,
            handle=handle,
            function=run.function.name,
            language=run.program.language,
            returns=_early_return(run),
            targets=targets,
            found_by=found_by,
            exempt=exempt,
        )

    # What they release ------------------------------------------------------------------------

    def _targets(
        self,
        run: FunctionRun,
        span: Span,
        name: str = "",
        seen: frozenset[object] = frozenset(),
    ) -> list[Acquired]:
        """What paths release at a place of a function, its callers' resources included."""
        identity = (run.filename, run.function.key, span, name)
        if identity in seen or len(seen) > _MOST_CALLERS:
            return []
        seen |= {identity}
        found = [
            record.acquired
            for record in run.log(Recorder).records.values()
            if span in record.released
        ]
        if name:
            # A call may release several things: that of the name, if there is one.
            found = [one for one in found if _last_name(one.name) == name] or found
        locations = {
            release.location
            for outcome in run.outcomes
            for release in outcome.released
            if release.step.span == span and release.step.filename == run.filename
        }
        if locations:
            for caller, call in self.callers.get(identity[:2], ()):
                for location in locations:
                    passed = _passed(run.function, call, location)
                    found += self._targets(caller, call.span, passed, seen)
        return found

    def _members(self, run: FunctionRun, span: Span) -> list[Acquired]:
        """What the class or struct acquires into the member that is released at a place."""
        found = []
        for outcome in run.outcomes:
            for release in outcome.released:
                if release.step.span != span or release.step.filename != run.filename:
                    continue
                member = member_of(release.location, run.function, run.python)
                record = self.linker.record(member[0], run.filename) if member else None
                facts = self.classes.get((record.filename, record.key)) if record else None
                if facts is None or member is None:
                    continue
                name = member[1].partition("[")[0]
                wanted = {
                    (item.resource.filename, item.resource.span)
                    for item in facts.acquired
                    if item.member.partition("[")[0] == name
                }
                found += [one for one in self._acquired() if (one.filename, one.span) in wanted]
        return found

    def _acquired(self) -> Iterator[Acquired]:
        for run in self.runs.values():
            for record in run.log(Recorder).records.values():
                yield record.acquired

    def _given(self, run: FunctionRun, place: Expression | None) -> Iterator[str]:
        """The names of what callers pass for a parameter that is released."""
        location = (place.symbol,) if isinstance(place, Variable) else ()
        for _, call in self.callers.get((run.filename, run.function.key), ()) if location else ():
            yield _passed(run.function, call, location)

    def _guessed(self, effect: ReleaseEffect, names: set[str]) -> tuple[list[Acquired], str]:
        """Acquisitions of a fitting family: into a variable of one of some names, else all."""
        fitting = [
            acquired
            for acquired in self._acquired()
            if not acquired.managed and (not effect.families or acquired.family in effect.families)
        ]
        named = [acquired for acquired in fitting if _last_name(acquired.name) in names - {""}]
        return (named, "name") if named else (fitting, "family")

    def _seen_by_callers(self, acquired: Sequence[Acquired]) -> list[Acquired]:
        """The same resources where a caller gets them: its call of the function that acquires."""
        makers = [
            (identity, one)
            for one in acquired
            for identity, run in self.runs.items()
            for origin, record in run.log(Recorder).records.items()
            if record.acquired is one
            # It may leave the function, by a struct, a reference, the result:
            and (
                record.handed_over
                or (one.location and is_outside(run, one.location))
                or any(
                    item.resource.origin == origin
                    for outcome in run.outcomes
                    for item in outcome.handed_out
                )
            )
        ]
        found: list[Acquired] = []
        for _ in range(_MOST_CALLERS):
            callers = {
                (caller.filename, caller.function.key): replace(
                    one, filename=caller.filename, span=call.span
                )
                for identity, one in makers
                for caller, call in self.callers.get(identity, ())
            }
            new = [one for one in callers.values() if one not in found]
            if not new:
                break
            found += new
            makers = [(identity, one) for identity, one in callers.items() if one in new]
        return found

    def _is_left_to_destructor(self, run: FunctionRun, call: Call) -> bool:
        """Whether a method releases a member of its own object that the destructor, which does
        not call it, always releases too."""
        record = self.linker.record(run.function.record, run.filename)
        if record is None or run.function.kind != "method" or run.python:
            return False
        released = {
            str(release.location[1]).removeprefix(".")
            for outcome in run.outcomes
            for release in outcome.released
            if release.step.span == call.span and release.location[0] == "this"
            if len(release.location) == 2
        }
        methods = (self.linker.function(key, record.filename) for key in record.methods)
        destructors = {identity_of(one) for one in methods if one and one.kind == "destructor"}
        calls_it = identity_of(run.function) in self.linker.memo(CallGraph).reached(destructors)
        always = released_members(self.linker, record, always=True)
        return bool(released) and not calls_it and released <= always.keys()

    def _is_asked_from_afar(self, run: FunctionRun, place: Expression | None) -> bool:
        """Whether a function that nobody in sight calls, or hands on, releases what it is given."""
        function = run.function
        given = {one.symbol for one in function.parameters}
        used = (run.filename, function.key) in self.callers or function.key in self.referred
        asked = isinstance(place, Variable) and place.symbol in given
        return asked and function.kind == "function" and not used

    def _is_asked_for(self, run: FunctionRun, call: Call, place: Expression | None) -> bool:
        """Whether a function stores in a member, after it has released what it was given, that it
        did, and each caller asks that member before it goes on with what it gave
        (``if (!step.done) cudaFree(p)``)."""
        operations = (
            run.flow.blocks[number].operations[index : index + 1]
            for number, index in self.life.after(run, call)
        )
        said = {
            operation.target.field
            for operation in itertools.chain(*operations)
            if isinstance(operation, Assign) and isinstance(operation.target, Member)
            if isinstance(operation.value, Constant) and operation.value.value
        }
        callers = self.callers.get(identity_of(run.function), ())
        parameters = run.function.parameters
        if not isinstance(place, Variable) or place.symbol not in {p.symbol for p in parameters}:
            return False
        return bool(said and callers) and all(
            _asks(caller, bindings(at, parameters).get(place.symbol), said)
            for caller, at in callers
        )

    def _is_taken_out(self, run: FunctionRun, call: Call, place: Expression | None) -> bool:
        """Whether a release takes out of an object of the function what its destructor would have
        released: ``cudaFree(owner.release())``."""
        while isinstance(place, Member):
            place = place.base
        made = run.flow.definitions.get(place.symbol, []) if isinstance(place, Variable) else []
        for source in made:
            if not isinstance(source, Call) or not _within(source.span, call.span):
                continue
            model = run.models.lookup(source.name)
            if model is not None and model.disowns:
                return True
            owner = source.receiver.symbol if isinstance(source.receiver, Variable) else ""
            for destructor in run.log(Owners).destructors.get(owner, ()):
                ends = destructor.definition
                summary = self.linker.summary(ends.key, ends.filename)[0] if ends else None
                if summary is not None and any(one.released for one in summary.outcomes):
                    return True
        return False

    def _is_unseen(self, run: FunctionRun, place: Expression) -> bool:
        """Whether a function without a body in the run was given a variable, or what its value is
        read from, to put something there that nobody else knows of."""
        names = {one for one in variables(place) if _is_local(run.function, one)}
        for operation in _operations(run.function):
            if isinstance(operation, Assign) and names & variables(operation.target):
                names |= {one for one in variables(operation.value) if _is_local(run.function, one)}
        return any(
            names & variables(argument.value)
            for call in _calls(run.function)
            if call.key and not call.name.startswith("std::")
            if not self._has_body(run, call) and run.models.lookup(call.name) is None
            for argument in call.arguments
            if argument.reference or isinstance(_plain(argument.value), AddressOf)
        )

    def _is_empty(self, run: FunctionRun, named: Sequence[Acquired]) -> bool:
        """Whether paths release the function's own resource of that name elsewhere only."""
        own = [
            record
            for record in run.log(Recorder).records.values()
            if any(record.acquired is one for one in named)
        ]
        return bool(own) and all(record.released for record in own)

    # Mutants that change nothing --------------------------------------------------------------

    def _exempt(
        self,
        run: FunctionRun,
        call: Call,
        effect: ReleaseEffect,
        parameters: tuple[str, ...],
    ) -> dict[str, str]:
        """Kinds of mutants that leave the program as it is, and why.

        Where the process ends on every path after the release, nobody misses it. Where the same
        handle is released again later on by a call that may be repeated (``close`` in a
        ``finally``), the first release is not the one that counts.
        """
        exempt: dict[str, str] = {}
        others = (other.span for other in _calls(run.function) if other.span != call.span)
        leaving = (
            block.terminator.span
            for block in run.function.blocks
            if isinstance(block.terminator, Return)
        )
        if any(_within(span, call.span) for span in (*others, *leaving)):
            reason = "the macro around it does more than release"
            exempt = {REMOVED: reason, CONDITIONAL: reason}
        reached = set(self.life.after(run, call))
        ways = {type(run.flow.blocks[number].terminator) for number, _ in reached}
        if not self.life.ways_out(run, call):
            reason = "the process ends on every path after it"
            # A helper that returns early ends the process all the same.
            kinds = KINDS if Return in ways else (REMOVED, CONDITIONAL)
            return dict.fromkeys(kinds, reason)
        if Return not in ways and _is_handed_out(run, call):
            exempt[EARLY_RETURN] = "who has it where nothing is thrown releases it"
        if effect.idempotent:
            own = _handle(call, effect, parameters)
            for number, index in reached:
                operations = run.flow.blocks[number].operations
                other = operations[index] if index < len(operations) else None
                if (
                    isinstance(other, Call)
                    and other.name == call.name
                    and other.span != call.span
                    and other.receiver == call.receiver
                    and _handle(other, effect, parameters) == own
                ):
                    reason = f"line {other.span.row} releases it again on the same path"
                    return {REMOVED: reason, CONDITIONAL: reason, EARLY_RETURN: reason}
        return exempt


def _is_owed(effect: ReleaseEffect, models: ApiModels) -> bool:
    """Whether the release is of something that the linter wants released: not host memory."""
    families = [models.families[name] for name in effect.families if name in models.families]
    return not families or any(not family.managed and family.space != "host" for family in families)


def _within(inner: Span, outer: Span) -> bool:
    return (outer.row, outer.column) <= (inner.row, inner.column) and (
        (inner.end_row, inner.end_column) <= (outer.end_row, outer.end_column)
    )


def _filled(programs: Sequence[Program]) -> set[str]:
    """The members that anything but null is stored in, of any record of the programs."""
    found: set[str] = set()
    for program in programs:
        for function in program.functions:
            for block in function.blocks:
                for operation in block.operations:
                    found |= _filled_by(operation)
    for program in programs:
        for record in program.records:
            given = {record.key, record.name} & found
            found.update(field.name for field in record.fields if given)
    return found


def _filled_by(operation: Operation) -> set[str]:
    match operation:
        case Assign(target=Member(field=field), value=value):
            return set() if isinstance(value, Constant) and not value.value else {field}
        case Call(arguments=arguments, target=target, kind=kind, record=record):
            given = [argument.value for argument in arguments]
            places = [one.place for one in map(_plain, given) if isinstance(one, AddressOf)]
            places += [one.value for one in arguments if one.reference]
            fields = {place.field for place in (*places, target) if isinstance(place, Member)}
            # An aggregate is filled by what its constructor is given.
            made = {record} if kind == "constructor" and record and given else set()
            return fields | made
        case _:
            return set()


def _plain(expression: Expression) -> Expression:
    while isinstance(expression, Cast):
        expression = expression.operand
    return expression


def _is_handed_out(run: FunctionRun, call: Call) -> bool:
    """Whether a function that returns nothing, and does not throw, leaves with its caller what a
    call releases: an early return is no failure to that."""
    released = {
        origin for origin, one in run.log(Recorder).records.items() if call.span in one.released
    }
    return _early_return(run) == "return" and any(
        item.resource.origin in released
        for outcome in run.outcomes
        if outcome.kind == "return"
        for item in outcome.handed_out
    )


def _asks(run: FunctionRun, given: Expression | None, fields: set[str]) -> bool:
    """Whether a branch on some members leads on one side only to what reads a variable again."""
    symbols = variables(given) if given is not None else set()
    return any(
        bool(symbols & run.flow.live[branch.then])
        != bool(symbols & run.flow.live[branch.otherwise])
        for block in run.function.blocks
        if isinstance(branch := block.terminator, Branch)
        if any(isinstance(part, Member) and part.field in fields for part in walk(branch.condition))
    )


def _is_renewed(run: FunctionRun, call: Call) -> bool:
    """Whether a function leaves something new wherever it releases, by a call, what a place of its
    caller held."""
    released = {
        release.location
        for outcome in run.outcomes
        for release in outcome.released
        if release.step.span == call.span and release.step.filename == run.filename
    }
    renewed = {item.location for outcome in run.outcomes for item in outcome.handed_out}
    return bool(released) and released <= renewed


def _operations(function: Function) -> Iterator[Operation]:
    for block in function.blocks:
        yield from block.operations


def _calls(function: Function) -> Iterator[Call]:
    for operation in _operations(function):
        if isinstance(operation, Call):
            yield operation


def _is_local(function: Function, symbol: str) -> bool:
    info = function.variables.get(symbol)
    return info is not None and info.storage == "local"


def _handle(call: Call, effect: ReleaseEffect, parameters: tuple[str, ...]) -> Expression | None:
    path = parse_path(effect.handle, parameters)
    if path.root == "this":
        return call.receiver
    for argument in call.arguments:
        if argument.keyword is not None and argument.keyword == path.name:
            return argument.value
    positional = [
        argument.value
        for argument in call.arguments
        if argument.keyword is None and not argument.starred
    ]
    if path.index is None or path.index >= len(positional):
        return None
    handle = positional[path.index]
    while isinstance(handle, Cast):
        handle = handle.operand
    return handle


def _passed(function: Function, call: Call, location: Location) -> str:
    """The name of what a caller passes where a function releases a location of its input."""
    fields = [part.lstrip(".") for part in location[1:] if isinstance(part, str) and part != "[]"]
    if fields and _NAME.fullmatch(fields[-1]):
        return _last_name(fields[-1])
    parameters = [one.symbol for one in function.parameters if one.symbol != "this"]
    base = location[1] if location[0] == "@" and len(location) > 1 else location[0]
    symbol = base.location[0] if isinstance(base, Input) else base
    if symbol in parameters:
        position = parameters.index(str(symbol))
        if position < len(call.arguments):
            return _last_name(render(call.arguments[position].value))
    return ""


def _targets(acquired: Acquired) -> Iterator[Target]:
    """Where a resource is acquired: the call of the function that acquires it, and the line in
    there, where its class is told of it."""
    yield Target(acquired.filename, acquired.span.row, acquired.name, acquired.family)
    if acquired.from_callee is not None:
        filename, span = acquired.from_callee
        yield Target(filename, span.row, acquired.name, acquired.family)


def _last_name(place: str) -> str:
    names = _NAME.findall(re.sub(r"\[.*?\]", "", place))
    return names[-1].strip("_") if names else ""


def _early_return(run: FunctionRun) -> str:
    """The statement that leaves the function early; empty where there is none."""
    function = run.function
    if run.python:
        return "" if function.kind == "module" else "return"
    if function.is_main:
        return "return 1"
    returns = function.returns
    if function.kind in ("constructor", "destructor") or returns is None:
        return "return"
    if returns.kind == "void" or returns.text == "void":
        return "return"
    for name, failure in _FAILURES.items():
        if name in returns.text and returns.kind != "pointer":
            return failure
    if returns.kind == "integer":
        return "return 1"
    return "" if returns.kind == "reference" else "return {}"
