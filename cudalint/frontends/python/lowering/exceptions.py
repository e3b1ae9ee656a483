"""Lowers ``try`` and ``with``: clean-up code is written out on each way it is reached."""

from __future__ import annotations

import libcst as cst

from cudalint.frontends.python.graph import OpenBlock, OpenBranch, OpenJump
from cudalint.frontends.python.lowering.state import CleanupFrame, FunctionState
from cudalint.frontends.python.lowering.targets import place_of, store_to
from cudalint.frontends.python.scopes import ClassInfo, Dotted
from cudalint.program.expressions import Constant, Expression, Member, Unknown, Variable
from cudalint.program.functions import Argument, Handler, Throw
from cudalint.source import Span

_CATCH_ALL = frozenset(["builtins.Exception", "builtins.BaseException"])
_EXPECTING = frozenset(["raises", "assertRaises", "assertRaisesRegex", "assert_raises"])
_NONE = Argument(Constant(None))


def try_statement(state: FunctionState, node: cst.Try | cst.TryStar) -> None:
    """Lower ``try``. Exceptions of the body go to the handlers in turn, those of the handlers
    and those that none takes to ``finally``, and on from there."""
    graph = state.graph
    outer = graph.unwind
    normal = graph.block()
    raised = outer
    final = node.finalbody
    if final is not None:
        raised = graph.block()
        state.frames.append(CleanupFrame(lambda: state.body(final.body.body), outer))
    dispatch = graph.block() if node.handlers else raised
    before, entry = _guarded_body(state, node, dispatch)
    graph.set_unwind(raised)
    if node.orelse is not None:
        state.body(node.orelse.body.body)
    graph.jump(normal)
    if node.handlers and dispatch is not None:
        if entry is not None:
            # Nothing in the body calls, yet an element or attribute may be missing.
            condition = Unknown("raises")
            before.terminator = OpenBranch(condition, dispatch, entry, state.span(node))
        graph.start(dispatch)
        _handlers(state, node, normal)
    if final is not None:
        state.frames.pop()
    graph.unwind = outer
    if final is not None and raised is not None:
        graph.start(raised)
        state.body(final.body.body)
        graph.end(Throw(None, state.module.positions.span_after(final), rethrow=True))
    graph.start(normal)
    if final is not None:
        state.body(final.body.body)


def _guarded_body(
    state: FunctionState, node: cst.Try | cst.TryStar, dispatch: OpenBlock | None
) -> tuple[OpenBlock, OpenBlock | None]:
    """Lower the body. The block before it, and its entry where it has no calls."""
    graph = state.graph
    before, entry = graph.current, graph.block()
    before.terminator = OpenJump(entry)
    graph.unwind = dispatch
    graph.start(entry)
    effects = graph.effects
    state.body(node.body.body)
    return before, entry if graph.effects == effects else None


def _handlers(state: FunctionState, node: cst.Try | cst.TryStar, normal: OpenBlock) -> None:
    for handler in node.handlers:
        state.handlers.append(_handler(state, node, handler))
        following: OpenBlock | None = None
        if not _catches_all(state, handler.type):
            taken, following = state.graph.block(), state.graph.block()
            text = state.short_text(handler.type) if handler.type is not None else ""
            span = state.span(handler.type or handler)
            state.graph.branch(Unknown(f"except {text}"), taken, following, span)
            state.graph.start(taken)
        if handler.name is not None:
            span = state.span(handler.name.name)
            store_to(state, handler.name.name, Unknown("exception"), span)
        state.body(handler.body.body)
        state.graph.jump(normal)
        if following is None:
            return
        state.graph.start(following)
    state.graph.end(Throw(None, state.module.positions.span_after(node), rethrow=True))


def _handler(
    state: FunctionState,
    node: cst.Try | cst.TryStar,
    handler: cst.ExceptHandler | cst.ExceptStarHandler,
) -> Handler:
    kind = handler.type
    kinds = [e.value for e in kind.elements] if isinstance(kind, cst.Tuple) else [kind]
    names = []
    for one in kinds:
        meaning = state.scope.meaning(one) if one is not None else None
        if one is not None:
            names.append(meaning.name if isinstance(meaning, Dotted) else state.short_text(one))
    return Handler(
        tuple(names),
        state.span(handler.body),
        state.span(node.body),
        state.span(kind or handler),
    )


def _catches_all(state: FunctionState, kind: cst.BaseExpression | None) -> bool:
    if kind is None:
        return True
    if isinstance(kind, cst.Tuple):
        return any(_catches_all(state, element.value) for element in kind.elements)
    meaning = state.scope.meaning(kind)
    return isinstance(meaning, Dotted) and meaning.name in _CATCH_ALL


# -- with ------------------------------------------------------------------------------------


def with_statement(state: FunctionState, node: cst.With, position: int = 0) -> None:
    """Lower ``with``, its items from the given one on."""
    if position == len(node.items):
        state.body(node.body.body)
        return
    graph = state.graph
    item = node.items[position]
    span = state.span(item.item)
    if _takes_exceptions(state, item.item) is True and _expects(state, item.item):
        # The body is there to fail: what it would do is not done.
        state.lower(item.item)
        return
    context = state.lower(item.item)
    if not isinstance(context, Variable | Member):
        context = state.keep(context, span)
    what = state.held(item.item)
    owner = what.owner if what is not None and what.kind == "instance" else None
    target, unpacked = _as_target(state, item)
    _context_call(state, "__enter__", context, span, owner, target)
    outer, raised, after = graph.unwind, graph.block(), graph.block()

    def leave() -> None:
        _context_call(state, "__exit__", context, span, owner, None)

    state.frames.append(CleanupFrame(leave, outer))
    graph.set_unwind(raised)
    if unpacked is not None and target is not None:
        store_to(state, unpacked, target, span)
    with_statement(state, node, position + 1)
    state.frames.pop()
    graph.set_unwind(outer)
    leave()
    graph.jump(after)
    graph.start(raised)
    leave()
    _pass_on(state, item.item, after, span)
    graph.start(after)


def _as_target(
    state: FunctionState, item: cst.WithItem
) -> tuple[Expression | None, cst.CSTNode | None]:
    """Where ``__enter__``'s result goes, and the tuple that it is unpacked to."""
    if item.asname is None:
        return None, None
    name = item.asname.name
    if isinstance(name, cst.Tuple | cst.List):
        return state.temporary(), name
    return place_of(state, name), None


def _context_call(
    state: FunctionState,
    name: str,
    context: Expression,
    span: Span,
    owner: ClassInfo | None,
    target: Expression | None,
) -> None:
    found = owner.method(name) if owner is not None else None
    state.method_call(
        f".{name}",
        context,
        span,
        (_NONE, _NONE, _NONE) if name == "__exit__" else (),
        target=target,
        may_throw=False if name == "__exit__" else None,
        key=found[1].key if found is not None else None,
        record=owner.key if owner is not None else None,
    )


def _pass_on(
    state: FunctionState, context: cst.BaseExpression, after: OpenBlock, span: Span
) -> None:
    """Behind the exit of a context manager that an exception left: it goes on, unless the
    context manager is one that takes exceptions."""
    taken = _takes_exceptions(state, context)
    if taken is True:
        state.graph.jump(after)
        return
    if taken is None:
        on = state.graph.block()
        state.graph.branch(Unknown("suppressed"), after, on, span)
        state.graph.start(on)
    state.graph.end(Throw(None, span, rethrow=True))


def _expects(state: FunctionState, context: cst.BaseExpression) -> bool:
    """``with pytest.raises(...)``, ``with self.assertRaises(...)``: a test's, not
    ``contextlib.suppress``."""
    if not isinstance(context, cst.Call):
        return False
    meaning = state.scope.meaning(context.func)
    return not isinstance(meaning, Dotted) or meaning.name != "contextlib.suppress"


def _takes_exceptions(state: FunctionState, context: cst.BaseExpression) -> bool | None:
    """``None``: some of them."""
    if not isinstance(context, cst.Call):
        return False
    meaning = state.scope.meaning(context.func)
    if isinstance(meaning, Dotted):
        if meaning.name == "contextlib.suppress":
            kinds = [argument.value for argument in context.args]
            return True if any(_catches_all(state, kind) for kind in kinds) else None
        return meaning.name in ("pytest.raises", "numpy.testing.assert_raises")
    return isinstance(context.func, cst.Attribute) and context.func.attr.value in _EXPECTING
