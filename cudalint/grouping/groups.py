"""Which files of a run must be analysed together.

Two files belong together when one needs what the other defines: a function, a class or struct, a
kernel. Files that share nothing are analysed apart: in parallel, and each with its own cache entry.
The links of a file are found once, when it is lowered.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import get_args, get_type_hints

import msgspec

from cudalint.analysis.shape.reach import closure
from cudalint.analysis.shape.symbols import shared_folders, short_name
from cudalint.apis.loader import ApiModels, load
from cudalint.program import (
    Call,
    Function,
    FunctionReference,
    Launch,
    Program,
    Record,
    Type,
    Variable,
)
from cudalint.source import Span


class Links(msgspec.Struct, frozen=True, array_like=True):
    """What a file defines and what it mentions; keys of the program model."""

    functions: list[str]
    """Functions with a body in it (or in a header that it includes)."""
    records: list[str]
    """Classes and structs of the file itself, not of a header."""
    header_records: dict[str, str]
    """Those of the project's headers that it includes, and the header of each."""
    kernels: list[str]
    called: list[str]
    """Functions called or referred to that it does not define."""
    used_records: list[str]
    """Classes and structs of its own, and all that it uses; not those that a header of the project
    uses which defines them itself: that is the same in each file that includes it."""
    launched: list[str]
    """Kernels launched, by name without scope."""
    implemented: list[str]
    """Classes and structs that functions of the file itself are methods of, or take."""
    referred: list[str]
    """Names of functions used as values: a kernel whose limits are raised is one."""


def links_of(program: Program) -> Links:
    """The links of one file, the sources in its strings included."""
    if program.embedded:
        whole = [program, *program.embedded]
        program = msgspec.structs.replace(
            program,
            functions=tuple(item for part in whole for item in part.functions),
            records=tuple(item for part in whole for item in part.records),
            kernels=tuple(item for part in whole for item in part.kernels),
            embedded=(),
        )
    functions = {function.key for function in program.functions}
    homes = {record.key: record.filename for record in program.records}
    models = load(program.language)
    called: set[str] = set()
    own = {key for key, home in homes.items() if home == program.filename}
    used = set(own)
    launched: set[str] = set()
    referred: set[str] = set()
    named: dict[str, set[str]] = defaultdict(set)
    """By global variable, the files whose functions name it."""

    def note(definition: msgspec.Struct, filename: str) -> None:
        for part in _parts(definition):
            mentioned: Iterable[str | None] = ()
            if isinstance(part, Call):
                # A class of its own is not made or copied by one of that name in another file.
                made = part.kind in ("constructor", "copy") and part.record in own
                if part.key and not made and not _is_api(part.name, models):
                    called.add(part.key)
                mentioned = (part.record,)
            elif isinstance(part, Launch):
                launched.add(short_name(part.kernel))
                called.update(key for key in (part.kernel_key,) if key)
            elif isinstance(part, FunctionReference):
                referred.add(short_name(part.name))
                called.update(key for key in (part.key,) if key and not _is_api(part.name, models))
            elif isinstance(part, Variable):
                named[part.symbol].add(filename)
            elif isinstance(part, Type | Function):
                mentioned = (part.record,)
            elif isinstance(part, Record):
                mentioned = part.bases
            used.update(key for key in mentioned if key and homes.get(key) != filename)

    definitions: tuple[Function | Record, ...] = (*program.functions, *program.records)
    for definition in definitions:
        note(definition, definition.filename)
    for symbol, variable in program.variables.items():
        for filename in sorted(named.get(symbol, {program.filename})):
            note(variable, filename)
    return Links(
        functions=sorted(functions),
        records=sorted(r.key for r in program.records if r.filename == program.filename),
        header_records={
            record.key: record.filename
            for record in sorted(program.records, key=lambda one: one.filename)
            if record.filename != program.filename
        },
        kernels=sorted({short_name(kernel.name) for kernel in program.kernels}),
        called=sorted(called - functions),
        used_records=sorted(used),
        launched=sorted(launched),
        implemented=sorted(_implemented(program)),
        referred=sorted(referred),
    )


def _is_api(name: str, models: ApiModels) -> bool:
    """Whether a model says what a function does: no body of that name in another file does, as
    those of a library that stands in for CUDA's in tests."""
    model = None if name.startswith(".") else models.lookup(name)
    return model is not None and not model.guess


def nearest(names: Sequence[str], caller: str) -> list[str]:
    """As the linker chooses: the definitions that share most of the path."""
    most = max((shared_folders(name, caller) for name in names), default=0)
    return [name for name in names if shared_folders(name, caller) == most]


def _implemented(program: Program) -> set[str]:
    found: set[str] = set()
    for function in program.functions:
        if function.filename != program.filename:
            continue
        if function.record:
            found.add(function.record)
        for parameter in function.parameters:
            kind: Type | None = parameter.type
            while kind is not None:
                if kind.record:
                    found.add(kind.record)
                kind = kind.pointee
    return found


def groups_of(links: Mapping[str, Links]) -> list[list[str]]:
    """The files in groups that share nothing with each other; files and groups in order."""
    joined: dict[str, set[str]] = {name: set() for name in links}

    def join(names: Sequence[str]) -> None:
        for one in names[1:]:
            joined[names[0]].add(one)
            joined[one].add(names[0])

    definers = _index(links, lambda one: one.functions)
    for key, callers in _index(links, lambda one: one.called).items():
        for caller in callers if key in definers else ():
            join([caller, *nearest(definers[key], caller)])

    owners = _index(links, lambda one: one.records)
    implementers = _index(links, lambda one: one.implemented)
    in_headers = _index(links, lambda one: one.header_records)
    for key, users in _index(links, lambda one: one.used_records).items():
        headers = {name: links[name].header_records[key] for name in in_headers.get(key, ())}
        homes = {name: [name] for name in owners.get(key, ())}
        known = sorted({*homes, *headers.values()})
        sharing: dict[str, set[str]] = {home: set() for home in known}
        for user in users:
            # Files that each define their own struct of the same name have nothing in common, nor
            # have those that include another header each.
            declared = [headers[user]] if user in headers else nearest(known, user)
            for home in homes.get(user, declared):
                sharing[home].add(user)
        for home, sharers in sharing.items():
            # Nor have files that merely include a header and use its classes as they stand there.
            if home not in homes:
                sharers &= set(implementers.get(key, ()))
            join(sorted({*sharers, *([home] if home in homes else [])}))

    kernels = _index(links, lambda one: one.kernels)
    launchers = _index(links, lambda one: one.launched)
    referrers = _index(links, lambda one: one.referred)
    for name in sorted(kernels.keys() | launchers.keys()):
        mentions = {*launchers.get(name, ()), *referrers.get(name, ())}
        if mentions - set(kernels.get(name, ())):
            join(sorted(mentions.union(kernels.get(name, ()))))
    found: list[list[str]] = []
    told: set[str] = set()
    for name in sorted(links):
        if name not in told:
            found.append(sorted(closure([name], joined.__getitem__)))
            told.update(found[-1])
    return found


def _index(
    links: Mapping[str, Links], keys: Callable[[Links], Iterable[str]]
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for filename, one in links.items():
        for key in keys(one):
            found[key].append(filename)
    return found


def _parts(definition: msgspec.Struct) -> Iterator[msgspec.Struct]:
    """Every struct of a function, a record or a variable that says more than a place."""
    pending: list[object] = [definition]
    while pending:
        part = pending.pop()
        if isinstance(part, msgspec.Struct):
            yield part
            pending += [getattr(part, name) for name in _holders(type(part))]
        elif isinstance(part, tuple):
            pending += part
        elif isinstance(part, dict):
            pending += part.values()


@functools.cache
def _holders(struct: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields of a struct in which such structs may be: most hold a name, a number, a span."""
    return tuple(name for name, hint in get_type_hints(struct).items() if _may_hold(hint))


def _may_hold(hint: object) -> bool:
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return hint is not Span
    return any(_may_hold(one) for one in get_args(hint))
