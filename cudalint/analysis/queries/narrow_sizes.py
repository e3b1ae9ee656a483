"""Products in 32 bits that sizes of memory are made from, where large values are to be expected.

A number of mebibytes wraps at four gibibytes. What the sum of some allocations is compared with is
what they may reach: a sum in fewer bits than the allocations themselves refuses none of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.facts import NarrowSize
from cudalint.analysis.shape.arguments import sizes
from cudalint.analysis.shape.counts import is_bounded
from cudalint.analysis.shape.operations import calls, expressions
from cudalint.analysis.shape.walk import plain
from cudalint.program import (
    Assign,
    Binary,
    Branch,
    Call,
    Cast,
    Constant,
    Expression,
    Variable,
    variables,
)

Factors = tuple[Variable, ...]

_LARGE_UNIT = 2**20
_COMPARISONS = frozenset({"<", "<=", ">", ">="})


def narrow_sizes(run: FunctionRun) -> tuple[NarrowSize, ...]:
    """The products of a function that may wrap before they are widened."""
    if run.python:
        return ()
    return tuple(_Narrow(run).found())


class _Narrow:
    """One function."""

    def __init__(self, run: FunctionRun) -> None:
        self._run = run
        self._sizes = [
            (call, size)
            for _, call in calls(run.function)
            for size in sizes(run.models.lookup(call.name), call)
        ]

    def found(self) -> Iterator[NarrowSize]:
        """The products, each with where it is used."""
        for call, size in self._sizes:
            for product, unit, unknown in self._products(size):
                if unit >= _LARGE_UNIT and not self._is_bounded(unknown):
                    yield self._narrow(product, unit, unknown, call)
        own = {symbol for _, size in self._sizes for symbol in variables(size)}
        for block in self._run.function.blocks:
            end = block.terminator
            if not isinstance(end, Branch) or not isinstance(end.condition, Binary):
                continue
            sides = (end.condition.left, end.condition.right)
            for side in sides if end.condition.operator in _COMPARISONS else ():
                for product, unit, unknown in self._products(side):
                    sum_of_own = unit > 1 and {one.symbol for one in unknown} <= own
                    widened = product is not self._value(side)
                    if sum_of_own and widened and not self._is_bounded(unknown):
                        yield self._narrow(product, unit, unknown, end)

    def _narrow(
        self, product: Binary, unit: int, unknown: Factors, use: Call | Branch
    ) -> NarrowSize:
        assert product.result is not None
        limit = 1 << (31 if product.result.signed else 32)
        return NarrowSize(
            text=self._run.show(product),
            type=product.result.text,
            unknown=" * ".join(one.name for one in unknown),
            wraps_from=-(-limit // unit),
            api=use.name if isinstance(use, Call) else "",
            span=use.span,
        )

    def _products(self, expression: Expression) -> Iterator[tuple[Binary, int, Factors]]:
        """The products in 32 bits that an amount is a multiple of, with their constant factor and
        what is unknown of them."""
        expression = self._value(expression)
        if not isinstance(expression, Binary) or expression.operator != "*":
            return
        kind = expression.result
        if kind is None or kind.kind != "integer":
            return
        if kind.bytes != 4:
            yield from self._products(expression.left)
            yield from self._products(expression.right)
            return
        unit, unknown = 1, list[Variable]()
        for factor in self._factors(expression):
            if isinstance(factor, Constant) and isinstance(factor.value, int):
                unit *= factor.value
            elif isinstance(factor, Variable) and self._is_wide(factor):
                unknown.append(factor)
            else:
                return
        if unknown:
            yield expression, unit, tuple(unknown)

    def _factors(self, expression: Expression) -> Iterator[Expression]:
        expression = self._value(expression)
        if isinstance(expression, Binary) and expression.operator == "*":
            yield from self._factors(expression.left)
            yield from self._factors(expression.right)
        else:
            yield expression

    def _value(self, expression: Expression) -> Expression:
        """The amount itself, where it is widened, or kept in a variable before."""
        while isinstance(expression, Cast) and (expression.to.bytes or 0) >= 4:
            expression = expression.operand
        if isinstance(expression, Variable):
            info = self._run.evaluator.variable(expression.symbol)
            if info is not None and info.constant is not None:
                return info.constant
            only = self._run.flow.only(expression.symbol)
            value = plain(only.value) if isinstance(only, Assign) else None
            local = info is not None and info.storage == "local"
            if (
                local
                and isinstance(value, Constant | Binary)
                and expression.symbol not in self._run.flow.sources(variables(value))
            ):
                return self._value(value)
        return expression

    def _is_wide(self, variable: Variable) -> bool:
        info = self._run.evaluator.variable(variable.symbol)
        return info is not None and info.type.kind == "integer" and info.type.bytes == 4

    def _is_bounded(self, unknown: Factors) -> bool:
        symbols = {one.symbol for one in unknown}
        return is_bounded(symbols, self._run.flow, expressions(self._run.function))
