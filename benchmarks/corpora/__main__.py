"""``python -m benchmarks.corpora [NAME...]``: lint the recorded repositories again.

Each ``benchmarks/corpora/NAME.toml`` names a repository, a commit, and the findings there with a
verdict. Shown is what changed, and the share of false findings among warnings and errors. The exit
status is 1 where a warning or error has no verdict, or where too many are false.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks.corpora.facts import (
    Comparison,
    Corpus,
    Fact,
    FactsError,
    compare,
    describe,
    load,
    precision,
    save,
)
from benchmarks.linted import each_part, lint
from benchmarks.repositories import RepositoryError, is_source, obtain, write_files

FACTS = Path(__file__).parent
CHECKOUTS = Path(".cudalint_cache/corpora")


def checkout(name: str, corpus: Corpus, folder: Path, scratch: Path) -> Path:
    """The repository's files at its commit, as git keeps them; what lies in the open is left alone.
    A repository that does not exist is fetched."""
    place, target = folder / name, scratch / name
    obtain(place, corpus.repository, corpus.commit)
    target.mkdir()
    write_files(place, corpus.commit, target, is_source)
    return target


def found_in(root: Path, corpus: Corpus, cache: Path, workers: int) -> tuple[list[Fact], list[str]]:
    """What the linter finds now, and what it could not read."""
    options = ["--cache-dir", str(cache.absolute()), *corpus.options]
    document = lint(root, corpus.paths, workers, options)
    found = [
        Fact(
            file=finding["filename"],
            line=finding["location"]["row"],
            code=finding["code"],
            severity=finding["severity"],
            function=finding["function"] or "",
            message=finding["message"],
        )
        for finding in each_part(document)
        if not finding["suppressed"]
    ]
    return found, [f"{error['filename']}: {error['message']}" for error in document["errors"]]


def _check(name: str, options: argparse.Namespace, scratch: Path) -> tuple[Comparison, list[str]]:
    path = options.facts / f"{name}.toml"
    corpus = load(path)
    root = checkout(name, corpus, options.checkout, scratch)
    cache = (options.cache_dir or scratch) / f"cache-{name}"
    cache.parent.mkdir(parents=True, exist_ok=True)
    found, errors = found_in(root, corpus, cache, options.workers)
    comparison = compare(corpus.findings, found)
    if options.update:
        save(path, msgspec.structs.replace(corpus, findings=tuple(comparison.merged())))
    return comparison, errors


def main(arguments: Sequence[str] | None = None) -> int:
    """Lint, compare, count."""
    parser = argparse.ArgumentParser("python -m benchmarks.corpora", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="facts to check (default: all)")
    parser.add_argument(
        "--checkout", type=Path, default=CHECKOUTS, metavar="DIR", help="where DIR/NAME lie"
    )
    parser.add_argument("--facts", type=Path, default=FACTS, metavar="DIR", help="of NAME.toml")
    parser.add_argument("--update", action="store_true", help="record what changed, unjudged")
    parser.add_argument(
        "--most-false", type=float, default=5.0, metavar="PERCENT", help="the bar [default: 5]"
    )
    parser.add_argument("--cache-dir", type=Path, metavar="DIR", help="keep the linter's caches")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--errors", action="store_true", help="list what could not be read")
    options = parser.parse_args(arguments)
    names = options.names or sorted(path.stem for path in options.facts.glob("*.toml"))
    if not names:
        print("no facts are recorded", file=sys.stderr)
        return 2
    everything: list[Fact] = []
    failed = False
    for name in names:
        with tempfile.TemporaryDirectory(prefix="cudalint-corpora-") as scratch:
            try:
                comparison, errors = _check(name, options, Path(scratch))
            except (RepositoryError, FactsError) as error:
                print(f"{name}: {error}", file=sys.stderr)
                failed = True
                continue
        counts = precision(comparison.found)
        infos = sum(not fact.is_loud for fact in comparison.found)
        print(f"{name}: {counts}; {infos} infos; {len(errors)} files not read")
        print("".join(f"{line}\n" for line in describe(comparison)), end="")
        if options.errors:
            print("".join(f"  error   {error}\n" for error in errors), end="")
        everything += comparison.found
    total = precision(everything)
    if len(names) > 1:
        print(f"all: {total}")
    if failed:
        return 2
    return 1 if total.unjudged or total.percent_false >= options.most_false else 0


if __name__ == "__main__":
    sys.exit(main())
