"""Programs as readable text, for debugging and for tests."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.program.expressions import render
from cudalint.program.functions import (
    Argument,
    Assign,
    Block,
    Branch,
    Call,
    Delete,
    Function,
    Jump,
    Launch,
    Operation,
    Program,
    Return,
    ScopeEnd,
    Terminator,
    Throw,
    Use,
)
from cudalint.source import Span


def dump(program: Program, spans: bool = False) -> str:
    """The whole program; ``spans`` adds where each operation stands."""
    return "\n".join(_program(program, spans)) + "\n"


def dump_function(function: Function, spans: bool = False) -> str:
    """One function."""
    return "\n".join(_function(function, spans)) + "\n"


def _program(program: Program, spans: bool) -> Iterator[str]:
    yield f"program {program.filename} ({program.language})"
    for include in program.includes:
        yield f"includes {include}"
    for symbol, info in program.variables.items():
        constant = f" = {render(info.constant)}" if info.constant is not None else ""
        yield f"{info.storage} {symbol}: {info.type.text}{constant}"
    for record in program.records:
        bases = f" : {', '.join(record.bases)}" if record.bases else ""
        yield f"record {record.name}{bases} at {_place(record.span)}"
        yield (
            f"  destructor {record.destructor}, copy constructor {record.copy_constructor}, "
            f"copy assignment {record.copy_assignment}"
        )
        for field in record.fields:
            yield f"  {field.name}: {field.type.text} ({field.type.kind})"
    for kernel in program.kernels:
        shared = sum(array.bytes or 0 for array in kernel.shared)
        dynamic = f", extern {kernel.dynamic_shared}" if kernel.dynamic_shared else ""
        bounds = f", at most {kernel.max_threads} threads" if kernel.max_threads else ""
        yield (
            f"kernel {kernel.name} at {_place(kernel.span)}: {shared} bytes shared{dynamic}{bounds}"
        )
    for function in program.functions:
        yield ""
        yield from _function(function, spans)
    if program.dropped:
        yield ""
    for dropped in program.dropped:
        yield f"dropped {dropped.what!r} at {_place(dropped.span)}: {dropped.reason}"


def _function(function: Function, spans: bool) -> Iterator[str]:
    parameters = ", ".join(
        f"{parameter.symbol}: {parameter.type.text}" for parameter in function.parameters
    )
    marks = "".join(
        f" {word}"
        for word, holds in (
            ("noexcept", function.is_noexcept),
            ("static", function.is_static),
            ("generator", function.is_generator),
        )
        if holds
    )
    yield f"{function.kind} {function.name}({parameters}){marks} at {_place(function.span)}"
    for block in function.blocks:
        yield from _block(block, spans)


def _block(block: Block, spans: bool) -> Iterator[str]:
    unwind = f" unwind {block.unwind}" if block.unwind is not None else ""
    yield f"  {block.number}:{' loop' if block.loop else ''}{unwind}"
    for operation in block.operations:
        place = f"  @{_place(operation.span)}" if spans else ""
        yield f"    {_operation(operation)}{place}"
    yield f"    {_terminator(block.terminator)}"


def _place(span: Span) -> str:
    return f"{span.row}:{span.column}"


def _arguments(arguments: tuple[Argument, ...]) -> str:
    return ", ".join(
        f"{argument.starred}{argument.keyword + '=' if argument.keyword else ''}"
        f"{render(argument.value)}"
        for argument in arguments
    )


def _operation(operation: Operation) -> str:
    match operation:
        case Assign(target=target, value=value, declares=declares, augmented=augmented):
            mark = "declare " if declares else "update " if augmented else ""
            return f"{mark}{render(target)} = {render(value)}"
        case Call():
            return _call(operation)
        case Launch():
            return _launch(operation)
        case Delete(place=place):
            return f"del {render(place)}"
        case ScopeEnd(symbols=symbols):
            return f"end {', '.join(symbols)}"
        case Use(value=value, reason=reason):
            return f"use {render(value)}{f' ({reason})' if reason else ''}"


def _call(call: Call) -> str:
    target = f"{render(call.target)} = " if call.target is not None else ""
    receiver = f" on {render(call.receiver)}" if call.receiver is not None else ""
    callee = f" through {render(call.callee)}" if call.callee is not None else ""
    marks = "".join(
        f" {mark}"
        for mark in (
            "" if call.kind == "function" else f"[{call.kind}]",
            "virtual" if call.virtual else "",
            "noreturn" if call.noreturn else "",
            "nothrow" if call.may_throw is False else "",
            f"T={call.template_bytes}" if call.template_bytes is not None else "",
            f"in {call.expansion}" if call.expansion else "",
        )
        if mark
    )
    return f"{target}{call.name}({_arguments(call.arguments)}){receiver}{callee}{marks}"


def _launch(launch: Launch) -> str:
    configuration = ", ".join(
        render(part) if part is not None else "-"
        for part in (launch.grid, launch.block, launch.shared, launch.stream)
    )
    known = "" if launch.kernel_key else " [unknown kernel]"
    return f"launch {launch.kernel}<<<{configuration}>>>({_arguments(launch.arguments)}){known}"


def _terminator(terminator: Terminator) -> str:
    match terminator:
        case Jump(target=target):
            return f"-> {target}"
        case Branch(condition=condition, then=then, otherwise=otherwise):
            return f"if {render(condition)} -> {then} else {otherwise}"
        case Return(value=value, implicit=implicit):
            shown = f" {render(value)}" if value is not None else ""
            return f"return{shown}{' (end)' if implicit else ''}"
        case Throw(value=value, rethrow=rethrow):
            shown = f" {render(value)}" if value is not None else ""
            return f"{'rethrow' if rethrow else 'throw'}{shown}"
        case _:
            return "unreachable"
