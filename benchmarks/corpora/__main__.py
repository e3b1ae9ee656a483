"""``python -m benchmarks.corpora [NAME...]``: lint the recorded repositories again.

Each ``benchmarks/corpora/NAME.toml`` names a repository, a commit, and the findings there with a
verdict. Shown is what changed, and the share of false findings among warnings and errors. The exit
status is 1 where a warning or error has no verdict, or where too many are false.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from fnmatch import fnmatch
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

FACTS = Path(__file__).parent
CHECKOUTS = Path(".cudalint_cache/corpora")


class CheckoutError(Exception):
    """A repository that cannot be had at its commit, or cannot be linted."""


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise CheckoutError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout.strip()


SOURCES = (
    "*.cu", "*.cuh", "*.c", "*.cc", "*.cpp", "*.cxx", "*.h", "*.hpp", "*.inl",
    "*.py", "*.ipynb", "*.toml",
)  # fmt: skip
"""What of a repository can matter; a partial clone may lack its large binary files."""


def checkout(name: str, corpus: Corpus, folder: Path, scratch: Path) -> Path:
    """The repository's files at its commit.

    A checkout that is not at the commit, or not clean, is left alone: its files come from git's
    archive. One that does not exist is fetched.
    """
    place = folder / name
    if not place.exists():
        place.mkdir(parents=True)
        try:
            _git(place, "init", "--quiet")
            _git(place, "fetch", "--quiet", "--depth=1", corpus.repository, corpus.commit)
            _git(place, "checkout", "--quiet", "--detach", "FETCH_HEAD")
        except CheckoutError:
            shutil.rmtree(place)
            raise
    clean = not _git(place, "status", "--porcelain", "--", *SOURCES)
    if clean and _git(place, "rev-parse", "HEAD") == corpus.commit:
        return place
    archive = scratch / f"{name}.tar"
    listed = _git(place, "ls-tree", "-r", "--name-only", corpus.commit).splitlines()
    wanted = [name for name in listed if any(fnmatch(name, pattern) for pattern in SOURCES)]
    _git(place, "archive", "--output", str(archive.absolute()), corpus.commit, "--", *wanted)
    copy = scratch / name
    with tarfile.open(archive) as packed:
        packed.extractall(copy, filter="data")
    archive.unlink()
    return copy


def lint(root: Path, corpus: Corpus, cache: Path, workers: int) -> tuple[list[Fact], list[str]]:
    """What the linter finds now, and what it could not read."""
    report = cache.with_name(f"{cache.name}.json")
    command = [sys.executable, "-m", "cudalint", "check", "--isolated", "--quiet"]
    command += ["--output-format", "json", "--output-file", str(report.absolute())]
    command += ["--cache-dir", str(cache.absolute()), "--jobs", str(workers)]
    # What the repository has lies in the open, whatever its own ignore files say:
    command += ["--no-respect-gitignore", *corpus.options, *corpus.paths]
    environment = {**os.environ, "PYTHONPATH": str(FACTS.parent.parent)}
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, env=environment)
    if not report.exists():
        raise CheckoutError(f"cudalint ended with {done.returncode}: {done.stderr.strip()}")
    document = json.loads(report.read_text(encoding="utf-8"))
    report.unlink()
    found = [
        Fact(
            file=finding["filename"],
            line=finding["location"]["row"],
            code=finding["code"],
            severity=finding["severity"],
            function=finding["function"] or "",
            message=finding["message"],
        )
        for finding in document["findings"]
        if not finding["suppressed"]
    ]
    errors = [f"{error['filename']}: {error['message']}" for error in document["errors"]]
    # What it would have found there is not gone:
    broken = [error for error in errors if "internal error" in error]
    if broken:
        raise CheckoutError(f"cudalint failed on {len(broken)} files, such as {broken[0]}")
    return found, errors


def _check(name: str, options: argparse.Namespace, scratch: Path) -> tuple[Comparison, list[str]]:
    path = options.facts / f"{name}.toml"
    corpus = load(path)
    root = checkout(name, corpus, options.checkout, scratch)
    cache = (options.cache_dir or scratch) / f"cache-{name}"
    cache.parent.mkdir(parents=True, exist_ok=True)
    found, errors = lint(root, corpus, cache, options.workers)
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
            except (CheckoutError, FactsError) as error:
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
