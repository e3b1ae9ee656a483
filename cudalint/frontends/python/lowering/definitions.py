"""Lowers definitions: functions, lambdas, classes and the module's own code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import libcst as cst

from cudalint.frontends.python.bindings import all_parameters
from cudalint.frontends.python.constants import encodable
from cudalint.frontends.python.declarations import method_kind
from cudalint.frontends.python.graph import GraphTooLarge
from cudalint.frontends.python.kernels import kernel_kind
from cudalint.frontends.python.lowering.context import Context, FileContext
from cudalint.frontends.python.module import OBJECT
from cudalint.frontends.python.scopes import ClassInfo, Defined, Dotted, Local, Scope
from cudalint.program.expressions import Expression, FunctionReference, Type, Unknown, variables
from cudalint.program.functions import (
    Dropped,
    Field,
    Function,
    FunctionKind,
    Parameter,
    Record,
    Return,
)
from cudalint.source import Span

_TOO_DEEP = "nested too deeply"
_TOO_LARGE = "too many paths through its clean-up code"

# -- bodies ----------------------------------------------------------------------------------


def top_level(context: Context, statements: Sequence[cst.CSTNode]) -> None:
    """Lower the statements of a body; one that is nested too deeply is dropped."""
    for statement in statements:
        frames, unwind, scope = list(context.frames), context.graph.unwind, context.scope
        try:
            context.file.parts.statement(context, statement)
        except RecursionError:
            context.file.dropped.append(Dropped(context.span(statement), "statement", _TOO_DEEP))
            context.frames, context.scope = frames, scope
            context.graph.set_unwind(unwind)


# -- functions -------------------------------------------------------------------------------


def function_definition(context: Context, node: cst.FunctionDef) -> None:
    """Lower a nested function, a method or a function of the module."""
    defined = context.scope.functions.get(id(node))
    if defined is None:
        return
    _decorator_calls(context, node.decorators)
    if not context.file.begin(node):
        return
    if kernel_kind(node, context.scope) is not None:
        context.file.kernels.of(defined)
        return
    lower_function(context, defined)
    meaning = context.scope.lookup(node.name.value)
    if isinstance(meaning, Local):
        # Bound in several ways: which function it is depends on the path.
        place = context.note(meaning)
        reference = FunctionReference(defined.key, defined.key)
        context.store(place, reference, context.span(node.name))


def _decorator_calls(context: Context, decorators: Sequence[cst.Decorator]) -> None:
    """What the arguments of decorators call. The decorators' own calls are not written: they
    stand in ``Function.decorators``."""
    for decorator in decorators:
        if isinstance(decorator.decorator, cst.Call):
            for argument in decorator.decorator.args:
                if isinstance(argument.value, cst.Call):
                    context.call(argument.value, None, wanted=False)


def lower_lambda(outer: Context, node: cst.Lambda) -> Expression:
    """Lower a lambda to a function of its own."""
    file = outer.file
    known = file.lambda_keys.get(id(node))
    if known is not None:
        return FunctionReference("<lambda>", known)
    home = outer.scope
    while home.kind == "comprehension" and home.parent is not None:
        home = home.parent
    key = file.declarations.unique_key(f"{home.prefix}<lambda>")
    file.lambda_keys[id(node)] = key
    inner = file.declarations.function_scope(node, outer.scope, key)
    context = Context(file, inner, key)
    parameters = parameters_of(outer, node.params, inner, None)
    span = context.span(node)
    value = context.lower(node.body)
    context.graph.end(Return(value, context.span(node.body)))
    file.functions.append(
        Function(
            key,
            "<lambda>",
            context.module.source.filename,
            span,
            parameters,
            context.graph.finish(span),
            context.variables,
            kind="lambda",
            parent=outer.key,
            is_generator=context.is_generator,
        )
    )
    return FunctionReference("<lambda>", key)


def parameters_of(
    context: Context, node: cst.Parameters, scope: Scope, receiver: str | None
) -> tuple[Parameter, ...]:
    """The parameters of a function, its receiver left out. Defaults are evaluated here."""
    found: list[Parameter] = []
    keyword_only = {id(item) for item in node.kwonly_params}
    for item in all_parameters(node):
        name = item.name.value
        if name == receiver:
            continue
        default: Expression | None = None
        if item.default is not None:
            default = context.lower(item.default)
            if any(not symbol.startswith("::") for symbol in variables(default)):
                default = Unknown("default", (default,))
        found.append(
            Parameter(
                name,
                scope.symbol(name),
                type_of(context, item.annotation),
                by="reference",
                default=default,
                keyword_only=id(item) in keyword_only,
                starred=item.star if isinstance(item.star, str) else "",
            )
        )
    return tuple(found)


def type_of(context: Context, annotation: cst.Annotation | None) -> Type:
    """The type that an annotation names: resolved if it is a name, else as written."""
    if annotation is None:
        return OBJECT
    node = annotation.annotation
    meaning = context.scope.meaning(node)
    if isinstance(meaning, Dotted):
        return Type(meaning.defined_as.removeprefix("builtins."))
    if isinstance(meaning, ClassInfo):
        return Type(meaning.key, "record", record=meaning.key)
    return Type(context.short_text(node).strip("\"'"))


def decorator_names(context: Context, nodes: Sequence[cst.Decorator]) -> tuple[str, ...]:
    """The names of decorators, imports resolved, with their arguments as written."""
    found: list[str] = []
    for decorator in nodes:
        node = decorator.decorator
        target = node.func if isinstance(node, cst.Call) else node
        meaning = context.scope.meaning(target)
        name = context.short_text(target)
        if isinstance(meaning, Dotted):
            name = meaning.defined_as
        elif isinstance(meaning, Defined | ClassInfo):
            name = meaning.key
        if isinstance(node, cst.Call):
            whole = " ".join(context.module.text(node).split())
            name += encodable(whole[len(" ".join(context.module.text(target).split())) :])
        found.append(name)
    return tuple(found)


# -- classes ---------------------------------------------------------------------------------


def class_definition(context: Context, node: cst.ClassDef) -> None:
    """Lower a class: its body here, its methods as functions."""
    owner = context.scope.classes.get(id(node))
    if owner is None:
        return
    _decorator_calls(context, node.decorators)
    if not context.file.begin(node):
        return
    outer = context.scope
    context.scope = owner.scope
    try:
        top_level(context, node.body.body)
    finally:
        context.scope = outer
    context.file.records.append(_record(context, owner))
    meaning = context.scope.lookup(node.name.value)
    if isinstance(meaning, Local):
        reference = FunctionReference(owner.key, owner.key)
        context.store(context.note(meaning), reference, context.span(node.name))


def _record(context: Context, owner: ClassInfo) -> Record:
    fields: dict[str, Field] = {}
    for name, bindings in owner.scope.bindings.names.items():
        if name not in owner.methods and bindings:
            fields[name] = Field(name, OBJECT, context.span(bindings[0].node))
    for name, targets in owner.attributes.items():
        fields.setdefault(name, Field(name, OBJECT, context.span(targets[0][0])))
    bases: list[str] = []
    for base in owner.node.bases:
        meaning = context.scope.meaning(base.value)
        if isinstance(meaning, Dotted):
            bases.append(meaning.defined_as)
        elif isinstance(meaning, ClassInfo | Defined):
            bases.append(meaning.key)
        else:
            bases.append(context.short_text(base.value))
    return Record(
        owner.key,
        owner.name,
        context.module.source.filename,
        context.span(owner.node),
        tuple(fields.values()),
        tuple(bases),
        tuple(method.key for methods in owner.methods.values() for method in methods),
        destructor="defined" if "__del__" in owner.methods else "none",
    )


_METHOD_KINDS: dict[str, FunctionKind] = {"__init__": "constructor", "__del__": "destructor"}


def lower_function(outer: Context, defined: Defined) -> None:
    """Lower a function that stands in another's body, a class's or the module's."""
    file, node = outer.file, defined.node
    home = file.declarations.home_of(defined)
    scope = file.declarations.scope_of(defined)
    context = Context(file, scope, defined.key)
    span = context.span(node)
    record: str | None = None
    kind: FunctionKind = "function"
    is_static = False
    if home.kind == "class" and home.owner is not None:
        record = home.owner.key
        kind = _METHOD_KINDS.get(node.name.value, "method")
        is_static = method_kind(node, home) != "instance"
    parameters = parameters_of(outer, node.params, scope, scope.receiver)
    end = file.module.positions.span_after(node.body)
    try:
        top_level(context, node.body.body)
        context.graph.end(Return(None, end, implicit=True))
        blocks = context.graph.finish(span)
    except GraphTooLarge:
        file.dropped.append(Dropped(context.span(node.name), defined.name, _TOO_LARGE))
        return
    around = home.function_scope
    file.functions.append(
        Function(
            defined.key,
            defined.name,
            file.module.source.filename,
            span,
            parameters,
            blocks,
            context.variables,
            kind=kind,
            record=record,
            parent=outer.key if around is not None else None,
            # A script's `main` is its program: the process ends with it.
            is_main=defined.name == "main" and record is None and around is None,
            is_static=is_static,
            is_generator=context.is_generator,
            decorators=decorator_names(outer, node.decorators),
            decorator_spans=tuple(context.span(d.decorator) for d in node.decorators),
            returns=type_of(outer, node.returns) if node.returns is not None else None,
            named_by=_named_by(file, node),
            handlers=tuple(context.handlers),
        )
    )


def _named_by(file: FileContext, node: cst.FunctionDef) -> Literal["any", "project"]:
    """Who is meant to call a function: a decorator may hand it to anybody."""
    name = node.name.value
    if node.decorators or name.startswith("__"):
        return "any"
    return "project" if name.startswith("_") or file.module.is_program else "any"


def lower_module(file: FileContext, span: Span) -> None:
    """Lower a module: its own code is a function, too."""
    key = f"{file.module.dotted.name}.<module>"
    context = Context(file, file.declarations.scope, key)
    try:
        top_level(context, file.module.tree.body)
        end = Span(span.end_row, span.end_column, span.end_row, span.end_column)
        context.graph.end(Return(None, end, implicit=True))
        blocks = context.graph.finish(span)
    except GraphTooLarge:
        file.dropped.append(Dropped(span, "module", _TOO_LARGE))
        return
    file.functions.insert(
        0,
        Function(
            key,
            "<module>",
            file.module.source.filename,
            span,
            (),
            blocks,
            context.variables,
            kind="module",
            is_main=True,
            handlers=tuple(context.handlers),
        ),
    )
