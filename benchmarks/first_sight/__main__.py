"""``python -m benchmarks.first_sight [ROUND...]``: what an unseen repository must be expected to
give, counted over findings that were judged by reading before anything was mended.

``--again`` lints the same repositories with the linter as it is now and shows which of the judged
findings it still tells: true ones should stay, false ones go. That says nothing of code which
nobody has tuned for; only a new round does. Repositories lie in ``--repositories DIR`` as
``DIR/OWNER+NAME``; one that does not exist is fetched.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks import common
from benchmarks.documents import markdown, write_section
from benchmarks.first_sight.judged import (
    VERDICTS,
    Judged,
    by_round,
    by_rule,
    judged_text,
    load,
    number_of,
)
from benchmarks.linted import each_part, lint
from benchmarks.repositories import RepositoryError, is_source, obtain, write_files

ROUNDS = Path(__file__).parent
JUDGED = Path(__file__).parents[2] / "cudalint" / "findings" / "judged.toml"
_REPOSITORIES = Path(".cudalint_cache/repositories")


def told_again(
    repository: str, commit: str, findings: Sequence[Judged], repositories: Path
) -> list[Judged]:
    """Those of one repository's findings that the linter still tells, on the same line by the same
    rule."""
    place = repositories / repository.replace("/", "+")
    with tempfile.TemporaryDirectory(prefix="cudalint-first-sight-") as folder:
        obtain(place, f"https://github.com/{repository}", commit)
        write_files(place, commit, Path(folder), is_source)
        document = lint(Path(folder), ["."], 1, ["--preview", "--no-cache"])
    told = {
        (one["filename"], one["location"]["row"], one["code"])
        for one in each_part(document)
        if one["severity"] != "info"
    }
    return [one for one in findings if (one.file, one.line, one.code) in told]


def again(findings: Sequence[Judged], repositories: Path, workers: int) -> Iterator[list[str]]:
    """Rows by language: how many of each verdict are still told."""
    groups: dict[tuple[str, str], list[Judged]] = defaultdict(list)
    for finding in findings:
        groups[finding.repository, finding.commit].append(finding)
    counter = common.Counter("repositories", len(groups))

    def one(group: tuple[tuple[str, str], list[Judged]]) -> tuple[list[Judged], list[Judged]]:
        (repository, commit), judged = group
        try:
            return judged, told_again(repository, commit, judged, repositories)
        except (RepositoryError, OSError) as error:
            print(f"{repository}: not run: {error}".splitlines()[0], file=sys.stderr)
            return [], []
        finally:
            counter.step()

    with ThreadPoolExecutor(workers) as pool:
        results = list(pool.map(one, groups.items()))
    measured = [finding for judged, _ in results for finding in judged]
    told = {id(finding) for _, still in results for finding in still}
    yield ["still told", *VERDICTS]
    for language in ("C++", "Python"):
        row = [language]
        for verdict in VERDICTS:
            mine = [f for f in measured if (f.language, f.verdict) == (language, verdict)]
            row.append(f"{sum(id(finding) in told for finding in mine)}/{len(mine)}")
        yield row


def main(arguments: Sequence[str] | None = None) -> int:
    """Count and print."""
    recorded = sorted((path.stem for path in ROUNDS.glob("*.toml")), key=number_of)
    parser = argparse.ArgumentParser("python -m benchmarks.first_sight", description=__doc__)
    parser.add_argument("rounds", nargs="*", metavar="ROUND", help=f"of {', '.join(recorded)}")
    parser.add_argument("--again", action="store_true", help="lint the repositories again")
    parser.add_argument("--repositories", type=Path, default=_REPOSITORIES, metavar="DIR")
    parser.add_argument("--workers", type=int, default=2, help="repositories at a time")
    parser.add_argument(
        "--write-judged", action="store_true", help="what the rules' pages and the report say of it"
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="tables, into this document")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.rounds) - set(recorded))
    if unknown:
        parser.error(f"no such round: {', '.join(unknown)}")
    rounds = {name: load(ROUNDS / f"{name}.toml") for name in options.rounds or recorded}
    findings = [finding for one in rounds.values() for finding in one.findings]
    tables = {
        "first sight by round": list(by_round(rounds)),
        "first sight by rule": list(by_rule(findings)),
    }
    if options.write_judged:
        JUDGED.write_text(judged_text(rounds), encoding="utf-8")
    for name, rows in tables.items():
        print("\n".join(common.table(rows)), end="\n\n")
        if options.write:
            write_section(options.write, name, markdown(rows))
    if options.again:
        rows = list(again(findings, options.repositories, options.workers))
        print("\n".join(common.table(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
