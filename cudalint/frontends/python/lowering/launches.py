"""Lowers kernel launches: Numba's and Triton's subscripts, CuPy's tuples, PyCUDA's keywords."""

from __future__ import annotations

import libcst as cst
import msgspec

from cudalint.apis.model import KernelModel
from cudalint.frontends.python.bindings import children
from cudalint.frontends.python.constants import fold
from cudalint.frontends.python.inference import Held
from cudalint.frontends.python.kernels import is_triton
from cudalint.frontends.python.lowering.call_sites import CallSite, arguments_of, keyword_of
from cudalint.frontends.python.lowering.context import Context
from cudalint.frontends.python.scopes import Defined, Dotted, Local
from cudalint.program.expressions import (
    Constant,
    Expression,
    FunctionReference,
    Tuple,
    Unknown,
)
from cudalint.program.functions import Argument, Call, Launch
from cudalint.source import Span

_ONE = Tuple((Constant(1), Constant(1)), "tuple")


def lower_launch(context: Context, site: CallSite) -> Expression | None:
    """Lower a call that launches a kernel; ``None`` if it is no such call."""
    function = site.node.func
    if isinstance(function, cst.Subscript):
        return _subscripted(context, site, function)
    if isinstance(function, cst.Attribute):
        model = context.module.models.kernel_model(f".{function.attr.value}")
        prepared = model is not None and model.launches == "prepared"
        if model is not None and prepared and _is_device_function(function.value, context):
            return _prepared(context, site, function, model.leading)
        if model is not None and model.limits and len(site.node.args) == 2:
            return _set_limit(context, site.node, function, model)
        if not site.node.args and not _is_sized(context, function):
            return None
    meaning = context.scope.meaning(function)
    if isinstance(meaning, Dotted):
        model = context.module.models.kernel_model(meaning.name)
        launches = model is not None and model.launches == "settings"
        return _with_settings(context, site) if launches else None
    what = context.held(function) if _can_hold(function) else None
    if what is None:
        return _for_all(context, site)
    if what.kind in ("raw_kernel", "module_function"):
        return _configured_by_arguments(context, site, what)
    if what.kind == "launcher" and isinstance(what.node, cst.Subscript):
        return _emit_subscript(context, site, what.node, what, again=True)
    return None


# -- kernel[grid, block, stream, shared](arguments) ----------------------------------------


def _subscripted(context: Context, site: CallSite, function: cst.Subscript) -> Expression | None:
    what = context.held(function.value)
    if what is not None and what.kind == "kernel":
        return _emit_subscript(context, site, function, what)
    meaning = context.scope.meaning(function.value)
    if isinstance(meaning, Dotted) and len(function.slice) >= 2 and meaning.key is not None:
        # Imported from the project, and configured like a kernel.
        imported = Held("kernel", meaning.name.rpartition(".")[2])
        return _emit_subscript(context, site, function, imported, kernel_key=meaning.key)
    free = what is None and (meaning is None or isinstance(meaning, Local))
    if free and context.file.uses_numba and _configures(function):
        # In a file that uses Numba, nothing else is subscripted like this and called.
        name = context.short_text(function.value)
        return _emit_subscript(context, site, function, Held("kernel", name))
    return None


def _emit_subscript(
    context: Context,
    site: CallSite,
    configuration: cst.Subscript,
    what: Held,
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
    if what.kernel is not None and _is_triton(context, configuration.value):
        grid = _grid(context, configuration)
        warps, stages = (
            next((context.lower(a.value) for a in site.node.args if keyword_of(a) == option), None)
            for option in ("num_warps", "num_stages")
        )
        block: Expression = Unknown("num_warps", (warps,) if warps is not None else ())
        shared = stream = None
    else:
        parts = [_part(context, part, again) for part in nodes[:4]]
        grid = parts[0] if parts else Unknown("grid")
        block = parts[1] if len(parts) > 1 else Unknown("block")
        stream = _given(parts, 2)
        shared = _given(parts, 3)
    launch = Launch(
        what.name,
        grid,
        block,
        arguments_of(context, site.node.args),
        context.span(site.node),
        shared=shared,
        stream=stream,
        warps=warps,
        stages=stages,
        kernel_key=_kernel_key(what) or kernel_key,
    )
    return _emit(context, site, launch)


def _part(context: Context, node: cst.BaseExpression, again: bool) -> Expression:
    """A part of a configuration; one that calls is not evaluated a second time."""
    return context.unknown(node) if again and not _is_pure(node) else context.lower(node)


def _with_settings(context: Context, site: CallSite) -> Expression | None:
    """cuda.core's ``launch(stream, configuration, kernel, *arguments)``."""
    if len(site.node.args) < 3 or any(a.star or a.keyword for a in site.node.args[:3]):
        return None
    what = context.held(site.node.args[1].value)
    if what is None or not isinstance(what.node, cst.Call):
        return None
    given: dict[str, Expression] = {}
    made = context.scope.meaning(what.node.func)
    model = context.module.models.kernel_model(made.name) if isinstance(made, Dotted) else None
    names = dict(enumerate(model.parameters if model is not None else ()))
    for position, argument in enumerate(what.node.args):
        name = keyword_of(argument) or names.get(position, "")
        given[name] = _part(context, argument.value, again=True)
    stream = context.lower(site.node.args[0].value)
    launched = context.held(site.node.args[2].value)
    kernel = launched.name if launched is not None else context.short_text(site.node.args[2].value)
    launch = Launch(
        kernel,
        given.get("grid", _ONE),
        given.get("block", _ONE),
        arguments_of(context, site.node.args[3:]),
        context.span(site.node),
        shared=given.get("shmem_size"),
        stream=stream,
        kernel_key=_kernel_key(launched),
    )
    return _emit(context, site, launch)


def _grid(context: Context, configuration: cst.Subscript) -> Expression:
    """All of a Triton launch's configuration: ``kernel[(x, y)]``, ``kernel[x, y]``."""
    parts = [context.lower(e.slice.value) for e in configuration.slice
             if isinstance(e.slice, cst.Index)]  # fmt: skip
    return parts[0] if len(parts) == 1 else Tuple(tuple(parts))


def _is_triton(context: Context, node: cst.BaseExpression) -> bool:
    meaning = context.scope.meaning(node)
    return isinstance(meaning, Defined) and is_triton(meaning.node, context.scope)


def _is_sized(context: Context, method: cst.Attribute) -> bool:
    model = context.module.models.kernel_model(f".{method.attr.value}")
    return model is not None and model.launches == "sized"


def _for_all(context: Context, site: CallSite) -> Expression | None:
    """``kernel.forall(n)(arguments)``: Numba picks the block."""
    inner = site.node.func
    if not isinstance(inner, cst.Call) or not isinstance(inner.func, cst.Attribute):
        return None
    if not _is_sized(context, inner.func):
        return None
    what = context.held(inner.func.value)
    if what is None or what.kind != "kernel":
        return None
    size = context.lower(inner.args[0].value) if inner.args else Constant(1)
    launch = Launch(
        what.name,
        Unknown("grid", (size,)),
        Unknown("block"),
        arguments_of(context, site.node.args),
        context.span(site.node),
        kernel_key=_kernel_key(what),
    )
    return _emit(context, site, launch)


# -- kernel((grid,), (block,), (arguments,)) and function(arguments, block=, grid=) ---------


def _configured_by_arguments(context: Context, site: CallSite, what: Held) -> Expression | None:
    keywords = {name for argument in site.node.args if (name := keyword_of(argument)) is not None}
    if "block" in keywords and "args" not in keywords:
        return _by_keywords(context, site, what)
    positional = [a for a in site.node.args if a.keyword is None and not a.star]
    if len(positional) + len(keywords & {"grid", "block", "args"}) < 3:
        if any(argument.star == "**" for argument in site.node.args):
            return _by_keywords(context, site, what)
        return None
    model = context.module.models.kernel_model(".__call__")
    if model is None:
        return None
    names = model.parameters
    values: dict[str, Expression] = {}
    arguments: tuple[Argument, ...] = ()
    for position, argument in enumerate(site.node.args):
        name = keyword_of(argument) or names[min(position, len(names) - 1)]
        if name == "args" and isinstance(argument.value, cst.Tuple | cst.List):
            arguments = tuple(
                [
                    Argument(
                        context.lower(element.value),
                        starred="*" if isinstance(element, cst.StarredElement) else "",
                    )
                    for element in argument.value.elements
                ]
            )
        elif name == "args":
            arguments = (Argument(context.lower(argument.value), starred="*"),)
        else:
            values[name] = context.lower(argument.value)
    launch = Launch(
        what.name,
        values.get("grid", Unknown("grid")),
        values.get("block", Unknown("block")),
        arguments,
        context.span(site.node),
        shared=values.get("shared_mem"),
        stream=values.get("stream"),
        kernel_key=_kernel_key(what),
        least=model.least,
    )
    return _emit(context, site, launch)


def _by_keywords(context: Context, site: CallSite, what: Held) -> Expression:
    arguments: list[Argument] = []
    values: dict[str, Expression] = {}
    spread = False
    for argument in site.node.args:
        value = context.lower(argument.value)
        name = keyword_of(argument)
        if name is not None:
            values[name] = value
        else:
            spread = spread or argument.star == "**"
            arguments.append(Argument(value, starred=argument.star))
    launch = Launch(
        what.name,
        values.get("grid", Unknown("grid") if spread else _ONE),
        values.get("block", Unknown("block")),
        tuple(arguments),
        context.span(site.node),
        shared=values.get("shared", Unknown("shared") if spread else None),
        stream=values.get("stream"),
        kernel_key=_kernel_key(what),
    )
    return _emit(context, site, launch)


def _kernel_key(what: Held | None) -> str | None:
    """The key of the kernel that is launched, where the file defines it."""
    return what.kernel.key if what is not None and what.kernel is not None else None


def _prepared(
    context: Context, site: CallSite, function: cst.Attribute, leading: int
) -> Expression | None:
    positional = [argument for argument in site.node.args if argument.keyword is None]
    if len(positional) < leading or any(a.star for a in positional[:leading]):
        return None
    head = [context.lower(argument.value) for argument in positional[:leading]]
    keywords = {
        keyword_of(a): context.lower(a.value) for a in site.node.args if a.keyword is not None
    }
    what = context.held(function.value)
    block, arguments = head[1], arguments_of(context, positional[leading:])
    if not isinstance(fold(positional[1].value, context.scope), Tuple) and not isinstance(
        positional[1].value, cst.Tuple
    ):
        # Perhaps no block: ``prepare`` took it once.
        block, arguments = Unknown("block"), (Argument(Unknown("arguments"), starred="*"),)
    launch = Launch(
        what.name if what is not None else "kernel",
        head[0],
        block,
        arguments,
        context.span(site.node),
        shared=keywords.get("shared_size"),
        stream=head[2] if leading == 3 else None,
        kernel_key=_kernel_key(what),
    )
    return _emit(context, site, launch)


def _set_limit(
    context: Context, node: cst.Call, function: cst.Attribute, model: KernelModel
) -> Expression | None:
    """PyCUDA's ``function.set_attribute(attribute, value)``, which may raise a limit."""
    what = context.held(function.value)
    if what is None and model.attribute not in context.short_text(node.args[0].value).lower():
        return None  # an object of another library
    if what is not None and what.kind not in ("raw_kernel", "module_function"):
        return None
    kernel = FunctionReference(what.name if what is not None else "")
    arguments = (Argument(kernel), *arguments_of(context, node.args))
    context.graph.emit(Call(model.limits, arguments, context.span(node)))
    return Constant(None)


def opt_in(context: Context, target: cst.CSTNode, value: Expression, span: Span) -> None:
    """``kernel.max_dynamic_shared_size_bytes = n``: CuPy's setter makes a CUDA call. A kernel
    that cannot be told has no name."""
    if not isinstance(target, cst.Attribute):
        return
    model = context.module.models.kernel_model(f".{target.attr.value}")
    if model is None or not model.limits:
        return
    what = context.held(target.value)
    name = what.name if what is not None else ""
    arguments = (Argument(FunctionReference(name)), Argument(value))
    context.graph.emit(Call(model.limits, arguments, span))


# -- writing it ------------------------------------------------------------------------------


def _emit(context: Context, site: CallSite, launch: Launch) -> Expression:
    target = site.target(context)
    context.graph.emit(msgspec.structs.replace(launch, target=target))
    return target if target is not None else Constant(None)


def _given(parts: list[Expression], position: int) -> Expression | None:
    """An optional part of a configuration: Numba's 0 and None mean the default stream."""
    return parts[position] if position < len(parts) else None


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


def _is_device_function(node: cst.BaseExpression, context: Context) -> bool:
    what = context.held(node)
    return what is not None and what.kind in ("module_function", "raw_kernel")
