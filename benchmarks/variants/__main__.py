"""``python -m benchmarks.variants``: three flaws through many ways for a handle to travel.

Each way is a small correct program with room for a leak, a double release and a use after release;
each flaw has a correct twin. The exit status is 1 when less than ``--least`` percent is found, or
anything is said of a twin.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from benchmarks import common
from benchmarks.variants.judging import Result, judge, write
from benchmarks.variants.programs import cases_of
from benchmarks.variants.templates import FLAWS, read_ways

_TITLES = {"leak": "leak", "double": "double release", "use": "use after release"}


def _cell(results: Sequence[Result]) -> str:
    bad = [one for one in results if one.case.bad]
    if not bad:
        return "-"
    accused = sum(one.is_accused for one in results)
    shown = f"{sum(one.is_found for one in bad)}/{len(bad)}"
    return f"{shown}, {accused} accused" if accused else shown


def table(results: Sequence[Result]) -> Iterator[str]:
    """A line for each way and resource, a column for each flaw; then the totals."""
    rows = [["found", *(_TITLES[flaw] for flaw in FLAWS)]]
    by_way: dict[str, list[Result]] = {}
    for one in results:
        kind = "" if one.case.resource == "memory" else f" ({one.case.resource})"
        by_way.setdefault(f"{one.case.way.group}: {one.case.way.name}{kind}", []).append(one)
    for name, own in [*by_way.items(), ("all", list(results))]:
        rows.append([name, *(_cell([r for r in own if r.case.flaw == flaw]) for flaw in FLAWS)])
    yield from common.table(rows)


def details(results: Sequence[Result]) -> Iterator[str]:
    """Each program that is judged wrongly."""
    for one in results:
        said = ", ".join(map(str, one.said)) or "nothing"
        if one.failed:
            yield f"not linted: {one.case.name}: {one.failed}"
        elif one.case.bad and not one.is_found:
            yield f"missed: {one.case.name}: {said}"
        elif one.is_accused:
            yield f"accused: {one.case.name}: {said}"
        elif one.beside:
            yield f"beside: {one.case.name}: {', '.join(map(str, one.beside))}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, compare with the bar."""
    parser = argparse.ArgumentParser("python -m benchmarks.variants", description=__doc__)
    parser.add_argument("--only", default="*", metavar="GLOB", help="ways, as GROUP: NAME")
    parser.add_argument("--least", type=float, default=95.0, metavar="PERCENT")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--write", type=Path, metavar="DIR", help="write the programs, lint nothing"
    )
    parser.add_argument("--quiet", action="store_true", help="the table only")
    options = parser.parse_args(arguments)
    started = time.monotonic()
    ways = [way for way in read_ways() if fnmatch(f"{way.group}: {way.name}", options.only)]
    cases = [case for way in ways for case in cases_of(way)]
    if options.write:
        for case in cases:
            write(case, options.write / case.name)
        return 0
    with tempfile.TemporaryDirectory(prefix="cudalint-variants-") as scratch:
        results = judge(cases, Path(scratch), options.workers)
    for line in table(results):
        print(line)
    if not options.quiet:
        print()
        for line in details(results):
            print(line)
    bad = [one for one in results if one.case.bad]
    found, accused = sum(one.is_found for one in bad), sum(one.is_accused for one in results)
    share = 100 * found / len(bad) if bad else 0.0
    print(
        f"\n{len(ways)} ways, {len(results)} programs: {found} of {len(bad)} found "
        f"({share:.1f} %), {accused} of {len(results) - len(bad)} twins accused, "
        f"{time.monotonic() - started:.0f} s"
    )
    failed = any(one.failed for one in results)
    return 1 if failed or accused or share < options.least else 0


if __name__ == "__main__":
    sys.exit(main())
