"""Literals are read from their text, whatever stands there."""

from __future__ import annotations

import pytest

from cudalint.frontends.cuda.lowering.numbers import read_number
from cudalint.program import Constant, Unknown


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("42u", 42),
        ("1'000'000ull", 1_000_000),
        ("0x1F", 31),
        ("0b101", 5),
        ("017", 15),
        ("0189", 189),
        ("18446744073709551615", 2**64 - 1),
        ("1.5f", 1.5),
        ("1e3", 1000.0),
    ],
)
def test_values(text: str, value: float) -> None:
    assert read_number(text) == Constant(value)


@pytest.mark.parametrize("text", ["9" * 5000, "0x" + "f" * 200, "18446744073709551616", "0x", "1e"])
def test_what_is_no_number(text: str) -> None:
    assert isinstance(read_number(text), Unknown)
