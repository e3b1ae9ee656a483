"""What a variable holds, where the file says so plainly: kernels, modules, instances, loggers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import libcst as cst

from cudalint.apis.model import EmbeddedSource
from cudalint.frontends.python.bindings import Binding
from cudalint.frontends.python.declarations import Declarations
from cudalint.frontends.python.embedded.sources import Embedded, EmbeddedSources
from cudalint.frontends.python.kernels import Kernels
from cudalint.frontends.python.scopes import (
    ClassInfo,
    Defined,
    Dotted,
    Local,
    Meaning,
    Receiver,
    Scope,
)
from cudalint.program.functions import Kernel

_MAXIMUM_DEPTH = 6

_CONTAINERS = frozenset(
    ["builtins.list", "builtins.dict", "builtins.set", "builtins.str", "collections.deque",
     "collections.defaultdict", "collections.OrderedDict"]
)  # fmt: skip
_LOGGERS = frozenset(["logging.getLogger", "structlog.get_logger", "accelerate.logging.get_logger"])


@dataclass(frozen=True, slots=True)
class Held:
    """What a value is. ``node``: the subscript ``kernel[grid, block]`` that made a launcher, or the
    call that made a launch configuration."""

    kind: Literal[
        "raw_kernel",
        "module_function",
        "kernel",
        "launcher",
        "configuration",
        "instance",
        "logger",
        "container",
        "program",
        "module",
    ]
    name: str = ""
    owner: ClassInfo | None = None
    kernel: Kernel | None = None
    node: cst.Subscript | cst.Call | None = None
    scope: Scope | None = None
    embedded: Embedded | None = None
    """Of a program or module: the CUDA source that it was compiled from."""
    model: EmbeddedSource | None = None


class Inference:
    """Tells what the values of one file are."""

    def __init__(
        self, declarations: Declarations, kernels: Kernels, sources: EmbeddedSources | None
    ) -> None:
        self._declarations = declarations
        self._kernels = kernels
        self._sources = sources
        self._asked: dict[tuple[cst.CSTNode, Scope], Held | None] = {}
        """What the values are that one question leads to."""

    def held(self, node: cst.CSTNode, scope: Scope, depth: int = 0) -> Held | None:
        """What an expression's value is, if the file says so plainly."""
        if depth > _MAXIMUM_DEPTH:
            return None
        if depth == 0:
            self._asked = {}
        key = node, scope
        if key not in self._asked:
            self._asked[key] = None  # it says nothing of itself (`name = name.strip()`)
            self._asked[key] = self._held(node, scope, depth)
        return self._asked[key]

    def _held(self, node: cst.CSTNode, scope: Scope, depth: int) -> Held | None:
        match node:
            case (
                cst.List() | cst.Dict() | cst.Set() | cst.BaseComp()
                | cst.SimpleString() | cst.ConcatenatedString() | cst.FormattedString()
            ):  # fmt: skip
                return Held("container")
            case cst.Name() | cst.Attribute():
                return self._held_by_name(node, scope, depth)
            case cst.Call():
                return self._held_by_call(node, scope, depth)
            case cst.Subscript():
                base = self.held(node.value, scope, depth + 1)
                if base is not None and base.kind == "kernel":
                    return Held("launcher", base.name, kernel=base.kernel, node=node, scope=scope)
        return None

    def _held_by_name(
        self, node: cst.Name | cst.Attribute, scope: Scope, depth: int
    ) -> Held | None:
        meaning = scope.meaning(node)
        if isinstance(meaning, Local):
            bindings = meaning.scope.bindings.names.get(meaning.variable.name, [])
            if len(bindings) > 1 and self._sources is not None and meaning.scope is scope:
                reaching = self._sources.reaching(bindings, node)
                bindings = [reaching] if reaching is not None else bindings
            return _same([self._held_by_binding(item, meaning.scope, depth) for item in bindings])
        if isinstance(meaning, Receiver) and not meaning.is_class:
            return Held("instance", owner=meaning.owner)
        if isinstance(meaning, Defined):
            return self.kernel_value(meaning, scope)
        if isinstance(node, cst.Attribute):
            base = self.held(node.value, scope, depth + 1)
            if base is not None and base.kind == "instance" and base.owner is not None:
                return self._held_by_member(base.owner, node.attr.value, depth)
        return None

    def _held_by_member(self, owner: ClassInfo, attribute: str, depth: int) -> Held | None:
        values = [item for base in owner.lineage() for item in base.attributes.get(attribute, ())]
        if values:
            return _same(
                [
                    self.held(value, home, depth + 1)
                    for _, value, home in values
                    if value is not None and not _is_none(value)
                ]
                if all(value is not None for _, value, _ in values)
                else [None]
            )
        method = owner.method(attribute)
        return self.kernel_value(method[1], owner.scope) if method is not None else None

    def kernel_value(self, defined: Defined, scope: Scope) -> Held | None:
        """A function of this file that is a kernel."""
        kernel = self._kernels.of(defined)
        return Held("kernel", kernel.name, kernel=kernel) if kernel is not None else None

    def _held_by_binding(
        self, binding: Binding, scope: Scope, depth: int
    ) -> Held | Literal["none"] | None:
        value = binding.value
        if value is None or binding.kind in ("function", "class"):
            return None
        if _is_none(value):
            return "none"
        if binding.kind == "parameter":
            return _annotated(value, scope)
        found = self.held(value, scope, depth + 1)
        if binding.kind == "context" and found is not None and found.kind != "instance":
            return None
        return found

    def _held_by_call(self, node: cst.Call, scope: Scope, depth: int) -> Held | None:
        meaning: Meaning | None = scope.meaning(node.func)
        if isinstance(meaning, ClassInfo):
            return Held("instance", owner=meaning)
        if isinstance(meaning, Dotted):
            return self._held_by_api(meaning, node, scope)
        if isinstance(meaning, Defined):
            return self._held_by_result(meaning, scope, depth)
        if isinstance(node.func, cst.Attribute) and meaning is None:
            base = self.held(node.func.value, scope, depth + 1)
            if base is not None and base.model is not None and base.embedded is not None:
                return self._held_by_module(node, node.func.attr.value, base, scope)
            model = scope.module.models.kernel_model(f".{node.func.attr.value}")
            if model is not None and model.makes == "named" and node.args:
                return Held("module_function", _literal(node, 0) or "kernel")
            if base is not None and base.kind == "instance" and base.owner is not None:
                method = base.owner.method(node.func.attr.value)
                if method is not None:
                    return self._held_by_result(method[1], scope, depth)
        if isinstance(node.func, cst.Call):
            # numba.cuda.jit("void(float32[:])")(function)
            inner = scope.meaning(node.func.func)
            if isinstance(inner, Dotted) and makes(inner, scope) == "decorated" and node.args:
                return self._wrapped(node.args[0].value, scope)
        return None

    def _held_by_result(self, defined: Defined, scope: Scope, depth: int) -> Held | None:
        """What a function of this file returns, by its annotation or its ``return`` statements."""
        home = self._declarations.home_of(defined)
        promised = None
        if defined.node.returns is not None:
            promised = _annotated(defined.node.returns.annotation, home)
            if promised is not None and promised.kind != "raw_kernel":
                return promised
        inner = self._declarations.scope_of(defined)
        values = [value for value in self._declarations.returned(defined) if not _is_none(value)]
        return _same([self.held(value, inner, depth + 1) for value in values]) or promised

    def _held_by_module(self, node: cst.Call, method: str, base: Held, scope: Scope) -> Held | None:
        """What a method of a program or module returns that was compiled from a string."""
        sources = self._sources
        if base.model is None or base.embedded is None or sources is None:
            return None
        if base.kind == "program" and method in base.model.modules:
            return replace(base, kind="module")
        if base.kind == "module" and method in base.model.kernels and node.args:
            return self._named_kernel("module_function", node.args[0].value, base.embedded, scope)
        return None

    def _named_kernel(
        self,
        kind: Literal["raw_kernel", "module_function"],
        name: cst.BaseExpression | None,
        embedded: Embedded | None,
        scope: Scope,
    ) -> Held:
        """A kernel of an embedded source, by the expression that names it."""
        sources = self._sources
        text = (
            sources.kernel_name(name, scope) if sources is not None and name is not None else None
        )
        kernel = embedded.kernel(text) if embedded is not None else None
        return Held(kind, kernel.name if kernel is not None else text or "kernel", kernel=kernel)

    def _held_by_source(self, meaning: Dotted, node: cst.Call, scope: Scope) -> Held | None:
        """What a call returns that compiles a string."""
        sources = self._sources
        if sources is None:
            return None
        model = scope.module.models.lookup(meaning.name)
        if model is None or model.embeds is None:
            return None
        embedded = sources.of_call(node, meaning.name, scope)
        if model.embeds.kernel is not None:
            name = sources.argument(node, model.embeds.kernel, model.parameters)
            return self._named_kernel("raw_kernel", name, embedded, scope)
        if embedded is None or not model.embeds.kernels:
            return None
        kind: Literal["program", "module"] = "program" if model.embeds.modules else "module"
        return Held(kind, embedded=embedded, model=model.embeds)

    def _held_by_api(self, meaning: Dotted, node: cst.Call, scope: Scope) -> Held | None:
        compiled = self._held_by_source(meaning, node, scope)
        if compiled is not None:
            return compiled
        made = makes(meaning, scope)
        if made == "kernel":
            return Held("raw_kernel", _literal(node, 1) or "kernel")
        if meaning.name in _LOGGERS:
            return Held("logger")
        if meaning.name in _CONTAINERS:
            return Held("container")
        if made == "settings":
            return Held("configuration", node=node, scope=scope)
        if made == "decorated" and node.args:
            return self._wrapped(node.args[0].value, scope)
        return None

    def _wrapped(self, node: cst.BaseExpression, scope: Scope) -> Held | None:
        """``cuda.jit(function)``: the function as a kernel."""
        meaning = scope.meaning(node)
        if isinstance(meaning, Defined):
            kernel = self._kernels.of(meaning, wrapped=True)
            return Held("kernel", meaning.node.name.value, kernel=kernel)
        return Held("kernel", "kernel") if isinstance(node, cst.Lambda | cst.Name) else None


def _is_none(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _annotated(annotation: cst.CSTNode, scope: Scope) -> Held | None:
    """What a parameter's annotation promises."""
    if isinstance(annotation, cst.SimpleString):
        text = annotation.value.strip("\"'")
        annotation = cst.Name(text) if text.isidentifier() else annotation
    if isinstance(annotation, cst.BinaryOperation) and isinstance(annotation.operator, cst.BitOr):
        annotation = annotation.right if _is_none(annotation.left) else annotation.left
    meaning = scope.meaning(annotation)
    if isinstance(meaning, Dotted) and makes(meaning, scope) == "kernel":
        return Held("raw_kernel", "kernel")
    return Held("instance", owner=meaning) if isinstance(meaning, ClassInfo) else None


def _same(found: list[Held | Literal["none"] | None]) -> Held | None:
    """What all bindings agree on; ``None`` where one of them is anything else."""
    kinds = [item for item in found if item != "none"]
    first = kinds[0] if kinds else None
    if not isinstance(first, Held):
        return None
    for item in kinds[1:]:
        if not isinstance(item, Held) or (item.kind, item.owner) != (first.kind, first.owner):
            return None
        if item.embedded is not first.embedded or item.kernel is not first.kernel:
            name = first.name if item.name == first.name else "kernel"
            first = replace(first, name=name, kernel=None, embedded=None)
    return first


def makes(meaning: Dotted, scope: Scope) -> str:
    """What an API function makes, where that has to do with kernels: ``KernelModel.makes``."""
    model = scope.module.models.kernel_model(meaning.name)
    return model.makes if model is not None else ""


def _literal(node: cst.Call, position: int) -> str | None:
    """The string that a call gives at a position."""
    if position < len(node.args):
        value = node.args[position].value
        if isinstance(value, cst.SimpleString):
            return value.value.strip("\"'")
    return None
