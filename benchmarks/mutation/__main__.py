"""``python -m benchmarks.mutation PATH...``: the mutation score of some programs."""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

import msgspec

from benchmarks import common
from benchmarks.documents import markdown, taken, write_section
from benchmarks.mutation.judge import MutatedRelease, PreparedUnit, UnitJob, judge, prepare
from benchmarks.mutation.model import (
    ACCEPTED,
    BY_TEXT,
    FOUND_BY,
    FRAMEWORK_KINDS,
    GROUPS,
    KINDS,
    Job,
    Mutant,
    Release,
    Verdict,
)
from cudalint import jobs
from cudalint.executor import Bounds, Executor
from cudalint.grouping.groups import groups_of
from cudalint.lowering import Preparer
from cudalint.plan import Plan
from cudalint.project.cache import HEADER_CACHE
from cudalint.selection import ReadFile

_SECONDS = 120.0


@dataclass(frozen=True)
class Judged:
    """A mutant and what became of it."""

    release: Release
    kind: str
    verdict: Verdict


@dataclass
class Score:
    """The result of a run."""

    judged: list[Judged] = field(default_factory=list)
    units: int = 0
    clean: int = 0
    loud: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Mutants that are not judged: kind and reason."""
    seconds: float = 0.0

    def rate(self, language: str = "", *kinds: str) -> tuple[int, int]:
        """Mutants killed, and all; of some kinds."""
        chosen = [
            one
            for one in self.judged
            if language in ("", one.release.language) and (not kinds or one.kind in kinds)
        ]
        return sum(one.verdict.killed for one in chosen), len(chosen)

    @property
    def percent(self) -> float:
        """The share of mutants killed."""
        killed, total = self.rate()
        return 100 * killed / total if total else 0.0


Unit = list[tuple[jobs.LoweringJob, jobs.Lowered]]
"""The files that the linter analyses together."""


def measure(
    paths: Sequence[Path],
    *,
    kinds: Sequence[str] = KINDS,
    workers: int = 2,
    cache: Path | None = None,
    at_most: int | None = None,
    sample: int | None = None,
    only: str = "*",
) -> Score:
    """Mutate the programs below some paths that have no findings, and lint the mutants.

    ``sample`` is how many of the programs are read, ``at_most`` how many mutants are judged.
    """
    started = time.monotonic()
    plan = common.plan_for(paths, cache, workers, preview=True)
    score = Score()
    programs = common.read_programs(paths, plan)
    if sample is not None:
        programs = _sampled(programs, sample)
    units = [
        unit
        for unit in _lower(programs, plan, workers, score)
        if any(fnmatch(order.filename, only) for order, _ in unit)
    ]
    score.units = len(units)
    texts = {one.file.filename: one.source.text for one in programs}
    work: list[Job] = []
    for unit, prepared, mutated in _chosen(_prepare(units, texts, plan, workers, kinds, score)):
        _refuse(mutated, kinds, score)
        work += [
            _job(unit, prepared, mutated.release, mutant)
            for mutant in mutated.mutants
            if mutant.kind in kinds and _is_judged(mutated.release)
        ]
    if at_most is not None:
        work = sorted(work, key=_rank)[:at_most]
    _judge(work, workers, score)
    score.judged.sort(key=lambda one: (one.release.filename, one.release.span, one.kind))
    score.seconds = time.monotonic() - started
    return score


def _sampled(programs: Sequence[ReadFile], count: int) -> list[ReadFile]:
    """Some programs, always the same: files of one folder of a fixture's stay together."""

    def whole(file: ReadFile) -> Path:
        parents = [file.file.path, *file.file.path.parents]
        return next((one for one in parents if one.name.startswith(("bad_", "good_"))), parents[1])

    def rank(name: Path) -> bytes:
        return hashlib.sha256(f"{name.parent.name}/{name.name}".encode()).digest()

    wanted = set(sorted({whole(one) for one in programs}, key=rank)[:count])
    return [one for one in programs if whole(one) in wanted]


def _rank(job: Job) -> bytes:
    """Where a mutant stands in an order that is always the same, whatever others there are."""
    release = job.release
    name = f"{Path(release.filename).name}:{release.span.row}:{release.span.column}:{job.kind}"
    return hashlib.sha256(name.encode()).digest()


def _lower(programs: Sequence[ReadFile], plan: Plan, workers: int, score: Score) -> list[Unit]:
    folder = plan.cache_folder / HEADER_CACHE if plan.cache_folder else None
    preparer = Preparer(plan, folder)
    orders = [preparer.prepare(one.file, one.data, one.source).job for one in programs]
    jobs.preload({order.language for order in orders})
    payloads = [msgspec.msgpack.encode(order) for order in orders]
    lowered: dict[str, tuple[jobs.LoweringJob, jobs.Lowered]] = {}
    counter = common.Counter("files", len(payloads))
    with Executor(jobs.lower, workers=workers, bounds=Bounds(_SECONDS)) as executor:
        for number, outcome in executor.run(payloads):
            counter.step()
            order = orders[number]
            if outcome.result is None:
                score.failures.append(f"{order.filename}: {outcome.failure}")
                continue
            result = msgspec.msgpack.decode(outcome.result, type=jobs.Lowered)
            lowered[order.filename] = order, result
    groups = groups_of({name: one.links for name, (_, one) in lowered.items()})
    return [[lowered[name] for name in group] for group in groups]


def _prepare(
    units: Sequence[Unit],
    texts: Mapping[str, str],
    plan: Plan,
    workers: int,
    kinds: Sequence[str],
    score: Score,
) -> list[tuple[Unit, PreparedUnit]]:
    rules = [rule.code for rule in plan.rules]

    def order_of(unit: Unit) -> UnitJob:
        names = {order.filename for order, _ in unit}
        names.update(name for _, lowered in unit for name in lowered.includes if name in texts)
        own = {name: texts[name] for name in sorted(names)}
        return UnitJob(
            own, [lowered.program for _, lowered in unit], rules, plan.limits, tuple(kinds)
        )

    payloads = [msgspec.msgpack.encode(order_of(unit)) for unit in units]
    found: list[tuple[Unit, PreparedUnit]] = []
    counter = common.Counter("programs", len(payloads))
    with Executor(prepare, workers=workers, bounds=Bounds(_SECONDS)) as executor:
        for number, outcome in executor.run(payloads):
            counter.step()
            if outcome.result is None:
                first = units[number][0][0].filename
                score.failures.append(f"{first}: {outcome.failure}")
                continue
            prepared = msgspec.msgpack.decode(outcome.result, type=PreparedUnit)
            if prepared.findings:
                score.loud += prepared.findings
            else:
                score.clean += 1
                found.append((units[number], prepared))
    return found


def _chosen(
    prepared: Sequence[tuple[Unit, PreparedUnit]],
) -> list[tuple[Unit, PreparedUnit, MutatedRelease]]:
    """Each release once: a header's in the smallest unit that tells best what it releases."""
    best: dict[object, tuple[int, int, Unit, PreparedUnit, MutatedRelease]] = {}
    for unit, one in prepared:
        for mutated in one.releases:
            release = mutated.release
            is_sure = release.found_by != BY_TEXT and release.targets
            rank = FOUND_BY.index(release.found_by) if is_sure else len(FOUND_BY)
            place = (release.filename, release.span, release.found_by == BY_TEXT and release.api)
            known = best.get(place)
            if known is None or (rank, len(unit)) < known[:2]:
                best[place] = (rank, len(unit), unit, one, mutated)
    return [(unit, one, mutated) for _, _, unit, one, mutated in best.values()]


def _is_judged(release: Release) -> bool:
    return release.found_by == BY_TEXT or bool(release.targets)


def _refuse(mutated: MutatedRelease, kinds: Sequence[str], score: Score) -> None:
    by_text = mutated.release.found_by == BY_TEXT
    for kind in [one for one in kinds if (one in FRAMEWORK_KINDS) == by_text]:
        if not _is_judged(mutated.release):
            score.refused[kind, "nothing in sight acquires what it releases"] += 1
        elif kind in mutated.refused:
            score.refused[kind, mutated.refused[kind]] += 1


def _job(unit: Unit, prepared: PreparedUnit, release: Release, mutant: Mutant) -> Job:
    """The mutated file is lowered anew, and so are the files that include it."""
    others: list[bytes] = []
    lowering: list[bytes] = []
    changed = str(Path(release.filename).absolute())
    for order, lowered in unit:
        if order.filename == release.filename:
            new = msgspec.structs.replace(order, text=mutant.text)
        elif release.filename in lowered.includes:
            parse = {**order.parse, "unsaved": [[changed, mutant.text]]}
            new = msgspec.structs.replace(order, parse=parse)
        else:
            others.append(lowered.program)
            continue
        lowering.append(msgspec.msgpack.encode(new))
    return Job(
        others, lowering, prepared.baseline, release, mutant.kind, mutant.row, mutant.added_rows
    )


def _judge(work: Sequence[Job], workers: int, score: Score) -> None:
    payloads = [msgspec.msgpack.encode(job) for job in work]
    counter = common.Counter("mutants", len(payloads))
    with Executor(judge, workers=workers, bounds=Bounds(_SECONDS)) as executor:
        for number, outcome in executor.run(payloads):
            counter.step()
            if outcome.result is None:
                verdict = Verdict(False, outcome.failure)
            else:
                verdict = msgspec.msgpack.decode(outcome.result, type=Verdict)
            score.judged.append(Judged(work[number].release, work[number].kind, verdict))


# Output -----------------------------------------------------------------------------------------


def report(score: Score, *, everything: bool = False) -> str:
    """The score, then what survived."""
    lines = [
        f"{score.units} programs, {score.clean} of them without findings, "
        f"{len({(one.release.filename, one.release.span) for one in score.judged})} releases, "
        f"{len(score.judged)} mutants, {score.seconds:.0f} s",
        "",
    ]
    for rows in _tables(score):
        lines += common.table(rows)
    asked = sum(one.verdict.preview for one in score.judged)
    if asked:
        lines += ["", f"{asked} of those killed are told with `--preview` only."]
    if score.refused:
        lines += ["", "Not counted:"]
        lines += [
            f"  {count:4} {kind}: {reason}"
            for (kind, reason), count in sorted(score.refused.items())
        ]
    survivors = [one for one in score.judged if not one.verdict.killed]
    if survivors:
        lines += ["", f"{len(survivors)} survivors:"]
        lines += [_line(one) for one in survivors]
    if everything:
        lines += ["", "Killed:", *(_line(one) for one in score.judged if one.verdict.killed)]
    if score.failures:
        lines += ["", "Could not be read:", *(f"  {failure}" for failure in score.failures)]
    if score.loud and everything:
        lines += ["", "Not mutated, for these findings:", *(f"  {one}" for one in score.loud)]
    return "\n".join(lines)


def _tables(score: Score) -> Iterator[list[list[str]]]:
    """The rates by language and kind, for each group of kinds that there are mutants of."""
    languages = sorted({one.release.language for one in score.judged})
    for group in GROUPS.values():
        rows = [["killed", *group, "all"]]
        for language in languages if len(languages) == 1 else [*languages, ""]:
            if any(score.rate(language, kind)[1] for kind in group):
                cells = [_rate(*score.rate(language, kind)) for kind in group]
                rows.append([language or "all", *cells, _rate(*score.rate(language, *group))])
        if len(rows) > 1:
            yield rows


def section(score: Score, commit: str) -> str:
    """What a document shows of a run."""
    asked = sum(one.verdict.preview for one in score.judged)
    said = (
        f"Taken on {taken(commit)}, of {score.units} programs, {score.clean} of them without "
        f"findings; {asked} of those killed are told with `--preview` only."
    )
    return "\n\n".join([*map(markdown, _tables(score)), said])


def _rate(killed: int, total: int) -> str:
    return f"{killed}/{total} {100 * killed / total:.1f} %" if total else "-"


def _line(one: Judged) -> str:
    release = one.release
    if release.found_by == BY_TEXT:
        return (
            f"  {release.filename}:{release.span.row}: {one.kind}: `{release.handle}` in "
            f"{release.function}: {one.verdict.why}"
        )
    targets = ", ".join(f"`{target.name}` of line {target.row}" for target in release.targets[:4])
    return (
        f"  {release.filename}:{release.span.row}: {one.kind}: {release.api}({release.handle}) in "
        f"{release.function}, of {targets} (by {release.found_by}): {one.verdict.why}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, compare with the bar."""
    epilog = "accepted findings: " + "; ".join(
        f"{kind}: {', '.join(codes)}" for kind, codes in ACCEPTED.items()
    )
    parser = argparse.ArgumentParser("python -m benchmarks.mutation", __doc__, epilog=epilog)
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument(
        "--kind",
        action="append",
        choices=(*GROUPS, *KINDS, *FRAMEWORK_KINDS),
        help="only these mutants, or a group of them (by default: releases)",
    )
    parser.add_argument("--only", default="*", metavar="GLOB", help="programs with such a file")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--sample", type=int, metavar="N", help="N programs, always the same")
    parser.add_argument("--at-most", type=int, metavar="N", help="judge N of them, always the same")
    parser.add_argument("--cache-dir", type=Path, help="keep precompiled headers there")
    parser.add_argument("--fail-under", type=float, default=0.0, metavar="PERCENT")
    parser.add_argument("--all", action="store_true", help="list the killed mutants too")
    parser.add_argument("--write", type=Path, metavar="FILE", help="the table, into this document")
    parser.add_argument("--section", default="mutants", help="of the document")
    parser.add_argument("--commit", default="", help="that is measured, where git cannot say")
    options = parser.parse_args(arguments)
    missing = [str(path) for path in options.paths if not path.exists()]
    if missing:
        parser.error(f"no such path: {', '.join(missing)}")
    with tempfile.TemporaryDirectory(prefix="cudalint-mutation-") as scratch:
        score = measure(
            options.paths,
            kinds=[k for one in options.kind or ["releases"] for k in GROUPS.get(one, (one,))],
            workers=options.workers,
            cache=options.cache_dir or Path(scratch),
            at_most=options.at_most,
            sample=options.sample,
            only=options.only,
        )
    print(report(score, everything=options.all))
    if not score.judged:
        print("nothing was mutated", file=sys.stderr)
        return 2
    if options.write:
        write_section(options.write, options.section, section(score, options.commit))
    if score.failures:
        return 1
    if score.percent < options.fail_under:
        print(f"{score.percent:.1f} % is under {options.fail_under:g} %", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
