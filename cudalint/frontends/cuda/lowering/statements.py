"""Lowers the other statements: jumps, labels, declarations."""

from __future__ import annotations

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.declarations import declaration
from cudalint.frontends.cuda.lowering.initialization import returned
from cudalint.frontends.cuda.lowering.libclang import children, name_of, values_of
from cudalint.frontends.cuda.lowering.recovery import recover_statement
from cudalint.frontends.cuda.lowering.text import out_of_sight
from cudalint.frontends.cuda.lowering.variables import unknown
from cudalint.program import Return, Throw, Unknown


def left_to_device(context: Context, cursor: Cursor) -> bool:
    """Whether a statement runs on a device; then what they mention goes out of sight."""
    positions = context.positions
    rows = context.unit.offloaded(positions.offsets(cursor)[0])
    if not rows or (span := positions.span(cursor)).row not in rows:
        return False
    out_of_sight(context, positions.text(cursor), span)
    return True


def break_(context: Context, cursor: Cursor) -> None:
    """Lower ``break``."""
    context.jumps.leave("break", context.positions.span(cursor))


def continue_(context: Context, cursor: Cursor) -> None:
    """Lower ``continue``."""
    context.jumps.leave("continue", context.positions.span(cursor))


def return_(context: Context, cursor: Cursor) -> None:
    """Lower ``return``."""
    values = values_of(cursor)
    span = context.positions.span(cursor)
    value = returned(context, values[0]) if values else None
    if isinstance(value, Unknown) and value.text == "void":
        value = None
    if context.graph.is_open:
        context.graph.finish(Return(value, span))
    context.graph.current = context.graph.block()


def goto(context: Context, cursor: Cursor) -> None:
    """Lower ``goto``."""
    names = [name_of(child) for child in children(cursor)]
    span = context.positions.span(cursor)
    if names and names[0]:
        context.jumps.goto(names[0], span)
    else:
        context.graph.finish(Throw(unknown(context, cursor), span))
        context.graph.current = context.graph.block()


def label(context: Context, cursor: Cursor) -> None:
    """Lower a label, with the statement behind it."""
    context.jumps.label(name_of(cursor))
    for child in children(cursor):
        context.statement(child)


def nothing(context: Context, cursor: Cursor) -> None:
    """``;``, or what clang writes for a branch that it lost."""
    if context.unit.lost is None or context.positions.from_macro(cursor):
        return
    found = context.unit.lost.branch(cursor)
    if found is not None:
        recover_statement(context, *found)


def declarations(context: Context, cursor: Cursor) -> None:
    """Lower a declaration statement."""
    for child in children(cursor):
        declaration(context, child)


def assembly(context: Context, cursor: Cursor) -> None:
    """Nothing of ``asm`` is lowered."""
