"""What an object on the heap keeps in its containers: it is lost with the object.

Elements are not followed one by one once a method has put them there, the object is: where nobody
deletes it, its destructor does not release them.
"""

from __future__ import annotations

from dataclasses import replace

from msgspec import structs

from cudalint.analysis.domains.ownership.objects import class_in
from cudalint.analysis.domains.ownership.recorder import Acquired, Recorder
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State, Status
from cudalint.analysis.shape.destruction import Destruction
from cudalint.analysis.shape.effects import EffectsOf
from cudalint.analysis.values.elements import LENGTH
from cudalint.analysis.values.values import Const, Location, Pointer, Symbol, resources_in


def owner_of_contents(run: FunctionRun, state: State, resource: Symbol) -> Acquired | None:
    """An object that was made with ``new``, as the owner of what it keeps in containers; ``None``
    where it has none, or a member of it is followed by itself."""
    known = run.log(Recorder).records
    own = known[resource.origin].acquired
    block = Pointer(resource, Const(0))
    kind = class_in(block, state) if own.managed else None
    if kind is None:
        return None
    inside: set[Symbol] = set()
    outside: set[Symbol] = set()
    for location, value in state.values.items():
        if location[:2] == ("@", block):
            inside.update(() if _is_emptied(state, location) else resources_in(value))
        elif not run.evaluator.is_local(location):
            outside.update(resources_in(value))
    if any(state.status(one) is Status.OWNED for one in inside):
        return None
    kept = sorted(
        one
        for one in inside - outside
        if state.status(one) is Status.ESCAPED and known[one.origin].acquired.contained
    )
    if not kept or not _is_released_by_destructor(run, kind):
        return None
    first = known[kept[0].origin].acquired
    record = run.symbols.record(kind, run.filename)
    return replace(
        own,
        api=first.api,
        family=first.family,
        info=structs.replace(first.info, releases=("delete",)),
        through=f"new {record.name}" if record is not None else None,
        from_callee=first.from_callee,
        managed=False,
    )


def _is_emptied(state: State, location: Location) -> bool:
    """Whether a place is an element of a container that has none any more."""
    lengths = (state.values.get((*location[:end], LENGTH)) for end in range(len(location)))
    return Const(0) in lengths


def _is_released_by_destructor(run: FunctionRun, key: str) -> bool:
    """Whether the destructor of a class releases something of an object."""
    effects = run.symbols.memo(EffectsOf)
    ends = run.symbols.memo(Destruction).record(key, run.filename)
    known = (one.definition for one in ends if one.definition is not None)
    pairs = (run.symbols.definition(one.key, one.filename) for one in known)
    return any(pair is not None and "this" in effects.of(*pair).released for pair in pairs)
