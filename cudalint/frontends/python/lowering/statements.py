"""Lowers statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst
import msgspec

from cudalint.frontends.python.bindings import imports_of
from cudalint.frontends.python.constants import string_value
from cudalint.frontends.python.graph import OpenBlock
from cudalint.frontends.python.lowering.branches import branch_on
from cudalint.frontends.python.lowering.context import Context, LoopFrame
from cudalint.frontends.python.lowering.exceptions import class_names
from cudalint.frontends.python.lowering.expressions import augmented_operator
from cudalint.frontends.python.lowering.iteration import bind, iterate, start_loop
from cudalint.frontends.python.lowering.targets import assign, place_of, store_to
from cudalint.frontends.python.module import is_main_guard
from cudalint.frontends.python.scopes import ClassInfo, Dotted, Local
from cudalint.program.expressions import Binary, Constant, Expression, FunctionReference, Variable
from cudalint.program.functions import Assign, Call, Delete, Return, Throw, Unreachable, Use
from cudalint.source import Span

_MOST_TURNS = 8
_LONGEST_BODY = 3_000
"""Loops over a display are unrolled up to these many turns and characters."""

# -- simple statements -----------------------------------------------------------------------


def _assign(context: Context, node: cst.Assign) -> None:
    span = context.span(node)
    first, *others = [item.target for item in node.targets]
    if not others:
        assign(context, first, node.value, span)
        return
    value = context.lower(node.value)
    if not isinstance(value, Constant | FunctionReference | Variable):
        value = context.keep(value, span)
    for target in (first, *others):
        store_to(context, target, value, span)


def _annotated(context: Context, node: cst.AnnAssign) -> None:
    if node.value is not None:
        assign(context, node.target, node.value, context.span(node))


def _augmented(context: Context, node: cst.AugAssign) -> None:
    place = place_of(context, node.target)
    value = context.lower(node.value)
    if place is not None:
        result = Binary(augmented_operator(node.operator), place, value)
        context.graph.emit(Assign(place, result, context.span(node), augmented=True))


def _expression(context: Context, node: cst.Expr) -> None:
    value = node.value
    if isinstance(value, cst.Call):
        context.call(value, None, wanted=False)
    elif isinstance(value, cst.Await) and isinstance(value.expression, cst.Call):
        context.lower(value)
    elif not isinstance(value, cst.SimpleString | cst.ConcatenatedString | cst.Ellipsis):
        lowered = context.lower(value)
        if not isinstance(lowered, Constant | FunctionReference) and not isinstance(
            value, cst.Yield | cst.Await | cst.NamedExpr
        ):
            context.graph.emit(Use(lowered, context.span(node)))


def _return(context: Context, node: cst.Return) -> None:
    span = context.span(node)
    value: Expression | None = None
    if node.value is not None:
        value = context.lower(node.value)
        if context.has_cleanup() and not isinstance(value, Constant | Variable):
            value = context.keep(value, span)
    unwind = context.graph.unwind
    context.leave(0)
    context.graph.end(Return(value, span))
    context.graph.set_unwind(unwind)


def _raise(context: Context, node: cst.Raise) -> None:
    span = context.span(node)
    if node.exc is None or (isinstance(node.exc, cst.Name) and node.exc.value in context.caught):
        context.graph.end(Throw(None, span, rethrow=True))
        return
    value = context.lower(node.exc)
    if _is_exit(context, node.exc):
        # Like sys.exit: the process ends, and what it holds with it.
        context.graph.end(Unreachable(span))
        return
    made = context.graph.current.operations[-1:]
    if isinstance(node.exc, cst.Call) and made and isinstance(made[0], Call):
        context.graph.current.operations[-1] = msgspec.structs.replace(made[0], may_throw=False)
    context.graph.end(Throw(value, span, kinds=_thrown(context, node.exc)))


def _thrown(context: Context, node: cst.BaseExpression) -> tuple[str, ...]:
    """The classes of what is raised, which need not be said: ``raise make_error()``."""
    what = context.held(node)
    if what is not None and what.kind == "instance" and what.owner is not None:
        return (what.owner.key,)
    made = node.func if isinstance(node, cst.Call) else node
    is_class = isinstance(context.scope.meaning(made), Dotted | ClassInfo)
    return class_names(context, made) if is_class else ()


def _is_exit(context: Context, node: cst.BaseExpression) -> bool:
    meaning = context.scope.meaning(node.func if isinstance(node, cst.Call) else node)
    return isinstance(meaning, Dotted) and meaning.name == "builtins.SystemExit"


def _assert(context: Context, node: cst.Assert) -> None:
    passed, failed = context.graph.block(), context.graph.block()
    branch_on(context, node.test, passed, failed)
    context.graph.start(failed)
    if node.msg is not None:
        context.lower(node.msg)
    # As in C: who asserts declares that it cannot happen.
    context.graph.end(Unreachable(context.span(node)))
    context.graph.start(passed)


def _delete(context: Context, node: cst.Del) -> None:
    _delete_target(context, node.target, context.span(node))


def _delete_target(context: Context, target: cst.CSTNode, span: Span) -> None:
    if isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            _delete_target(context, element.value, span)
        return
    place = place_of(context, target)
    if place is not None:
        context.graph.emit(Delete(place, span))


def _break(context: Context, node: cst.Break) -> None:
    _leave_loop(context, node, again=False)


def _continue(context: Context, node: cst.Continue) -> None:
    _leave_loop(context, node, again=True)


def _leave_loop(context: Context, node: cst.CSTNode, again: bool) -> None:
    for depth in range(len(context.frames) - 1, -1, -1):
        frame = context.frames[depth]
        if isinstance(frame, LoopFrame):
            context.leave_to(depth + 1, frame.again if again else frame.after)
            return


def _import(context: Context, node: cst.Import | cst.ImportFrom) -> None:
    """An import stores only where the name is a variable: it is bound in other ways, too."""
    for item in imports_of(node):
        meaning = context.scope.lookup(item.name)
        if isinstance(meaning, Local):
            base = context.module.dotted.absolute(item.module, item.level) or item.module
            dotted = base if item.attribute is None else f"{base}.{item.attribute}".lstrip(".")
            value = FunctionReference(dotted, context.scope.dotted(dotted).key)
            context.store(context.note(meaning), value, context.span(node))


# -- compound statements ---------------------------------------------------------------------


def _if(context: Context, node: cst.If) -> None:
    after = context.graph.block()
    branch: cst.If | cst.Else | None = node
    while isinstance(branch, cst.If):
        if is_main_guard(branch.test):
            context.body(branch.body.body)
            context.graph.jump(after)
            branch = None
            break
        then, otherwise = context.graph.block(), context.graph.block()
        branch_on(context, branch.test, then, otherwise)
        context.graph.start(then)
        context.body(branch.body.body)
        context.graph.jump(after)
        context.graph.start(otherwise)
        branch = branch.orelse
    if branch is not None:
        context.body(branch.body.body)
    context.graph.jump(after)
    context.graph.start(after)


def _while(context: Context, node: cst.While) -> None:
    header, body = context.graph.block(), context.graph.block()
    exhausted, after = context.graph.block(), context.graph.block()
    header.loop = True
    context.graph.jump(header)
    context.graph.start(header)
    if _is_always_true(node.test):
        context.graph.jump(body)
    else:
        branch_on(context, node.test, body, exhausted)
    context.graph.start(body)
    _loop_body(context, node.body.body, after, header)
    context.graph.jump(header)
    _loop_else(context, node.orelse, exhausted, after)


def _for(context: Context, node: cst.For) -> None:
    if _is_unrolled(context, node):
        _unrolled(context, node)
        return
    iteration = iterate(context, node.iter)
    exhausted_after = start_loop(context, iteration.over, context.span(node.iter))
    header, exhausted = exhausted_after
    after = context.graph.block()
    bind(context, node.target, iteration.element, context.span(node.target))
    _loop_body(context, node.body.body, after, header)
    context.graph.jump(header)
    _loop_else(context, node.orelse, exhausted, after)


def _is_unrolled(context: Context, node: cst.For) -> bool:
    """A loop over a few places, ``for pointer in (a, b):``, or over attribute names."""
    display = node.iter
    if not isinstance(display, cst.Tuple | cst.List) or not isinstance(node.target, cst.Name):
        return False
    if not 0 < len(display.elements) <= _MOST_TURNS:
        return False
    values = [element.value for element in display.elements]
    if any(isinstance(element, cst.StarredElement) for element in display.elements):
        return False
    text = context.module.text(node.body)
    if len(text) > _LONGEST_BODY:
        return False
    if all(isinstance(value, cst.SimpleString) for value in values):
        return "getattr(" in text
    return all(_is_place(value) for value in values)


def _unrolled(context: Context, node: cst.For) -> None:
    """Write the body once for each element, so that each is followed by itself."""
    after = context.graph.block()
    elements = node.iter.elements if isinstance(node.iter, cst.Tuple | cst.List) else ()
    name = node.target.value if isinstance(node.target, cst.Name) else ""
    span = context.span(node.target)
    for element in elements:
        following = context.graph.block()
        store_to(context, node.target, context.lower(element.value), span)
        text = string_value(element.value)
        if text is not None:
            context.known_texts[name] = text
        _loop_body(context, node.body.body, after, following)
        context.graph.jump(following)
        context.graph.start(following)
    context.known_texts.pop(name, None)
    _loop_else(context, node.orelse, context.graph.current, after)


def _loop_body(
    context: Context, statements: Sequence[cst.CSTNode], after: OpenBlock, again: OpenBlock
) -> None:
    context.frames.append(LoopFrame(after, again))
    context.body(statements)
    context.frames.pop()


def _loop_else(
    context: Context, orelse: cst.Else | None, exhausted: OpenBlock, after: OpenBlock
) -> None:
    context.graph.start(exhausted)
    if orelse is not None:
        context.body(orelse.body.body)
    context.graph.jump(after)
    context.graph.start(after)


def _is_place(node: cst.BaseExpression) -> bool:
    """A name, or attributes and constant elements of one."""
    while isinstance(node, cst.Attribute | cst.Subscript):
        node = node.value
    return isinstance(node, cst.Name) and node.value not in ("None", "True", "False")


def _is_always_true(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Name):
        return node.value == "True"
    return isinstance(node, cst.Integer) and node.value not in ("0", "00")


STATEMENTS: dict[type[cst.CSTNode], Callable[..., None]] = {
    cst.Assign: _assign,
    cst.AnnAssign: _annotated,
    cst.AugAssign: _augmented,
    cst.Expr: _expression,
    cst.Return: _return,
    cst.Raise: _raise,
    cst.Assert: _assert,
    cst.Del: _delete,
    cst.Break: _break,
    cst.Continue: _continue,
    cst.Import: _import,
    cst.ImportFrom: _import,
    cst.If: _if,
    cst.While: _while,
    cst.For: _for,
}
