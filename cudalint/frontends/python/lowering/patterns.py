"""Lowers ``match``: each case's pattern to branches and to what it captures."""

from __future__ import annotations

import libcst as cst

from cudalint.frontends.python.graph import OpenBlock
from cudalint.frontends.python.lowering.branches import branch_on
from cudalint.frontends.python.lowering.state import FunctionState
from cudalint.frontends.python.lowering.targets import store_to
from cudalint.program.expressions import (
    Binary,
    Constant,
    Expression,
    Index,
    Member,
    Slice,
    Unary,
    Unknown,
)


def match_statement(state: FunctionState, node: cst.Match) -> None:
    """Lower a ``match``: cases are tried in order."""
    subject = state.lower(node.subject)
    if not isinstance(subject, Constant):
        subject = state.keep(subject, state.span(node.subject))
    after = state.graph.block()
    for case in node.cases:
        following = state.graph.block()
        _pattern(state, case.pattern, subject, following)
        if case.guard is not None:
            passed = state.graph.block()
            branch_on(state, case.guard, passed, following)
            state.graph.start(passed)
        state.body(case.body.body)
        state.graph.jump(after)
        state.graph.start(following)
    state.graph.jump(after)
    state.graph.start(after)


def _test(
    state: FunctionState, condition: Expression, node: cst.CSTNode, failed: OpenBlock
) -> None:
    passed = state.graph.block()
    state.graph.branch(condition, passed, failed, state.span(node))
    state.graph.start(passed)


def _capture(state: FunctionState, name: cst.Name | None, value: Expression) -> None:
    if name is not None:
        store_to(state, name, value, state.span(name))


def _pattern(
    state: FunctionState, pattern: cst.MatchPattern, subject: Expression, failed: OpenBlock
) -> None:
    match pattern:
        case cst.MatchValue():
            _test(state, Binary("==", subject, state.lower(pattern.value)), pattern, failed)
        case cst.MatchSingleton():
            _test(state, Binary("is", subject, state.lower(pattern.value)), pattern, failed)
        case cst.MatchAs():
            if pattern.pattern is not None:
                _pattern(state, pattern.pattern, subject, failed)
            _capture(state, pattern.name, subject)
        case cst.MatchOr():
            _alternatives(state, pattern, subject, failed)
        case cst.MatchList() | cst.MatchTuple():
            _sequence(state, pattern, subject, failed)
        case cst.MatchMapping():
            _test(state, state.unknown(pattern, subject), pattern, failed)
            for entry in pattern.elements:
                _pattern(state, entry.pattern, Index(subject, state.lower(entry.key)), failed)
            _capture(state, pattern.rest, Unknown("rest", (subject,)))
        case cst.MatchClass():
            _test(state, state.unknown(pattern, subject), pattern, failed)
            for positional in pattern.patterns:
                _pattern(state, positional.value, Unknown("part", (subject,)), failed)
            for keyword in pattern.kwds:
                _pattern(state, keyword.pattern, Member(subject, keyword.key.value), failed)
        case _:
            _test(state, state.unknown(pattern, subject), pattern, failed)


def _alternatives(
    state: FunctionState, pattern: cst.MatchOr, subject: Expression, failed: OpenBlock
) -> None:
    matched = state.graph.block()
    last = len(pattern.patterns) - 1
    for position, alternative in enumerate(pattern.patterns):
        following = failed if position == last else state.graph.block()
        _pattern(state, alternative.pattern, subject, following)
        state.graph.jump(matched)
        if position != last:
            state.graph.start(following)
    state.graph.start(matched)


def _sequence(
    state: FunctionState,
    pattern: cst.MatchList | cst.MatchTuple,
    subject: Expression,
    failed: OpenBlock,
) -> None:
    count = len(pattern.patterns)
    if any(isinstance(item, cst.MatchStar) for item in pattern.patterns):
        _test(state, state.unknown(pattern, subject), pattern, failed)
    else:
        length = Binary("==", Unary("len", subject), Constant(count))
        _test(state, length, pattern, failed)
    star: int | None = None
    for position, item in enumerate(pattern.patterns):
        if isinstance(item, cst.MatchStar):
            star = position
            rest = Slice(subject, Constant(position))
            _capture(state, item.name, rest)
        else:
            index = position if star is None else position - count
            _pattern(state, item.value, Index(subject, Constant(index)), failed)
