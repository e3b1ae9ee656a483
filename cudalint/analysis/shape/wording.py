"""Expressions for messages: a temporary is shown as the call that it holds."""

from __future__ import annotations

import msgspec

from cudalint.analysis.shape.operations import operations
from cudalint.program import (
    AddressOf,
    Assign,
    Binary,
    Call,
    Cast,
    Dereference,
    Expression,
    Function,
    Index,
    Member,
    Unary,
    Unknown,
    Variable,
    render,
)


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
            found.setdefault(target.symbol, Unknown(_call_text(operation, found, short)))
    return found


def _call_text(call: Call, found: dict[str, Expression], short: bool) -> str:
    arguments = ", ".join(render(substitute(a.value, found)) for a in call.arguments)
    if short and arguments:
        arguments = "..."
    if call.receiver is not None and call.kind != "constructor":
        name = call.name.replace("::", ".").rpartition(".")[2]
        receiver = render(substitute(call.receiver, found))
        if name == "operator[]":
            return f"{receiver}[{arguments}]"
        return f"{receiver}.{name}({arguments})"
    return f"{call.name.rpartition('.')[2]}({arguments})"


def substitute(expression: Expression, written: dict[str, Expression]) -> Expression:
    """The expression with each temporary replaced by what it stands for."""
    match expression:
        case Variable(symbol=symbol):
            return written.get(symbol, expression)
        case Member(base=base) | Index(base=base):
            return msgspec.structs.replace(expression, base=substitute(base, written))
        case Dereference(pointer=pointer):
            return msgspec.structs.replace(expression, pointer=substitute(pointer, written))
        case AddressOf(place=place):
            return AddressOf(substitute(place, written))
        case Unary(operand=operand) | Cast(operand=operand):
            return msgspec.structs.replace(expression, operand=substitute(operand, written))
        case Binary(left=left, right=right):
            return msgspec.structs.replace(
                expression, left=substitute(left, written), right=substitute(right, written)
            )
        case _:
            return expression
