"""A call that is lowered: its arguments, and where its result goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from cudalint.frontends.python.lowering.context import Context
from cudalint.program.expressions import Expression
from cudalint.program.functions import Argument


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call; its result goes to a target, or to a temporary if it is wanted."""

    node: cst.Call
    given: Expression | None
    wanted: bool

    def target(self, context: Context) -> Expression | None:
        """Where the result goes. To be asked once, behind the arguments."""
        return context.temporary() if self.given is None and self.wanted else self.given


def arguments_of(context: Context, nodes: Sequence[cst.Arg]) -> tuple[Argument, ...]:
    """Lower the arguments of a call, left to right."""
    return tuple(
        [Argument(context.lower(node.value), keyword_of(node), node.star) for node in nodes]
    )


def keyword_of(argument: cst.Arg) -> str | None:
    """The keyword of an argument."""
    return argument.keyword.value if argument.keyword is not None else None
