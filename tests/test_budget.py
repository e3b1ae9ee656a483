"""What following the paths of functions may cost."""

from __future__ import annotations

from cudalint.analysis.engine.budget import LEAST_WORK, MOST_WORK, Budget
from cudalint.program import Function
from cudalint.source import Span

MOST = 2_000_000


def function(key: str, row: int = 1) -> Function:
    span = Span(row, 1, row + 3, 2)
    return Function(key, "f", "a.cu", span, parameters=(), blocks=(), variables={})


def test_what_is_left_is_shared() -> None:
    budget = Budget(1, lambda: False)
    assert budget.share(MOST, function("f<int>")) == MOST
    budget.spend(MOST_WORK, function("f<int>"), cut=False)
    assert budget.share(MOST, function("f<float>")) == LEAST_WORK


def test_of_the_instances_of_a_template_that_is_cut_one_costs_most() -> None:
    budget = Budget(1, lambda: False)
    first, other = function("f<int>"), function("f<float>")
    budget.spend(MOST, first, cut=False)
    assert budget.share(MOST, other) == MOST, "it was followed to its end"
    budget.spend(MOST, first, cut=True)
    assert budget.share(MOST, other) < MOST / 4
    assert budget.share(LEAST_WORK, other) == LEAST_WORK
    assert budget.share(MOST, first) == MOST, "it calls itself, or has other constants"
    assert budget.share(MOST, function("g", row=9)) == MOST


def test_nothing_is_left_where_memory_is_full() -> None:
    answers = iter([False, True])
    budget = Budget(1, lambda: next(answers))
    assert budget.share(MOST, function("f")) == MOST
    assert budget.share(MOST, function("f")) == 0
    assert budget.is_full(), "it stays so"
