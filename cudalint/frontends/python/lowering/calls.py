"""Lowers calls: functions, methods, constructors and the builtins with a form of their own."""

from __future__ import annotations

import libcst as cst

from cudalint.frontends.python.constants import string_value
from cudalint.frontends.python.inference import Held
from cudalint.frontends.python.lowering.launches import arguments_of, lower_launch
from cudalint.frontends.python.lowering.state import FunctionState
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
    state: FunctionState,
    node: cst.Call,
    target: Expression | None = None,
    wanted: bool = True,
) -> Expression:
    """Lower a call. The result is its target: the given one, or a temporary if wanted."""
    launched = lower_launch(state, node, target, wanted)
    if launched is not None:
        return launched
    function = node.func
    meaning = state.scope.meaning(function)
    if meaning is None and isinstance(function, cst.Attribute):
        return _method(state, node, function, target, wanted)
    if isinstance(meaning, Dotted):
        return _api(state, node, meaning, target, wanted)
    if isinstance(meaning, ClassInfo):
        return _construct(state, node, meaning, target, wanted)
    if isinstance(meaning, Receiver) and meaning.is_class:
        return _construct(state, node, meaning.owner, target, wanted)
    if isinstance(meaning, Defined):
        return _defined(state, node, meaning, target, wanted)
    if isinstance(meaning, ClassMember) and isinstance(function, cst.Attribute):
        return _inherited(state, node, meaning, target, wanted)
    if meaning is None and isinstance(function, cst.Name):
        return _finish(state, node, function.value, target, wanted)
    callee = state.lower(function)
    return _finish(state, node, render(callee), target, wanted, kind="indirect", callee=callee)


def _api(
    state: FunctionState, node: cst.Call, meaning: Dotted, target: Expression | None, wanted: bool
) -> Expression:
    name = meaning.name
    if state.file.sources is not None:
        state.file.sources.of_call(node, name, state.scope)
    if name.startswith("builtins."):
        special = _builtin(state, node, name.removeprefix("builtins."))
        if special is not None:
            if target is None:
                return special
            state.store(target, special, state.span(node))
            return target
    if name in ("typing.cast", "cast") and len(node.args) == 2:
        return _stored(state, state.lower(node.args[1].value), target, node)
    may_throw: bool | None = None
    if name.startswith("builtins."):
        short = name.removeprefix("builtins.")
        if short in SAFE_BUILTINS or short in EXCEPTIONS or _converts_constant(node, short):
            may_throw = False
    elif name.startswith(("logging.", "warnings.warn")):
        may_throw = False
    kind: CalleeKind = "function"
    record = None
    if meaning.key is not None and name.rpartition(".")[2][:1].isupper():
        # Defined in another file, if at all: by its spelling, a class.
        kind, record = "constructor", meaning.key
    return _finish(
        state, node, name, target, wanted, kind=kind, key=meaning.key, record=record,
        may_throw=may_throw, noreturn=name in NORETURN,
    )  # fmt: skip


def _builtin(state: FunctionState, node: cst.Call, name: str) -> Expression | None:
    """Builtins that are expressions: ``len``, ``super``, ``getattr`` of a known name."""
    if any(argument.star or argument.keyword for argument in node.args):
        return None
    match name, len(node.args):
        case "len", 1:
            return Unary("len", state.lower(node.args[0].value))
        case "super", _ if receiver_of(state) is not None:
            return THIS
        case "getattr", 2 | 3:
            attribute = _attribute_name(state, node.args[1].value)
            if attribute is not None:
                return Member(state.lower(node.args[0].value), attribute)
        case "setattr", 3:
            attribute = _attribute_name(state, node.args[1].value)
            if attribute is not None:
                place = Member(state.lower(node.args[0].value), attribute)
                lower_into(state, node.args[2].value, place, state.span(node))
                return Constant(None)
    return None


def _attribute_name(state: FunctionState, node: cst.BaseExpression) -> str | None:
    """The attribute that ``getattr`` is asked for, if it is known."""
    if isinstance(node, cst.Name):
        return state.known_texts.get(node.value)
    return string_value(node)


def _converts_constant(node: cst.Call, name: str) -> bool:
    """``int("3")``, ``float(2)``, ``int(n * 4)``."""
    return name in ("int", "float", "bool", "str") and all(
        isinstance(argument.value, cst.Integer | cst.Float | cst.SimpleString | cst.BinaryOperation)
        for argument in node.args
    )


def _construct(
    state: FunctionState, node: cst.Call, owner: ClassInfo, target: Expression | None, wanted: bool
) -> Expression:
    return _finish(
        state, node, owner.key, target, wanted, kind="constructor", key=owner.key, record=owner.key
    )


def _defined(
    state: FunctionState, node: cst.Call, meaning: Defined, target: Expression | None, wanted: bool
) -> Expression:
    """A function of this file, or ``Class.method``."""
    owner = None
    if isinstance(node.func, cst.Attribute):
        owner = state.scope.meaning(node.func.value)
    unbound = isinstance(owner, ClassInfo) and state.file.declarations.is_instance_method(meaning)
    if unbound and isinstance(owner, ClassInfo) and node.args and not node.args[0].star:
        # Base.method(self, ...): the receiver is the first argument.
        receiver = state.lower(node.args[0].value)
        return _finish(
            state, node, f".{_last_name(node.func)}", target, wanted, kind="method",
            key=meaning.key, receiver=receiver, record=owner.key, skip=1,
        )  # fmt: skip
    record = owner.key if isinstance(owner, ClassInfo) else None
    return _finish(state, node, meaning.key, target, wanted, key=meaning.key, record=record)


def _inherited(
    state: FunctionState,
    node: cst.Call,
    meaning: ClassMember,
    target: Expression | None,
    wanted: bool,
) -> Expression:
    """A class attribute that is called, or a method of a base in another file."""
    owner = FunctionReference(meaning.owner.key, meaning.owner.key)
    return _finish(
        state, node, f".{meaning.attribute}", target, wanted, kind="method", receiver=owner,
        record=meaning.owner.key,
    )  # fmt: skip


def _method(
    state: FunctionState,
    node: cst.Call,
    function: cst.Attribute,
    target: Expression | None,
    wanted: bool,
) -> Expression:
    name = function.attr.value
    base = function.value
    if _is_super(state, base):
        return _super(state, node, name, target, wanted)
    owner, may_throw = _owner(state, base, name)
    receiver = state.lower(base)
    key = record = None
    if owner is not None:
        record = owner.key
        found = owner.method(name)
        key = found[1].key if found is not None else None
    return _finish(
        state, node, f".{name}", target, wanted, kind="method", key=key, receiver=receiver,
        record=record, may_throw=may_throw,
    )  # fmt: skip


def _owner(
    state: FunctionState, base: cst.BaseExpression, name: str
) -> tuple[ClassInfo | None, bool | None]:
    """The class of a method's receiver, and whether the method may raise."""
    what: Held | None = state.held(base)
    if what is not None and what.kind == "instance":
        return what.owner, None
    if what is not None and what.kind == "container" and name in CONTAINER_METHODS:
        return None, False
    is_logger = what is not None and what.kind == "logger"
    if name in LOG_METHODS and (is_logger or _last_name(base) in _LOGGER_NAMES):
        return None, False
    return None, None


def _is_super(state: FunctionState, node: cst.BaseExpression) -> bool:
    return (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Name)
        and node.func.value == "super"
        and receiver_of(state) is not None
    )


def _super(
    state: FunctionState, node: cst.Call, name: str, target: Expression | None, wanted: bool
) -> Expression:
    receiver = receiver_of(state)
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
    return _finish(
        state, node, f".{name}", target, wanted, kind="method", key=key, receiver=THIS,
        record=record,
    )  # fmt: skip


def receiver_of(state: FunctionState) -> Receiver | None:
    """The receiver of the method around this code."""
    scope: Scope | None = state.scope
    while scope is not None:
        if scope.receiver is not None and scope.owner is not None:
            return Receiver(scope.receiver, scope.owner, scope.receiver_is_class)
        scope = scope.parent
    return None


def _stored(
    state: FunctionState, value: Expression, target: Expression | None, node: cst.CSTNode
) -> Expression:
    if target is None:
        return value
    state.store(target, value, state.span(node))
    return target


def _finish(
    state: FunctionState,
    node: cst.Call,
    name: str,
    target: Expression | None,
    wanted: bool,
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
    arguments = arguments_of(state, list(node.args[skip:]))
    if target is None and wanted:
        target = state.temporary()
    span = state.span(node)
    state.graph.emit(
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
        state.graph.end(Unreachable(span))
    return target if target is not None else Constant(None)


def _last_name(node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""
