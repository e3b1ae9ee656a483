"""Which names a scope binds, and how: collected before its code is lowered."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import libcst as cst

BindingKind = Literal["import", "function", "class", "value", "element", "parameter", "context"]


@dataclass(frozen=True, slots=True)
class Binding:
    """One place that binds a name.

    ``value`` is what it is bound to, where one expression says so: the right side of an
    assignment, the context manager of a ``with``, the definition of a function or class, and the
    annotation of a parameter. ``dotted`` is an import's absolute name.
    """

    kind: BindingKind
    node: cst.CSTNode
    value: cst.CSTNode | None = None
    dotted: str = ""


@dataclass(slots=True)
class Import:
    """One name of an import statement, as written."""

    module: str
    level: int
    attribute: str | None
    """``from module import attribute``; ``*`` for all; ``None`` for ``import module``."""
    name: str
    has_alias: bool
    node: cst.CSTNode


@dataclass(slots=True)
class Bindings:
    """What the statements of one scope bind, nested scopes left out."""

    names: dict[str, list[Binding]] = field(default_factory=dict)
    imports: list[Import] = field(default_factory=list)
    functions: list[cst.FunctionDef] = field(default_factory=list)
    classes: list[cst.ClassDef] = field(default_factory=list)
    attributes: list[tuple[cst.Attribute, cst.CSTNode | None]] = field(default_factory=list)
    """Targets ``object.name`` with what is assigned to them."""
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)

    def add(self, name: str, binding: Binding) -> None:
        """Note one more place that binds a name."""
        self.names.setdefault(name, []).append(binding)


_LAYOUT = ("whitespace", "lpar", "rpar", "lbra", "rbra", "leading_lines", "lines_", "comma",
           "semicolon", "header", "footer", "trailing", "equal", "indent")  # fmt: skip
_FIELDS: dict[type[cst.CSTNode], tuple[str, ...]] = {}


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The parts of a node in the order of its fields, layout left out. (libcst's own ``children``
    rebuilds the node.)"""
    kind = type(node)
    names = _FIELDS.get(kind)
    if names is None:
        names = tuple(
            item.name for item in dataclasses.fields(node) if not item.name.startswith(_LAYOUT)
        )
        _FIELDS[kind] = names
    found: list[cst.CSTNode] = []
    for name in names:
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            found.append(value)
        elif isinstance(value, tuple | list):
            found.extend(item for item in value if isinstance(item, cst.CSTNode))
    return found


def dotted_text(node: cst.CSTNode | None) -> str:
    """``a.b.c`` of names and attributes; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return ""
    parts.append(node.value)
    return ".".join(reversed(parts))


def imports_of(statement: cst.BaseSmallStatement) -> Iterator[Import]:
    """The names that an import statement binds."""
    if isinstance(statement, cst.Import):
        for alias in statement.names:
            module = dotted_text(alias.name)
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                yield Import(module, 0, None, alias.asname.name.value, True, alias)
            else:
                yield Import(module, 0, None, module.partition(".")[0], False, alias)
    elif isinstance(statement, cst.ImportFrom):
        module = dotted_text(statement.module)
        level = len(statement.relative)
        if isinstance(statement.names, cst.ImportStar):
            yield Import(module, level, "*", "*", False, statement)
            return
        for alias in statement.names:
            attribute = dotted_text(alias.name)
            name = attribute
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                name = alias.asname.name.value
            yield Import(module, level, attribute, name, alias.asname is not None, alias)


class Collector:
    """Walks the statements of one scope. ``has_walrus``: look for ``:=`` inside expressions."""

    def __init__(self, has_walrus: bool) -> None:
        self.bindings = Bindings()
        self._has_walrus = has_walrus

    def parameters(self, parameters: cst.Parameters) -> None:
        """Bind the parameters of a function."""
        for parameter in all_parameters(parameters):
            annotation = parameter.annotation.annotation if parameter.annotation else None
            self._bind(parameter.name, "parameter", annotation)

    def statements(self, statements: Iterable[cst.CSTNode]) -> None:
        """Collect from statements, compound ones included."""
        for statement in statements:
            self._statement(statement)

    def _suite(self, suite: cst.BaseSuite) -> None:
        self.statements(suite.body)

    def _bind(self, name: cst.Name, kind: BindingKind, value: cst.CSTNode | None = None) -> None:
        self.bindings.add(name.value, Binding(kind, name, value))

    def target(
        self, target: cst.CSTNode, value: cst.CSTNode | None, kind: BindingKind = "value"
    ) -> None:
        """Bind an assignment target, which may nest."""
        if isinstance(target, cst.Name):
            self._bind(target, kind, value)
        elif isinstance(target, cst.Attribute):
            self.bindings.attributes.append((target, value))
        elif isinstance(target, cst.Tuple | cst.List):
            values: Sequence[cst.CSTNode | None] = [None] * len(target.elements)
            if isinstance(value, cst.Tuple | cst.List) and len(value.elements) == len(values):
                values = [element.value for element in value.elements]
            for element, part in zip(target.elements, values, strict=True):
                starred = isinstance(element, cst.StarredElement) or part is None
                self.target(
                    element.value, None if starred else part, "element" if starred else kind
                )
        elif isinstance(target, cst.StarredElement):
            self.target(target.value, None, "element")

    def _statement(self, node: cst.CSTNode) -> None:
        match node:
            case cst.SimpleStatementLine() | cst.SimpleStatementSuite():
                for small in node.body:
                    self._small(small)
            case cst.BaseSmallStatement():
                self._small(node)
            case cst.FunctionDef():
                self.bindings.functions.append(node)
                self._bind(node.name, "function", node)
            case cst.ClassDef():
                self.bindings.classes.append(node)
                self._bind(node.name, "class", node)
            case cst.If():
                branch: cst.If | cst.Else | None = node
                while isinstance(branch, cst.If):
                    self._walrus(branch.test)
                    self._suite(branch.body)
                    branch = branch.orelse
                if branch is not None:
                    self._suite(branch.body)
            case cst.For():
                self._walrus(node.iter)
                self.target(node.target, None, "element")
                self._suite(node.body)
                if node.orelse is not None:
                    self._suite(node.orelse.body)
            case cst.While():
                self._walrus(node.test)
                self._suite(node.body)
                if node.orelse is not None:
                    self._suite(node.orelse.body)
            case cst.With():
                for item in node.items:
                    self._walrus(item.item)
                    if item.asname is not None:
                        self.target(item.asname.name, item.item, "context")
                self._suite(node.body)
            case cst.Try() | cst.TryStar():
                self._suite(node.body)
                for handler in node.handlers:
                    if handler.name is not None:
                        self.target(handler.name.name, None, "element")
                    self._suite(handler.body)
                if node.orelse is not None:
                    self._suite(node.orelse.body)
                if node.finalbody is not None:
                    self._suite(node.finalbody.body)
            case cst.Match():
                self._walrus(node.subject)
                for case in node.cases:
                    self._pattern(case.pattern)
                    if case.guard is not None:
                        self._walrus(case.guard)
                    self._suite(case.body)

    def _small(self, node: cst.BaseSmallStatement) -> None:
        match node:
            case cst.Assign():
                for target in node.targets:
                    self.target(target.target, node.value)
                self._walrus(node.value)
            case cst.AnnAssign():
                if node.value is not None:
                    self.target(node.target, node.value)
                    self._walrus(node.value)
                elif isinstance(node.target, cst.Name):
                    self.bindings.names.setdefault(node.target.value, [])
            case cst.AugAssign():
                self.target(node.target, None, "element")
                self._walrus(node.value)
            case cst.Import() | cst.ImportFrom():
                self.bindings.imports.extend(imports_of(node))
            case cst.Global():
                self.bindings.global_names.update(item.name.value for item in node.names)
            case cst.Nonlocal():
                self.bindings.nonlocal_names.update(item.name.value for item in node.names)
            case cst.Del():
                # A deleted name is bound in this scope, though not by the deletion.
                self._deleted(node.target)
            case cst.Expr() | cst.Return() | cst.Raise() | cst.Assert():
                self._walrus(node)

    def _deleted(self, target: cst.CSTNode) -> None:
        if isinstance(target, cst.Name):
            self.bindings.names.setdefault(target.value, [])
        elif isinstance(target, cst.Tuple | cst.List):
            for element in target.elements:
                self._deleted(element.value)

    def _walrus(self, node: cst.CSTNode) -> None:
        if not self._has_walrus:
            return
        pending: list[cst.CSTNode] = [node]
        while pending:
            current = pending.pop()
            if isinstance(current, cst.NamedExpr):
                self.target(current.target, current.value)
            if not isinstance(current, cst.Lambda | cst.FunctionDef | cst.ClassDef):
                pending.extend(children(current))

    def _pattern(self, pattern: cst.MatchPattern | None) -> None:
        match pattern:
            case cst.MatchAs():
                if pattern.name is not None:
                    self._bind(pattern.name, "element")
                self._pattern(pattern.pattern)
            case cst.MatchOr():
                for alternative in pattern.patterns:
                    self._pattern(alternative.pattern)
            case cst.MatchList() | cst.MatchTuple():
                for item in pattern.patterns:
                    if isinstance(item, cst.MatchStar):
                        if item.name is not None:
                            self._bind(item.name, "element")
                    else:
                        self._pattern(item.value)
            case cst.MatchMapping():
                for entry in pattern.elements:
                    self._pattern(entry.pattern)
                if pattern.rest is not None:
                    self._bind(pattern.rest, "element")
            case cst.MatchClass():
                for positional in pattern.patterns:
                    self._pattern(positional.value)
                for keyword in pattern.kwds:
                    self._pattern(keyword.pattern)


def argument_of(call: cst.Call, position: int, name: str) -> cst.BaseExpression | None:
    """The argument that a call gives a parameter, by its name or its position."""
    for argument in call.args:
        if argument.keyword is not None and argument.keyword.value == name:
            return argument.value
    if position < len(call.args) and call.args[position].keyword is None:
        return call.args[position].value
    return None


def all_parameters(parameters: cst.Parameters) -> list[cst.Param]:
    """All parameters in the order in which they are written."""
    found = [*parameters.posonly_params, *parameters.params]
    if isinstance(parameters.star_arg, cst.Param):
        found.append(parameters.star_arg)
    found.extend(parameters.kwonly_params)
    if parameters.star_kwarg is not None:
        found.append(parameters.star_kwarg)
    return found


def collect(
    body: Iterable[cst.CSTNode], parameters: cst.Parameters | None, has_walrus: bool
) -> Bindings:
    """The bindings of one scope."""
    collector = Collector(has_walrus)
    if parameters is not None:
        collector.parameters(parameters)
    collector.statements(body)
    return collector.bindings
