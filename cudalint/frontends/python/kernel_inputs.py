"""Which parameters a kernel in Python only reads."""

from __future__ import annotations

import libcst as cst

from cudalint.frontends.python.bindings import all_parameters, children


def inputs(node: cst.FunctionDef) -> frozenset[str]:
    """The parameters of which a kernel reads elements and attributes, and nothing else: it neither
    stores to them nor passes them on."""
    found = {item.name.value for item in all_parameters(node.params)}
    pending: list[tuple[cst.CSTNode, bool]] = [(node.body, False)]
    while pending and found:
        part, stored = pending.pop()
        match part:
            case cst.Name(value=name):
                found.discard(name)
            case cst.Subscript(value=cst.Name(value=name)):
                if stored:
                    found.discard(name)
                pending += [(child, False) for child in part.slice]
            case cst.Subscript(value=base):
                pending.append((base, stored))
                pending += [(child, False) for child in part.slice]
            case cst.Attribute(value=cst.Name(value=name)):
                if stored:
                    found.discard(name)
            case cst.Attribute(value=base):
                pending.append((base, stored))
            case cst.Call(func=cst.Attribute(value=cst.Name(value=name))):
                found.discard(name)
                pending += [(argument.value, False) for argument in part.args]
            case cst.Call(func=cst.Name(value="len"), args=[cst.Arg(value=cst.Name())]):
                continue
            case cst.Call():
                pending.append((part.func, False))
                pending += [(argument.value, False) for argument in part.args]
            case cst.AssignTarget(target=target) | cst.AugAssign(target=target):
                pending.append((target, True))
                if isinstance(part, cst.AugAssign):
                    pending.append((part.value, False))
            case cst.Tuple() | cst.List() if stored:
                pending += [(element.value, True) for element in part.elements]
            case _:
                pending += [(child, False) for child in children(part)]
    return frozenset(found)
