"""Members of Python classes that are looked after in ways that no single function shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cudalint.analysis.facts import Site
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.shape.symbols import Symbols
from cudalint.program import Call, Function, Member, Variable

_FORWARDING = ("__getattr__", "__getattribute__")
"""Methods that make the members of one object look like those of another."""


def forwards(methods: Sequence[Function]) -> bool:
    """Whether whoever has an object can call the methods of what it holds."""
    return any(method.name.rpartition(".")[2] in _FORWARDING for method in methods)


def released_by_own_methods(
    families: dict[str, str], methods: Sequence[Function], symbols: Symbols
) -> Iterator[tuple[str, Site, Function]]:
    """Members, of these ``families``, with a call that ends them: ``self.context.detach()``. Of
    what kind a member is, which decides what that means, another method says."""
    if not methods:
        return
    models = symbols.models("python")
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
