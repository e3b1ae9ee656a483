"""Lowers loops."""

from __future__ import annotations

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.bindings import declare_element
from cudalint.frontends.cuda.lowering.blocks import end_span, scoped
from cudalint.frontends.cuda.lowering.branches import lost_condition
from cudalint.frontends.cuda.lowering.conditions import condition
from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.graph import Node
from cudalint.frontends.cuda.lowering.libclang import children, evaluate
from cudalint.frontends.cuda.lowering.variables import unknown
from cudalint.program import EACH, Assign, Index, ScopeEnd, Tuple, Unary


def while_(context: Context, cursor: Cursor) -> None:
    """Lower ``while``."""
    parts = children(cursor)
    header = context.graph.block(loop=True)
    inside, after = context.graph.block(), context.graph.block()
    context.scopes.open()
    context.graph.enter(header)
    for part in parts[:-2]:
        context.statement(part)
    ends = tuple(reversed(context.scopes.stack[-1].symbols))
    if len(parts) >= 2:
        condition(context, parts[-2], inside, after)
    else:
        context.graph.branch(
            unknown(context, cursor), inside, after, context.positions.span(cursor)
        )
    again = context.graph.block()
    _loop_body(context, parts[-1], inside, after, again)
    context.graph.enter(again)
    if ends:
        context.graph.emit(ScopeEnd(ends, end_span(context, cursor)))
    context.graph.jump(header)
    context.graph.current = after
    context.scopes.close(end_span(context, cursor))


def _loop_body(
    context: Context, cursor: Cursor, inside: Node, after: Node, again: Node, around: int = 0
) -> None:
    """``around``: scopes of the loop itself that ``break`` leaves too."""
    context.graph.current = inside
    with context.jumps.loop(after, again, around):
        scoped(context, cursor)


def do(context: Context, cursor: Cursor) -> None:
    """Lower ``do``."""
    parts = children(cursor)
    inside, test, after = (context.graph.block() for _ in range(3))
    context.graph.jump(inside)
    _loop_body(context, parts[0], inside, after, test)
    context.graph.enter(test)
    value = evaluate(parts[-1]) if len(parts) > 1 else 0
    if value is not None and not value:
        context.graph.jump(after)  # do { ... } while (0): straight code.
    else:
        inside.loop = True
        condition(context, parts[-1], inside, after)
    context.graph.current = after


def for_(context: Context, cursor: Cursor) -> None:
    """Lower ``for``."""
    initial, test, step, body = _for_parts(context, cursor)
    context.scopes.open()
    for part in initial:
        context.statement(part)
    header = context.graph.block(loop=True)
    inside, again, after = (context.graph.block() for _ in range(3))
    context.graph.enter(header)
    if test:
        for part in test[:-1]:
            context.statement(part)
        condition(context, test[-1], inside, after)
    else:
        context.graph.jump(inside)
    _loop_body(context, body, inside, after, again)
    context.graph.enter(again)
    for part in step:
        context.statement(part)
    context.graph.jump(header)
    context.graph.current = after
    context.scopes.close(end_span(context, cursor))


def _for_parts(
    context: Context, cursor: Cursor
) -> tuple[list[Cursor], list[Cursor], list[Cursor], Cursor]:
    """Initialiser, condition, step and body: clang leaves out those that are not there."""
    parts = children(cursor)
    body, head = parts[-1], parts[:-1]
    if len(head) == 3:
        return [head[0]], [head[1]], [head[2]], body
    name, start, _ = context.positions.offsets(cursor)
    semicolons = _semicolons(context.positions.text_of(name, start, start + 4000))
    groups: tuple[list[Cursor], list[Cursor], list[Cursor]] = ([], [], [])
    for part in head:
        if context.positions.from_macro(cursor) or len(semicolons) < 2:
            is_test = context.types.of(part).kind == "bool"
            number = 0 if part._kind_id >= 200 else 1 if is_test else 2
        else:
            # Bytes against characters: equal but for letters that are not ASCII.
            place = context.positions.offsets(part)[1] - start
            number = sum(place > semicolon for semicolon in semicolons[:2])
        groups[number].append(part)
    return (*groups, body)


def _semicolons(text: str) -> list[int]:
    """The offsets of the semicolons in a for statement's parentheses."""
    found: list[int] = []
    depth = 0
    quote = ""
    for position, character in enumerate(text):
        if quote:
            if character == quote and text[position - 1] != "\\":
                quote = ""
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0:
                break
        elif character == ";" and depth == 1:
            found.append(position)
    return found


def range_for(context: Context, cursor: Cursor) -> None:
    """Lower a range-for."""
    parts = children(cursor)
    span = context.positions.span(cursor)
    if len(parts) < 3:
        lost_condition(context, cursor, parts)
        return
    context.scopes.open()
    for part in parts[:-3]:
        context.statement(part)
    variable, body = parts[-3], parts[-1]
    iterable = context.expression(parts[-2])
    if isinstance(iterable, Tuple):  # `{first, second}` is a table without a name
        table = context.temporary(context.types.of(parts[-2]))
        context.graph.emit(Assign(table, iterable, span))
        iterable = table
    header = context.graph.block(loop=True)
    inside, after = context.graph.block(), context.graph.block()
    context.graph.enter(header)
    place = context.positions.span(variable)
    context.graph.branch(Unary("more", iterable), inside, after, place)
    context.graph.current = inside
    context.scopes.open()
    declare_element(context, variable, Index(iterable, EACH), place)
    ends = tuple(reversed(context.scopes.stack[-1].symbols))
    again = context.graph.block()
    _loop_body(context, body, context.graph.current, after, again, around=1)
    context.graph.enter(again)
    if ends:
        context.graph.emit(ScopeEnd(ends, end_span(context, cursor)))
    context.graph.jump(header)
    context.scopes.close(span)
    context.graph.current = after
    context.scopes.close(end_span(context, cursor))
