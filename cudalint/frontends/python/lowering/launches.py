"""Lowers kernel launches: Numba's and Triton's subscripts, CuPy's tuples, PyCUDA's keywords."""

from __future__ import annotations

import libcst as cst

from cudalint.apis.model import KernelModel
from cudalint.frontends.python.bindings import children
from cudalint.frontends.python.constants import fold
from cudalint.frontends.python.inference import Held
from cudalint.frontends.python.kernels import is_triton
from cudalint.frontends.python.lowering.state import FunctionState
from cudalint.frontends.python.scopes import Defined, Dotted, Local
from cudalint.program.expressions import (
    Constant,
    Expression,
    FunctionReference,
    Tuple,
    Unknown,
)
from cudalint.program.functions import Argument, Call, Kernel, Launch
from cudalint.source import Span

_ONE = Tuple((Constant(1), Constant(1)), "tuple")


def lower_launch(
    state: FunctionState, node: cst.Call, target: Expression | None, wanted: bool
) -> Expression | None:
    """Lower a call that launches a kernel; ``None`` if it is no such call."""
    function = node.func
    if isinstance(function, cst.Subscript):
        return _subscripted(state, node, function, target, wanted)
    if isinstance(function, cst.Attribute):
        model = state.module.models.kernel_model(f".{function.attr.value}")
        prepared = model is not None and model.launches == "prepared"
        if model is not None and prepared and _is_device_function(function.value, state):
            return _prepared(state, node, function, model.leading, target, wanted)
        if model is not None and model.limits and len(node.args) == 2:
            return _set_limit(state, node, function, model)
        if not node.args and not _is_sized(state, function):
            return None
    meaning = state.scope.meaning(function)
    if isinstance(meaning, Dotted):
        model = state.module.models.kernel_model(meaning.name)
        launches = model is not None and model.launches == "settings"
        return _with_settings(state, node, target, wanted) if launches else None
    what = state.held(function) if _can_hold(function) else None
    if what is None:
        return _for_all(state, node, target, wanted)
    if what.kind in ("raw_kernel", "module_function"):
        return _configured_by_arguments(state, node, what, target, wanted)
    if what.kind == "launcher" and isinstance(what.node, cst.Subscript):
        return _emit_subscript(state, node, what.node, what, target, wanted, again=True)
    return None


# -- kernel[grid, block, stream, shared](arguments) ----------------------------------------


def _subscripted(
    state: FunctionState,
    node: cst.Call,
    function: cst.Subscript,
    target: Expression | None,
    wanted: bool,
) -> Expression | None:
    what = state.held(function.value)
    if what is not None and what.kind == "kernel":
        return _emit_subscript(state, node, function, what, target, wanted)
    meaning = state.scope.meaning(function.value)
    if isinstance(meaning, Dotted) and len(function.slice) >= 2 and meaning.key is not None:
        # Imported from the project, and configured like a kernel.
        imported = Held("kernel", meaning.name.rpartition(".")[2])
        return _emit_subscript(
            state, node, function, imported, target, wanted, kernel_key=meaning.key
        )
    free = what is None and (meaning is None or isinstance(meaning, Local))
    if free and state.file.uses_numba and _configures(function):
        # In a file that uses Numba, nothing else is subscripted like this and called.
        name = state.short_text(function.value)
        return _emit_subscript(state, node, function, Held("kernel", name), target, wanted)
    return None


def _emit_subscript(
    state: FunctionState,
    node: cst.Call,
    configuration: cst.Subscript,
    what: Held,
    target: Expression | None,
    wanted: bool,
    kernel_key: str | None = None,
    again: bool = False,
) -> Expression:
    """``again``: the configuration was evaluated where the launcher was made."""
    parts: list[Expression] = []
    warps: Expression | None = None
    stages: Expression | None = None
    nodes = [e.slice.value for e in configuration.slice if isinstance(e.slice, cst.Index)]
    if len(nodes) == 1 and isinstance(nodes[0], cst.Tuple):
        nodes = [element.value for element in nodes[0].elements]
    kernel: Kernel | None = what.kernel
    if kernel is not None and _is_triton(state, configuration.value):
        grid = _grid(state, configuration)
        warps, stages = (
            next((state.lower(a.value) for a in node.args if _keyword(a) == option), None)
            for option in ("num_warps", "num_stages")
        )
        block: Expression = Unknown("num_warps", (warps,) if warps is not None else ())
        shared = stream = None
    else:
        parts = [_part(state, part, again) for part in nodes[:4]]
        grid = parts[0] if parts else Unknown("grid")
        block = parts[1] if len(parts) > 1 else Unknown("block")
        stream = _given(parts, 2)
        shared = _given(parts, 3)
    return _emit(
        state, node, what.name, grid, block, arguments_of(state, list(node.args)), target, wanted,
        shared=shared, stream=stream, warps=warps, stages=stages,
        kernel_key=kernel.key if kernel is not None else kernel_key,
    )  # fmt: skip


def _part(state: FunctionState, node: cst.BaseExpression, again: bool) -> Expression:
    """A part of a configuration; one that calls is not evaluated a second time."""
    return state.unknown(node) if again and not _is_pure(node) else state.lower(node)


def _with_settings(
    state: FunctionState, node: cst.Call, target: Expression | None, wanted: bool
) -> Expression | None:
    """cuda.core's ``launch(stream, configuration, kernel, *arguments)``."""
    if len(node.args) < 3 or any(a.star or a.keyword for a in node.args[:3]):
        return None
    what = state.held(node.args[1].value)
    if what is None or not isinstance(what.node, cst.Call):
        return None
    given: dict[str, Expression] = {}
    made = state.scope.meaning(what.node.func)
    model = state.module.models.kernel_model(made.name) if isinstance(made, Dotted) else None
    names = dict(enumerate(model.parameters if model is not None else ()))
    for position, argument in enumerate(what.node.args):
        name = _keyword(argument) or names.get(position, "")
        given[name] = _part(state, argument.value, again=True)
    stream = state.lower(node.args[0].value)
    launched = state.held(node.args[2].value)
    kernel = launched.name if launched is not None else state.short_text(node.args[2].value)
    return _emit(
        state, node, kernel, given.get("grid", _ONE), given.get("block", _ONE),
        arguments_of(state, list(node.args[3:])), target, wanted,
        shared=given.get("shmem_size"), stream=stream,
        kernel_key=_kernel_key(launched),
    )  # fmt: skip


def _grid(state: FunctionState, configuration: cst.Subscript) -> Expression:
    """All of a Triton launch's configuration: ``kernel[(x, y)]``, ``kernel[x, y]``."""
    parts = [state.lower(e.slice.value) for e in configuration.slice
             if isinstance(e.slice, cst.Index)]  # fmt: skip
    return parts[0] if len(parts) == 1 else Tuple(tuple(parts))


def _is_triton(state: FunctionState, node: cst.BaseExpression) -> bool:
    meaning = state.scope.meaning(node)
    return isinstance(meaning, Defined) and is_triton(meaning.node, state.scope)


def _is_sized(state: FunctionState, method: cst.Attribute) -> bool:
    model = state.module.models.kernel_model(f".{method.attr.value}")
    return model is not None and model.launches == "sized"


def _for_all(
    state: FunctionState, node: cst.Call, target: Expression | None, wanted: bool
) -> Expression | None:
    """``kernel.forall(n)(arguments)``: Numba picks the block."""
    inner = node.func
    if not isinstance(inner, cst.Call) or not isinstance(inner.func, cst.Attribute):
        return None
    if not _is_sized(state, inner.func):
        return None
    what = state.held(inner.func.value)
    if what is None or what.kind != "kernel":
        return None
    size = state.lower(inner.args[0].value) if inner.args else Constant(1)
    return _emit(
        state, node, what.name, Unknown("grid", (size,)), Unknown("block"),
        arguments_of(state, list(node.args)), target, wanted,
        kernel_key=what.kernel.key if what.kernel is not None else None,
    )  # fmt: skip


# -- kernel((grid,), (block,), (arguments,)) and function(arguments, block=, grid=) ---------


def _configured_by_arguments(
    state: FunctionState, node: cst.Call, what: Held, target: Expression | None, wanted: bool
) -> Expression | None:
    keywords = {name for argument in node.args if (name := _keyword(argument)) is not None}
    if "block" in keywords and "args" not in keywords:
        return _by_keywords(state, node, what, target, wanted)
    positional = [a for a in node.args if a.keyword is None and not a.star]
    if len(positional) + len(keywords & {"grid", "block", "args"}) < 3:
        if any(argument.star == "**" for argument in node.args):
            return _by_keywords(state, node, what, target, wanted)
        return None
    values: dict[str, Expression] = {}
    arguments: tuple[Argument, ...] = ()
    for position, argument in enumerate(node.args):
        name = _keyword(argument) or ("grid", "block", "args", "shared_mem")[min(position, 3)]
        if name == "args" and isinstance(argument.value, cst.Tuple | cst.List):
            arguments = tuple(
                [
                    Argument(
                        state.lower(element.value),
                        starred="*" if isinstance(element, cst.StarredElement) else "",
                    )
                    for element in argument.value.elements
                ]
            )
        elif name == "args":
            arguments = (Argument(state.lower(argument.value), starred="*"),)
        else:
            values[name] = state.lower(argument.value)
    return _emit(
        state, node, what.name, values.get("grid", Unknown("grid")),
        values.get("block", Unknown("block")), arguments, target, wanted,
        shared=values.get("shared_mem"), stream=values.get("stream"),
        kernel_key=_kernel_key(what),
    )  # fmt: skip


def _by_keywords(
    state: FunctionState, node: cst.Call, what: Held, target: Expression | None, wanted: bool
) -> Expression:
    arguments: list[Argument] = []
    values: dict[str, Expression] = {}
    spread = False
    for argument in node.args:
        value = state.lower(argument.value)
        name = _keyword(argument)
        if name is not None:
            values[name] = value
        else:
            spread = spread or argument.star == "**"
            arguments.append(Argument(value, starred=argument.star))
    return _emit(
        state, node, what.name, values.get("grid", Unknown("grid") if spread else _ONE),
        values.get("block", Unknown("block")), tuple(arguments), target, wanted,
        shared=values.get("shared", Unknown("shared") if spread else None),
        stream=values.get("stream"),
        kernel_key=_kernel_key(what),
    )  # fmt: skip


def _kernel_key(what: Held | None) -> str | None:
    """The key of the kernel that is launched, where the file defines it."""
    return what.kernel.key if what is not None and what.kernel is not None else None


def _prepared(
    state: FunctionState,
    node: cst.Call,
    function: cst.Attribute,
    leading: int,
    target: Expression | None,
    wanted: bool,
) -> Expression | None:
    positional = [argument for argument in node.args if argument.keyword is None]
    if len(positional) < leading or any(a.star for a in positional[:leading]):
        return None
    head = [state.lower(argument.value) for argument in positional[:leading]]
    keywords = {_keyword(a): state.lower(a.value) for a in node.args if a.keyword is not None}
    what = state.held(function.value)
    block, arguments = head[1], arguments_of(state, positional[leading:])
    if not isinstance(fold(positional[1].value, state.scope), Tuple) and not isinstance(
        positional[1].value, cst.Tuple
    ):
        # Perhaps no block: ``prepare`` took it once.
        block, arguments = Unknown("block"), (Argument(Unknown("arguments"), starred="*"),)
    return _emit(
        state, node, what.name if what is not None else "kernel", head[0], block, arguments,
        target, wanted,
        shared=keywords.get("shared_size"), stream=head[2] if leading == 3 else None,
        kernel_key=_kernel_key(what),
    )  # fmt: skip


def _set_limit(
    state: FunctionState, node: cst.Call, function: cst.Attribute, model: KernelModel
) -> Expression | None:
    """PyCUDA's ``function.set_attribute(attribute, value)``, which may raise a limit."""
    what = state.held(function.value)
    if what is None and model.attribute not in state.short_text(node.args[0].value).lower():
        return None  # an object of another library
    if what is not None and what.kind not in ("raw_kernel", "module_function"):
        return None
    kernel = FunctionReference(what.name if what is not None else "")
    arguments = (Argument(kernel), *arguments_of(state, list(node.args)))
    state.graph.emit(Call(model.limits, arguments, state.span(node)))
    return Constant(None)


def opt_in(state: FunctionState, target: cst.CSTNode, value: Expression, span: Span) -> None:
    """``kernel.max_dynamic_shared_size_bytes = n``: CuPy's setter makes a CUDA call. A kernel
    that cannot be told has no name."""
    if not isinstance(target, cst.Attribute):
        return
    model = state.module.models.kernel_model(f".{target.attr.value}")
    if model is None or not model.limits:
        return
    what = state.held(target.value)
    name = what.name if what is not None else ""
    arguments = (Argument(FunctionReference(name)), Argument(value))
    state.graph.emit(Call(model.limits, arguments, span))


# -- writing it ------------------------------------------------------------------------------


def _emit(
    state: FunctionState,
    node: cst.Call,
    kernel: str,
    grid: Expression,
    block: Expression,
    arguments: tuple[Argument, ...],
    target: Expression | None,
    wanted: bool,
    *,
    shared: Expression | None = None,
    stream: Expression | None = None,
    kernel_key: str | None = None,
    warps: Expression | None = None,
    stages: Expression | None = None,
) -> Expression:
    if target is None and wanted:
        target = state.temporary()
    state.graph.emit(
        Launch(
            kernel,
            grid,
            block,
            arguments,
            state.span(node),
            shared=shared,
            stream=stream,
            kernel_key=kernel_key,
            target=target,
            warps=warps,
            stages=stages,
        )
    )
    return target if target is not None else Constant(None)


def _given(parts: list[Expression], position: int) -> Expression | None:
    """An optional part of a configuration: Numba's 0 and None mean the default stream."""
    return parts[position] if position < len(parts) else None


def _keyword(argument: cst.Arg) -> str | None:
    return argument.keyword.value if argument.keyword is not None else None


def _configures(node: cst.Subscript) -> bool:
    """``kernel[grid, block]``."""
    return len(node.slice) >= 2 and all(isinstance(e.slice, cst.Index) for e in node.slice)


def _is_pure(node: cst.CSTNode) -> bool:
    """Whether evaluating an expression twice does no harm."""
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, cst.Call | cst.Await | cst.Yield | cst.NamedExpr | cst.BaseComp):
            return False
        pending.extend(children(current))
    return True


def _can_hold(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name | cst.Attribute | cst.Call)


def _is_device_function(node: cst.BaseExpression, state: FunctionState) -> bool:
    what = state.held(node)
    return what is not None and what.kind in ("module_function", "raw_kernel")


# -- writing the call ------------------------------------------------------------------------


def arguments_of(state: FunctionState, nodes: list[cst.Arg]) -> tuple[Argument, ...]:
    """Lower the arguments of a call, left to right."""
    return tuple(
        [
            Argument(
                state.lower(node.value),
                node.keyword.value if node.keyword is not None else None,
                node.star,
            )
            for node in nodes
        ]
    )
