"""Templates: which instances are lowered themselves, and which stand for their pattern."""

from __future__ import annotations

from collections import Counter

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    address,
    children,
    library,
    parts_of,
    related,
    usr,
)
from cudalint.frontends.cuda.lowering.positions import Positions

_MOST_INSTANCES = 8
"""Of one template. All others are lowered as their pattern."""
_CLASSES = (Kind.STRUCT, Kind.CLASS, Kind.UNION)


def _is_instantiation(declaration: Cursor) -> bool:
    """Whether a class is asked for where it stands, ``template class Layer<float>;``: it has
    members, and they are written elsewhere."""
    return (
        declaration._kind_id in _CLASSES
        and not children(declaration)
        and any(
            parts_of(declaration, visit)
            for visit in (library().visit_fields, library().visit_methods)
        )
    )


class Templates:
    """The templates of a unit.

    In an instance of the project's own templates every type, value and callee is known, so it is
    lowered as a function or class of its own. What nobody instantiates is lowered as it is written.
    """

    def __init__(self, positions: Positions) -> None:
        self._positions = positions
        self._chosen: dict[int, Cursor] = {}
        self._instances: Counter[int] = Counter()
        self.meant: dict[str, Cursor] = {}
        """Keys of a pattern and its methods: while its text is lowered for an instance, the
        instance's are meant."""

    def pattern(self, declaration: Cursor) -> Cursor:
        """The template's pattern for an instance, else the declaration itself."""
        template = related("template", declaration)
        if template is None:
            return declaration
        # An explicit specialization is written elsewhere: it is its own pattern.
        here = library().location(declaration).int_data
        if here == library().location(template).int_data:
            return template
        definition = related("definition", template)
        if definition is not None and (
            library().location(definition).int_data == here or _is_instantiation(declaration)
        ):
            return definition
        return declaration

    def chosen(self, declaration: Cursor) -> Cursor:
        """What is lowered for a declaration: the instance, or the pattern."""
        identity = address(declaration)
        known = self._chosen.get(identity)
        if known is None:
            known = self._chosen[identity] = self._choose(declaration)
        return self.meant.get(usr(known), known) if self.meant else known

    def has_instances(self, pattern: Cursor) -> bool:
        """Whether a template is lowered as its instances."""
        return self._instances[address(pattern)] > 0

    def _choose(self, declaration: Cursor) -> Cursor:
        pattern = self.pattern(declaration)
        if address(pattern) == address(declaration) or self._positions.is_system(pattern):
            return pattern
        if pattern._kind_id == Kind.FUNCTION_TEMPLATE:
            if any(child._kind_id == Kind.GLOBAL for child in children(pattern)):
                return pattern
        elif declaration._kind_id not in _CLASSES:
            # A member of a class: it goes with its class.
            parent = related("parent", declaration)
            if parent is None or address(self.chosen(parent)) != address(parent):
                return pattern
            # A body in another file, above `template class Layer<float>;`, is the pattern's.
            return declaration if related("definition", pattern) is not None else pattern
        if related("definition", declaration) is None:
            return pattern
        if self._instances[address(pattern)] >= _MOST_INSTANCES:
            return pattern
        self._instances[address(pattern)] += 1
        return declaration
