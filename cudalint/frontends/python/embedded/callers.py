"""What the functions of a file are called with: a source is often the argument of a helper."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator

import libcst as cst

from cudalint.frontends.python.bindings import all_parameters, children
from cudalint.frontends.python.declarations import Declarations
from cudalint.frontends.python.scopes import ClassInfo, Defined, Local, Receiver, Scope

_MOST_DEPTH = 3
Place = tuple[cst.BaseExpression, Scope]


class Callers:
    """The calls of a file by the function that they call."""

    def __init__(self, declarations: Declarations) -> None:
        self._declarations = declarations

    def values(self, node: cst.BaseExpression, scope: Scope, depth: int = 0) -> list[Place]:
        """What the calls of a function pass for the parameter that an expression names."""
        meaning = scope.meaning(node) if isinstance(node, cst.Name) else None
        if not isinstance(meaning, Local) or depth > _MOST_DEPTH:
            return []
        name = meaning.variable.name
        bindings = meaning.scope.bindings.names.get(name, [])
        if [binding.kind for binding in bindings] != ["parameter"]:
            return []
        found: list[Place] = []
        for function, call, place, bound in self._calls.get(id(meaning.scope.bindings), ()):
            argument = _argument(function, call, name, bound)
            if argument is not None:
                found += self.values(argument, place, depth + 1) or [(argument, place)]
        return found

    @functools.cached_property
    def _calls(self) -> dict[int, list[tuple[cst.FunctionDef, cst.Call, Scope, int]]]:
        """By the ``id`` of the called function's bindings: its definition, the call, where it
        stands, and how many parameters are bound already."""
        found = defaultdict(list)
        pending: list[tuple[cst.CSTNode, Scope]] = [
            (self._declarations.module.tree, self._declarations.scope)
        ]
        while pending:
            node, scope = pending.pop()
            inner = scope
            if isinstance(node, cst.FunctionDef) and id(node) in scope.functions:
                inner = self._declarations.scope_of(scope.functions[id(node)])
            elif isinstance(node, cst.ClassDef) and id(node) in scope.classes:
                inner = scope.classes[id(node)].scope
            elif isinstance(node, cst.Call):
                for function, bound in _called(node, scope):
                    bindings = self._declarations.bindings_of(function)
                    found[id(bindings)].append((function, node, scope, bound))
            pending += [(child, inner) for child in children(node)]
        return found


def _called(call: cst.Call, scope: Scope) -> Iterator[tuple[cst.FunctionDef, int]]:
    meaning = scope.meaning(call.func)
    if isinstance(meaning, Defined):
        yield meaning.node, 0
    elif isinstance(meaning, ClassInfo):
        if (method := meaning.method("__init__")) is not None:
            yield method[1].node, 1
    elif isinstance(call.func, cst.Attribute):
        owner = scope.meaning(call.func.value)
        if isinstance(owner, Receiver) and (method := owner.owner.method(call.func.attr.value)):
            yield method[1].node, 1


def _argument(
    function: cst.FunctionDef, call: cst.Call, name: str, bound: int
) -> cst.BaseExpression | None:
    names = [parameter.name.value for parameter in all_parameters(function.params)][bound:]
    for position, argument in enumerate(call.args):
        if argument.star:
            return None
        if argument.keyword is not None:
            if argument.keyword.value == name:
                return argument.value
        elif position < len(names) and names[position] == name:
            return argument.value
    return None
