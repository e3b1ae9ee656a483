"""Lowers ``match``: each case's pattern to branches and to what it captures."""

from __future__ import annotations

import libcst as cst

from cudalint.frontends.python.graph import OpenBlock
from cudalint.frontends.python.lowering.branches import branch_on
from cudalint.frontends.python.lowering.context import Context
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


def match_statement(context: Context, node: cst.Match) -> None:
    """Lower a ``match``: cases are tried in order."""
    subject = context.lower(node.subject)
    if not isinstance(subject, Constant):
        subject = context.keep(subject, context.span(node.subject))
    after = context.graph.block()
    for case in node.cases:
        following = context.graph.block()
        _pattern(context, case.pattern, subject, following)
        if case.guard is not None:
            passed = context.graph.block()
            branch_on(context, case.guard, passed, following)
            context.graph.start(passed)
        context.body(case.body.body)
        context.graph.jump(after)
        context.graph.start(following)
    context.graph.jump(after)
    context.graph.start(after)


def _test(context: Context, condition: Expression, node: cst.CSTNode, failed: OpenBlock) -> None:
    passed = context.graph.block()
    context.graph.branch(condition, passed, failed, context.span(node))
    context.graph.start(passed)


def _capture(context: Context, name: cst.Name | None, value: Expression) -> None:
    if name is not None:
        store_to(context, name, value, context.span(name))


def _pattern(
    context: Context, pattern: cst.MatchPattern, subject: Expression, failed: OpenBlock
) -> None:
    match pattern:
        case cst.MatchValue():
            _test(context, Binary("==", subject, context.lower(pattern.value)), pattern, failed)
        case cst.MatchSingleton():
            _test(context, Binary("is", subject, context.lower(pattern.value)), pattern, failed)
        case cst.MatchAs():
            if pattern.pattern is not None:
                _pattern(context, pattern.pattern, subject, failed)
            _capture(context, pattern.name, subject)
        case cst.MatchOr():
            _alternatives(context, pattern, subject, failed)
        case cst.MatchList() | cst.MatchTuple():
            _sequence(context, pattern, subject, failed)
        case cst.MatchMapping():
            _test(context, context.unknown(pattern, subject), pattern, failed)
            for entry in pattern.elements:
                _pattern(context, entry.pattern, Index(subject, context.lower(entry.key)), failed)
            _capture(context, pattern.rest, Unknown("rest", (subject,)))
        case cst.MatchClass():
            _test(context, context.unknown(pattern, subject), pattern, failed)
            for positional in pattern.patterns:
                _pattern(context, positional.value, Unknown("part", (subject,)), failed)
            for keyword in pattern.kwds:
                _pattern(context, keyword.pattern, Member(subject, keyword.key.value), failed)
        case _:
            _test(context, context.unknown(pattern, subject), pattern, failed)


def _alternatives(
    context: Context, pattern: cst.MatchOr, subject: Expression, failed: OpenBlock
) -> None:
    matched = context.graph.block()
    last = len(pattern.patterns) - 1
    for position, alternative in enumerate(pattern.patterns):
        following = failed if position == last else context.graph.block()
        _pattern(context, alternative.pattern, subject, following)
        context.graph.jump(matched)
        if position != last:
            context.graph.start(following)
    context.graph.start(matched)


def _sequence(
    context: Context,
    pattern: cst.MatchList | cst.MatchTuple,
    subject: Expression,
    failed: OpenBlock,
) -> None:
    count = len(pattern.patterns)
    if any(isinstance(item, cst.MatchStar) for item in pattern.patterns):
        _test(context, context.unknown(pattern, subject), pattern, failed)
    else:
        length = Binary("==", Unary("len", subject), Constant(count))
        _test(context, length, pattern, failed)
    star: int | None = None
    for position, item in enumerate(pattern.patterns):
        if isinstance(item, cst.MatchStar):
            star = position
            rest = Slice(subject, Constant(position))
            _capture(context, item.name, rest)
        else:
            index = position if star is None else position - count
            _pattern(context, item.value, Index(subject, Constant(index)), failed)
