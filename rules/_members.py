"""What GPU105 asks of the members of a class."""

from __future__ import annotations

from cudalint.analysis.facts import ClassFacts, MemberAcquisition, Site, memory_of, part_of
from cudalint.findings.repair import Named, ReleaseMember
from cudalint_rules._wording import its_siblings, places, quoted

"""Families whose end takes everything else along."""


def dies_with_context(acquisitions: list[MemberAcquisition], facts: ClassFacts) -> bool:
    """The class destroys the context that it made, and with it all that was made there."""
    destroys = any(
        other.resource.info.current and facts.releases(other.member) for other in facts.acquired
    )
    return destroys and all(made.resource.info.reset for made in acquisitions)


def siblings(member: str, facts: ClassFacts) -> dict[str, Site]:
    """The members that are released as this one should be, those first that are acquired beside
    it, as it is; those that nothing is acquired into only where there are no others."""
    released = facts.released_by_destructor or {
        name: site for name, site in facts.released_elsewhere.items() if name not in facts.replaced
    }
    made = {part_of(one.member): one for one in facts.acquired}
    own = made[member]

    def apart(name: str) -> tuple[bool, bool, int]:
        other = made.get(name)
        if other is None:
            return (True, True, 0)
        rows = abs(other.resource.span.row - own.resource.span.row)
        return (other.method != own.method, other.resource.family != own.resource.family, rows)

    others = [name for name in released if memory_of(name) != memory_of(member)]
    acquired = [name for name in others if name in made]
    return {name: released[name] for name in sorted(acquired or others, key=apart)}


def shown(siblings: dict[str, Site], facts: ClassFacts) -> list[Site]:
    """Where the siblings are released that a message names. A release by whoever uses the object
    has no place in its class."""
    most = list(siblings.values())[: 4 if len(siblings) <= 4 else 3]
    return [site for site in dict.fromkeys(most) if site.span != facts.record.span]


def evidence(
    member: str, siblings: dict[str, Site], facts: ClassFacts, filename: str, by_function: bool
) -> str:
    """What convinces: the way past the release, or the siblings that are released."""
    if member in facts.sometimes:
        where = places([facts.sometimes[member]], filename)
        return (
            f": control may get past the release at {where}, for a reason that has nothing to do "
            "with the object"
        )
    if siblings:
        where = places(shown(siblings, facts), filename)
        return f": {its_siblings(siblings)}" + (f", at {where}" if where else "")
    if facts.destructor:
        return f": {quoted(facts.destructor.text)} does not release it"
    if member in facts.replaced:
        where = places([facts.released_elsewhere[member]], filename)
        return f": {where} only makes room for the next one"
    if by_function:
        return ": no function of this run releases it"
    return ", which has no destructor or closing method that could"


def excuse_of(acquisitions: list[MemberAcquisition], facts: ClassFacts) -> str | None:
    """Why it does little harm, where the message has to say so; ``None``: it does harm. What a
    program makes once is lost once; and in an object that is not meant to end, it has it till it
    ends."""
    if all(one.is_step for one in acquisitions):
        methods = {one.method: None for one in acquisitions}
        return f"the program runs {' and '.join(map(quoted, methods))} once"
    meant = facts.destructor or facts.released_by_destructor or facts.released_elsewhere
    return None if meant or not all(one.once for one in acquisitions) else ""


def release_of(
    member: str, acquisitions: list[MemberAcquisition], released: dict[str, Site], facts: ClassFacts
) -> ReleaseMember | None:
    """A release in the file where it is acquired, if each object has just the one."""
    first = acquisitions[0]
    resource = first.resource
    unfit = resource.info.attached or resource.info.indirect
    if member in facts.sometimes or member != first.member or unfit:
        return None
    if any(one.unborn or one.pointed for one in acquisitions):
        return None  # its constructor would still lose it, or another object's destructor ends it
    here = resource.filename
    beside = (
        Named(site.span, name)
        for name, site in released.items()
        if site.filename == here and site.span != facts.record.span
    )
    destructor = facts.destructor
    return ReleaseMember(
        name=member,
        owner="self." if here.endswith((".py", ".ipynb")) else "",
        api=resource.api,
        releases=resource.info.releases,
        acquired=resource.span,
        siblings=tuple(beside),
        released_by=tuple({site.text: None for site in released.values()}),
        destructor=destructor.span if destructor and destructor.filename == here else None,
        handle=resource.is_handle,
        constructed=any(one.method_kind == "constructor" for one in acquisitions),
        last=resource.info.current,
    )
