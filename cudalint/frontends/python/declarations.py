"""What one file defines: its functions and classes, with the scopes of their bodies."""

from __future__ import annotations

import libcst as cst

from cudalint.frontends.python.bindings import Bindings, children, collect
from cudalint.frontends.python.constants import binding_constant
from cudalint.frontends.python.module import OBJECT, Module
from cudalint.frontends.python.names import module_file
from cudalint.frontends.python.scopes import ClassInfo, Defined, Dotted, Local, Scope
from cudalint.program.expressions import Expression, FunctionReference
from cudalint.program.functions import VariableInfo

_HOLDS_STATEMENTS = (
    cst.BaseSuite,
    cst.BaseStatement,
    cst.Else,
    cst.ExceptHandler,
    cst.ExceptStarHandler,
    cst.Finally,
    cst.MatchCase,
)


class Declarations:
    """One file's. Scopes and classes are declared first, so that uses before definitions
    resolve."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._has_walrus = ":=" in module.source.text
        self._keys: dict[str, int] = {}
        self._homes: dict[int, Scope] = {}
        self._returned: dict[str, list[cst.BaseExpression]] = {}
        self._scopes: dict[int, Scope] = {}
        self._all_bindings: dict[int, Bindings] = {}
        bindings = collect(module.tree.body, None, self._has_walrus)
        if "global " in module.source.text:
            self._take_globals(bindings)
        self.scope = Scope("module", bindings, module, prefix=f"{module.dotted.name}.")
        self._declare(self.scope)

    # -- names -----------------------------------------------------------------------------------

    def unique_key(self, key: str) -> str:
        """The key itself the first time, then ``key#2``..."""
        count = self._keys.get(key, 0) + 1
        self._keys[key] = count
        return key if count == 1 else f"{key}#{count}"

    # -- scopes ----------------------------------------------------------------------------------

    def bindings_of(self, node: cst.FunctionDef | cst.Lambda | cst.ClassDef) -> Bindings:
        """The bindings of a function's or class's body, collected once."""
        known = self._all_bindings.get(id(node))
        if known is None:
            if isinstance(node, cst.Lambda):
                known = collect([], node.params, self._has_walrus)
            elif isinstance(node, cst.FunctionDef):
                known = collect(node.body.body, node.params, self._has_walrus)
            else:
                known = collect(node.body.body, None, self._has_walrus)
            self._all_bindings[id(node)] = known
        return known

    def _declare(self, scope: Scope) -> None:
        """Give the functions and classes that a scope defines their keys."""
        for node in scope.bindings.functions:
            key = self.unique_key(f"{scope.prefix}{node.name.value}")
            defined = Defined(key, key.removeprefix(f"{self.module.dotted.name}."), node)
            scope.functions[id(node)] = defined
            self._homes[id(node)] = scope
            if scope.kind == "class" and scope.owner is not None:
                scope.owner.methods.setdefault(node.name.value, []).append(defined)
        for class_node in scope.bindings.classes:
            key = self.unique_key(f"{scope.prefix}{class_node.name.value}")
            inner = Scope("class", self.bindings_of(class_node), self.module, scope, f"{key}.")
            name = key.removeprefix(f"{self.module.dotted.name}.")
            owner = ClassInfo(key, name, class_node, inner)
            inner.owner = owner
            scope.classes[id(class_node)] = owner
            self._declare(inner)
            self._collect_attributes(owner)

    def _collect_attributes(self, owner: ClassInfo) -> None:
        for methods in owner.methods.values():
            for method in methods:
                scope = self.scope_of(method)
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
        scope = Scope("function", self.bindings_of(node), self.module, parent, f"{key}.<locals>.")
        if (
            parent.kind == "class"
            and parent.owner is not None
            and isinstance(node, cst.FunctionDef)
        ):
            self._set_receiver(scope, node, parent)
        self._scopes[id(node)] = scope
        self._declare(scope)
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

    # -- results ---------------------------------------------------------------------------------

    def home_of(self, defined: Defined) -> Scope:
        """The scope that a function is defined in."""
        return self._homes[id(defined.node)]

    def scope_of(self, defined: Defined) -> Scope:
        """The scope of the body of a function."""
        return self.function_scope(defined.node, self.home_of(defined), defined.key)

    def is_instance_method(self, defined: Defined) -> bool:
        """Whether a function is a method that takes a receiver."""
        home = self.home_of(defined)
        return home.kind == "class" and method_kind(defined.node, home) == "instance"

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
            base = self.module.dotted.absolute(module, level)
            if base is None or not (level or self.module.dotted.is_project(base)):
                continue
            dotted = base if attribute in (None, "*") else f"{base}.{attribute}"
            filename = module_file(dotted, self.module.source.filename)
            if filename is not None and filename != self.module.source.filename:
                found[filename] = None
        return tuple(found)

    def variables(self) -> dict[str, VariableInfo]:
        """The module's variables, with the constants that they hold and the names that they are
        for (``FunctionReference``: imports, so that a package's re-exports can be followed)."""
        found = {}
        for name, bindings in self.scope.bindings.names.items():
            meaning = self.scope.lookup(name)
            span = self.module.span(bindings[0].node) if bindings else None
            if isinstance(meaning, Local):
                value: Expression | None = binding_constant(name, self.scope)
            elif isinstance(meaning, Dotted):
                value = FunctionReference(meaning.name, meaning.key)
            else:
                continue
            found[f"::{name}"] = VariableInfo(name, OBJECT, "global", span, value)
        return found


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
