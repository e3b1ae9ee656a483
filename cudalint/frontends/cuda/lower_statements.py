"""Lowers statements: the control flow of one function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clang.cindex import Cursor

from cudalint.frontends.cuda.lower_base import is_value
from cudalint.frontends.cuda.lower_cursors import Kind, children, evaluate, name_of
from cudalint.frontends.cuda.lower_declarations import Declarations
from cudalint.frontends.cuda.lower_graph import Node, Scope, Symbols
from cudalint.frontends.cuda.lower_unit import Unit
from cudalint.program import (
    Assign,
    Binary,
    Constant,
    Expression,
    Index,
    Return,
    ScopeEnd,
    Throw,
    Unary,
    Unknown,
    Variable,
)
from cudalint.source import Span

_CATCHES_ALL = frozenset(
    ["std::exception", "std::runtime_error", "std::logic_error", "exception", "runtime_error"]
)
EACH = Unknown("each")


@dataclass(eq=False)
class _Target:
    """Where ``break`` and ``continue`` go."""

    after: Node
    again: Node | None
    break_depth: int
    """How many scopes a ``break`` leaves open."""
    continue_depth: int


class Statements(Declarations):
    """The part of the lowering that reads statements."""

    def __init__(self, unit: Unit, key: str, name: str, symbols: Symbols) -> None:
        super().__init__(unit, key, name, symbols)
        self._targets: list[_Target] = []
        self._cases: list[list[tuple[tuple[Expression, ...], Node, Span]]] = []
        self._labels: dict[str, Node] = {}
        self._label_scopes: dict[str, list[Scope]] = {}
        self._gotos: list[tuple[Node, str, list[Scope], Span]] = []

    def statement(self, cursor: Cursor) -> None:
        """Lower a statement."""
        kind: int = cursor._kind_id
        handler = _HANDLERS.get(kind)
        if handler is not None:
            handler(self, cursor)
        elif Kind.UNEXPOSED <= kind < 200:
            self.discard(cursor)
        elif 200 <= kind < 350:
            # OpenMP directives, attributed statements and the like: what is below them runs.
            for child in children(cursor):
                self.statement(child)
        elif kind == Kind.VARIABLE:
            self.declaration(cursor)

    def body(self, cursor: Cursor) -> None:
        """Lower the braces of a function: its locals end with it, not before."""
        for child in self.statements_of(cursor):
            self.statement_or_text(child)

    def _compound(self, cursor: Cursor) -> None:
        self.scopes.open()
        for child in self.statements_of(cursor):
            self.statement_or_text(child)
        self.scopes.close(self.end_span(cursor))

    def statement_or_text(self, child: Cursor | tuple[str, Span]) -> None:
        """Lower a statement, or what is left of one that clang lost."""
        if isinstance(child, tuple):
            self.recover_statement(*child)
        else:
            self.statement(child)

    def statements_of(self, cursor: Cursor) -> list[Cursor | tuple[str, Span]]:
        """The statements in braces, with the text of those that clang lost."""
        found = children(cursor)
        lost = self.unit.lost.inside(cursor, found) if self.unit.lost else []
        if not lost:
            return list(found)
        places: list[tuple[int, Cursor | tuple[str, Span]]] = [
            (self.positions.offsets(child)[1], child) for child in found
        ]
        places += [(start, (text, span)) for start, text, span in lost]
        return [child for _, child in sorted(places, key=lambda pair: pair[0])]

    def end_span(self, cursor: Cursor) -> Span:
        """The closing brace."""
        span = self.positions.span(cursor)
        return Span(span.end_row, max(span.end_column - 1, 1), span.end_row, span.end_column)

    def statement_expression(self, cursor: Cursor, wanted: bool) -> Expression:
        """Lower ``({ ... })``: the value is the last statement's."""
        result: Expression = Unknown("void")
        for compound in children(cursor):
            found = children(compound)
            self.scopes.open()
            for number, child in enumerate(found):
                is_last = number == len(found) - 1
                if is_last and wanted and Kind.UNEXPOSED <= child._kind_id < 200:
                    value = self.expression(child)
                    type_ = self.types.of(cursor)
                    if type_.kind == "void":
                        continue
                    result = self.temporary(type_)
                    self.graph.emit(Assign(result, value, self.positions.span(child)))
                else:
                    self.statement(child)
            self.scopes.close(self.end_span(compound))
        return result

    # Branches.

    def _if(self, cursor: Cursor) -> None:
        parts = children(cursor)
        self.scopes.open()
        # Before the condition: an initialiser, or the condition's variable.
        split = 0
        while split < len(parts) and (
            parts[split]._kind_id in (Kind.DECLARATION, Kind.VARIABLE, Kind.UNEXPOSED_DECL)
        ):
            self.statement(parts[split])
            split += 1
        rest = parts[split:]
        if len(rest) > 3 or (len(rest) == 3 and not self._has_else(cursor, rest)):
            self.statement(rest[0])
            rest = rest[1:]
        if len(rest) < 2:
            # The condition is lost: either way may be taken.
            self._lost_condition(cursor, rest)
            self.scopes.close(self.end_span(cursor))
            return
        then, otherwise, after = (self.graph.block() for _ in range(3))
        self.condition(rest[0], then, otherwise)
        self.graph.current = then
        self._scoped(rest[1])
        self.graph.jump(after)
        self.graph.current = otherwise
        if len(rest) > 2:
            self._scoped(rest[2])
        self.graph.enter(after)
        self.scopes.close(self.end_span(cursor))

    def _has_else(self, cursor: Cursor, rest: list[Cursor]) -> bool:
        """Whether three parts are condition, then, else (and not init; condition, then)."""
        if rest[1]._kind_id >= 200:
            return True
        name, _, end = self.positions.offsets(rest[1])
        _, start, _ = self.positions.offsets(rest[2])
        return "else" in self.positions.text_of(name, end, start) or self.positions.from_macro(
            rest[1]
        )

    def _lost_condition(self, cursor: Cursor, rest: list[Cursor]) -> None:
        span = self.positions.span(cursor)
        then, after = self.graph.block(), self.graph.block()
        text = self.positions.text(cursor).partition("{")[0]
        self.graph.branch(Unknown(text[:100], self.reads(text)), then, after, span)
        self.graph.current = then
        for part in rest:
            self._scoped(part)
        self.graph.enter(after)

    def _scoped(self, cursor: Cursor) -> None:
        """A branch or loop body: a scope even without braces."""
        if cursor._kind_id == Kind.COMPOUND:
            self._compound(cursor)
        else:
            self.scopes.open()
            self.statement(cursor)
            self.scopes.close(self.end_span(cursor))

    def _switch(self, cursor: Cursor) -> None:
        parts = children(cursor)
        self.scopes.open()
        for part in parts[:-2]:
            self.statement(part)
        span = self.positions.span(cursor)
        value = self.expression(parts[-2])
        if not isinstance(value, Variable | Constant):
            held = self.temporary(self.types.of(parts[-2]))
            self.graph.emit(Assign(held, value, self.positions.span(parts[-2])))
            value = held
        dispatch, after = self.graph.current, self.graph.block()
        self._targets.append(_Target(after, None, self.scopes.depth, 0))
        self._cases.append([])
        self.graph.current = self.graph.block()
        self._scoped(parts[-1])
        self.graph.jump(after)
        self._targets.pop()
        self.graph.current = dispatch
        default = after
        for values, node, place in self._cases.pop():
            if not values:
                default = node
                continue
            following = self.graph.block()
            if len(values) == 1:
                self.graph.branch(Binary("==", value, values[0]), node, following, place)
            else:
                inside = self.graph.block()
                self.graph.branch(Binary(">=", value, values[0]), inside, following, place)
                self.graph.current = inside
                self.graph.branch(Binary("<=", value, values[1]), node, following, place)
            self.graph.current = following
        self.graph.jump(default)
        self.graph.current = after
        self.scopes.close(Span(span.end_row, span.end_column, span.end_row, span.end_column))

    def _case(self, cursor: Cursor) -> None:
        parts = children(cursor)
        node = self.graph.block()
        is_default = cursor._kind_id == Kind.DEFAULT
        labels = [] if is_default else parts[:-1]
        span = self.positions.span(labels[0]) if labels else self.positions.span(cursor)
        values = tuple(self.expression(label) for label in labels)
        if self._cases:
            self._cases[-1].append((values, node, span))
        self.graph.enter(node)
        if parts:
            self.statement(parts[-1])

    def lost_jump(self, word: str, name: str, span: Span) -> None:
        """A ``break``, ``continue`` or ``goto`` in a lost statement."""
        if word == "goto":
            self._goto_label(name, span)
        elif word == "break":
            self._leave_by_break(span)
        else:
            self._leave_by_continue(span)

    def lost_loop(self, header: Node, inside: Node, after: Node, body: str, span: Span) -> None:
        """A loop whose condition or body clang does not know."""
        self.graph.current = inside
        self._targets.append(_Target(after, header, self.scopes.depth, self.scopes.depth))
        self.scopes.open()
        self.recover_statements(body, span)
        self.scopes.close(span)
        self._targets.pop()
        self.graph.jump(header)

    def lost_case(self, text: str, span: Span) -> None:
        """A ``case`` whose value clang does not know."""
        if self._cases:
            node = self.graph.block()
            self._cases[-1].append(((self.named(text.strip()),) if text else (), node, span))
            self.graph.enter(node)

    # Loops.

    def _while(self, cursor: Cursor) -> None:
        parts = children(cursor)
        header = self.graph.block(loop=True)
        inside, after = self.graph.block(), self.graph.block()
        self.scopes.open()
        self.graph.enter(header)
        for part in parts[:-2]:
            self.statement(part)
        ends = tuple(reversed(self.scopes.stack[-1].symbols))
        if len(parts) >= 2:
            self.condition(parts[-2], inside, after)
        else:
            self.graph.branch(self.unknown(cursor), inside, after, self.positions.span(cursor))
        again = self.graph.block()
        self._loop_body(parts[-1], inside, after, again)
        self.graph.enter(again)
        if ends:
            self.graph.emit(ScopeEnd(ends, self.end_span(cursor)))
        self.graph.jump(header)
        self.graph.current = after
        self.scopes.close(self.end_span(cursor))

    def _loop_body(
        self, cursor: Cursor, inside: Node, after: Node, again: Node, around: int = 0
    ) -> None:
        """``around``: scopes of the loop itself that ``break`` leaves too."""
        self.graph.current = inside
        depth = self.scopes.depth
        self._targets.append(_Target(after, again, depth - around, depth))
        self._scoped(cursor)
        self._targets.pop()

    def _do(self, cursor: Cursor) -> None:
        parts = children(cursor)
        inside, test, after = (self.graph.block() for _ in range(3))
        self.graph.jump(inside)
        self._loop_body(parts[0], inside, after, test)
        self.graph.enter(test)
        value = evaluate(parts[-1]) if len(parts) > 1 else 0
        if value is not None and not value:
            self.graph.jump(after)  # do { ... } while (0): straight code.
        else:
            inside.loop = True
            self.condition(parts[-1], inside, after)
        self.graph.current = after

    def _for(self, cursor: Cursor) -> None:
        initial, test, step, body = self._for_parts(cursor)
        self.scopes.open()
        for part in initial:
            self.statement(part)
        header = self.graph.block(loop=True)
        inside, again, after = (self.graph.block() for _ in range(3))
        self.graph.enter(header)
        if test:
            for part in test[:-1]:
                self.statement(part)
            self.condition(test[-1], inside, after)
        else:
            self.graph.jump(inside)
        self._loop_body(body, inside, after, again)
        self.graph.enter(again)
        for part in step:
            self.statement(part)
        self.graph.jump(header)
        self.graph.current = after
        self.scopes.close(self.end_span(cursor))

    def _for_parts(self, cursor: Cursor) -> tuple[list[Cursor], list[Cursor], list[Cursor], Cursor]:
        """Initialiser, condition, step and body: clang leaves out those that are not there."""
        parts = children(cursor)
        body, head = parts[-1], parts[:-1]
        if len(head) == 3:
            return [head[0]], [head[1]], [head[2]], body
        name, start, _ = self.positions.offsets(cursor)
        semicolons = _semicolons(self.positions.text_of(name, start, start + 4000))
        groups: tuple[list[Cursor], list[Cursor], list[Cursor]] = ([], [], [])
        for part in head:
            if self.positions.from_macro(cursor) or len(semicolons) < 2:
                is_test = self.types.of(part).kind == "bool"
                number = 0 if part._kind_id >= 200 else 1 if is_test else 2
            else:
                # Bytes against characters: equal but for letters that are not ASCII.
                place = self.positions.offsets(part)[1] - start
                number = sum(place > semicolon for semicolon in semicolons[:2])
            groups[number].append(part)
        return (*groups, body)

    def _range_for(self, cursor: Cursor) -> None:
        parts = children(cursor)
        span = self.positions.span(cursor)
        if len(parts) < 3:
            self._lost_condition(cursor, parts)
            return
        self.scopes.open()
        for part in parts[:-3]:
            self.statement(part)
        variable, body = parts[-3], parts[-1]
        iterable = self.expression(parts[-2])
        header = self.graph.block(loop=True)
        inside, after = self.graph.block(), self.graph.block()
        self.graph.enter(header)
        place = self.positions.span(variable)
        self.graph.branch(Unary("more", iterable), inside, after, place)
        self.graph.current = inside
        self.scopes.open()
        self.declare_element(variable, Index(iterable, EACH), place)
        ends = tuple(reversed(self.scopes.stack[-1].symbols))
        again = self.graph.block()
        self._loop_body(body, self.graph.current, after, again, around=1)
        self.graph.enter(again)
        if ends:
            self.graph.emit(ScopeEnd(ends, self.end_span(cursor)))
        self.graph.jump(header)
        self.scopes.close(span)
        self.graph.current = after
        self.scopes.close(self.end_span(cursor))

    # Jumps.

    def _break(self, cursor: Cursor) -> None:
        self._leave_by_break(self.positions.span(cursor))

    def _leave_by_break(self, span: Span) -> None:
        if self._targets:
            target = self._targets[-1]
            self.scopes.end_above(target.break_depth, span)
            self.graph.jump(target.after)
        self.graph.current = self.graph.block()

    def _continue(self, cursor: Cursor) -> None:
        self._leave_by_continue(self.positions.span(cursor))

    def _leave_by_continue(self, span: Span) -> None:
        for target in reversed(self._targets):
            if target.again is not None:
                self.scopes.end_above(target.continue_depth, span)
                self.graph.jump(target.again)
                break
        self.graph.current = self.graph.block()

    def _return(self, cursor: Cursor) -> None:
        values = [child for child in children(cursor) if is_value(child)]
        span = self.positions.span(cursor)
        value = self.returned(values[0]) if values else None
        if isinstance(value, Unknown) and value.text == "void":
            value = None
        if self.graph.is_open:
            self.graph.finish(Return(value, span))
        self.graph.current = self.graph.block()

    def _goto(self, cursor: Cursor) -> None:
        names = [name_of(child) for child in children(cursor)]
        span = self.positions.span(cursor)
        if names and names[0]:
            self._goto_label(names[0], span)
        else:
            self.graph.finish(Throw(self.unknown(cursor), span))
            self.graph.current = self.graph.block()

    def _goto_label(self, name: str, span: Span) -> None:
        # Which scopes it leaves is known at the end of the function.
        node = self.graph.block()
        self.graph.enter(node)
        self._gotos.append((node, name, list(self.scopes.stack), span))
        label = self._label_node(name)
        label.loop = label.loop or name in self._label_scopes
        self.graph.jump(label)
        self.graph.current = self.graph.block()

    def _label_node(self, name: str) -> Node:
        node = self._labels.get(name)
        if node is None:
            node = self._labels[name] = self.graph.block(loop=False)
        return node

    def _label(self, cursor: Cursor) -> None:
        name = name_of(cursor)
        node = self._label_node(name)
        node.unwind = self.graph.unwind
        self._label_scopes[name] = list(self.scopes.stack)
        self.graph.enter(node)
        for child in children(cursor):
            self.statement(child)

    def finish_jumps(self) -> None:
        """Write the ends of the scopes that each ``goto`` leaves; close labels never defined."""
        for node, name, scopes, span in self._gotos:
            kept = self._label_scopes.get(name)
            target = self._labels[name]
            if kept is None:
                if target.terminator is None:
                    target.terminator = Return(None, span, implicit=True)
                continue
            left = [scope for scope in scopes if scope not in kept]
            symbols = [symbol for scope in left for symbol in scope.symbols]
            if symbols:
                node.operations.append(ScopeEnd(tuple(reversed(symbols)), span))

    # Exceptions.

    def throw(self, cursor: Cursor) -> None:
        """Lower ``throw``."""
        values = [child for child in children(cursor) if is_value(child)]
        value = self.expression(values[0]) if values else None
        self.graph.finish(Throw(value, self.positions.span(cursor), rethrow=not values))
        self.graph.current = self.graph.block()

    def _try(self, cursor: Cursor) -> None:
        parts = children(cursor)
        handlers = [part for part in parts if part._kind_id == Kind.CATCH]
        dispatch, after = self.graph.block(), self.graph.block()
        outer = self.graph.unwind
        self.graph.unwind = dispatch.number
        self.graph.enter(self.graph.block())
        self.scopes.open()
        for part in parts:
            if part._kind_id != Kind.CATCH:
                for child in self.statements_of(part):
                    self.statement_or_text(child)
        self.graph.unwind = outer
        scope = self.scopes.close(self.end_span(parts[0]) if parts else self.end_span(cursor))
        self.graph.jump(after)
        self.graph.current = dispatch
        ended = scope.ended + scope.symbols
        if ended:
            self.graph.emit(ScopeEnd(tuple(reversed(ended)), self.end_span(cursor)))
        self._handlers(handlers, after)
        self.graph.current = after

    def _handlers(self, handlers: list[Cursor], after: Node) -> None:
        span = Span(1, 1, 1, 1)
        for handler in handlers:
            span = self.positions.span(handler)
            parts = children(handler)
            variables = [part for part in parts if part._kind_id == Kind.VARIABLE]
            caught = self.types.of(variables[0]).text if variables else "..."
            node, following = self.graph.block(), self.graph.block()
            if self.catches_all(caught):
                self.graph.jump(node)
            else:
                self.graph.branch(Unknown(f"catch ({caught})"), node, following, span)
            self.graph.current = node
            self.scopes.open()
            for variable in variables:
                self.declare_caught(variable)
            for part in parts:
                if part._kind_id == Kind.COMPOUND:
                    self._compound(part)
            self.scopes.close(self.end_span(handler))
            self.graph.jump(after)
            self.graph.current = following
        # What no handler took passes on (nothing gets here after a handler for everything).
        self.graph.finish(Throw(None, span, rethrow=True))

    @staticmethod
    def catches_all(caught: str) -> bool:
        """Whether a handler takes whatever may be thrown here."""
        bare = caught.replace("const ", "").replace("class ", "").strip(" &*")
        return bare == "..." or bare in _CATCHES_ALL

    def _nothing(self, cursor: Cursor) -> None:
        """``;``, or what clang writes for a branch that it lost."""
        if self.unit.lost is None or self.positions.from_macro(cursor):
            return
        found = self.unit.lost.branch(cursor)
        if found is not None:
            self.recover_statement(*found)

    def _declaration(self, cursor: Cursor) -> None:
        for child in children(cursor):
            self.declaration(child)

    def _assembly(self, cursor: Cursor) -> None:
        return None

    def finish(self, span: Span) -> None:
        """End the function: the closing brace, and jumps that are still open."""
        if self.graph.is_open:
            self.graph.finish(Return(None, span, implicit=True))
        self.finish_jumps()
        for node in self.graph.nodes:
            if node.terminator is None:
                node.terminator = Return(None, span, implicit=True)


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


_HANDLERS: dict[int, Callable[[Statements, Cursor], None]] = {
    Kind.COMPOUND: Statements._compound,
    Kind.IF: Statements._if,
    Kind.SWITCH: Statements._switch,
    Kind.CASE: Statements._case,
    Kind.DEFAULT: Statements._case,
    Kind.WHILE: Statements._while,
    Kind.DO: Statements._do,
    Kind.FOR: Statements._for,
    Kind.RANGE_FOR: Statements._range_for,
    Kind.BREAK: Statements._break,
    Kind.CONTINUE: Statements._continue,
    Kind.RETURN: Statements._return,
    Kind.GOTO: Statements._goto,
    Kind.INDIRECT_GOTO: Statements._goto,
    Kind.LABEL: Statements._label,
    Kind.TRY: Statements._try,
    Kind.NULL: Statements._nothing,
    Kind.DECLARATION: Statements._declaration,
    Kind.ASSEMBLY: Statements._assembly,
}
