"""``python -m benchmarks.server [PATH...]``: what the language server takes from a change to its
diagnostics, on the largest fixture, on 5,000 lines of our own and on files that are given; then
random edits of the fixture and of those files, with what it shows compared to what a fresh run
finds in the same text."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import common
from benchmarks.documents import markdown, taken, write_section
from benchmarks.server.client import Editor
from benchmarks.server.measuring import at, latency, storm
from benchmarks.server.texts import program

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
OWN = "our own"
_LINES = 5000
_DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "editors.md"


def largest_fixture() -> Path:
    """The CUDA fixture with the most bytes."""
    return max(FIXTURES.rglob("*.cu"), key=lambda path: path.stat().st_size)


def _subjects(folder: Path, given: Sequence[Path]) -> Iterator[tuple[str, Path, str]]:
    fixture = largest_fixture()
    text = fixture.read_text(encoding="utf-8")
    yield fixture.name, folder / fixture.name, text
    yield OWN, folder / "long.cu", program(_LINES)
    for path in given:
        # Where it stands, so that its headers are found.
        yield path.name, path.absolute(), path.read_text(encoding="utf-8", errors="replace")


def _circumstances(changes: int) -> str:
    busy = os.getloadavg()[0] / (os.cpu_count() or 1)
    return (
        f"{changes} changes of each file, on {os.cpu_count()} processors, for each of which "
        f"{busy:.1f} programs were waiting. Taken on {taken()}."
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.server", description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--changes", type=int, default=40, help="for each file")
    parser.add_argument("--edits", type=int, default=10_000, help="random ones, in all")
    parser.add_argument("--every", type=int, default=50, help="how many until they are compared")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="put the table into docs/editors.md")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="cudalint-server-") as name:
        folder = Path(name)
        rows: list[Sequence[str]] = [
            ("file", "lines", "p50", "p95", "computed, p50", "computed, p95")
        ]
        for title, path, text in _subjects(folder, options.paths) if options.changes else ():
            with Editor(path.parent) as editor:
                found = latency(editor, path, text, options.changes, options.seed)
            lines = f"{len(text.splitlines()):,}"
            times = [
                f"{at(share, seconds):.2f} s"
                for seconds in (found.seconds, found.computed)
                for share in (0.5, 0.95)
            ]
            rows.append((title, lines, *times))
        print("\n".join(common.table(rows)))
        if options.write:
            write_section(
                _DOCUMENT, "latency", f"{markdown(rows)}\n\n{_circumstances(options.changes)}"
            )
        if options.edits:
            subjects = [one for one in _subjects(folder, options.paths) if one[0] != OWN]
            each = max(options.edits // len(subjects), 1)
            for title, path, text in subjects:
                started = time.monotonic()
                plan = common.plan_for([path.parent], folder / "cache")
                with Editor(path.parent) as editor:
                    compared = storm(editor, path, text, plan, each, options.every, options.seed)
                taken = time.monotonic() - started
                print(
                    f"{title}: {each:,} random edits in {taken:.0f} s, {compared} times compared: "
                    "equal"
                )


if __name__ == "__main__":
    main()
