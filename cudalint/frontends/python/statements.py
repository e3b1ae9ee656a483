"""Lowers statements."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence

import libcst as cst

from cudalint.frontends.python.bindings import imports_of
from cudalint.frontends.python.constants import string_value
from cudalint.frontends.python.exceptions import ExceptionLowering
from cudalint.frontends.python.expressions import augmented_operator
from cudalint.frontends.python.graph import OpenBlock
from cudalint.frontends.python.scopes import ClassInfo, ClassMember, Dotted, Local
from cudalint.frontends.python.state import LoopFrame
from cudalint.program.expressions import (
    Binary,
    Constant,
    Expression,
    FunctionReference,
    Index,
    Member,
    Slice,
    Variable,
)
from cudalint.program.functions import Assign, Delete, Return, Throw, Unreachable, Use
from cudalint.source import Span

_MOST_TURNS = 8
_LONGEST_BODY = 3_000
"""Loops over a display are unrolled up to these many turns and characters."""


class StatementLowering(ExceptionLowering):
    """Lowers statements into the current block."""

    @abstractmethod
    def function_definition(self, node: cst.FunctionDef) -> None:
        """Lower a nested function, a method or a function of the module."""

    @abstractmethod
    def class_definition(self, node: cst.ClassDef) -> None:
        """Lower a class: its body here, its methods as functions."""

    def body(self, statements: Sequence[cst.CSTNode]) -> None:
        """Lower statements in order."""
        for statement in statements:
            self.statement(statement)

    def statement(self, node: cst.CSTNode) -> None:
        """Lower one statement, simple or compound."""
        if isinstance(node, cst.SimpleStatementLine | cst.SimpleStatementSuite):
            for small in node.body:
                method = _SMALL.get(type(small))
                if method is not None:
                    method(self, small)
            return
        method = _COMPOUND.get(type(node)) or _SMALL.get(type(node))
        if method is not None:
            method(self, node)

    # -- targets ---------------------------------------------------------------------------------

    def place(self, node: cst.CSTNode) -> Expression | None:
        """The place that a simple target names; ``None`` for a name that is not stored to,
        because every use of it resolves to what it stands for."""
        match node:
            case cst.Name():
                meaning = self.scope.lookup(node.value)
                if isinstance(meaning, Local):
                    return self.note(meaning)
                if isinstance(meaning, ClassMember):
                    owner = FunctionReference(meaning.owner.key, meaning.owner.key)
                    return Member(owner, meaning.attribute)
                return None
            case cst.Attribute():
                base = self.scope.meaning(node.value)
                if isinstance(base, ClassInfo):
                    return Member(FunctionReference(base.key, base.key), node.attr.value)
                return Member(self.lower(node.value), node.attr.value)
            case cst.Subscript():
                return self.subscript(node)
        return None

    def store_to(self, target: cst.CSTNode, value: Expression, span: Span) -> None:
        """Store a value to a target, which may nest."""
        if isinstance(target, cst.Tuple | cst.List):
            count = len(target.elements)
            star: int | None = None
            for position, element in enumerate(target.elements):
                if isinstance(element, cst.StarredElement):
                    star = position
                    rest = count - 1 - position
                    upper = Constant(-rest) if rest else None
                    part: Expression = Slice(value, Constant(position), upper)
                else:
                    index = position if star is None else position - count
                    part = Index(value, Constant(index))
                self.store_to(element.value, part, span)
            return
        place = self.place(target)
        if place is not None:
            self.store(place, value, span)
            self.opt_in(target, place, span)

    def assign(self, target: cst.BaseExpression, value: cst.BaseExpression, span: Span) -> None:
        """Lower ``target = value``."""
        if isinstance(target, cst.Tuple | cst.List):
            self._unpack(target, value, span)
            return
        place = self.place(target)
        if place is not None:
            self.lower_into(value, place, span)
            self.opt_in(target, place, span)
        else:
            self.lower(value)

    def _unpack(self, target: cst.Tuple | cst.List, value: cst.BaseExpression, span: Span) -> None:
        if isinstance(value, cst.Tuple | cst.List) and len(value.elements) == len(target.elements):
            elements = [*value.elements, *target.elements]
            if not any(isinstance(element, cst.StarredElement) for element in elements):
                self._pairwise(target, value, span)
                return
        lowered = self.lower(value)
        if not isinstance(lowered, Variable) or len(target.elements) > 1:
            lowered = self.keep(lowered, span)
        self.store_to(target, lowered, span)

    def _pairwise(
        self, target: cst.Tuple | cst.List, value: cst.Tuple | cst.List, span: Span
    ) -> None:
        """``a, b = c, d``: all values first, each to its own target then."""
        values: list[Expression] = []
        last = len(value.elements) - 1
        for position, element in enumerate(value.elements):
            lowered = self.lower(element.value)
            fixed = isinstance(lowered, Constant | FunctionReference) or position == last == 0
            values.append(lowered if fixed else self.keep(lowered, span))
        for element, item in zip(target.elements, values, strict=True):
            self.store_to(element.value, item, span)

    # -- simple statements -----------------------------------------------------------------------

    def _assign(self, node: cst.Assign) -> None:
        span = self.reader.span(node)
        first, *others = [item.target for item in node.targets]
        if not others:
            self.assign(first, node.value, span)
            return
        value = self.lower(node.value)
        if not isinstance(value, Constant | FunctionReference | Variable):
            value = self.keep(value, span)
        for target in (first, *others):
            self.store_to(target, value, span)

    def _annotated(self, node: cst.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, node.value, self.reader.span(node))

    def _augmented(self, node: cst.AugAssign) -> None:
        place = self.place(node.target)
        value = self.lower(node.value)
        if place is not None:
            result = Binary(augmented_operator(node.operator), place, value)
            self.graph.emit(Assign(place, result, self.reader.span(node), augmented=True))

    def _expression(self, node: cst.Expr) -> None:
        value = node.value
        if isinstance(value, cst.Call):
            self.lower_call(value, None, wanted=False)
        elif isinstance(value, cst.Await) and isinstance(value.expression, cst.Call):
            self.lower(value)
        elif not isinstance(value, cst.SimpleString | cst.ConcatenatedString | cst.Ellipsis):
            lowered = self.lower(value)
            if not isinstance(lowered, Constant | FunctionReference) and not isinstance(
                value, cst.Yield | cst.Await | cst.NamedExpr
            ):
                self.graph.emit(Use(lowered, self.reader.span(node)))

    def _return(self, node: cst.Return) -> None:
        span = self.reader.span(node)
        value: Expression | None = None
        if node.value is not None:
            value = self.lower(node.value)
            if self.has_cleanup() and not isinstance(value, Constant | Variable):
                value = self.keep(value, span)
        unwind = self.graph.unwind
        self.leave(0)
        self.graph.end(Return(value, span))
        self.graph.set_unwind(unwind)

    def _raise(self, node: cst.Raise) -> None:
        span = self.reader.span(node)
        value = self.lower(node.exc) if node.exc is not None else None
        if node.exc is not None and self._is_exit(node.exc):
            # Like sys.exit: the process ends, and what it holds with it.
            self.graph.end(Unreachable(span))
        else:
            self.graph.end(Throw(value, span, rethrow=value is None))

    def _is_exit(self, node: cst.BaseExpression) -> bool:
        meaning = self.scope.meaning(node.func if isinstance(node, cst.Call) else node)
        return isinstance(meaning, Dotted) and meaning.name == "builtins.SystemExit"

    def _assert(self, node: cst.Assert) -> None:
        passed, failed = self.graph.block(), self.graph.block()
        self.condition(node.test, passed, failed)
        self.graph.start(failed)
        if node.msg is not None:
            self.lower(node.msg)
        # As in C: who asserts declares that it cannot happen.
        self.graph.end(Unreachable(self.reader.span(node)))
        self.graph.start(passed)

    def _delete(self, node: cst.Del) -> None:
        self._delete_target(node.target, self.reader.span(node))

    def _delete_target(self, target: cst.CSTNode, span: Span) -> None:
        if isinstance(target, cst.Tuple | cst.List):
            for element in target.elements:
                self._delete_target(element.value, span)
            return
        place = self.place(target)
        if place is not None:
            self.graph.emit(Delete(place, span))

    def _break(self, node: cst.Break) -> None:
        self._leave_loop(node, again=False)

    def _continue(self, node: cst.Continue) -> None:
        self._leave_loop(node, again=True)

    def _leave_loop(self, node: cst.CSTNode, again: bool) -> None:
        for depth in range(len(self.frames) - 1, -1, -1):
            frame = self.frames[depth]
            if isinstance(frame, LoopFrame):
                self.leave_to(depth + 1, frame.again if again else frame.after)
                return

    def _import(self, node: cst.Import | cst.ImportFrom) -> None:
        """An import stores only where the name is a variable: it is bound in other ways, too."""
        for item in imports_of(node):
            meaning = self.scope.lookup(item.name)
            if isinstance(meaning, Local):
                base = self.reader.module.absolute(item.module, item.level) or item.module
                dotted = base if item.attribute is None else f"{base}.{item.attribute}".lstrip(".")
                value = FunctionReference(dotted, self.reader.dotted(dotted).key)
                self.store(self.note(meaning), value, self.reader.span(node))

    # -- compound statements ---------------------------------------------------------------------

    def _if(self, node: cst.If) -> None:
        after = self.graph.block()
        branch: cst.If | cst.Else | None = node
        while isinstance(branch, cst.If):
            if _is_main_guard(branch.test):
                self.body(branch.body.body)
                self.graph.jump(after)
                branch = None
                break
            then, otherwise = self.graph.block(), self.graph.block()
            self.condition(branch.test, then, otherwise)
            self.graph.start(then)
            self.body(branch.body.body)
            self.graph.jump(after)
            self.graph.start(otherwise)
            branch = branch.orelse
        if branch is not None:
            self.body(branch.body.body)
        self.graph.jump(after)
        self.graph.start(after)

    def _while(self, node: cst.While) -> None:
        header, body = self.graph.block(), self.graph.block()
        exhausted, after = self.graph.block(), self.graph.block()
        header.loop = True
        self.graph.jump(header)
        self.graph.start(header)
        if _is_always_true(node.test):
            self.graph.jump(body)
        else:
            self.condition(node.test, body, exhausted)
        self.graph.start(body)
        self._loop_body(node.body.body, after, header)
        self.graph.jump(header)
        self._loop_else(node.orelse, exhausted, after)

    def _for(self, node: cst.For) -> None:
        if self._is_unrolled(node):
            self._unrolled(node)
            return
        iteration = self.iteration(node.iter)
        exhausted_after = self._loop(iteration.over, self.reader.span(node.iter))
        header, exhausted = exhausted_after
        after = self.graph.block()
        self.bind(node.target, iteration.element, self.reader.span(node.target))
        self._loop_body(node.body.body, after, header)
        self.graph.jump(header)
        self._loop_else(node.orelse, exhausted, after)

    def _is_unrolled(self, node: cst.For) -> bool:
        """A loop over a few places, ``for pointer in (a, b):``, or over attribute names."""
        display = node.iter
        if not isinstance(display, cst.Tuple | cst.List) or not isinstance(node.target, cst.Name):
            return False
        if not 0 < len(display.elements) <= _MOST_TURNS:
            return False
        values = [element.value for element in display.elements]
        if any(isinstance(element, cst.StarredElement) for element in display.elements):
            return False
        text = self.reader.text(node.body)
        if len(text) > _LONGEST_BODY:
            return False
        if all(isinstance(value, cst.SimpleString) for value in values):
            return "getattr(" in text
        return all(_is_place(value) for value in values)

    def _unrolled(self, node: cst.For) -> None:
        """Write the body once for each element, so that each is followed by itself."""
        after = self.graph.block()
        elements = node.iter.elements if isinstance(node.iter, cst.Tuple | cst.List) else ()
        name = node.target.value if isinstance(node.target, cst.Name) else ""
        span = self.reader.span(node.target)
        for element in elements:
            following = self.graph.block()
            self.store_to(node.target, self.lower(element.value), span)
            text = string_value(element.value)
            if text is not None:
                self.known_texts[name] = text
            self._loop_body(node.body.body, after, following)
            self.graph.jump(following)
            self.graph.start(following)
        self.known_texts.pop(name, None)
        self._loop_else(node.orelse, self.graph.current, after)

    def _loop_body(
        self, statements: Sequence[cst.CSTNode], after: OpenBlock, again: OpenBlock
    ) -> None:
        self.frames.append(LoopFrame(after, again))
        self.body(statements)
        self.frames.pop()

    def _loop_else(self, orelse: cst.Else | None, exhausted: OpenBlock, after: OpenBlock) -> None:
        self.graph.start(exhausted)
        if orelse is not None:
            self.body(orelse.body.body)
        self.graph.jump(after)
        self.graph.start(after)


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


_SMALL: dict[type[cst.CSTNode], Callable[..., None]] = {
    cst.Assign: StatementLowering._assign,
    cst.AnnAssign: StatementLowering._annotated,
    cst.AugAssign: StatementLowering._augmented,
    cst.Expr: StatementLowering._expression,
    cst.Return: StatementLowering._return,
    cst.Raise: StatementLowering._raise,
    cst.Assert: StatementLowering._assert,
    cst.Del: StatementLowering._delete,
    cst.Break: StatementLowering._break,
    cst.Continue: StatementLowering._continue,
    cst.Import: StatementLowering._import,
    cst.ImportFrom: StatementLowering._import,
}
_COMPOUND: dict[type[cst.CSTNode], Callable[..., None]] = {
    cst.If: StatementLowering._if,
    cst.While: StatementLowering._while,
    cst.For: StatementLowering._for,
    cst.With: StatementLowering.with_statement,
    cst.Try: StatementLowering.try_statement,
    cst.TryStar: StatementLowering.try_statement,
    cst.Match: StatementLowering.match_statement,
    cst.FunctionDef: lambda state, node: state.function_definition(node),
    cst.ClassDef: lambda state, node: state.class_definition(node),
}
