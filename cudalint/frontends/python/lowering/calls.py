"""Lowers calls: functions, methods, constructors and the builtins with a form of their own."""

from __future__ import annotations

import libcst as cst

from cudalint.frontends.python.constants import string_value
from cudalint.frontends.python.inference import Held
from cudalint.frontends.python.lowering.call_sites import CallSite, arguments_of
from cudalint.frontends.python.lowering.context import Context
from cudalint.frontends.python.lowering.launches import lower_launch
from cudalint.frontends.python.lowering.targets import lower_into
from cudalint.frontends.python.names import (
    CONTAINER_METHODS,
    EXCEPTIONS,
    LOG_METHODS,
    NORETURN,
    SAFE_BUILTINS,
)
from cudalint.frontends.python.scopes import (
    ClassInfo,
    ClassMember,
    Defined,
    Dotted,
    Receiver,
    Scope,
)
from cudalint.program.expressions import (
    THIS,
    Constant,
    Expression,
    FunctionReference,
    Member,
    Unary,
    render,
)
from cudalint.program.functions import Call, CalleeKind, Unreachable

_LOGGER_NAMES = frozenset(["log", "logger", "_log", "_logger", "LOG", "LOGGER", "logging"])


def lower_call(
    context: Context, node: cst.Call, target: Expression | None = None, wanted: bool = True
) -> Expression:
    """Lower a call. The result is its target: the given one, or a temporary if wanted."""
    site = CallSite(node, target, wanted)
    launched = lower_launch(context, site)
    if launched is not None:
        return launched
    function = node.func
    meaning = context.scope.meaning(function)
    if meaning is None and isinstance(function, cst.Attribute):
        return _method(context, site, function)
    if isinstance(meaning, Dotted):
        return _api(context, site, meaning)
    if isinstance(meaning, ClassInfo):
        return _construct(context, site, meaning)
    if isinstance(meaning, Receiver) and meaning.is_class:
        return _construct(context, site, meaning.owner)
    if isinstance(meaning, Defined):
        return _defined(context, site, meaning)
    if isinstance(meaning, ClassMember) and isinstance(function, cst.Attribute):
        return _inherited(context, site, meaning)
    if meaning is None and isinstance(function, cst.Name):
        return _finish(context, site, function.value)
    callee = context.lower(function)
    return _finish(context, site, render(callee), kind="indirect", callee=callee)


def _api(context: Context, site: CallSite, meaning: Dotted) -> Expression:
    name = meaning.name
    if context.file.sources is not None:
        context.file.sources.of_call(site.node, name, context.scope)
    if name.startswith("builtins."):
        special = _builtin(context, site.node, name.removeprefix("builtins."))
        if special is not None:
            return _stored(context, site, special)
    if name in ("typing.cast", "cast") and len(site.node.args) == 2:
        return _stored(context, site, context.lower(site.node.args[1].value))
    may_throw: bool | None = None
    if name.startswith("builtins."):
        short = name.removeprefix("builtins.")
        if short in SAFE_BUILTINS or short in EXCEPTIONS or _converts_constant(site.node, short):
            may_throw = False
    elif name.startswith(("logging.", "warnings.warn")):
        may_throw = False
    kind: CalleeKind = "function"
    record = None
    if meaning.key is not None and name.rpartition(".")[2][:1].isupper():
        # Defined in another file, if at all: by its spelling, a class.
        kind, record = "constructor", meaning.key
    return _finish(
        context, site, name, kind=kind, key=meaning.key, record=record, may_throw=may_throw,
        noreturn=name in NORETURN,
    )  # fmt: skip


def _builtin(context: Context, node: cst.Call, name: str) -> Expression | None:
    """Builtins that are expressions: ``len``, ``super``, ``getattr`` of a known name."""
    if any(argument.star or argument.keyword for argument in node.args):
        return None
    match name, len(node.args):
        case "len", 1:
            return Unary("len", context.lower(node.args[0].value))
        case "super", _ if receiver_of(context) is not None:
            return THIS
        case "getattr", 2 | 3:
            attribute = _attribute_name(context, node.args[1].value)
            if attribute is not None:
                return Member(context.lower(node.args[0].value), attribute)
        case "setattr", 3:
            attribute = _attribute_name(context, node.args[1].value)
            if attribute is not None:
                place = Member(context.lower(node.args[0].value), attribute)
                lower_into(context, node.args[2].value, place, context.span(node))
                return Constant(None)
    return None


def _attribute_name(context: Context, node: cst.BaseExpression) -> str | None:
    """The attribute that ``getattr`` is asked for, if it is known."""
    if isinstance(node, cst.Name):
        return context.known_texts.get(node.value)
    return string_value(node)


def _converts_constant(node: cst.Call, name: str) -> bool:
    """``int("3")``, ``float(2)``, ``int(n * 4)``."""
    return name in ("int", "float", "bool", "str") and all(
        isinstance(argument.value, cst.Integer | cst.Float | cst.SimpleString | cst.BinaryOperation)
        for argument in node.args
    )


def _construct(context: Context, site: CallSite, owner: ClassInfo) -> Expression:
    key = owner.key
    return _finish(context, site, key, kind="constructor", key=key, record=key)


def _defined(context: Context, site: CallSite, meaning: Defined) -> Expression:
    """A function of this file, or ``Class.method``."""
    owner = None
    if isinstance(site.node.func, cst.Attribute):
        owner = context.scope.meaning(site.node.func.value)
    unbound = isinstance(owner, ClassInfo) and context.file.declarations.is_instance_method(meaning)
    if unbound and isinstance(owner, ClassInfo) and site.node.args and not site.node.args[0].star:
        # Base.method(self, ...): the receiver is the first argument.
        receiver = context.lower(site.node.args[0].value)
        return _finish(
            context, site, f".{_last_name(site.node.func)}", kind="method", key=meaning.key,
            receiver=receiver, record=owner.key, skip=1,
        )  # fmt: skip
    record = owner.key if isinstance(owner, ClassInfo) else None
    return _finish(context, site, meaning.key, key=meaning.key, record=record)


def _inherited(context: Context, site: CallSite, meaning: ClassMember) -> Expression:
    """A class attribute that is called, or a method of a base in another file."""
    key = meaning.owner.key
    owner, name = FunctionReference(key, key), f".{meaning.attribute}"
    return _finish(context, site, name, kind="method", receiver=owner, record=key)


def _method(context: Context, site: CallSite, function: cst.Attribute) -> Expression:
    name = function.attr.value
    base = function.value
    if _is_super(context, base):
        return _super(context, site, name)
    owner, may_throw = _owner(context, base, name)
    receiver = context.lower(base)
    key = record = None
    if owner is not None:
        record = owner.key
        found = owner.method(name)
        key = found[1].key if found is not None else None
    return _finish(
        context, site, f".{name}", kind="method", key=key, receiver=receiver, record=record,
        may_throw=may_throw,
    )  # fmt: skip


def _owner(
    context: Context, base: cst.BaseExpression, name: str
) -> tuple[ClassInfo | None, bool | None]:
    """The class of a method's receiver, and whether the method may raise."""
    what: Held | None = context.held(base)
    if what is not None and what.kind == "instance":
        return what.owner, None
    if what is not None and what.kind == "container" and name in CONTAINER_METHODS:
        return None, False
    is_logger = what is not None and what.kind == "logger"
    if name in LOG_METHODS and (is_logger or _last_name(base) in _LOGGER_NAMES):
        return None, False
    return None, None


def _is_super(context: Context, node: cst.BaseExpression) -> bool:
    return (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Name)
        and node.func.value == "super"
        and receiver_of(context) is not None
    )


def _super(context: Context, site: CallSite, name: str) -> Expression:
    receiver = receiver_of(context)
    key = record = None
    if receiver is not None:
        for base in receiver.owner.bases():
            if isinstance(base, ClassInfo):
                found = base.method(name)
                if found is not None:
                    key, record = found[1].key, found[0].key
                    break
            elif isinstance(base, Dotted) and base.key is not None and key is None:
                key, record = f"{base.key}.{name}", base.key
    return _finish(context, site, f".{name}", kind="method", key=key, receiver=THIS, record=record)


def receiver_of(context: Context) -> Receiver | None:
    """The receiver of the method around this code."""
    scope: Scope | None = context.scope
    while scope is not None:
        if scope.receiver is not None and scope.owner is not None:
            return Receiver(scope.receiver, scope.owner, scope.receiver_is_class)
        scope = scope.parent
    return None


def _stored(context: Context, site: CallSite, value: Expression) -> Expression:
    if site.given is None:
        return value
    context.store(site.given, value, context.span(site.node))
    return site.given


def _finish(
    context: Context,
    site: CallSite,
    name: str,
    *,
    kind: CalleeKind = "function",
    key: str | None = None,
    receiver: Expression | None = None,
    callee: Expression | None = None,
    record: str | None = None,
    may_throw: bool | None = None,
    noreturn: bool = False,
    skip: int = 0,
) -> Expression:
    arguments = arguments_of(context, site.node.args[skip:])
    target = site.target(context)
    span = context.span(site.node)
    context.graph.emit(
        Call(
            name,
            arguments,
            span,
            target=target,
            key=key,
            receiver=receiver,
            callee=callee,
            kind=kind,
            may_throw=may_throw,
            noreturn=noreturn,
            record=record,
        )
    )
    if noreturn:
        context.graph.end(Unreachable(span))
    return target if target is not None else Constant(None)


def _last_name(node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""
