"""What functions do with the members of classes and C structs: acquire, release, hand out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Set
from dataclasses import dataclass, field, replace

from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.domains.ownership.releases import is_attachment, is_provided
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import InputRelease
from cudalint.analysis.engine.summary import RETURN, HandedOut, Outcome
from cudalint.analysis.facts import (
    Exit,
    MemberAcquisition,
    Resource,
    Site,
    part_of,
)
from cudalint.analysis.queries.another_way import released_on_another_way
from cudalint.analysis.queries.reachable_members import (
    forwards,
    released_by_own_methods,
)
from cudalint.analysis.shape.effects import EffectsOf
from cudalint.analysis.shape.members import class_given, declaring, member_in, referred
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.shape.reach import closure
from cudalint.analysis.summaries import Linker
from cudalint.analysis.values.elements import is_any_element, is_index
from cudalint.analysis.values.values import (
    Const,
    Input,
    Location,
    Operation,
    Pointer,
    Symbol,
    Value,
    integer,
    resources_in,
)
from cudalint.program import (
    Call,
    Expression,
    Function,
    Program,
    Record,
    Type,
    Variable,
    walk,
)
from cudalint.source import Span


@dataclass
class Members:
    """What the functions of a run do with the members of one record."""

    record: Record
    acquired: dict[tuple[str, object], MemberAcquisition] = field(default_factory=dict)
    makers: dict[tuple[str, object], Function] = field(default_factory=dict)
    """The functions that make these acquisitions."""
    by_destructor: dict[str, Site] = field(default_factory=dict)
    elsewhere: dict[str, Site] = field(default_factory=dict)
    releasing: dict[str, set[str]] = field(default_factory=dict)
    """Member to the functions that release it outside the destructor."""
    acquiring: dict[str, set[str]] = field(default_factory=dict)
    renewing: dict[str, set[str]] = field(default_factory=dict)
    """Member to the functions after which it holds something new, by themselves or by others."""
    releases: list[tuple[str, InputRelease, FunctionRun]] = field(default_factory=list)
    careless: dict[tuple[str, object], Function] = field(default_factory=dict)
    """Acquisitions without a look at the earlier value, and the functions that make them."""
    on_one_way: dict[tuple[str, object], Site] = field(default_factory=dict)
    """Those whose functions release the earlier value on another way, and where."""
    together: dict[str, set[str]] = field(default_factory=dict)
    """Members to others that were given the same resource."""
    families: dict[str, set[str]] = field(default_factory=dict)
    """What functions put into each member, whoever it belongs to."""
    made: set[str] = field(default_factory=set)
    """Members that functions put something into, be it a table on the host."""
    managed: dict[str, tuple[Resource, str]] = field(default_factory=dict)
    """What functions put into members that is not for CUDA to release, and who does."""
    passed_in: set[str] = field(default_factory=set)
    """Members into which functions put what callers pass, or what a call out of sight gives."""
    ending: Function | None = None
    """Its destructor, or where it has none, that of a class that derives from it."""
    escaping: set[str] = field(default_factory=set)
    lent_out: set[str] = field(default_factory=set)
    """What is returned to the caller as well."""
    owners: set[str] = field(default_factory=set)
    """The classes whose functions acquire them: this one, or what derives from it."""
    programs: dict[str, Program] = field(default_factory=dict)
    """The files that acquire them, by name."""
    given: bool = False
    """A function out of sight is given an object."""
    takes_back: bool = False
    """A method releases what its caller gives it."""
    resets: bool = False
    """A method resets the device."""
    unfollowed: bool = False
    """A function that was not followed to its end may release something of an object."""
    left: set[str] = field(default_factory=set)
    """Elements of tables that nobody releases, where others are."""

    @property
    def destructor(self) -> Site | None:
        """Where what it holds should be released."""
        end = self.ending
        return None if end is None else Site(end.filename, end.span, end.name)

    def is_replaced(self, name: str) -> bool:
        """Whether only those functions release a member that put something new there."""
        return self.releasing.get(name, set()) <= self.renewing.get(name, set())


_NUMBERED = re.compile(r"\w+\[\d+\]")
"""An element of a table, by its number."""

ReleasedFields = dict[tuple[str | None, str], set[str]]
"""By a class, if anybody can tell, and a member of it: the functions that release it."""

Table = dict[tuple[str, str], Members]
"""By a record's key and file."""


def collect(linker: Linker, runs: list[FunctionRun]) -> Table:
    """Everything that functions do with members, by record."""
    table: Table = {}
    fields: ReleasedFields = defaultdict(set)
    lost = {
        record.acquired.from_callee
        for run in runs
        for record in run.log(Recorder).records.values()
        if record.lost and record.acquired.kept_by_callee
    }
    for run in runs:
        _collect(run, linker, table, lost)
        for found in _released_members(run):
            fields[found].add(run.function.key)
    _share_patterns(table)
    for members in table.values():
        _set_tables_apart(members)
    _look_after(table, linker)
    for members in table.values():
        _join_holders(members, linker)
        for name in sorted({part_of(member) for member, _ in members.acquired}):
            _released_for_good(members, name, fields, linker)
        members.left.update(_elements_left(members, fields, linker))
    return table


def _share_patterns(table: Table) -> None:
    """What the pattern of a template loses, each of its instances may: a template with many of
    them has only the first ones followed, and the pattern in place of the others."""
    patterns = {
        (members.record.filename, members.record.span): members
        for members in table.values()
        if members.record.is_template
    }
    for members in table.values():
        pattern = patterns.get((members.record.filename, members.record.span), members)
        if pattern is not members:
            members.by_destructor = pattern.by_destructor | members.by_destructor
            members.elsewhere = pattern.elsewhere | members.elsewhere
            members.escaping |= pattern.escaping
            for name, functions in pattern.releasing.items():
                members.releasing.setdefault(name, set()).update(functions)


def _released_for_good(members: Members, name: str, fields: ReleasedFields, linker: Linker) -> None:
    """Note the release of a member by who uses the object, as in ``registry[i].second->cells``:
    where nobody knows of which struct, of any that nobody is seen to empty."""
    *way, last = name.partition("[")[0].split(".")
    holder: str | None = members.record.key
    for part in way:
        holder = _record_of(linker.fields(holder, members.record.filename).get(part))
    own = declaring(holder, last, members.record.filename, linker)
    owners: set[str | None] = {own} if own and "[" not in name else set()
    if not members.releases:
        owners = {None, own} if own else {of for of, _ in fields}
    releasing = {function for of in owners for function in fields.get((of, last), ())}
    releasing -= members.renewing.get(name, set())
    releasing -= {run.function.key for one, _, run in members.releases if part_of(one) == name}
    # The destructor of what a member points to runs where somebody deletes that.
    releasing -= {one.key for one in linker.methods(own) if way and one.kind == "destructor"}
    if releasing and name not in members.by_destructor and members.is_replaced(name):
        site = Site(members.record.filename, members.record.span, name)
        members.elsewhere.setdefault(name, site)
        members.releasing.setdefault(name, set()).update(releasing)


def _released_members(run: FunctionRun) -> set[tuple[str | None, str]]:
    """The members that a function releases for good: what it leaves in an object on other paths,
    it only takes back where it fails."""
    handed = [item for outcome in run.outcomes for item in outcome.handed_out]
    origins = {item.resource.origin for item in handed if item.location != (RETURN,)}
    own = {item.location[-1] for item in handed if item.location[0] == "this"}
    return {
        (one.record, one.name)
        for one in run.log(Recorder).released_members
        if one.origin not in origins and f".{one.name}" not in own
    }


def _look_after(table: Table, linker: Linker) -> None:
    for members in table.values():
        program = linker.programs.get(members.record.filename)
        python = program is not None and program.language == "python"
        own = linker.methods(members.record.key) if python else ()
        families = {one.member: one.resource.family for one in members.acquired.values()}
        for name, site, function in released_by_own_methods(families, own, linker):
            ending = linker.models("python").ends_object(function.name)
            (members.by_destructor if ending else members.elsewhere).setdefault(name, site)
        if members.takes_back:  # an allocator, whose users say when
            members.escaping |= members.lent_out
        if members.resets:
            gone = (one for one in members.acquired.values() if one.resource.info.reset)
            members.escaping |= {part_of(one.member) for one in gone}
        if forwards(own) or members.unfollowed:
            members.escaping |= {part_of(member) for member, _ in members.acquired}


def _elements_left(members: Members, fields: ReleasedFields, linker: Linker) -> Iterator[str]:
    """The elements of an array that are acquired by their numbers and not released, where every
    release is of another element, by its number, and in no loop."""
    numbered = [one.member for one in members.acquired.values() if _NUMBERED.fullmatch(one.member)]
    if not numbered or not members.releases:
        return
    kinds = linker.fields(members.record.key, members.record.filename)
    released: dict[str, dict[str, bool]] = defaultdict(dict)
    own: dict[str, set[str]] = defaultdict(set)
    sites: dict[str, set[Span]] = defaultdict(set)
    for name, release, run in members.releases:
        direct = any(call.span == release.step.span for _, call in calls(run.function))
        plain = direct and run.complete and not any(run.flow.enclosing.values())
        released[part_of(name)][name] = plain and _NUMBERED.fullmatch(name) is not None
        own[part_of(name)].add(run.function.key)
        sites[part_of(name)].add(release.step.span)
    for element in numbered:
        table = part_of(element)
        declared = declaring(members.record.key, table, members.record.filename, linker)
        ends = (members.by_destructor.get(table), members.elsewhere.get(table))
        if (
            table in kinds
            and kinds[table].kind == "array"
            and not members.together.get(table)
            and element not in released[table]
            and all(released[table].values())
            and any(ends)
            and all(end is None or end.span in sites[table] for end in ends)
            and all(fields.get((of, table), set()) <= own[table] for of in (None, declared))
        ):
            yield element


def member_of(
    location: Location, function: Function, python: bool
) -> tuple[str | None, str] | None:
    """The record and member that a location of a function stands for, if any: ``this->d``, a
    struct parameter's ``p->d`` or ``p.d``."""
    root = location[0]
    if root == "this" and len(location) > 1:
        return (function.record, _name(location[1:])) if function.record else None
    rest = location[1:]
    if is_attachment(location) and isinstance(location[1], Input):
        of = member_of(location[1].location, function, python)
        return None if of is None else (of[0], f"{of[1]}{location[-1]}")
    if root == "@":
        base = location[1]
        if not isinstance(base, Input) or len(base.location) != 1:
            return None
        root, rest = base.location[0], location[2:]
    kinds = {one.symbol: one.type for one in function.parameters} if not python else {}
    record = _record_of(function.returns if root == "return" else kinds.get(str(root)))
    if record is None or all(map(is_index, rest)):
        return None  # an element of the caller's table is no member of what it points to
    return record, _name(rest)


def _find(
    run: FunctionRun, linker: Linker, table: Table, location: Location
) -> tuple[Members, str] | None:
    """``member_of``, of the class that declares the member, and of the innermost object: a member
    with a destructor looks after its own."""
    found = member_of(location, run.function, run.python)
    while found is not None:
        key, name = found
        first, _, rest = name.partition(".")
        key = declaring(key, first.partition("[")[0], run.filename, linker) or key
        record = linker.record(key, run.filename)
        kinds = [field.type for field in record.fields if field.name == first] if record else []
        inner = linker.record(kinds[0].record, run.filename) if kinds and rest else None
        if inner is None or inner.destructor not in ("declared", "defined"):
            members = _members(table, linker, key, run.filename)
            return (members, name) if members is not None else None
        found = (inner.key, rest)
    return None


def _seen_through(location: Location) -> Location:
    """Where a part of an object stands to which a member of this one points, or of the struct that
    a function is given."""
    holder = location[1] if location[0] == "@" else None
    if holder is not None and is_any_element(holder):
        holder = holder.operands[0]
    if (
        isinstance(holder, Input)
        and len(holder.location) > 1
        and holder.location[0] in ("this", "@")
    ):
        return _seen_through((*holder.location, *location[2:]))
    return location


def _name(path: Location) -> str:
    return "".join("[...]" if part == "[]" else str(part) for part in path).removeprefix(".")


def _record_of(kind: Type | None) -> str | None:
    while kind is not None and kind.record is None and kind.pointee is not None:
        kind = kind.pointee
    return kind.record if kind is not None else None


def path_of(member: str) -> str:
    """``aux.gpu`` for ``aux[...].gpu``: all elements of a table are alike, their fields are not."""
    return re.sub(r"\[.*?\]", "", member)


def _collect(
    run: FunctionRun, linker: Linker, table: Table, lost: Set[tuple[str, Span] | None]
) -> None:
    """Note what a function does; ``lost`` is what callers are seen to lose of what they got."""
    function = run.function
    ending = is_ending(run)
    for outcome in run.outcomes:
        for item in outcome.handed_out:
            _acquisition(run, linker, table, outcome, item, lost)
        for release in outcome.released:
            found = _find(run, linker, table, _seen_through(release.location))
            if found is None:
                continue
            members, name = found[0], part_of(found[1])
            site = Site(release.step.filename, release.step.span, release.api)
            members.releases.append((found[1], release, run))
            if ending:
                members.by_destructor.setdefault(name, site)
            else:
                members.elsewhere.setdefault(name, site)
                releasing = members.releasing.setdefault(name, set())
                # A constructor does not end the object that it makes: it only makes room.
                releasing |= {function.key} if function.kind != "constructor" else set()
        for location, value in outcome.writes:
            own = isinstance(value, Input) and value.location[0] == "this"
            unknown = isinstance(value, Input | Symbol) and location[0] == "this" and not own
            if unknown and (found := _find(run, linker, table, location)):
                found[0].passed_in.add(path_of(found[1]))
        for location in sorted((*outcome.stored, *_provided(outcome)), key=repr):
            if stored := _find(run, linker, table, location):
                stored[0].escaping.add(part_of(stored[1]))
    for key, name in _handed_over(run, linker) if ending else ():
        if known := _members(table, linker, key, run.filename):
            known.escaping.add(name)
    for key in _given(run, linker):
        if known := _members(table, linker, key, run.filename):
            known.given = True
    for key in _unfollowed(run, linker):
        if known := _members(table, linker, key, run.filename):
            known.unfollowed = True
    takes_back, resets = _releases_parameter(run), run.log(Recorder).resets
    if takes_back or resets:
        known = _members(table, linker, function.record, run.filename)
        if known is not None:
            known.takes_back |= takes_back
            known.resets |= resets
    for record in linker.classes(function.record, run.filename) if ending else ():
        known = _members(table, linker, record.key, record.filename)
        if known is not None and (
            known.ending is None or known.ending.record != record.key == function.record
        ):
            known.ending = function


def _provided(outcome: Outcome) -> Iterator[Location]:
    """Members that a later call hands back where it would acquire something: they are somebody
    else's."""
    for location, value in outcome.writes:
        if is_provided(location) and isinstance(value, Input):
            yield value.location


def _given(run: FunctionRun, linker: Linker) -> set[str]:
    """The classes of which a function gives an object to one that is out of sight."""
    found: set[str] = set()
    for _, call in calls(run.function) if not run.python else ():
        if call.kind == "function" and not (
            run.models.lookup(call.name) or linker.definition(call.key, run.filename)
        ):
            for argument in call.arguments:
                key = class_given(argument.value, run.function, run.program, linker)
                found |= {key} if key is not None else set()
    return found


def _unfollowed(run: FunctionRun, linker: Linker) -> set[str]:
    """The classes of which a function that was not followed to its end may release something."""
    if run.complete:
        return set()
    function = run.function
    effects = linker.memo(EffectsOf).of(function, run.program)
    roots = effects.released | effects.kept
    if function.kind == "constructor" and "this" not in effects.kept:
        roots -= {"this"}  # nothing of an object ends where it is made
    records = {_record_of(one.type) for one in function.parameters if one.symbol in roots}
    records |= {function.record} if "this" in roots or run.python else set()
    return {record for record in records if record is not None}


def _handed_over(run: FunctionRun, linker: Linker) -> set[tuple[str, str]]:
    """The members that what ends an object gives to macros and functions out of sight: to release
    them, as a rule."""
    found: set[tuple[str, str]] = set()
    for _, call in calls(run.function) if not run.python else ():
        if call.kind in ("function", "macro", "method") and not (
            run.models.lookup(call.name) or linker.definition(call.key, run.filename)
        ):
            for part in named_in(run, [one.value for one in call.arguments]):
                of, name = member_in(part, run.function, run.program, linker) or (None, "")
                found |= {(of, name)} if of is not None else set()
    return found


def named_in(run: FunctionRun, expressions: list[Expression]) -> list[Expression]:
    """The places that expressions name: ``ports`` and ``.device`` for ``ports[0].device``, also
    where an operator of its class gives the element."""

    def parts(whole: Expression) -> Iterator[Expression]:
        made = run.flow.only(whole.symbol) if isinstance(whole, Variable) else None
        yield from (made.receiver,) if isinstance(made, Call) and made.receiver is not None else ()
        yield from walk(whole)

    return sorted(closure(expressions, parts), key=repr)


def is_ending(run: FunctionRun) -> bool:
    """Whether a function ends the object that it is a method of."""
    function = run.function
    return function.kind == "destructor" or (run.python and run.models.ends_object(function.name))


def _releases_parameter(run: FunctionRun) -> bool:
    parameters = {parameter.symbol for parameter in run.function.parameters}
    return any(
        len(release.location) == 1 and release.location[0] in parameters
        for outcome in run.outcomes
        for release in outcome.released
    )


def _acquisition(
    run: FunctionRun,
    linker: Linker,
    table: Table,
    outcome: Outcome,
    item: HandedOut,
    lost: Set[tuple[str, Span] | None],
) -> None:
    function = run.function
    place = item.location
    made = _where_made(place[1], outcome) if place[0] == "@" else None
    if made is not None:
        own = made[0] == "this"  # the class is told of what it does not delete
        if (item.filename, item.span) in lost and not (own or is_attachment(place)):
            return
        place = (*made, *place[2:])
    found = _find(run, linker, table, place)
    record = run.log(Recorder).records.get(item.resource.origin)
    if found is None:
        return
    found[0].families.setdefault(path_of(found[1]), set()).add(item.family)
    found[0].made.add(found[1])
    if item.managed and record is not None and not item.escaped:
        made_here = record.acquired.resource(), function.name
        found[0].managed.setdefault(path_of(found[1]), made_here)
    if record is None:
        return
    members, name = found
    if record.released and function.record is not None and _is_done_with(run, item):
        return  # it is released where the method ends, and left on some way out before
    members.renewing.setdefault(part_of(name), set()).add(function.key)
    if item.managed or item.escaped:
        return
    if record.acquired.kept_by_callee and made is None:
        return  # it looks after it
    if record.released and function.record is None and not run.python:
        succeeding = [o for o in run.outcomes if o.kind == "return" and o.failure is None]
        if outcome not in succeeding or not all(_hands_out(o, item) for o in succeeding):
            return  # the function's own affair, which lends it to the struct while it runs
    acquired = record.acquired
    members.programs[run.filename] = run.program
    own = members.record.key
    derived = own in linker.lineage(function.record, run.filename) if function.record else False
    members.owners.add(function.record if derived and function.record else own)
    resource = replace(acquired.resource(), bytes=integer(item.bytes))
    kind = function.kind if function.record else "function"
    members.makers.setdefault((name, acquired.span), function)
    members.acquired.setdefault(
        (name, acquired.span),
        MemberAcquisition(
            name,
            resource,
            function.name,
            kind,
            acquired.from_callee,
            unborn=kind == "constructor"
            and {way.kind for way in record.lost} == {Exit.THROW}
            and any(way.explicit for way in record.lost),
            pointed=record.acquired.kept_by_callee,
        ),
    )
    for location, value in outcome.writes:
        holder = None
        if item.resource in resources_in(value):
            inner = _where_made(location[1], outcome) if location[0] == "@" else None
            holder = _find(run, linker, table, (*inner, *location[2:]) if inner else location)
        if holder and holder[0] is members and part_of(holder[1]) != part_of(name):
            members.together.setdefault(part_of(name), set()).add(part_of(holder[1]))
    members.acquiring.setdefault(part_of(name), set()).add(function.key)
    if outcome.value is not None and item.resource in resources_in(outcome.value):
        members.lent_out.add(part_of(name))
    apart = item.location[0] == "this" and "[" not in name and run.complete
    if not apart or run.excludes_itself(outcome):
        return
    if not _looks_at(run, outcome, item.location):
        members.careless[name, acquired.span] = function
    elif not _looks_here(run, outcome, item.location) and (
        site := released_on_another_way(run, item.location, acquired.span)
    ):
        members.careless[name, acquired.span] = function
        members.on_one_way[name, acquired.span] = site


def _where_made(memory: Value, outcome: Outcome) -> Location | None:
    """Where a function leaves the object that it has made in some memory."""
    if memory == outcome.value:
        return (RETURN,)
    block = memory.resource if isinstance(memory, Pointer) else None
    return next((one.location for one in outcome.handed_out if one.resource == block), None)


def _is_done_with(run: FunctionRun, item: HandedOut) -> bool:
    """Whether a function does not leave a resource in the object at its closing brace."""
    end = run.function.span.end_row
    last = [one for one in run.outcomes if one.left is not None and one.left.end_row == end]
    return bool(last) and not any(_hands_out(one, item) for one in last)


def _hands_out(outcome: Outcome, item: HandedOut) -> bool:
    return any(other.resource.origin == item.resource.origin for other in outcome.handed_out)


def _looks_at(run: FunctionRun, outcome: Outcome, member: Location) -> bool:
    """Whether what a member holds is asked for or released before it gets something else, or moves
    to another one of which that is true, as in a swap."""
    if member in run.tested or _looks_here(run, outcome, member):
        return True
    moved = [place for place, value in outcome.writes if value == Input(member)]
    return any(_looks_at(run, outcome, place) for place in moved if place != member)


def _looks_here(run: FunctionRun, outcome: Outcome, member: Location) -> bool:
    """``_looks_at``, on one way through the function."""
    released = any(release.location == member for release in outcome.released)
    return released or _asks_first(run.function, outcome, member)


def _asks_first(function: Function, outcome: Outcome, member: Location) -> bool:
    """Whether it is acquired where the member is null, or an argument by which a caller has passed
    what there was."""
    kinds = ((one, referred(one.type)) for one in function.parameters)
    given = {Input((one.symbol,)) for one, kind in kinds if kind and kind.kind == "pointer"}
    given.add(Input(member))
    for condition, truth in outcome.conditions:
        if isinstance(condition, Operation) and condition.operator == "==" and truth:
            left, right = condition.operands
            if left in given and isinstance(right, Const) and not right.value:
                return True
        if condition in given and not truth:
            return True
    return False


def _members(table: Table, linker: Linker, key: str | None, filename: str) -> Members | None:
    record = linker.record(key, filename)
    if record is None:
        return None
    return table.setdefault((record.key, record.filename), Members(record))


def _set_tables_apart(members: Members) -> None:
    """``delete[] streams_`` gives back a table that the class has made, not what is in it."""
    for item in members.acquired.values():
        table, family = part_of(item.member), item.resource.family
        ended = [
            (name, one.families) for name, one, _ in members.releases if part_of(name) == table
        ]
        if table in members.made - {item.member} and all(
            name == table and family not in families for name, families in ended
        ):
            for released in (members.by_destructor, members.elsewhere, members.releasing):
                released.pop(table, None)


def _join_holders(members: Members, linker: Linker) -> None:
    """Of several members that hold one resource (a list of ranges, and the start of the first),
    one that is released releases it for all; of a struct that does, its field."""
    for name in sorted({part_of(member) for member, _ in members.acquired}):
        holders = {name, *members.together.get(name, ())}
        fields = f"{name}." if _is_struct(members, name, linker) else None

        def holds(one: str, holders: set[str] = holders, fields: str | None = fields) -> bool:
            inside = fields is not None and one.startswith(fields) and "<" not in one
            return inside or any(overlap(one, holder) for holder in holders)

        for released in (members.by_destructor, members.elsewhere):
            for one in filter(holds, sorted(released)):
                released.setdefault(name, released[one])
        if any(overlap(one, name) for one in members.escaping):
            members.escaping.add(name)


def _is_struct(members: Members, name: str, linker: Linker) -> bool:
    """Whether a member is an object by value."""
    kind: Type | None = None
    key: str | None = members.record.key
    for part in path_of(name).split("."):
        kind = linker.fields(key, members.record.filename).get(part)
        key = _record_of(kind)
    return kind is not None and kind.kind == "record"


def overlap(one: str, other: str) -> bool:
    """Whether two parts are the same, or one is an element and the other a field of it; the first
    element of a table that a function makes is written as what a pointer points to."""
    same = one == other or path_of(one) == path_of(other)
    return same or one.startswith(f"{other}[") or other.startswith(f"{one}[")
