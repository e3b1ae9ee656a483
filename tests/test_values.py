"""Folding of abstract values: what folds is right, what does not stays comparable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.analysis.values.arithmetic import apply, bounded, divide, rewrite, wrap
from cudalint.analysis.values.values import (
    Const,
    Operation,
    Pointer,
    Polynomial,
    Sequence,
    Symbol,
    Value,
    integer,
)

N, M = Symbol("n"), Symbol("m")
SMALL = st.integers(-1000, 1000)


def expressions() -> st.SearchStrategy[tuple[Value, str]]:
    """A value built by ``apply`` and the same expression as Python text over n and m."""
    leaves = st.one_of(
        SMALL.map(lambda number: (Const(number), f"({number})")),
        st.sampled_from([(N, "n"), (M, "m")]),
    )

    def combine(
        inner: st.SearchStrategy[tuple[Value, str]],
    ) -> st.SearchStrategy[tuple[Value, str]]:
        return st.tuples(st.sampled_from("+-*"), inner, inner).map(
            lambda parts: (
                apply(parts[0], parts[1][0], parts[2][0]),
                f"({parts[1][1]} {parts[0]} {parts[2][1]})",
            )
        )

    return st.recursive(leaves, combine, max_leaves=6)


@given(expressions(), SMALL, SMALL)
def test_arithmetic_is_arithmetic(pair: tuple[Value, str], n: int, m: int) -> None:
    value, text = pair
    known = {N: Const(n), M: Const(m)}
    folded = rewrite(value, lambda part: known.get(part) if isinstance(part, Symbol) else None)
    if isinstance(folded, Const):
        assert folded.value == eval(text, {"n": n, "m": m})


@given(expressions(), st.integers(1, 64))
def test_division_undoes_multiplication(pair: tuple[Value, str], factor: int) -> None:
    product = apply("*", pair[0], Const(factor))
    if isinstance(product, Const | Polynomial) and product != Const(0):
        assert divide(product, Const(factor)) == pair[0]


def test_order_does_not_matter() -> None:
    assert apply("*", N, apply("*", Const(4), M)) == apply("*", apply("*", M, N), Const(4))
    assert apply("+", N, Const(1)) == apply("-", apply("+", N, Const(3)), Const(2))


def test_ratio_of_bytes_to_elements() -> None:
    assert integer(divide(apply("*", N, Const(4)), N)) == 4
    assert divide(N, apply("*", N, Const(4))) is None
    assert divide(apply("+", N, Const(1)), N) is None


def test_overflow_is_marked_and_carried() -> None:
    product = wrap(Const(1 << 31), "w * h", 32, signed=True, type_text="int")
    assert product.value == -(1 << 31)
    carried = apply("*", product, Const(4))
    assert isinstance(carried, Const)
    assert carried.overflow == ("w * h", 1 << 31, "int")


def test_all_ones_is_no_overflow() -> None:
    assert wrap(Const(-1), "-1", 32, signed=False, type_text="unsigned") == Const(0xFFFFFFFF)


@pytest.mark.parametrize(
    ("left", "right", "quotient"), [(7, 2, 3), (-7, 2, -3), (7, -2, -3), (6, 3, 2)]
)
def test_c_division_truncates(left: int, right: int, quotient: int) -> None:
    assert apply("/", Const(left), Const(right)) == Const(quotient)


def test_division_by_zero_stays_symbolic() -> None:
    assert isinstance(apply("/", Const(1), Const(0)), Operation)
    assert isinstance(apply("%", Const(1), Const(0)), Operation)


def test_pointer_arithmetic_keeps_the_resource() -> None:
    moved = apply("+", Pointer(N, Const(0)), Const(3))
    assert moved == Pointer(N, Const(3))


def test_slices_of_known_length() -> None:
    pair = Sequence((Const(0), N))
    assert apply("slice", pair, Const(1), Const(None)) == Sequence((N,))


def test_growth_is_bounded() -> None:
    value: Value = N
    for _ in range(200):
        value = apply("/", apply("+", value, M), value)
    assert len(repr(value)) < 10_000
    assert bounded(value) == value
