"""``python -m benchmarks.lacking``: what cudalint finds in programs whose libraries' headers are
nowhere, beside what it finds with them.

Each of ``lacking/programs``, and a fixture that GoogleTest tests, uses a library and has a flaw on
some lines, which say so. Without
headers cudalint makes do with what the program itself says of the names, or with declarations of
its own. ``--headers NAME=FOLDER[,FOLDER...]`` gives those of a library for the other column.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.documents import markdown, taken, write_section
from benchmarks.linted import each_part, lint

_IN_TESTS = (
    Path(__file__).parent.parent.parent / "fixtures" / "GPU201-double-free" / "bad_in_tests.cu"
)
SECTION = "without headers"
_FLAW = re.compile(r"//\s*expect:\s*(GPU\d{3})")
_MINOR = frozenset({"GPU002", "GPU403", "GPU506"})
"""Of what was not read, and of habits: no flaws of these programs."""
HEAD = ["library", "flaws", "found without headers", "found with them", "neither expected"]

PROGRAMS = {
    "googletest": _IN_TESTS,
    **{one.stem: one for one in (Path(__file__).parent / "programs").iterdir()},
}
"""By library."""

Flaws = frozenset[tuple[int, str]]
"""Rows, each with a rule."""


def flaws(program: Path) -> Flaws:
    """What is wrong with a program, by its own marks."""
    lines = enumerate(program.read_text(encoding="utf-8").splitlines(), start=1)
    return frozenset((row, match[1]) for row, line in lines for match in _FLAW.finditer(line))


def found(program: Path, folders: Sequence[str] = ()) -> Flaws:
    """What cudalint says of one, with the headers in some folders."""
    options = ["--no-cache", "--preview", *(part for one in folders for part in ("-I", one))]
    document = lint(program.parent, [program.name], 1, options)
    return frozenset(
        (one["location"]["row"], one["code"])
        for one in each_part(document)
        if one["filename"] == program.name and one["code"] not in _MINOR
    )


def rows(headers: dict[str, list[str]]) -> Iterator[list[str]]:
    """By library: how many flaws there are, and are found; and how many findings are none."""
    for library, program in sorted(PROGRAMS.items()):
        expected, without = flaws(program), found(program)
        others = without - expected
        with_headers = "not asked"
        if folders := headers.get(library):
            told = found(program, folders)
            with_headers = str(len(told & expected))
            others |= told - expected
        counts = [len(expected), len(without & expected)]
        yield [library, *map(str, counts), with_headers, str(len(others))]


def main(arguments: Sequence[str] | None = None) -> int:
    """Lint the programs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--headers", action="append", default=[], metavar="NAME=FOLDER,...")
    parser.add_argument("--write", type=Path, metavar="DOCUMENT")
    parser.add_argument("--commit", default="", help="of what was measured")
    given = parser.parse_args(arguments)
    headers = {}
    for one in given.headers:
        name, _, folders = one.partition("=")
        headers[name] = folders.split(",")
    text = f"Taken {taken(given.commit)}.\n\n{markdown([HEAD, *rows(headers)])}"
    print(text)
    if given.write is not None:
        write_section(given.write, SECTION, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
