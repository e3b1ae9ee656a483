"""Lowers ``try`` and ``with``: clean-up code is written out on each way it is reached."""

from __future__ import annotations

import libcst as cst

from cudalint.frontends.python.graph import OpenBlock, OpenBranch, OpenJump
from cudalint.frontends.python.lowering.context import CleanupFrame, Context
from cudalint.frontends.python.lowering.targets import place_of, store_to
from cudalint.frontends.python.scopes import ClassInfo, Dotted, Local
from cudalint.program.expressions import (
    RAISES,
    Caught,
    Constant,
    Expression,
    Member,
    Unknown,
    Variable,
)
from cudalint.program.functions import Argument, Handler, Throw
from cudalint.source import Span

_CATCH_ALL = frozenset(["builtins.Exception", "builtins.BaseException"])
_EXPECTING = frozenset(["raises", "assertRaises", "assertRaisesRegex", "assert_raises"])
_NONE = Argument(Constant(None))


def try_statement(context: Context, node: cst.Try | cst.TryStar) -> None:
    """Lower ``try``. Exceptions of the body go to the handlers in turn, those of the handlers
    and those that none takes to ``finally``, and on from there."""
    graph = context.graph
    outer = graph.unwind
    normal = graph.block()
    raised = outer
    final = node.finalbody
    if final is not None:
        raised = graph.block()
        context.frames.append(CleanupFrame(lambda: context.body(final.body.body), outer))
    dispatch = graph.block() if node.handlers else raised
    before, entry = _guarded_body(context, node, dispatch)
    graph.set_unwind(raised)
    if node.orelse is not None:
        context.body(node.orelse.body.body)
    graph.jump(normal)
    if node.handlers and dispatch is not None:
        if entry is not None:
            # Nothing in the body calls, yet an element or attribute may be missing.
            before.terminator = OpenBranch(RAISES, dispatch, entry, context.span(node))
        graph.start(dispatch)
        _handlers(context, node, normal)
    if final is not None:
        context.frames.pop()
    graph.unwind = outer
    if final is not None and raised is not None:
        graph.start(raised)
        context.body(final.body.body)
        graph.end(Throw(None, context.module.positions.span_after(final), rethrow=True))
    graph.start(normal)
    if final is not None:
        context.body(final.body.body)


def _guarded_body(
    context: Context, node: cst.Try | cst.TryStar, dispatch: OpenBlock | None
) -> tuple[OpenBlock, OpenBlock | None]:
    """Lower the body. The block before it, and its entry where it has no calls."""
    graph = context.graph
    before, entry = graph.current, graph.block()
    before.terminator = OpenJump(entry)
    graph.unwind = dispatch
    graph.start(entry)
    effects = graph.effects
    context.body(node.body.body)
    return before, entry if graph.effects == effects else None


def _handlers(context: Context, node: cst.Try | cst.TryStar, normal: OpenBlock) -> None:
    for handler in node.handlers:
        kinds = class_names(context, handler.type)
        context.handlers.append(_handler(context, node, handler, kinds))
        following: OpenBlock | None = None
        if not _catches_all(context, handler.type):
            taken, following = context.graph.block(), context.graph.block()
            text = context.short_text(handler.type) if handler.type is not None else ""
            span = context.span(handler.type or handler)
            caught = Caught(f"except {text}", kinds)
            context.graph.branch(caught, taken, following, span)
            context.graph.start(taken)
        name = handler.name.name if handler.name is not None else None
        if name is not None:
            store_to(context, name, Unknown("exception"), context.span(name))
        context.caught.append(name.value if isinstance(name, cst.Name) else "")
        context.body(handler.body.body)
        context.caught.pop()
        context.graph.jump(normal)
        if following is None:
            return
        context.graph.start(following)
    context.graph.end(Throw(None, context.module.positions.span_after(node), rethrow=True))


def _handler(
    context: Context,
    node: cst.Try | cst.TryStar,
    handler: cst.ExceptHandler | cst.ExceptStarHandler,
    kinds: tuple[str, ...],
) -> Handler:
    return Handler(
        kinds,
        context.span(handler.body),
        context.span(node.body),
        context.span(handler.type or handler),
    )


def class_names(context: Context, node: cst.CSTNode | None) -> tuple[str, ...]:
    """The exception classes that an expression names, imports resolved: one, a tuple of them, or a
    variable that holds either."""
    if node is None:
        return ()
    if isinstance(node, cst.Tuple):
        return tuple(name for one in node.elements for name in class_names(context, one.value))
    meaning = context.scope.meaning(node)
    if isinstance(meaning, Dotted):
        return (meaning.defined_as,)
    if isinstance(meaning, ClassInfo):
        return (meaning.key,)
    if isinstance(meaning, Local):
        bound = meaning.scope.bindings.names.get(meaning.variable.name, [])
        value = bound[0].value if len(bound) == 1 and bound[0].kind == "value" else None
        if isinstance(value, cst.Tuple | cst.Name | cst.Attribute) and value is not node:
            return class_names(context, value)
    return (context.short_text(node),)


def _catches_all(context: Context, kind: cst.BaseExpression | None) -> bool:
    if kind is None:
        return True
    if isinstance(kind, cst.Tuple):
        return any(_catches_all(context, element.value) for element in kind.elements)
    meaning = context.scope.meaning(kind)
    return isinstance(meaning, Dotted) and meaning.name in _CATCH_ALL


# -- with ------------------------------------------------------------------------------------


def with_statement(context: Context, node: cst.With, position: int = 0) -> None:
    """Lower ``with``, its items from the given one on."""
    if position == len(node.items):
        context.body(node.body.body)
        return
    graph = context.graph
    item = node.items[position]
    span = context.span(item.item)
    taken = _takes_exceptions(context, item.item)
    if taken is True and _expects(context, item.item):
        # The body is there to fail: what it would do is not done.
        context.lower(item.item)
        return
    manager = context.lower(item.item)
    if not isinstance(manager, Variable | Member):
        manager = context.keep(manager, span)
    what = context.held(item.item)
    owner = what.owner if what is not None and what.kind == "instance" else None
    target, unpacked = _as_target(context, item)
    safe = taken is not False  # it does nothing but take exceptions
    _context_call(context, "__enter__", manager, span, owner, target, safe)
    outer, raised, after = graph.unwind, graph.block(), graph.block()

    def leave() -> None:
        _context_call(context, "__exit__", manager, span, owner, None, True)

    context.frames.append(CleanupFrame(leave, outer))
    graph.set_unwind(raised)
    if unpacked is not None and target is not None:
        store_to(context, unpacked, target, span)
    with_statement(context, node, position + 1)
    context.frames.pop()
    graph.set_unwind(outer)
    leave()
    graph.jump(after)
    graph.start(raised)
    leave()
    _pass_on(context, item.item, after, span)
    graph.start(after)


def _as_target(
    context: Context, item: cst.WithItem
) -> tuple[Expression | None, cst.CSTNode | None]:
    """Where ``__enter__``'s result goes, and the tuple that it is unpacked to."""
    if item.asname is None:
        return None, None
    name = item.asname.name
    if isinstance(name, cst.Tuple | cst.List):
        return context.temporary(), name
    return place_of(context, name), None


def _context_call(
    context: Context,
    name: str,
    manager: Expression,
    span: Span,
    owner: ClassInfo | None,
    target: Expression | None,
    safe: bool,
) -> None:
    found = owner.method(name) if owner is not None else None
    context.method_call(
        f".{name}",
        manager,
        span,
        (_NONE, _NONE, _NONE) if name == "__exit__" else (),
        target=target,
        may_throw=False if safe else None,
        key=found[1].key if found is not None else None,
        record=owner.key if owner is not None else None,
    )


def _pass_on(context: Context, manager: cst.BaseExpression, after: OpenBlock, span: Span) -> None:
    """Behind the exit of a context manager that an exception left: it goes on, unless the
    context manager is one that takes exceptions."""
    taken = _takes_exceptions(context, manager)
    if taken is True:
        context.graph.jump(after)
        return
    if taken is None:
        on = context.graph.block()
        kinds = _suppressed(context, manager)
        context.graph.branch(Caught("suppressed", kinds), after, on, span)
        context.graph.start(on)
    context.graph.end(Throw(None, span, rethrow=True))


def _suppressed(context: Context, manager: cst.BaseExpression) -> tuple[str, ...]:
    arguments = manager.args if isinstance(manager, cst.Call) else ()
    return tuple(name for one in arguments for name in class_names(context, one.value))


def _expects(context: Context, manager: cst.BaseExpression) -> bool:
    """``with pytest.raises(...)``, ``with self.assertRaises(...)``: a test's, not
    ``contextlib.suppress``."""
    if not isinstance(manager, cst.Call):
        return False
    meaning = context.scope.meaning(manager.func)
    return not isinstance(meaning, Dotted) or meaning.name != "contextlib.suppress"


def _takes_exceptions(context: Context, manager: cst.BaseExpression) -> bool | None:
    """``None``: some of them."""
    if not isinstance(manager, cst.Call):
        return False
    meaning = context.scope.meaning(manager.func)
    if isinstance(meaning, Dotted):
        if meaning.name == "contextlib.suppress":
            kinds = [argument.value for argument in manager.args]
            return True if any(_catches_all(context, kind) for kind in kinds) else None
        return meaning.name in ("pytest.raises", "numpy.testing.assert_raises")
    return isinstance(manager.func, cst.Attribute) and manager.func.attr.value in _EXPECTING
