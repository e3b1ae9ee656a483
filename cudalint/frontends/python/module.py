"""What is known of one file while it is lowered: its names, definitions and results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from cudalint.apis.loader import ApiModels, load
from cudalint.frontends.python import kernels
from cudalint.frontends.python.bindings import Bindings, children, collect
from cudalint.frontends.python.constants import binding_constant
from cudalint.frontends.python.names import ModuleName, module_file
from cudalint.frontends.python.positions import Positions
from cudalint.frontends.python.scopes import (
    ClassInfo,
    Defined,
    Dotted,
    Local,
    Meaning,
    Scope,
)
from cudalint.program.expressions import FunctionReference, Type
from cudalint.program.functions import (
    Dropped,
    Function,
    Kernel,
    Record,
    VariableInfo,
)
from cudalint.source import Source, Span

if TYPE_CHECKING:
    from cudalint.frontends.python.embedded.sources import EmbeddedSources

OBJECT = Type("object")

_HOLDS_STATEMENTS = (
    cst.BaseSuite,
    cst.BaseStatement,
    cst.Else,
    cst.ExceptHandler,
    cst.ExceptStarHandler,
    cst.Finally,
    cst.MatchCase,
)


class ModuleReader:
    """One file. Scopes and classes are declared first, so that uses before definitions resolve."""

    def __init__(
        self,
        source: Source,
        tree: cst.Module,
        positions: Positions,
        module: ModuleName,
        models: ApiModels | None = None,
    ) -> None:
        self.models = models or load("python")
        self.source = source
        self.tree = tree
        self.positions = positions
        self.module = module
        self.has_walrus = ":=" in source.text
        self.uses_numba = "numba" in source.text and "cuda" in source.text
        self.functions: list[Function] = []
        self.records: list[Record] = []
        self.kernels: dict[str, Kernel] = {}
        self.dropped: list[Dropped] = []
        self.star_imports: list[tuple[str, bool]] = []
        self.lambda_keys: dict[int, str] = {}
        self._begun: set[int] = set()
        self._keys: dict[str, int] = {}
        self._homes: dict[int, Scope] = {}
        self._returned: dict[str, list[cst.BaseExpression]] = {}
        self._scopes: dict[int, Scope] = {}
        self._all_bindings: dict[int, Bindings] = {}
        bindings = collect(tree.body, None, self.has_walrus)
        if "global " in source.text:
            self._take_globals(bindings)
        self.scope = Scope("module", bindings, self, prefix=f"{module.name}.")
        self.declare(self.scope)
        self.embedded: EmbeddedSources | None = None
        """Where the file may hold CUDA sources in its strings."""

    # -- text ------------------------------------------------------------------------------------

    def span(self, node: cst.CSTNode) -> Span:
        """The rows and columns of a node."""
        return self.positions.span(node)

    def text(self, node: cst.CSTNode) -> str:
        """The source text of a node."""
        return self.positions.text(node)

    # -- names -----------------------------------------------------------------------------------

    def unique_key(self, key: str) -> str:
        """The key itself the first time, then ``key#2``..."""
        count = self._keys.get(key, 0) + 1
        self._keys[key] = count
        return key if count == 1 else f"{key}#{count}"

    def dotted(self, name: str, relative: bool = False) -> Dotted:
        """An imported name, with a key where the project may define it."""
        return Dotted(name, name if relative or self.module.is_project(name) else None)

    def starred(self, name: str) -> Meaning | None:
        """What an unbound name means if the file has one star import: what that one brings."""
        if len(self.star_imports) != 1 or name.startswith("__"):
            return None
        base, relative = self.star_imports[0]
        return self.dotted(f"{base}.{name}", relative)

    # -- scopes ----------------------------------------------------------------------------------

    def bindings_of(self, node: cst.FunctionDef | cst.Lambda | cst.ClassDef) -> Bindings:
        """The bindings of a function's or class's body, collected once."""
        known = self._all_bindings.get(id(node))
        if known is None:
            if isinstance(node, cst.Lambda):
                known = collect([], node.params, self.has_walrus)
            elif isinstance(node, cst.FunctionDef):
                known = collect(node.body.body, node.params, self.has_walrus)
            else:
                known = collect(node.body.body, None, self.has_walrus)
            self._all_bindings[id(node)] = known
        return known

    def declare(self, scope: Scope) -> None:
        """Give the functions and classes that a scope defines their keys."""
        for node in scope.bindings.functions:
            key = self.unique_key(f"{scope.prefix}{node.name.value}")
            defined = Defined(key, key.removeprefix(f"{self.module.name}."), node)
            scope.functions[id(node)] = defined
            self._homes[id(node)] = scope
            if scope.kind == "class" and scope.owner is not None:
                scope.owner.methods.setdefault(node.name.value, []).append(defined)
        for class_node in scope.bindings.classes:
            key = self.unique_key(f"{scope.prefix}{class_node.name.value}")
            inner = Scope("class", self.bindings_of(class_node), self, scope, f"{key}.")
            name = key.removeprefix(f"{self.module.name}.")
            owner = ClassInfo(key, name, class_node, inner)
            inner.owner = owner
            scope.classes[id(class_node)] = owner
            self.declare(inner)
            self._collect_attributes(owner)

    def _collect_attributes(self, owner: ClassInfo) -> None:
        for methods in owner.methods.values():
            for method in methods:
                scope = self.function_scope(method.node, owner.scope, method.key)
                for target, value in scope.bindings.attributes:
                    if isinstance(target.value, cst.Name) and target.value.value == scope.receiver:
                        owner.attributes.setdefault(target.attr.value, []).append(
                            (target, value, scope)
                        )

    def function_scope(self, node: cst.FunctionDef | cst.Lambda, parent: Scope, key: str) -> Scope:
        """The scope of a function's body, with its definitions declared."""
        known = self._scopes.get(id(node))
        if known is not None:
            return known
        scope = Scope("function", self.bindings_of(node), self, parent, f"{key}.<locals>.")
        if (
            parent.kind == "class"
            and parent.owner is not None
            and isinstance(node, cst.FunctionDef)
        ):
            self._set_receiver(scope, node, parent)
        self._scopes[id(node)] = scope
        self.declare(scope)
        return scope

    def _set_receiver(self, scope: Scope, node: cst.FunctionDef, parent: Scope) -> None:
        kind = method_kind(node, parent)
        first = next(iter([*node.params.posonly_params, *node.params.params]), None)
        scope.owner = parent.owner
        if kind != "static" and first is not None:
            scope.receiver = first.name.value
            scope.receiver_is_class = kind == "class"

    def _take_globals(self, bindings: Bindings) -> None:
        """Names that functions declare global and bind are bound in the module, too."""
        pending: list[cst.FunctionDef | cst.ClassDef] = [*bindings.functions, *bindings.classes]
        while pending:
            inner = self.bindings_of(pending.pop())
            pending.extend(inner.functions)
            pending.extend(inner.classes)
            for name in sorted(inner.global_names):
                for binding in inner.names.get(name, []):
                    bindings.add(name, binding)
                bindings.imports.extend(item for item in inner.imports if item.name == name)

    def begin(self, node: cst.FunctionDef | cst.ClassDef) -> bool:
        """Whether a definition is lowered for the first time. (A ``finally`` body is written out
        several times.)"""
        if id(node) in self._begun:
            return False
        self._begun.add(id(node))
        return True

    # -- results ---------------------------------------------------------------------------------

    def home_of(self, defined: Defined) -> Scope:
        """The scope that a function is defined in."""
        return self._homes[id(defined.node)]

    def is_instance_method(self, defined: Defined) -> bool:
        """Whether a function is a method that takes a receiver."""
        home = self.home_of(defined)
        return home.kind == "class" and method_kind(defined.node, home) == "instance"

    def kernel_of(self, defined: Defined, wrapped: bool = False) -> Kernel | None:
        """The kernel that a function of this file is, if it is one. ``wrapped``: it is, by
        ``cuda.jit(function)`` instead of a decorator."""
        if defined.key not in self.kernels:
            scope = self.home_of(defined)
            if not wrapped and kernels.kernel_kind(defined.node, scope) != "kernel":
                return None
            self.kernels[defined.key] = kernels.read_kernel(defined, scope, self)
        return self.kernels[defined.key]

    def returned(self, defined: Defined) -> list[cst.BaseExpression]:
        """What a function returns: the values of its ``return`` statements."""
        known = self._returned.get(defined.key)
        if known is None:
            known = []
            pending: list[cst.CSTNode] = [defined.node.body]
            while pending:
                node = pending.pop()
                if isinstance(node, cst.Return) and node.value is not None:
                    known.append(node.value)
                elif isinstance(node, _HOLDS_STATEMENTS) and not isinstance(
                    node, cst.FunctionDef | cst.ClassDef
                ):
                    pending.extend(children(node))
            self._returned[defined.key] = known
        return known

    def includes(self) -> tuple[str, ...]:
        """The project's files that this one imports."""
        found: dict[str, None] = {}
        imported = [
            (item.module, item.level, item.attribute) for item in self.scope.bindings.imports
        ]
        for bindings in self._all_bindings.values():
            imported.extend((item.module, item.level, item.attribute) for item in bindings.imports)
        for module, level, attribute in imported:
            base = self.module.absolute(module, level)
            if base is None or not (level or self.module.is_project(base)):
                continue
            dotted = base if attribute in (None, "*") else f"{base}.{attribute}"
            filename = module_file(dotted, self.source.filename, self.module)
            if filename is not None and filename != self.source.filename:
                found[filename] = None
        return tuple(found)

    def variables(self) -> dict[str, VariableInfo]:
        """The module's variables, with the constants that they hold and the names that they are
        for (``FunctionReference``: imports, so that a package's re-exports can be followed)."""
        return dict(self._variables())

    def _variables(self) -> Iterator[tuple[str, VariableInfo]]:
        for name, bindings in self.scope.bindings.names.items():
            meaning = self.scope.lookup(name)
            span = self.span(bindings[0].node) if bindings else None
            value = None
            if isinstance(meaning, Local):
                value = binding_constant(name, self.scope)
            elif isinstance(meaning, Dotted):
                value = FunctionReference(meaning.name, meaning.key)
            else:
                continue
            yield f"::{name}", VariableInfo(name, OBJECT, "global", span, value)


def method_kind(node: cst.FunctionDef, scope: Scope) -> str:
    """``instance``, ``class`` or ``static``."""
    if node.name.value in ("__new__", "__init_subclass__", "__class_getitem__"):
        return "class"
    for decorator in node.decorators:
        meaning = scope.meaning(decorator.decorator)
        if isinstance(meaning, Dotted):
            if meaning.name == "builtins.staticmethod":
                return "static"
            if meaning.name in ("builtins.classmethod", "abc.abstractclassmethod"):
                return "class"
    return "instance"
