"""The path engine against an oracle: random functions, run for every value of their conditions.

A generated function acquires, releases and forgets device memory under conditions that repeat, so
that a path is possible only if it answers the same question the same way each time. The oracle runs
it for all answers; the engine must report the same leaks, at the same exits, and no other.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from cudalint.analysis import analyze
from cudalint.analysis.facts import FunctionFacts, MisuseKind
from cudalint.apis.loader import load
from cudalint.frontends.python import read

VARIABLES = ("alpha", "beta")
CONDITIONS = ("first", "second", "third")
INDENT = "    "


@dataclass
class Statement:
    """One statement; ``row`` is filled when it is written out."""

    kind: str
    name: str = ""
    then: list[Statement] = field(default_factory=list)
    otherwise: list[Statement] = field(default_factory=list)
    row: int = 0


def statements(depth: int) -> st.SearchStrategy[list[Statement]]:
    simple = st.builds(
        Statement, st.sampled_from(("acquire", "release", "forget")), st.sampled_from(VARIABLES)
    )
    leave = st.builds(Statement, st.just("return"))
    options = [simple, simple, simple, leave]
    if depth:
        inner = statements(depth - 1)
        branch = st.builds(Statement, st.just("if"), st.sampled_from(CONDITIONS), inner, inner)
        options += [branch, branch]
    return st.lists(st.one_of(options), min_size=1, max_size=4)


def write(body: list[Statement], lines: list[str], indent: str) -> None:
    for statement in body:
        statement.row = len(lines) + 1
        name = statement.name
        match statement.kind:
            case "acquire":
                lines.append(f"{indent}_, {name} = cudart.cudaMalloc(64)")
            case "release":
                lines.append(f"{indent}cudart.cudaFree({name})")
            case "forget":
                lines.append(f"{indent}{name} = None")
            case "return":
                lines.append(f"{indent}return")
            case "if":
                lines.append(f"{indent}if {name}:")
                write(statement.then, lines, indent + INDENT)
                lines.append(f"{indent}else:")
                write(statement.otherwise, lines, indent + INDENT)


@dataclass
class Oracle:
    """What really happens for one set of answers."""

    answers: dict[str, bool]
    held: dict[str, int | None] = field(default_factory=lambda: dict.fromkeys(VARIABLES))
    """Variable to the serial number of what it points to."""
    rows: dict[int, int] = field(default_factory=dict)
    freed: set[int] = field(default_factory=set)
    lost: set[tuple[int, int]] = field(default_factory=set)
    double: set[int] = field(default_factory=set)

    def run(self, body: list[Statement]) -> bool:
        for statement in body:
            match statement.kind:
                case "return":
                    self.leave(statement.row)
                    return False
                case "if":
                    branch = statement.then if self.answers[statement.name] else statement.otherwise
                    if not self.run(branch):
                        return False
                case _:
                    self.simple(statement)
        return True

    def simple(self, statement: Statement) -> None:
        serial = self.held[statement.name]
        if statement.kind == "release":
            if serial in self.freed:
                self.double.add(statement.row)
            elif serial is not None:
                self.freed.add(serial)
            return
        if serial is not None and serial not in self.freed:
            self.lost.add((self.rows[serial], statement.row))
        if statement.kind == "acquire":
            new = len(self.rows) + 1
            self.rows[new] = statement.row
            self.held[statement.name] = new
        else:
            self.held[statement.name] = None

    def leave(self, row: int) -> None:
        for serial in self.held.values():
            if serial is not None and serial not in self.freed:
                self.lost.add((self.rows[serial], row))


def engine(text: str) -> FunctionFacts:
    program = read("generated.py", text)
    facts = analyze([program], {"python": load("python"), "cuda": load("cuda")})
    return next(found for found in facts.functions if found.function == "work")


@settings(max_examples=150, deadline=None, derandomize=True)
@given(statements(2))
def test_leaks_are_those_that_happen(body: list[Statement]) -> None:
    lines = [
        "from cuda.bindings import runtime as cudart",
        f"def work({', '.join(CONDITIONS)}):",
        *(f"{INDENT}{name} = None" for name in VARIABLES),
    ]
    write(body, lines, INDENT)
    lines.append(f'{INDENT}print("end")')
    end = len(lines)
    lost: set[tuple[int, int]] = set()
    double: set[int] = set()
    for answers in itertools.product((True, False), repeat=len(CONDITIONS)):
        oracle = Oracle(dict(zip(CONDITIONS, answers, strict=True)))
        if oracle.run(body):
            oracle.leave(end)
        lost |= oracle.lost
        double |= oracle.double

    text = "\n".join(lines) + "\n"
    facts = engine(text)
    reported = {
        (leak.resource.span.row, leave.span.row) for leak in facts.leaks for leave in leak.exits
    }
    released_twice = {
        misuse.span.row for misuse in facts.misuses if misuse.kind is MisuseKind.DOUBLE_FREE
    }
    assert reported == lost, text
    assert released_twice == double, text
