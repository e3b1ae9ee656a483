"""``python -m benchmarks.recall cuda|python``: confirmed bugs of public repositories, found or not.

Each case is linted at the commit that has the bug: a finding of a fitting rule on its lines, one
line off at most, or with a step there, counts. At the commit that has it mended nothing of the kind
may be said of the same line. Repositories lie in ``--repositories DIR`` as ``DIR/OWNER+NAME``; one
that does not exist is fetched.
"""

from __future__ import annotations

import argparse
import difflib
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import common
from benchmarks.documents import markdown, taken, write_section
from benchmarks.linted import lint
from benchmarks.recall.cases import Case, load
from benchmarks.repositories import RepositoryError, obtain, write_files

CASES = Path(__file__).parent
_REPOSITORIES = Path(".cudalint_cache/repositories")
_HEADERS = (".cuh", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc", ".tcc")
_NEAR = 1
"""Lines that a finding may be off."""


@dataclass(frozen=True)
class Result:
    """What the linter says of one case."""

    case: Case
    codes: tuple[str, ...] = ()
    """Rules that find it."""
    is_default: bool = False
    """Found without ``--preview``."""
    is_accused: bool = False
    """The same is said where it is mended."""
    trouble: str = ""
    """Why it could not be measured."""

    @property
    def verdict(self) -> str:
        """In a word or two."""
        if self.trouble:
            return self.trouble
        if not self.codes:
            return f"beyond: {self.case.beyond}" if self.case.beyond else "missed"
        found = f"found by {', '.join(self.codes)}"
        found += "" if self.is_default else ", preview only"
        return found + (", and accused after its mend" if self.is_accused else "")


def _lint(case: Case, commit: str, path: str, place: Path, target: Path) -> list[dict[str, Any]]:
    named = {path, *case.others}
    python = path.endswith(".py")
    write_files(
        place,
        commit,
        target,
        lambda name: name in named or (not python and name.endswith(_HEADERS)),
    )
    if not (target / path).exists():
        raise RepositoryError(f"{path} is not there")
    paths = sorted(name for name in named if (target / name).exists())
    found: list[dict[str, Any]] = lint(target, paths, 1, ["--preview", "--no-cache"])["findings"]
    return found


def _rows(finding: dict[str, Any], path: str) -> set[int]:
    told = [finding, *finding["steps"]]
    return {one["location"]["row"] for one in told if one["filename"] == path}


def measure(case: Case, codes: tuple[str, ...], repositories: Path) -> Result:
    """Lint a case before and after its mend."""
    on_request = common.preview_rules()
    place = repositories / case.repository.replace("/", "+")
    address = f"https://github.com/{case.repository}"
    try:
        with tempfile.TemporaryDirectory(prefix="cudalint-recall-") as scratch:
            bad, good = Path(scratch, "bad"), Path(scratch, "good")
            obtain(place, address, case.bad)
            findings = _lint(case, case.bad, case.path, place, bad)
            near = {
                line + off for line in (*case.lines, *case.also) for off in range(-_NEAR, _NEAR + 1)
            }
            hits = [
                one
                for one in findings
                if one["code"].startswith(codes) and _rows(one, case.path) & near
            ]
            accused = False
            if hits and case.good:
                obtain(place, address, case.good)
                after = _lint(case, case.good, case.good_path, place, good)
                same = _moved(case, bad / case.path, good / case.good_path)
                accused = any(
                    one["code"].startswith(codes)
                    and one["filename"] == case.good_path
                    and one["location"]["row"] in same
                    for one in after
                )
    except (RepositoryError, subprocess.SubprocessError, OSError) as error:
        return Result(case, trouble=f"not run: {error}".splitlines()[0][:200])
    return Result(
        case,
        tuple(sorted({one["code"] for one in hits})),
        any(one["confidence"] != "low" and one["code"] not in on_request for one in hits),
        accused,
    )


def _moved(case: Case, before: Path, after: Path) -> set[int]:
    """Where the lines of the bug stand after its mend."""
    old, new = (path.read_text(errors="replace").splitlines() for path in (before, after))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    moved = {
        block.a + row + 1: block.b + row + 1
        for block in matcher.get_matching_blocks()
        for row in range(block.size)
    }
    return {moved[line] for line in case.lines if line in moved}


_HEAD = ["category", "in scope", "found", "by default", "accused after the mend"]


def tabulate(results: Sequence[Result]) -> Iterator[list[str]]:
    """Rows by category, and their sum; cases that are beyond the linter or could not be run do not
    count."""
    yield _HEAD
    by_category: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        if not result.trouble and not result.case.beyond:
            by_category[result.case.category].append(result)
    counted = [one for found in by_category.values() for one in found]
    for name, found in [*sorted(by_category.items()), ("all", counted)]:
        yield [
            name,
            str(len(found)),
            str(sum(bool(one.codes) for one in found)),
            str(sum(bool(one.codes) and one.is_default for one in found)),
            str(sum(one.is_accused for one in found)),
        ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser("python -m benchmarks.recall", description=__doc__)
    parser.add_argument("language", choices=sorted(path.stem for path in CASES.glob("*.toml")))
    parser.add_argument("--repositories", type=Path, default=_REPOSITORIES, metavar="DIR")
    parser.add_argument("--only", nargs="+", metavar="CASE", help="names of cases")
    parser.add_argument("--workers", type=int, default=2, help="cases at a time")
    parser.add_argument("--cases", type=Path, metavar="FILE", help="other cases than the recorded")
    parser.add_argument("--write", type=Path, metavar="FILE", help="the table, into this document")
    options = parser.parse_args(arguments)
    loaded = load(options.cases or CASES / f"{options.language}.toml")
    chosen = [case for case in loaded.cases if not options.only or case.name in options.only]
    counter = common.Counter("recall", len(chosen))

    def one(case: Case) -> Result:
        result = measure(case, loaded.categories[case.category], options.repositories)
        counter.step()
        return result

    with ThreadPoolExecutor(options.workers) as pool:
        results = list(pool.map(one, chosen))
    for result in results:
        print(f"{result.case.name}: {result.case.category}: {result.verdict}")
    rows = list(tabulate(results))
    print("\n".join(common.table(rows)))
    if options.write:
        said = f"Taken on {taken()}."
        write_section(options.write, f"recall {options.language}", f"{markdown(rows)}\n\n{said}")
    return 2 if all(result.trouble for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
