"""What a Triton kernel keeps in shared memory: the tiles that it loads in a loop and multiplies.

Triton's pipeliner loads the operands of ``tl.dot`` ahead, ``num_stages - 1`` iterations or more,
into as many buffers in shared memory. The shape of an operand follows from the ``tl.arange`` terms
of its pointers, or from the ``block_shape`` of its block pointer or descriptor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import libcst as cst

from cudalint.frontends.python.bindings import all_parameters, argument_of, children
from cudalint.frontends.python.constants import fold
from cudalint.frontends.python.module import Module
from cudalint.frontends.python.scopes import Dotted, Scope
from cudalint.program.expressions import Constant, Expression, Variable
from cudalint.program.functions import StagedTile

_LANGUAGE = "triton.language."
_PASSING = frozenset({"multiple_of", "max_contiguous", "advance", "cast", "view"})
"""Functions whose result has the shape and the pointer of their first argument."""
_BLOCKS = {
    "make_block_ptr": 4,
    "make_tensor_descriptor": 3,
    "_experimental_make_tensor_descriptor": 3,
}
"""Functions that make a pointer to a block, and the position of ``block_shape``."""
_SHAPED = frozenset({"zeros", "full", "empty"})

Shape = tuple[Expression | None, ...]
_ONE = Constant(1)


@dataclass(frozen=True)
class _Block:
    """What is known of a value in a kernel."""

    shape: Shape
    pointer: str = ""
    load: cst.CSTNode | None = None
    """The load in a loop that it comes from."""
    name: str = ""


_NOTHING = _Block(())


def staged_tiles(node: cst.FunctionDef, scope: Scope, module: Module) -> tuple[StagedTile, ...]:
    """The operands of ``tl.dot`` that a kernel loads in its loops."""
    return _Reading(node, scope, module).read()


class _Reading:
    """One pass over the statements of a kernel, in order."""

    def __init__(self, node: cst.FunctionDef, scope: Scope, module: Module) -> None:
        self.node = node
        self.scope = scope
        self.module = module
        self.parameters = frozenset(item.name.value for item in all_parameters(node.params))
        self.known = {name: _Block((), name) for name in sorted(self.parameters)}
        self.tiles: dict[int, StagedTile] = {}
        self.loops = 0

    def read(self) -> tuple[StagedTile, ...]:
        self._statements(self.node.body)
        return tuple(self.tiles.values())

    def _statements(self, node: cst.CSTNode) -> None:
        looping = isinstance(node, cst.For | cst.While)
        self.loops += looping
        if isinstance(node, cst.Assign):
            value = self._value(node.value)
            for target in node.targets:
                if isinstance(target.target, cst.Name):
                    name = target.target.value
                    self.known[name] = replace(value, name=name) if value.load else value
                elif isinstance(target.target, cst.Tuple):
                    self._unpack(target.target, node.value)
        elif isinstance(node, cst.AugAssign | cst.AnnAssign | cst.Expr | cst.Return):
            if node.value is not None:
                self._value(node.value)
        elif not isinstance(node, cst.FunctionDef | cst.ClassDef):
            for child in children(node):
                self._statements(child)
        self.loops -= looping

    def _unpack(self, targets: cst.Tuple, value: cst.BaseExpression) -> None:
        values = value.elements if isinstance(value, cst.Tuple) else ()
        for position, element in enumerate(targets.elements):
            if isinstance(element.value, cst.Name):
                known = position < len(values)
                self.known[element.value.value] = (
                    self._value(values[position].value) if known else _NOTHING
                )

    # Values -------------------------------------------------------------------------------------

    def _value(self, node: cst.BaseExpression) -> _Block:
        match node:
            case cst.Name(value=name):
                return self.known.get(name, _NOTHING)
            case cst.Call():
                return self._call(node)
            case cst.BinaryOperation(left=left, right=right):
                return _broadcast(self._value(left), self._value(right))
            case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=right)]):
                return replace(_broadcast(self._value(left), self._value(right)), pointer="")
            case cst.Subscript(value=base, slice=parts):
                return _expanded(self._value(base), [part.slice for part in parts])
            case cst.Attribute(value=base, attr=cst.Name(value="T")):
                inner = self._value(base)
                return replace(inner, shape=inner.shape[::-1])
            case cst.IfExp(body=body):
                return self._value(body)
            case _:
                return _NOTHING

    def _call(self, node: cst.Call) -> _Block:
        meaning = self.scope.meaning(node.func)
        if isinstance(meaning, Dotted) and meaning.name.startswith(_LANGUAGE):
            return self._language(node, meaning.name.removeprefix(_LANGUAGE))
        if isinstance(node.func, cst.Attribute):
            base = self._value(node.func.value)
            match node.func.attr.value:
                case "to":
                    return base
                case "load":
                    return self._loaded(node, base)
                case "trans":
                    return replace(base, shape=base.shape[::-1])
        for argument in node.args:
            self._value(argument.value)
        return _NOTHING

    def _language(self, node: cst.Call, name: str) -> _Block:
        values = [self._value(argument.value) for argument in node.args]
        first = values[0] if values else _NOTHING
        if name == "arange":
            bounds = [self._extent(argument.value) for argument in node.args]
            return (
                _Block((bounds[1],)) if len(bounds) == 2 and bounds[0] == Constant(0) else _NOTHING
            )
        if name == "load":
            return self._loaded(node, first)
        if name in _BLOCKS:
            shape = argument_of(node, _BLOCKS[name], "block_shape")
            pointer = argument_of(node, 0, "base")
            origin = self._value(pointer).pointer if pointer is not None else ""
            return _Block(self._shape(shape), origin)
        if name in _SHAPED:
            return _Block(self._shape(argument_of(node, 0, "shape")))
        if name == "trans":
            return replace(first, shape=first.shape[::-1])
        if name == "dot":
            for value in values[:2]:
                self._multiplied(value)
            return _NOTHING
        if name in _PASSING:
            return first
        return _NOTHING

    def _loaded(self, node: cst.Call, block: _Block) -> _Block:
        return replace(block, load=node if self.loops else None)

    def _multiplied(self, value: _Block) -> None:
        if value.load is None or not value.shape or None in value.shape:
            return
        self.tiles.setdefault(
            id(value.load),
            StagedTile(
                value.name or "a tile",
                tuple(extent for extent in value.shape if extent is not None),
                value.pointer,
                self.module.span(value.load),
            ),
        )

    def _shape(self, node: cst.BaseExpression | None) -> Shape:
        if isinstance(node, cst.Tuple | cst.List):
            return tuple(self._extent(element.value) for element in node.elements)
        return ()

    def _extent(self, node: cst.BaseExpression) -> Expression | None:
        if isinstance(node, cst.Name) and node.value in self.parameters:
            return Variable(node.value, node.value)
        folded = fold(node, self.scope)
        return folded if isinstance(folded, Constant) and isinstance(folded.value, int) else None


def _broadcast(one: _Block, other: _Block) -> _Block:
    longer, shorter = (one, other) if len(one.shape) >= len(other.shape) else (other, one)
    pad = (_ONE,) * (len(longer.shape) - len(shorter.shape))
    shape = tuple(
        b if a == _ONE else a for a, b in zip(longer.shape, (*pad, *shorter.shape), strict=True)
    )
    return _Block(shape, one.pointer or other.pointer)  # a stride is a parameter too


def _expanded(base: _Block, parts: list[cst.BaseSlice]) -> _Block:
    """``rows[:, None]``."""
    remaining = list(base.shape)
    shape: list[Expression | None] = []
    for part in parts:
        if isinstance(part, cst.Index) and isinstance(part.value, cst.Name):
            shape.append(_ONE)
        elif isinstance(part, cst.Slice) and remaining:
            shape.append(remaining.pop(0))
        else:
            return _NOTHING
    return replace(base, shape=tuple(shape))
