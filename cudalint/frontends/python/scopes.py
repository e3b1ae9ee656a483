"""Scopes: what a name means where it stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import libcst as cst

from cudalint.frontends.python.bindings import Binding, Bindings, Import, dotted_text
from cudalint.frontends.python.module import Module
from cudalint.frontends.python.names import BUILTINS
from cudalint.program.expressions import Variable


@dataclass(frozen=True, slots=True)
class Dotted:
    """An imported name, something reached through one, or a builtin. ``key`` where it can be
    defined in the run."""

    name: str
    key: str | None = None

    @property
    def defined_as(self) -> str:
        """Its name where it is defined, in the run or elsewhere."""
        return self.key or self.name

    def member(self, attribute: str, module: Module) -> Dotted:
        """What ``self.attribute`` means in a file."""
        key = module.key(f"{self.key}.{attribute}") if self.key is not None else None
        return Dotted(f"{self.name}.{attribute}", key)


@dataclass(frozen=True, slots=True)
class Defined:
    """A function of this file."""

    key: str
    name: str
    node: cst.FunctionDef


@dataclass(frozen=True, slots=True)
class Local:
    """A variable: the binding scope is the module's or a function's."""

    variable: Variable
    scope: Scope


@dataclass(slots=True)
class ClassInfo:
    """A class of this file."""

    key: str
    name: str
    node: cst.ClassDef
    scope: Scope
    """The class's own scope: its parent is the one that the class stands in."""
    methods: dict[str, list[Defined]] = field(default_factory=dict)
    attributes: dict[str, list[tuple[cst.Attribute, cst.CSTNode | None, Scope]]] = field(
        default_factory=dict
    )
    """``self.name`` with what its methods assign to it."""

    def bases(self) -> list[Meaning]:
        """What the base classes are; those that are no plain names are left out."""
        found = []
        for base in self.node.bases:
            meaning = self.scope.parent_meaning(base.value)
            if meaning is not None:
                found.append(meaning)
        return found

    def lineage(self) -> list[ClassInfo]:
        """The class and its bases in this file, nearest first."""
        order: list[ClassInfo] = []
        pending: list[ClassInfo] = [self]
        while pending:
            current = pending.pop(0)
            if current not in order:
                order.append(current)
                pending.extend(base for base in current.bases() if isinstance(base, ClassInfo))
        return order

    def method(self, name: str) -> tuple[ClassInfo, Defined] | None:
        """The method of that name, here or in a base of the same file."""
        for owner in self.lineage():
            if name in owner.methods:
                return owner, owner.methods[name][-1]
        return None

    def member(self, name: str) -> str:
        """The member that ``self.name`` reads: what a property hands out as it is, or itself."""
        found = self.method(name)
        getters = found[0].methods[name][:1] if found is not None else []
        return next(filter(None, map(_handed_out, getters)), name)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


@dataclass(frozen=True, slots=True)
class ClassMember:
    """A name of a class body: ``attribute`` of a class of this file."""

    owner: ClassInfo
    attribute: str


@dataclass(frozen=True, slots=True)
class Receiver:
    """``self``, or the ``cls`` of a class method."""

    name: str
    owner: ClassInfo
    is_class: bool


Meaning = Dotted | Defined | Local | ClassInfo | ClassMember | Receiver
ScopeKind = Literal["module", "class", "function", "comprehension"]


class Scope:
    """One scope. Comprehensions have their own; their bindings are added as they are lowered."""

    def __init__(
        self,
        kind: ScopeKind,
        bindings: Bindings,
        module: Module,
        parent: Scope | None = None,
        prefix: str = "",
    ) -> None:
        self.kind = kind
        self.bindings = bindings
        self.module = module
        self.parent = parent
        self.prefix = prefix
        """What the keys of definitions in this scope start with."""
        self.owner: ClassInfo | None = None
        """Of a class scope: the class. Of a method's: the class whose receiver it has."""
        self.receiver: str | None = None
        """Of a method: the name of its receiver (``self``); ``cls`` of a class method."""
        self.receiver_is_class = False
        self.functions: dict[int, Defined] = {}
        self.classes: dict[int, ClassInfo] = {}
        self.symbols: dict[str, str] = {}
        self.taken: dict[str, int]
        # Symbols are unique among nested functions: each can be run inside its parent.
        if parent is not None and (kind == "comprehension" or parent.function_scope is not None):
            self.taken = parent.taken
        else:
            self.taken = {}
        self._meanings: dict[str, Meaning | None] = {}
        self._add_imports()

    @property
    def function_scope(self) -> Scope | None:
        """The innermost function around this scope, itself included."""
        scope: Scope | None = self
        while scope is not None and scope.kind != "function":
            scope = scope.parent
        return scope

    @property
    def outermost(self) -> Scope:
        """The module's scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def _add_imports(self) -> None:
        for item in self.bindings.imports:
            base = self.module.dotted.absolute(item.module, item.level)
            if item.attribute == "*":
                if base:
                    self.module.imports(base)
                    self.module.star_imports.append((base, item.level > 0))
                continue
            dotted = _imported(item, base)
            if dotted:
                self.module.imports(base if item.attribute is None and base else dotted)
                kind_of_import = Binding("import", item.node, None, dotted)
                self.bindings.add(item.name, kind_of_import)

    # -- symbols ---------------------------------------------------------------------------------

    def symbol(self, name: str) -> str:
        """The symbol of a variable that this scope binds."""
        known = self.symbols.get(name)
        if known is not None:
            return known
        if self.kind == "module":
            symbol = f"::{name}"
        else:
            count = self.taken.get(name, 0) + 1
            self.taken[name] = count
            symbol = name if count == 1 else f"{name}#{count}"
        self.symbols[name] = symbol
        return symbol

    def declare(self, name: str) -> Variable:
        """A comprehension's variable."""
        self.bindings.names.setdefault(name, [])
        self._meanings.pop(name, None)
        return Variable(name, self.symbol(name))

    # -- meanings --------------------------------------------------------------------------------

    def lookup(self, name: str) -> Meaning | None:
        """What a name means here; ``None`` for a name that nothing binds."""
        if name in self._meanings:
            return self._meanings[name]
        self._meanings[name] = None
        meaning = self._find(name)
        self._meanings[name] = meaning
        return meaning

    def dotted(self, name: str, relative: bool = False) -> Dotted:
        """An imported name, with a key where the project may define it."""
        is_project = relative or self.module.dotted.is_project(name)
        return Dotted(name, self.module.key(name) if is_project else None)

    def _starred(self, name: str) -> Dotted | None:
        """What an unbound name means if the file has one star import: what that one brings."""
        if len(self.module.star_imports) != 1 or name.startswith("__"):
            return None
        base, relative = self.module.star_imports[0]
        return self.dotted(f"{base}.{name}", relative)

    def _find(self, name: str) -> Meaning | None:
        binder = self._binder(name)
        if binder is None:
            if name in BUILTINS:
                return Dotted(f"builtins.{name}")
            return self._starred(name)
        if binder is not self:
            return binder.lookup(name)
        if self.kind == "class" and self.owner is not None:
            bindings = self.bindings.names[name]
            if all(b.kind in ("import", "class") for b in bindings) and bindings:
                return self._own(name)
            return ClassMember(self.owner, name)
        return self._own(name)

    def _binder(self, name: str) -> Scope | None:
        """The scope that binds a name, seen from this one."""
        if name in self.bindings.global_names:
            return self.outermost
        scope: Scope | None = self
        if name in self.bindings.nonlocal_names:
            scope = self.parent
        while scope is not None:
            visible = scope is self or scope.kind != "class"
            if visible and name in scope.bindings.names:
                if name in scope.bindings.global_names:
                    return self.outermost
                if name not in scope.bindings.nonlocal_names:
                    return scope
            scope = scope.parent
        return None

    def _own(self, name: str) -> Meaning:
        """What a name means that this scope itself binds."""
        bindings = [
            binding
            for binding in self.bindings.names[name]
            if not (isinstance(binding.value, cst.Name) and binding.value.value == "None")
        ]
        kinds = {binding.kind for binding in bindings}
        if name == self.receiver and kinds == {"parameter"} and self.owner is not None:
            return Receiver(name, self.owner, self.receiver_is_class)
        if "import" in kinds and all(_stands_in(binding) for binding in bindings):
            first = next(binding for binding in bindings if binding.kind == "import")
            return self.dotted(first.dotted)
        variable = Local(Variable(name, self.symbol(name)), self)
        if not bindings:
            return variable
        if kinds == {"function"} and isinstance(bindings[-1].value, cst.FunctionDef):
            return self.functions.get(id(bindings[-1].value)) or variable
        if kinds == {"class"} and isinstance(bindings[-1].value, cst.ClassDef):
            return self.classes.get(id(bindings[-1].value)) or variable
        if kinds == {"value"} and len(bindings) == 1:
            alias = self._alias(bindings[0].value)
            if alias is not None:
                return alias
        return variable

    def _alias(self, value: cst.CSTNode | None) -> Meaning | None:
        """``xp = cupy``, ``malloc = cudart.cudaMalloc``: another name for something fixed."""
        if value is None or not dotted_text(value):
            return None
        meaning = self.meaning(value)
        if isinstance(meaning, Dotted | Defined | ClassInfo):
            return meaning
        return None

    def meaning(self, node: cst.CSTNode) -> Meaning | None:
        """What a name or a chain of attributes means, where that is fixed."""
        if isinstance(node, cst.Name):
            return self.lookup(node.value)
        if isinstance(node, cst.Attribute):
            base = self.meaning(node.value)
            attribute = node.attr.value
            if isinstance(base, Dotted):
                return base.member(attribute, self.module)
            if isinstance(base, ClassInfo):
                return class_member(base, attribute)
        return None

    def parent_meaning(self, node: cst.CSTNode) -> Meaning | None:
        """What an expression in a class's head means: seen from around the class."""
        return self.parent.meaning(node) if self.parent is not None else None


def _handed_out(getter: Defined) -> str:
    """The member that a property returns: ``return self._name`` is all that its getter does."""
    node = getter.node
    decorators = {dotted_text(one.decorator) for one in node.decorators}
    statements = node.body.body if isinstance(node.body, cst.IndentedBlock) else ()
    last = statements[-1] if len(statements) in (1, 2) else None
    if decorators != {"property"} or not isinstance(last, cst.SimpleStatementLine):
        return ""
    if any(not _is_text(one) for one in statements[:-1]) or not node.params.params:
        return ""
    end = last.body[-1]
    receiver, _, member = dotted_text(getattr(end, "value", None)).partition(".")
    is_own = receiver == node.params.params[0].name.value and isinstance(end, cst.Return)
    return member if is_own and "." not in member else ""


def _is_text(statement: cst.CSTNode) -> bool:
    """A statement that is a docstring."""
    line = statement.body if isinstance(statement, cst.SimpleStatementLine) else ()
    return all(isinstance(o, cst.Expr) and isinstance(o.value, cst.SimpleString) for o in line)


def _stands_in(binding: Binding) -> bool:
    """An import, or what takes its place where it fails: ``import a as m`` in a ``try``, and in
    its ``except`` another import, a class of one's own or another module."""
    if binding.kind == "value":
        return bool(dotted_text(binding.value))
    return binding.kind in ("import", "function", "class")


def class_member(owner: ClassInfo, attribute: str) -> Meaning:
    """What ``Class.attribute`` means."""
    method = owner.method(attribute)
    if method is not None:
        return method[1]
    for base in owner.lineage():
        for inner in base.scope.classes.values():
            if inner.node.name.value == attribute:
                return inner
    return ClassMember(owner, attribute)


def _imported(item: Import, base: str | None) -> str | None:
    if base is None:
        return None
    if item.attribute is None:
        return base if item.has_alias else item.name
    return f"{base}.{item.attribute}" if base else item.attribute
