"""``python -m benchmarks.robustness``: lint damaged files; nothing may crash, hang or get lost.

Each file must be linted or named with a reason, within the time limit of one file, and the run
goes on. A crash of libclang is survived and counted; an error of our own is a failure.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import common
from benchmarks.robustness.damage import damaged
from benchmarks.robustness.notebooks import notebook_of
from cudalint.executor import Bounds
from cudalint.linter import lint
from cudalint.plan import Plan
from cudalint.project.files import discover
from cudalint.reports.formats import FORMATS, render
from cudalint.reports.report import Report
from cudalint.reports.style import Style
from cudalint.selection import EMPTY

LANGUAGES = ("cuda", "python", "notebook")
SUFFIXES = {"cuda": ".cu", "python": ".py", "notebook": ".ipynb"}
_BATCH = 100
_NUMBERS = re.compile(r"\d+(\.\d+)?")


@dataclass
class Outcome:
    """What became of the files of one language."""

    files: int = 0
    linted: int = 0
    named: Counter[str] = field(default_factory=Counter)
    """Reasons for which files were not linted, without their numbers."""
    without_cuda: int = 0
    """Python files that mention CUDA no more: not for us."""
    examples: dict[str, str] = field(default_factory=dict)
    """Reason to a file that gave it."""
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0
    slowest: float = 0.0
    """The longest batch."""


def check(
    language: str,
    programs: Sequence[bytes],
    folder: Path,
    *,
    count: int,
    seed: int = 0,
    first: int = 0,
    workers: int = 2,
    time_limit: float = 20.0,
) -> Outcome:
    """Damage files and lint them, a batch at a time."""
    outcome = Outcome()
    cache = folder / "cache"
    for start in range(first, first + count, _BATCH):
        batch = folder / f"{language}-{start}"
        batch.mkdir()
        kinds: dict[str, str] = {}
        for number in range(start, min(start + _BATCH, first + count)):
            path = batch / f"damaged_{number}{SUFFIXES[language]}"
            kinds[str(path)], data = damaged(number, seed, language, programs)
            path.write_bytes(data)
        plan = _plan(batch, cache, workers, time_limit)
        started = time.monotonic()
        report = _lint(batch, plan, outcome)
        seconds = time.monotonic() - started
        outcome.seconds += seconds
        outcome.slowest = max(outcome.slowest, seconds)
        if report is not None:
            _account(report, kinds, outcome)
        _progress(language, outcome, count)
        for path in batch.iterdir():
            path.unlink()
    return outcome


def _plan(batch: Path, cache: Path, workers: int, time_limit: float) -> Plan:
    plan = common.plan_for([batch], cache, workers)
    return dataclasses.replace(plan, bounds=Bounds(time_limit, plan.bounds.memory))


def _lint(batch: Path, plan: Plan, outcome: Outcome) -> Report | None:
    found = discover([batch], plan.settings, plan.root)
    try:
        report = lint(found.files, plan)
        for kind in FORMATS:
            render(kind, report, Style()).encode("utf-8", "backslashreplace")
    except Exception:
        outcome.failures.append(f"{batch.name}: {traceback.format_exc()}")
        return None
    return report


def _account(report: Report, kinds: dict[str, str], outcome: Outcome) -> None:
    """Every file of the batch must be somewhere in the report."""
    outcome.files += len(kinds)
    linted = {str(Path(name).absolute()) for name in report.sources}
    errors = {str(Path(error.filename).absolute()): error.message for error in report.errors}
    # What its damage has left empty is no error.
    empty = {str(Path(one.filename).absolute()) for one in report.fates if one.reason == EMPTY}
    errors |= dict.fromkeys(empty - linted - errors.keys(), EMPTY)
    for name, kind in kinds.items():
        shown = f"{Path(name).name} ({kind})"
        if name in errors:
            message = errors[name]
            reason = _NUMBERS.sub("N", message)
            outcome.named[reason] += 1
            outcome.examples.setdefault(reason, shown)
            if "internal error" in message:
                outcome.failures.append(f"{shown}: {message}")
        elif name in linted:
            outcome.linted += 1
        elif not name.endswith(".cu") and not _is_for_us(Path(name)):
            outcome.without_cuda += 1
        else:
            outcome.failures.append(f"{shown}: neither linted nor named")
    for finding in report.findings:
        if "internal error" in finding.message:
            name = str(Path(finding.filename).absolute())
            outcome.failures.append(f"{Path(name).name} ({kinds.get(name)}): {finding.message}")


def _is_for_us(path: Path) -> bool:
    """Whether a Python file, or the cells of a notebook, mention CUDA."""
    from cudalint.frontends.python.notebooks import read_notebook
    from cudalint.frontends.python.prefilter import mentions_cuda
    from cudalint.project.reading import UnreadableError

    data = path.read_bytes()
    if not mentions_cuda(data) or path.suffix == ".py":
        return mentions_cuda(data)
    try:
        return mentions_cuda(read_notebook(str(path), data).source.text.encode())
    except UnreadableError:
        return True


def _progress(language: str, outcome: Outcome, count: int) -> None:
    if sys.stderr.isatty():
        end = "\n" if outcome.files >= count else ""
        print(f"\r{language}: {outcome.files}/{count}", end=end, file=sys.stderr, flush=True)


def seeds(paths: Sequence[Path], language: str) -> list[bytes]:
    """The programs to damage."""
    plan = common.plan_for(paths, None)
    programs = common.read_programs(paths, plan)
    wanted = "cuda" if language == "cuda" else "python"
    written = [one for one in programs if one.file.language == wanted]
    plain = [one.data for one in written if one.file.path.suffix != SUFFIXES["notebook"]]
    if language != "notebook":
        return plain
    own = [one.file.path.read_bytes() for one in written if one.file.path.suffix == ".ipynb"]
    return [*own, *map(notebook_of, plain)]


def report_of(language: str, outcome: Outcome, time_limit: float) -> str:
    """What happened, in lines."""
    lines = [
        f"{language}: {outcome.files} damaged files in {outcome.seconds:.0f} s, "
        f"{outcome.linted} linted, {sum(outcome.named.values())} named, "
        f"{outcome.without_cuda} without CUDA, {len(outcome.failures)} failures "
        f"(limit for one file: {time_limit:g} s)"
    ]
    for reason, count in outcome.named.most_common():
        lines.append(f"  {count:5} {reason} (such as {outcome.examples[reason]})")
    lines += [f"  FAILED {failure}" for failure in outcome.failures]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Damage, lint, count."""
    parser = argparse.ArgumentParser("python -m benchmarks.robustness", description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="what to damage")
    parser.add_argument("--count", type=int, default=2000, help="files in each language")
    parser.add_argument("--language", choices=LANGUAGES, action="append")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--first", type=int, default=0, metavar="NUMBER", help="begin with this one"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--time-limit", type=float, default=20.0, metavar="SECONDS")
    parser.add_argument(
        "--write", type=Path, metavar="DIR", help="write the files there, lint none"
    )
    options = parser.parse_args(arguments)
    paths = options.paths or [Path("fixtures")]
    failed = False
    for language in options.language or LANGUAGES:
        programs = seeds(paths, language)
        if not programs:
            parser.error(f"no {language} programs in {', '.join(map(str, paths))}")
        if options.write is not None:
            options.write.mkdir(parents=True, exist_ok=True)
            for number in range(options.first, options.first + options.count):
                _, data = damaged(number, options.seed, language, programs)
                (options.write / f"damaged_{number}{SUFFIXES[language]}").write_bytes(data)
            continue
        with tempfile.TemporaryDirectory(prefix="cudalint-robustness-") as folder:
            outcome = check(
                language,
                programs,
                Path(folder),
                count=options.count,
                seed=options.seed,
                first=options.first,
                workers=options.workers,
                time_limit=options.time_limit,
            )
        print(report_of(language, outcome, options.time_limit), flush=True)
        failed = failed or bool(outcome.failures)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
