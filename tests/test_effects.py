"""What functions may do that call each other in a circle."""

from __future__ import annotations

import textwrap

import pytest

from cudalint.analysis.shape.effects import EffectsOf
from cudalint.analysis.shape.symbols import Symbols
from cudalint.apis.loader import load
from cudalint.frontends.python import read

CIRCLE = """
    kept = []

    def ping(one, other, deep):
        if deep:
            pong(other, one, deep - 1)

    def pong(one, other, deep):
        if deep > 3:
            kept.append(one)
        pang(one, other, deep)

    def pang(one, other, deep):
        ping(one, other, deep)
        if deep > 5:
            away(deep)
"""


def effects_of(text: str, *names: str) -> dict[str, tuple[set[str], bool]]:
    """Of each function, asked in this order: what it may keep, and whether somebody else runs."""
    program = read("m.py", textwrap.dedent(text))
    symbols = Symbols([program], {"python": load("python"), "cuda": load("cuda")})
    known = EffectsOf(symbols)
    functions = {one.name: one for one in program.functions}
    found = {name: known.of(functions[name], program) for name in names}
    return {name: (set(one.kept), one.outside) for name, one in found.items()}


@pytest.mark.parametrize(
    "order", [("ping", "pong", "pang"), ("pang", "ping", "pong"), ("pong", "pang", "ping")]
)
def test_a_circle_is_known_whole_whoever_is_asked_first(order: tuple[str, ...]) -> None:
    found = effects_of(CIRCLE, *order)
    assert all(outside for _, outside in found.values())
    assert all({"one", "other"} <= kept for kept, _ in found.values())


def test_a_function_that_calls_itself_with_its_arguments_turned_round() -> None:
    found = effects_of(
        """
        kept = []

        def turn(one, other):
            turn(other, one)
            kept.append(one)
        """,
        "turn",
    )
    assert {"one", "other"} <= found["turn"][0]
    assert not found["turn"][1]
