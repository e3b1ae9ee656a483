"""Members of Python classes that are looked after in ways that no single function shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cudalint.analysis.facts import Site
from cudalint.analysis.queries.lifetimes.walk import calls
from cudalint.program import Call, Function, Member, Variable

if TYPE_CHECKING:
    from cudalint.analysis.queries.classes import Members
    from cudalint.analysis.summaries import Linker

_FORWARDING = ("__getattr__", "__getattribute__")
"""Methods that make the members of one object look like those of another."""


def methods_of(linker: Linker) -> dict[str, list[Function]]:
    """The Python methods of a run, by the key of their class."""
    found: dict[str, list[Function]] = {}
    for function, program in linker.functions():
        if function.record and program.language == "python":
            found.setdefault(function.record, []).append(function)
    return found


def forwards(methods: list[Function]) -> bool:
    """Whether whoever has an object can call the methods of what it holds."""
    return any(method.name.rpartition(".")[2] in _FORWARDING for method in methods)


def released_by_own_methods(
    members: Members, methods: list[Function], linker: Linker
) -> Iterator[tuple[str, Site, Function]]:
    """Members with a call that ends them, ``self.context.detach()``: of what kind the member is,
    which decides what that means, another method says."""
    if not methods:
        return
    models = linker.models("python")
    families = {acquired.member: acquired.resource.family for acquired in members.acquired.values()}
    for method in methods:
        for _, call in calls(method):
            name = _own_member(call)
            family = families.get(name) if name else None
            model = models.lookup_method(call.name, family) if family else None
            if name and model is not None and model.receiver is not None and model.releases:
                yield name, Site(method.filename, call.span, call.name.lstrip(".")), method


def _own_member(call: Call) -> str | None:
    match call.receiver:
        case Member(base=Variable(symbol="this"), field=field) if call.name.startswith("."):
            return field
        case _:
            return None
