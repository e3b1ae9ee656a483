"""Lowers ``match``: each case's pattern to branches and to what it captures."""

from __future__ import annotations

import libcst as cst

from cudalint.frontends.python.graph import OpenBlock
from cudalint.frontends.python.iteration import IterationLowering
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


class PatternLowering(IterationLowering):
    """Lowers ``match`` statements."""

    def match_statement(self, node: cst.Match) -> None:
        """Lower a ``match``: cases are tried in order."""
        subject = self.lower(node.subject)
        if not isinstance(subject, Constant):
            subject = self.keep(subject, self.reader.span(node.subject))
        after = self.graph.block()
        for case in node.cases:
            following = self.graph.block()
            self._pattern(case.pattern, subject, following)
            if case.guard is not None:
                passed = self.graph.block()
                self.condition(case.guard, passed, following)
                self.graph.start(passed)
            self.body(case.body.body)
            self.graph.jump(after)
            self.graph.start(following)
        self.graph.jump(after)
        self.graph.start(after)

    def _test(self, condition: Expression, node: cst.CSTNode, failed: OpenBlock) -> None:
        passed = self.graph.block()
        self.graph.branch(condition, passed, failed, self.reader.span(node))
        self.graph.start(passed)

    def _capture(self, name: cst.Name | None, value: Expression) -> None:
        if name is not None:
            self.store_to(name, value, self.reader.span(name))

    def _pattern(self, pattern: cst.MatchPattern, subject: Expression, failed: OpenBlock) -> None:
        match pattern:
            case cst.MatchValue():
                self._test(Binary("==", subject, self.lower(pattern.value)), pattern, failed)
            case cst.MatchSingleton():
                self._test(Binary("is", subject, self.lower(pattern.value)), pattern, failed)
            case cst.MatchAs():
                if pattern.pattern is not None:
                    self._pattern(pattern.pattern, subject, failed)
                self._capture(pattern.name, subject)
            case cst.MatchOr():
                self._alternatives(pattern, subject, failed)
            case cst.MatchList() | cst.MatchTuple():
                self._sequence(pattern, subject, failed)
            case cst.MatchMapping():
                self._test(self.unknown(pattern, subject), pattern, failed)
                for entry in pattern.elements:
                    self._pattern(entry.pattern, Index(subject, self.lower(entry.key)), failed)
                self._capture(pattern.rest, Unknown("rest", (subject,)))
            case cst.MatchClass():
                self._test(self.unknown(pattern, subject), pattern, failed)
                for positional in pattern.patterns:
                    self._pattern(positional.value, Unknown("part", (subject,)), failed)
                for keyword in pattern.kwds:
                    self._pattern(keyword.pattern, Member(subject, keyword.key.value), failed)
            case _:
                self._test(self.unknown(pattern, subject), pattern, failed)

    def _alternatives(self, pattern: cst.MatchOr, subject: Expression, failed: OpenBlock) -> None:
        matched = self.graph.block()
        last = len(pattern.patterns) - 1
        for position, alternative in enumerate(pattern.patterns):
            following = failed if position == last else self.graph.block()
            self._pattern(alternative.pattern, subject, following)
            self.graph.jump(matched)
            if position != last:
                self.graph.start(following)
        self.graph.start(matched)

    def _sequence(
        self, pattern: cst.MatchList | cst.MatchTuple, subject: Expression, failed: OpenBlock
    ) -> None:
        count = len(pattern.patterns)
        if any(isinstance(item, cst.MatchStar) for item in pattern.patterns):
            self._test(self.unknown(pattern, subject), pattern, failed)
        else:
            length = Binary("==", Unary("len", subject), Constant(count))
            self._test(length, pattern, failed)
        star: int | None = None
        for position, item in enumerate(pattern.patterns):
            if isinstance(item, cst.MatchStar):
                star = position
                rest = Slice(subject, Constant(position))
                self._capture(item.name, rest)
            else:
                index = position if star is None else position - count
                self._pattern(item.value, Index(subject, Constant(index)), failed)
