"""Lowers calls: functions, methods, constructors and the builtins with a form of their own."""

from __future__ import annotations

import libcst as cst

from cudalint.frontends.python.constants import string_value
from cudalint.frontends.python.inference import Held, held
from cudalint.frontends.python.launches import LaunchLowering
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
from cudalint.program.functions import Argument, Call, CalleeKind, Unreachable

_LOGGER_NAMES = frozenset(["log", "logger", "_log", "_logger", "LOG", "LOGGER", "logging"])


class CallLowering(LaunchLowering):
    """Lowers calls into the current block."""

    def lower_call(
        self, node: cst.Call, target: Expression | None, wanted: bool = True
    ) -> Expression:
        """Lower a call. The result is its target: the given one, or a temporary if wanted."""
        launched = self.launch(node, target, wanted)
        if launched is not None:
            return launched
        function = node.func
        meaning = self.scope.meaning(function)
        if meaning is None and isinstance(function, cst.Attribute):
            return self._method(node, function, target, wanted)
        if isinstance(meaning, Dotted):
            return self._api(node, meaning, target, wanted)
        if isinstance(meaning, ClassInfo):
            return self._construct(node, meaning, target, wanted)
        if isinstance(meaning, Receiver) and meaning.is_class:
            return self._construct(node, meaning.owner, target, wanted)
        if isinstance(meaning, Defined):
            return self._defined(node, meaning, target, wanted)
        if isinstance(meaning, ClassMember) and isinstance(function, cst.Attribute):
            return self._inherited(node, meaning, target, wanted)
        if meaning is None and isinstance(function, cst.Name):
            return self._finish(node, function.value, target, wanted)
        callee = self.lower(function)
        return self._finish(node, render(callee), target, wanted, kind="indirect", callee=callee)

    # -- kinds of callees ------------------------------------------------------------------------

    def _api(
        self, node: cst.Call, meaning: Dotted, target: Expression | None, wanted: bool
    ) -> Expression:
        name = meaning.name
        if self.reader.embedded is not None:
            self.reader.embedded.of_call(node, name, self.scope)
        if name.startswith("builtins."):
            special = self._builtin(node, name.removeprefix("builtins."))
            if special is not None:
                if target is None:
                    return special
                self.store(target, special, self.reader.span(node))
                return target
        if name in ("typing.cast", "cast") and len(node.args) == 2:
            return self._stored(self.lower(node.args[1].value), target, node)
        may_throw: bool | None = None
        if name.startswith("builtins."):
            short = name.removeprefix("builtins.")
            if (
                short in SAFE_BUILTINS
                or short in EXCEPTIONS
                or self._converts_constant(node, short)
            ):
                may_throw = False
        elif name.startswith(("logging.", "warnings.warn")):
            may_throw = False
        kind: CalleeKind = "function"
        record = None
        if meaning.key is not None and name.rpartition(".")[2][:1].isupper():
            # Defined in another file, if at all: by its spelling, a class.
            kind, record = "constructor", meaning.key
        return self._finish(
            node, name, target, wanted, kind=kind, key=meaning.key, record=record,
            may_throw=may_throw, noreturn=name in NORETURN,
        )  # fmt: skip

    def _builtin(self, node: cst.Call, name: str) -> Expression | None:
        """Builtins that are expressions: ``len``, ``super``, ``getattr`` of a known name."""
        if any(argument.star or argument.keyword for argument in node.args):
            return None
        match name, len(node.args):
            case "len", 1:
                return Unary("len", self.lower(node.args[0].value))
            case "super", _ if self.receiver() is not None:
                return THIS
            case "getattr", 2 | 3:
                attribute = self._attribute_name(node.args[1].value)
                if attribute is not None:
                    return Member(self.lower(node.args[0].value), attribute)
            case "setattr", 3:
                attribute = self._attribute_name(node.args[1].value)
                if attribute is not None:
                    place = Member(self.lower(node.args[0].value), attribute)
                    self.lower_into(node.args[2].value, place, self.reader.span(node))
                    return Constant(None)
        return None

    def _attribute_name(self, node: cst.BaseExpression) -> str | None:
        """The attribute that ``getattr`` is asked for, if it is known."""
        if isinstance(node, cst.Name):
            return self.known_texts.get(node.value)
        return string_value(node)

    def _converts_constant(self, node: cst.Call, name: str) -> bool:
        """``int("3")``, ``float(2)``, ``int(n * 4)``."""
        return name in ("int", "float", "bool", "str") and all(
            isinstance(
                argument.value, cst.Integer | cst.Float | cst.SimpleString | cst.BinaryOperation
            )
            for argument in node.args
        )

    def _construct(
        self, node: cst.Call, owner: ClassInfo, target: Expression | None, wanted: bool
    ) -> Expression:
        return self._finish(
            node, owner.key, target, wanted, kind="constructor", key=owner.key, record=owner.key
        )

    def _defined(
        self, node: cst.Call, meaning: Defined, target: Expression | None, wanted: bool
    ) -> Expression:
        """A function of this file, or ``Class.method``."""
        owner = None
        if isinstance(node.func, cst.Attribute):
            owner = self.scope.meaning(node.func.value)
        unbound = isinstance(owner, ClassInfo) and self.reader.is_instance_method(meaning)
        if unbound and isinstance(owner, ClassInfo) and node.args and not node.args[0].star:
            # Base.method(self, ...): the receiver is the first argument.
            receiver = self.lower(node.args[0].value)
            return self._finish(
                node, f".{_last_name(node.func)}", target, wanted, kind="method", key=meaning.key,
                receiver=receiver, record=owner.key, skip=1,
            )  # fmt: skip
        record = owner.key if isinstance(owner, ClassInfo) else None
        return self._finish(node, meaning.key, target, wanted, key=meaning.key, record=record)

    def _inherited(
        self, node: cst.Call, meaning: ClassMember, target: Expression | None, wanted: bool
    ) -> Expression:
        """A class attribute that is called, or a method of a base in another file."""
        owner = FunctionReference(meaning.owner.key, meaning.owner.key)
        return self._finish(
            node, f".{meaning.attribute}", target, wanted, kind="method", receiver=owner,
            record=meaning.owner.key,
        )  # fmt: skip

    def _method(
        self, node: cst.Call, function: cst.Attribute, target: Expression | None, wanted: bool
    ) -> Expression:
        name = function.attr.value
        base = function.value
        if self._is_super(base):
            return self._super(node, name, target, wanted)
        owner, may_throw = self._owner(base, name)
        receiver = self.lower(base)
        key = record = None
        if owner is not None:
            record = owner.key
            found = owner.method(name)
            key = found[1].key if found is not None else None
        return self._finish(
            node, f".{name}", target, wanted, kind="method", key=key, receiver=receiver,
            record=record, may_throw=may_throw,
        )  # fmt: skip

    def _owner(self, base: cst.BaseExpression, name: str) -> tuple[ClassInfo | None, bool | None]:
        """The class of a method's receiver, and whether the method may raise."""
        what: Held | None = held(base, self.scope)
        if what is not None and what.kind == "instance":
            return what.owner, None
        if what is not None and what.kind == "container" and name in CONTAINER_METHODS:
            return None, False
        is_logger = what is not None and what.kind == "logger"
        if name in LOG_METHODS and (is_logger or _last_name(base) in _LOGGER_NAMES):
            return None, False
        return None, None

    def _is_super(self, node: cst.BaseExpression) -> bool:
        return (
            isinstance(node, cst.Call)
            and isinstance(node.func, cst.Name)
            and node.func.value == "super"
            and self.receiver() is not None
        )

    def _super(
        self, node: cst.Call, name: str, target: Expression | None, wanted: bool
    ) -> Expression:
        receiver = self.receiver()
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
        return self._finish(
            node, f".{name}", target, wanted, kind="method", key=key, receiver=THIS,
            record=record,
        )  # fmt: skip

    def receiver(self) -> Receiver | None:
        """The receiver of the method around this code."""
        scope: Scope | None = self.scope
        while scope is not None:
            if scope.receiver is not None and scope.owner is not None:
                return Receiver(scope.receiver, scope.owner, scope.receiver_is_class)
            scope = scope.parent
        return None

    # -- writing the call ------------------------------------------------------------------------

    def arguments(self, nodes: list[cst.Arg]) -> tuple[Argument, ...]:
        """Lower the arguments of a call, left to right."""
        return tuple(
            [
                Argument(
                    self.lower(node.value),
                    node.keyword.value if node.keyword is not None else None,
                    node.star,
                )
                for node in nodes
            ]
        )

    def _stored(
        self, value: Expression, target: Expression | None, node: cst.CSTNode
    ) -> Expression:
        if target is None:
            return value
        self.store(target, value, self.reader.span(node))
        return target

    def _finish(
        self,
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
        arguments = self.arguments(list(node.args[skip:]))
        if target is None and wanted:
            target = self.temporary()
        span = self.reader.span(node)
        self.graph.emit(
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
            self.graph.end(Unreachable(span))
        return target if target is not None else Constant(None)


def _last_name(node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""
