"""Expressions for messages: a temporary is shown as the call that it holds."""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from cudalint.analysis.shape.operations import operations
from cudalint.program import (
    BINARY_OPERATORS,
    Assign,
    Binary,
    Call,
    Expression,
    Function,
    Index,
    Member,
    Unary,
    Unknown,
    Variable,
    render,
)

_KINDS: tuple[Any, ...] = get_args(Expression)


def written_calls(function: Function, short: bool = False) -> dict[str, Expression]:
    """What each temporary of a function stands for in the source; ``short``, of a Python method:
    calls without their arguments, and members with their ``self``."""
    found: dict[str, Expression] = {"this": Variable("self", "this")} if short else {}
    for _, _, operation in operations(function):
        if isinstance(operation, Call) and operation.kind == "copy":
            made = operation.receiver
            if isinstance(made, Variable) and made.symbol.startswith("%") and operation.arguments:
                found.setdefault(made.symbol, substitute(operation.arguments[0].value, found))
        target = operation.target if isinstance(operation, Assign | Call) else None
        if not isinstance(target, Variable) or not target.symbol.startswith("%"):
            continue
        if isinstance(operation, Assign):
            found.setdefault(target.symbol, substitute(operation.value, found))
        elif isinstance(operation, Call):
            found.setdefault(target.symbol, _call(operation, found, short))
    return found


def _call(call: Call, found: dict[str, Expression], short: bool) -> Expression:
    """A call as the source has it: that of an operator is written as one."""
    _, called, operator = call.name.rpartition("operator")
    operands = [argument.value for argument in call.arguments]
    if call.receiver is not None:
        operands.insert(0, call.receiver)
    parts = [substitute(one, found) for one in operands]
    if called and operator in BINARY_OPERATORS and len(parts) == 2:
        return Binary(operator, parts[0], parts[1])
    if called and operator in ("-", "!", "~") and len(parts) == 1:
        return Unary(operator, parts[0])
    return Unknown(_call_text(call, found, short))


def _call_text(call: Call, found: dict[str, Expression], short: bool) -> str:
    arguments = ", ".join(render(substitute(a.value, found)) for a in call.arguments)
    if short and arguments:
        arguments = "..."
    if call.receiver is not None and call.kind != "constructor":
        name = call.name.replace("::", ".").rpartition(".")[2]
        receiver = substitute(call.receiver, found)
        if call.kind == "method" and "::operator " in call.name:
            return render(receiver)  # it is converted, without a word
        if name == "operator[]":
            return render(Index(receiver, Unknown(arguments)))
        return f"{render(Member(receiver, name))}({arguments})"
    return f"{call.name.rpartition('.')[2]}({arguments})"


def substitute(expression: Expression, written: dict[str, Expression]) -> Expression:
    """The expression with each temporary replaced by what it stands for."""
    if isinstance(expression, Variable):
        return written.get(expression.symbol, expression)
    parts: dict[str, Any] = {n: getattr(expression, n) for n in expression.__struct_fields__}
    changed = {
        name: substitute(part, written) for name, part in parts.items() if isinstance(part, _KINDS)
    }
    return msgspec.structs.replace(expression, **changed) if changed else expression
