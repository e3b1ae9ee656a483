"""Lowers ``try`` and ``with``: clean-up code is written out on each way it is reached."""

from __future__ import annotations

import libcst as cst

from cudalint.frontends.python.graph import OpenBlock, OpenBranch, OpenJump
from cudalint.frontends.python.inference import held
from cudalint.frontends.python.patterns import PatternLowering
from cudalint.frontends.python.scopes import ClassInfo, Dotted
from cudalint.frontends.python.state import CleanupFrame
from cudalint.program.expressions import Constant, Expression, Member, Unknown, Variable
from cudalint.program.functions import Argument, Handler, Throw
from cudalint.source import Span

_CATCH_ALL = frozenset(["builtins.Exception", "builtins.BaseException"])
_EXPECTING = frozenset(["raises", "assertRaises", "assertRaisesRegex", "assert_raises"])
_NONE = Argument(Constant(None))


class ExceptionLowering(PatternLowering):
    """Lowers ``try`` and ``with`` statements."""

    def try_statement(self, node: cst.Try | cst.TryStar) -> None:
        """Lower ``try``. Exceptions of the body go to the handlers in turn, those of the handlers
        and those that none takes to ``finally``, and on from there."""
        graph = self.graph
        outer = graph.unwind
        normal = graph.block()
        raised = outer
        final = node.finalbody
        if final is not None:
            raised = graph.block()
            self.frames.append(CleanupFrame(lambda: self.body(final.body.body), outer))
        dispatch = graph.block() if node.handlers else raised
        before, entry = self._guarded_body(node, dispatch)
        graph.set_unwind(raised)
        if node.orelse is not None:
            self.body(node.orelse.body.body)
        graph.jump(normal)
        if node.handlers and dispatch is not None:
            if entry is not None:
                # Nothing in the body calls, yet an element or attribute may be missing.
                condition = Unknown("raises")
                before.terminator = OpenBranch(condition, dispatch, entry, self.reader.span(node))
            graph.start(dispatch)
            self._handlers(node, normal)
        if final is not None:
            self.frames.pop()
        graph.unwind = outer
        if final is not None and raised is not None:
            graph.start(raised)
            self.body(final.body.body)
            graph.end(Throw(None, self.reader.positions.span_after(final), rethrow=True))
        graph.start(normal)
        if final is not None:
            self.body(final.body.body)

    def _guarded_body(
        self, node: cst.Try | cst.TryStar, dispatch: OpenBlock | None
    ) -> tuple[OpenBlock, OpenBlock | None]:
        """Lower the body. The block before it, and its entry where it has no calls."""
        graph = self.graph
        before, entry = graph.current, graph.block()
        before.terminator = OpenJump(entry)
        graph.unwind = dispatch
        graph.start(entry)
        effects = graph.effects
        self.body(node.body.body)
        return before, entry if graph.effects == effects else None

    def _handlers(self, node: cst.Try | cst.TryStar, normal: OpenBlock) -> None:
        for handler in node.handlers:
            self.handlers.append(self._handler(node, handler))
            following: OpenBlock | None = None
            if not self._catches_all(handler.type):
                taken, following = self.graph.block(), self.graph.block()
                text = self.short_text(handler.type) if handler.type is not None else ""
                span = self.reader.span(handler.type or handler)
                self.graph.branch(Unknown(f"except {text}"), taken, following, span)
                self.graph.start(taken)
            if handler.name is not None:
                span = self.reader.span(handler.name.name)
                self.store_to(handler.name.name, Unknown("exception"), span)
            self.body(handler.body.body)
            self.graph.jump(normal)
            if following is None:
                return
            self.graph.start(following)
        self.graph.end(Throw(None, self.reader.positions.span_after(node), rethrow=True))

    def _handler(
        self, node: cst.Try | cst.TryStar, handler: cst.ExceptHandler | cst.ExceptStarHandler
    ) -> Handler:
        kind = handler.type
        kinds = [e.value for e in kind.elements] if isinstance(kind, cst.Tuple) else [kind]
        names = []
        for one in kinds:
            meaning = self.scope.meaning(one) if one is not None else None
            if one is not None:
                names.append(meaning.name if isinstance(meaning, Dotted) else self.short_text(one))
        return Handler(
            tuple(names),
            self.reader.span(handler.body),
            self.reader.span(node.body),
            self.reader.span(kind or handler),
        )

    def _catches_all(self, kind: cst.BaseExpression | None) -> bool:
        if kind is None:
            return True
        if isinstance(kind, cst.Tuple):
            return any(self._catches_all(element.value) for element in kind.elements)
        meaning = self.scope.meaning(kind)
        return isinstance(meaning, Dotted) and meaning.name in _CATCH_ALL

    # -- with ------------------------------------------------------------------------------------

    def with_statement(self, node: cst.With, position: int = 0) -> None:
        """Lower ``with``, its items from the given one on."""
        if position == len(node.items):
            self.body(node.body.body)
            return
        graph = self.graph
        item = node.items[position]
        span = self.reader.span(item.item)
        if self._takes_exceptions(item.item) is True and self._expects(item.item):
            # The body is there to fail: what it would do is not done.
            self.lower(item.item)
            return
        context = self.lower(item.item)
        if not isinstance(context, Variable | Member):
            context = self.keep(context, span)
        what = held(item.item, self.scope)
        owner = what.owner if what is not None and what.kind == "instance" else None
        target, unpacked = self._as_target(item)
        self._context_call("__enter__", context, span, owner, target)
        outer, raised, after = graph.unwind, graph.block(), graph.block()

        def leave() -> None:
            self._context_call("__exit__", context, span, owner, None)

        self.frames.append(CleanupFrame(leave, outer))
        graph.set_unwind(raised)
        if unpacked is not None and target is not None:
            self.store_to(unpacked, target, span)
        self.with_statement(node, position + 1)
        self.frames.pop()
        graph.set_unwind(outer)
        leave()
        graph.jump(after)
        graph.start(raised)
        leave()
        self._pass_on(item.item, after, span)
        graph.start(after)

    def _as_target(self, item: cst.WithItem) -> tuple[Expression | None, cst.CSTNode | None]:
        """Where ``__enter__``'s result goes, and the tuple that it is unpacked to."""
        if item.asname is None:
            return None, None
        name = item.asname.name
        if isinstance(name, cst.Tuple | cst.List):
            return self.temporary(), name
        return self.place(name), None

    def place(self, node: cst.CSTNode) -> Expression | None:
        """The place that a simple target names; ``None`` for a name that is not stored to."""
        raise NotImplementedError

    def _context_call(
        self,
        name: str,
        context: Expression,
        span: Span,
        owner: ClassInfo | None,
        target: Expression | None,
    ) -> None:
        found = owner.method(name) if owner is not None else None
        self.method_call(
            f".{name}",
            context,
            span,
            (_NONE, _NONE, _NONE) if name == "__exit__" else (),
            target=target,
            may_throw=False if name == "__exit__" else None,
            key=found[1].key if found is not None else None,
            record=owner.key if owner is not None else None,
        )

    def _pass_on(self, context: cst.BaseExpression, after: OpenBlock, span: Span) -> None:
        """Behind the exit of a context manager that an exception left: it goes on, unless the
        context manager is one that takes exceptions."""
        taken = self._takes_exceptions(context)
        if taken is True:
            self.graph.jump(after)
            return
        if taken is None:
            on = self.graph.block()
            self.graph.branch(Unknown("suppressed"), after, on, span)
            self.graph.start(on)
        self.graph.end(Throw(None, span, rethrow=True))

    def _expects(self, context: cst.BaseExpression) -> bool:
        """``with pytest.raises(...)``, ``with self.assertRaises(...)``: a test's, not
        ``contextlib.suppress``."""
        if not isinstance(context, cst.Call):
            return False
        meaning = self.scope.meaning(context.func)
        return not isinstance(meaning, Dotted) or meaning.name != "contextlib.suppress"

    def _takes_exceptions(self, context: cst.BaseExpression) -> bool | None:
        """``None``: some of them."""
        if not isinstance(context, cst.Call):
            return False
        meaning = self.scope.meaning(context.func)
        if isinstance(meaning, Dotted):
            if meaning.name == "contextlib.suppress":
                kinds = [argument.value for argument in context.args]
                return True if any(self._catches_all(kind) for kind in kinds) else None
            return meaning.name in ("pytest.raises", "numpy.testing.assert_raises")
        return isinstance(context.func, cst.Attribute) and context.func.attr.value in _EXPECTING
