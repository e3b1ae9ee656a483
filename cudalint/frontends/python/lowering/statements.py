"""Lowers statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from cudalint.frontends.python.bindings import imports_of
from cudalint.frontends.python.constants import string_value
from cudalint.frontends.python.graph import OpenBlock
from cudalint.frontends.python.lowering.branches import branch_on
from cudalint.frontends.python.lowering.expressions import augmented_operator
from cudalint.frontends.python.lowering.iteration import bind, iterate, start_loop
from cudalint.frontends.python.lowering.state import FunctionState, LoopFrame
from cudalint.frontends.python.lowering.targets import assign, place_of, store_to
from cudalint.frontends.python.scopes import Dotted, Local
from cudalint.program.expressions import Binary, Constant, Expression, FunctionReference, Variable
from cudalint.program.functions import Assign, Delete, Return, Throw, Unreachable, Use
from cudalint.source import Span

_MOST_TURNS = 8
_LONGEST_BODY = 3_000
"""Loops over a display are unrolled up to these many turns and characters."""

# -- simple statements -----------------------------------------------------------------------


def _assign(state: FunctionState, node: cst.Assign) -> None:
    span = state.span(node)
    first, *others = [item.target for item in node.targets]
    if not others:
        assign(state, first, node.value, span)
        return
    value = state.lower(node.value)
    if not isinstance(value, Constant | FunctionReference | Variable):
        value = state.keep(value, span)
    for target in (first, *others):
        store_to(state, target, value, span)


def _annotated(state: FunctionState, node: cst.AnnAssign) -> None:
    if node.value is not None:
        assign(state, node.target, node.value, state.span(node))


def _augmented(state: FunctionState, node: cst.AugAssign) -> None:
    place = place_of(state, node.target)
    value = state.lower(node.value)
    if place is not None:
        result = Binary(augmented_operator(node.operator), place, value)
        state.graph.emit(Assign(place, result, state.span(node), augmented=True))


def _expression(state: FunctionState, node: cst.Expr) -> None:
    value = node.value
    if isinstance(value, cst.Call):
        state.call(value, None, wanted=False)
    elif isinstance(value, cst.Await) and isinstance(value.expression, cst.Call):
        state.lower(value)
    elif not isinstance(value, cst.SimpleString | cst.ConcatenatedString | cst.Ellipsis):
        lowered = state.lower(value)
        if not isinstance(lowered, Constant | FunctionReference) and not isinstance(
            value, cst.Yield | cst.Await | cst.NamedExpr
        ):
            state.graph.emit(Use(lowered, state.span(node)))


def _return(state: FunctionState, node: cst.Return) -> None:
    span = state.span(node)
    value: Expression | None = None
    if node.value is not None:
        value = state.lower(node.value)
        if state.has_cleanup() and not isinstance(value, Constant | Variable):
            value = state.keep(value, span)
    unwind = state.graph.unwind
    state.leave(0)
    state.graph.end(Return(value, span))
    state.graph.set_unwind(unwind)


def _raise(state: FunctionState, node: cst.Raise) -> None:
    span = state.span(node)
    value = state.lower(node.exc) if node.exc is not None else None
    if node.exc is not None and _is_exit(state, node.exc):
        # Like sys.exit: the process ends, and what it holds with it.
        state.graph.end(Unreachable(span))
    else:
        state.graph.end(Throw(value, span, rethrow=value is None))


def _is_exit(state: FunctionState, node: cst.BaseExpression) -> bool:
    meaning = state.scope.meaning(node.func if isinstance(node, cst.Call) else node)
    return isinstance(meaning, Dotted) and meaning.name == "builtins.SystemExit"


def _assert(state: FunctionState, node: cst.Assert) -> None:
    passed, failed = state.graph.block(), state.graph.block()
    branch_on(state, node.test, passed, failed)
    state.graph.start(failed)
    if node.msg is not None:
        state.lower(node.msg)
    # As in C: who asserts declares that it cannot happen.
    state.graph.end(Unreachable(state.span(node)))
    state.graph.start(passed)


def _delete(state: FunctionState, node: cst.Del) -> None:
    _delete_target(state, node.target, state.span(node))


def _delete_target(state: FunctionState, target: cst.CSTNode, span: Span) -> None:
    if isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            _delete_target(state, element.value, span)
        return
    place = place_of(state, target)
    if place is not None:
        state.graph.emit(Delete(place, span))


def _break(state: FunctionState, node: cst.Break) -> None:
    _leave_loop(state, node, again=False)


def _continue(state: FunctionState, node: cst.Continue) -> None:
    _leave_loop(state, node, again=True)


def _leave_loop(state: FunctionState, node: cst.CSTNode, again: bool) -> None:
    for depth in range(len(state.frames) - 1, -1, -1):
        frame = state.frames[depth]
        if isinstance(frame, LoopFrame):
            state.leave_to(depth + 1, frame.again if again else frame.after)
            return


def _import(state: FunctionState, node: cst.Import | cst.ImportFrom) -> None:
    """An import stores only where the name is a variable: it is bound in other ways, too."""
    for item in imports_of(node):
        meaning = state.scope.lookup(item.name)
        if isinstance(meaning, Local):
            base = state.module.dotted.absolute(item.module, item.level) or item.module
            dotted = base if item.attribute is None else f"{base}.{item.attribute}".lstrip(".")
            value = FunctionReference(dotted, state.scope.dotted(dotted).key)
            state.store(state.note(meaning), value, state.span(node))


# -- compound statements ---------------------------------------------------------------------


def _if(state: FunctionState, node: cst.If) -> None:
    after = state.graph.block()
    branch: cst.If | cst.Else | None = node
    while isinstance(branch, cst.If):
        if _is_main_guard(branch.test):
            state.body(branch.body.body)
            state.graph.jump(after)
            branch = None
            break
        then, otherwise = state.graph.block(), state.graph.block()
        branch_on(state, branch.test, then, otherwise)
        state.graph.start(then)
        state.body(branch.body.body)
        state.graph.jump(after)
        state.graph.start(otherwise)
        branch = branch.orelse
    if branch is not None:
        state.body(branch.body.body)
    state.graph.jump(after)
    state.graph.start(after)


def _while(state: FunctionState, node: cst.While) -> None:
    header, body = state.graph.block(), state.graph.block()
    exhausted, after = state.graph.block(), state.graph.block()
    header.loop = True
    state.graph.jump(header)
    state.graph.start(header)
    if _is_always_true(node.test):
        state.graph.jump(body)
    else:
        branch_on(state, node.test, body, exhausted)
    state.graph.start(body)
    _loop_body(state, node.body.body, after, header)
    state.graph.jump(header)
    _loop_else(state, node.orelse, exhausted, after)


def _for(state: FunctionState, node: cst.For) -> None:
    if _is_unrolled(state, node):
        _unrolled(state, node)
        return
    iteration = iterate(state, node.iter)
    exhausted_after = start_loop(state, iteration.over, state.span(node.iter))
    header, exhausted = exhausted_after
    after = state.graph.block()
    bind(state, node.target, iteration.element, state.span(node.target))
    _loop_body(state, node.body.body, after, header)
    state.graph.jump(header)
    _loop_else(state, node.orelse, exhausted, after)


def _is_unrolled(state: FunctionState, node: cst.For) -> bool:
    """A loop over a few places, ``for pointer in (a, b):``, or over attribute names."""
    display = node.iter
    if not isinstance(display, cst.Tuple | cst.List) or not isinstance(node.target, cst.Name):
        return False
    if not 0 < len(display.elements) <= _MOST_TURNS:
        return False
    values = [element.value for element in display.elements]
    if any(isinstance(element, cst.StarredElement) for element in display.elements):
        return False
    text = state.module.text(node.body)
    if len(text) > _LONGEST_BODY:
        return False
    if all(isinstance(value, cst.SimpleString) for value in values):
        return "getattr(" in text
    return all(_is_place(value) for value in values)


def _unrolled(state: FunctionState, node: cst.For) -> None:
    """Write the body once for each element, so that each is followed by itself."""
    after = state.graph.block()
    elements = node.iter.elements if isinstance(node.iter, cst.Tuple | cst.List) else ()
    name = node.target.value if isinstance(node.target, cst.Name) else ""
    span = state.span(node.target)
    for element in elements:
        following = state.graph.block()
        store_to(state, node.target, state.lower(element.value), span)
        text = string_value(element.value)
        if text is not None:
            state.known_texts[name] = text
        _loop_body(state, node.body.body, after, following)
        state.graph.jump(following)
        state.graph.start(following)
    state.known_texts.pop(name, None)
    _loop_else(state, node.orelse, state.graph.current, after)


def _loop_body(
    state: FunctionState, statements: Sequence[cst.CSTNode], after: OpenBlock, again: OpenBlock
) -> None:
    state.frames.append(LoopFrame(after, again))
    state.body(statements)
    state.frames.pop()


def _loop_else(
    state: FunctionState, orelse: cst.Else | None, exhausted: OpenBlock, after: OpenBlock
) -> None:
    state.graph.start(exhausted)
    if orelse is not None:
        state.body(orelse.body.body)
    state.graph.jump(after)
    state.graph.start(after)


def _is_place(node: cst.BaseExpression) -> bool:
    """A name, or attributes and constant elements of one."""
    while isinstance(node, cst.Attribute | cst.Subscript):
        node = node.value
    return isinstance(node, cst.Name) and node.value not in ("None", "True", "False")


def _is_always_true(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Name):
        return node.value == "True"
    return isinstance(node, cst.Integer) and node.value not in ("0", "00")


def _is_main_guard(node: cst.BaseExpression) -> bool:
    """``__name__ == "__main__"``."""
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return False
    target = node.comparisons[0]
    sides = (node.left, target.comparator)
    names = [side.value for side in sides if isinstance(side, cst.Name)]
    texts = [side.value.strip("\"'") for side in sides if isinstance(side, cst.SimpleString)]
    return (
        isinstance(target.operator, cst.Equal) and names == ["__name__"] and texts == ["__main__"]
    )


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
