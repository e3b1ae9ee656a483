"""Kernels written in Python: which functions they are, and the shared memory that they declare."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import libcst as cst

from cudalint.frontends.python.bindings import all_parameters, argument_of, children
from cudalint.frontends.python.constants import fold
from cudalint.frontends.python.declarations import Declarations
from cudalint.frontends.python.element_types import item_bytes
from cudalint.frontends.python.kernel_inputs import inputs
from cudalint.frontends.python.scopes import Defined, Dotted, Scope
from cudalint.frontends.python.triton import staged_tiles
from cudalint.program.expressions import (
    Constant,
    Expression,
    Tuple,
    Type,
    Unknown,
)
from cudalint.program.functions import Kernel, Parameter, SharedArray

_TUNERS = frozenset(["triton.autotune", "triton.heuristics"])


def kernel_kind(node: cst.FunctionDef, scope: Scope) -> Literal["kernel", "device"] | None:
    """Whether a function is a kernel, a device function or neither (host code)."""
    for decorator in node.decorators:
        call = decorator.decorator
        target = call.func if isinstance(call, cst.Call) else call
        meaning = scope.meaning(target)
        if not isinstance(meaning, Dotted):
            continue
        model = scope.module.models.kernel_model(meaning.name)
        if model is not None and model.makes == "decorated":
            return "device" if isinstance(call, cst.Call) and _is_device(call) else "kernel"
        if model is not None and model.makes == "device":
            return "device"
    return None


def _is_device(call: cst.Call) -> bool:
    return any(
        argument.keyword is not None
        and argument.keyword.value == "device"
        and isinstance(argument.value, cst.Name)
        and argument.value.value == "True"
        for argument in call.args
    )


def is_triton(node: cst.FunctionDef, scope: Scope) -> bool:
    """Whether a kernel is Triton's: its grid alone is given at the launch."""
    return _dialect(node, scope) == "triton"


class Kernels:
    """The kernels of one file, each read when it is first asked for."""

    def __init__(self, declarations: Declarations) -> None:
        self._declarations = declarations
        self.found: dict[str, Kernel] = {}

    def of(self, defined: Defined, wrapped: bool = False) -> Kernel | None:
        """The kernel that a function of this file is, if it is one. ``wrapped``: it is, by
        ``cuda.jit(function)`` instead of a decorator."""
        if defined.key not in self.found:
            scope = self._declarations.home_of(defined)
            if not wrapped and kernel_kind(defined.node, scope) != "kernel":
                return None
            self.found[defined.key] = self._read(defined, scope)
        return self.found[defined.key]

    def _read(self, defined: Defined, scope: Scope) -> Kernel:
        """The kernel that a decorated function is."""
        node = defined.node
        shared: list[SharedArray] = []
        dynamic: str | None = None
        inner, module = self._declarations.scope_of(defined), self._declarations.module
        local: list[SharedArray] = []
        for name, kind, size, span_node in self._arrays(node, inner, set(), 0):
            if kind == "local":
                local.append(SharedArray(name, size, module.span(span_node)))
            elif size == 0:
                dynamic = name
            else:
                shared.append(SharedArray(name, size, module.span(span_node)))
        read = inputs(node)
        parameters = tuple(
            Parameter(
                item.name.value,
                item.name.value,
                Type("object", constant=item.name.value in read),
                default=Unknown("default") if item.default is not None else None,
                starred=item.star if isinstance(item.star, str) else "",
            )
            for item in all_parameters(node.params)
        )
        dialect = _dialect(node, scope)
        return Kernel(
            defined.key,
            node.name.value,
            module.source.filename,
            module.span(node.name),
            tuple(shared),
            dynamic,
            parameters,
            dialect=dialect,
            staged=staged_tiles(node, inner, module) if dialect == "triton" else (),
            local=tuple(local),
        )

    def _arrays(
        self, node: cst.FunctionDef, scope: Scope, seen: set[int], depth: int
    ) -> Iterator[tuple[str, str, int | None, cst.CSTNode]]:
        """The shared and local arrays of a kernel and of the device functions that it calls: name,
        kind, bytes (0 for a dynamic one, ``None`` if unknown) and where."""
        if id(node) in seen or depth > 8:
            return
        seen.add(id(node))
        pending: list[tuple[cst.CSTNode, str]] = [(node.body, "")]
        while pending:
            current, name = pending.pop(0)
            if isinstance(current, cst.Assign) and isinstance(current.targets[0].target, cst.Name):
                name = current.targets[0].target.value
            if isinstance(current, cst.Call):
                meaning = scope.meaning(current.func)
                if isinstance(meaning, Dotted):
                    kind, size = _array_call(current, meaning.name, scope)
                    if kind:
                        yield name or f"{kind} array", kind, size, current
                elif isinstance(meaning, Defined):
                    inner = self._declarations.scope_of(meaning)
                    yield from self._arrays(meaning.node, inner, seen, depth + 1)
            pending[:0] = [(child, name) for child in children(current)]


def _dialect(node: cst.FunctionDef, scope: Scope) -> Literal["numba", "triton", "cupy"]:
    for decorator in node.decorators:
        call = decorator.decorator
        meaning = scope.meaning(call.func if isinstance(call, cst.Call) else call)
        if isinstance(meaning, Dotted):
            model = scope.module.models.kernel_model(meaning.name)
            if model is not None and model.makes:
                return model.dialect
    return "numba"


def _array_call(call: cst.Call, name: str, scope: Scope) -> tuple[str, int | None]:
    """Kind and bytes of ``cuda.shared.array(shape, dtype)``; no kind for any other call."""
    model = scope.module.models.kernel_model(name)
    if model is None or model.makes not in ("shared", "local"):
        return "", None
    given = {
        parameter: argument_of(call, position, parameter)
        for position, parameter in enumerate(model.parameters)
    }
    shape, dtype = given.get("shape", given.get("size")), given.get("dtype")
    kind = model.makes
    elements = _elements(fold(shape, scope)) if shape is not None else None
    if elements == 0:
        return kind, 0
    item = item_bytes(fold(dtype, scope)) if dtype is not None else None
    return kind, elements * item if elements is not None and item is not None else None


def _elements(shape: Expression | None) -> int | None:
    if isinstance(shape, Constant) and isinstance(shape.value, int):
        return shape.value
    if isinstance(shape, Tuple):
        product = 1
        for item in shape.items:
            if not isinstance(item, Constant) or not isinstance(item.value, int):
                return None
            product *= item.value
        return product
    return None
