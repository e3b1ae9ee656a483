"""What GPU105 asks of the members of a class."""

from __future__ import annotations

from cudalint.analysis.facts import ClassFacts, MemberAcquisition, Site, memory_of
from cudalint_rules._wording import its_siblings, places, quoted

CONTEXTS = frozenset({"context", "pycuda-context"})
"""Families whose end takes everything else along."""


def dies_with_context(acquisitions: list[MemberAcquisition], facts: ClassFacts) -> bool:
    """The class destroys the context that it made, and with it all that was made there."""
    destroys = any(
        other.resource.family in CONTEXTS and facts.releases(other.member)
        for other in facts.acquired
    )
    return destroys and all(made.resource.info.reset for made in acquisitions)


def siblings(member: str, facts: ClassFacts) -> dict[str, Site]:
    """The members that are released as this one should be."""
    released = facts.released_by_destructor or {
        name: site for name, site in facts.released_elsewhere.items() if name not in facts.replaced
    }
    return {name: site for name, site in released.items() if memory_of(name) != memory_of(member)}


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
        return f": {its_siblings(siblings)}, at {places(list(siblings.values()), filename)}"
    if facts.destructor:
        return f": {quoted(facts.destructor.text)} does not release it"
    if by_function:
        return ": no function of this run releases it"
    return ", which has no destructor or closing method that could"
