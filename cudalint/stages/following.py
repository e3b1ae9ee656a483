"""Follows paths: the parts of a program, from the cache or by workers, and what rules find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from cudalint.findings.finding import Finding
from cudalint.plan import Plan
from cudalint.project.cache import contents_digest, digest
from cudalint.project.files import FileError
from cudalint.project.spool import Made
from cudalint.selection import ReadFile
from cudalint.stages.run import FOLLOWING, LoweredFile, Run

if TYPE_CHECKING:
    from cudalint.grouping.parts import Part
    from cudalint.jobs import AnalysisJob, AnalysisResult
    from cudalint.shards import PartResult, Shard, ShardReport

_SECONDS_PER_LINKED_FILE = 2.0
_MOST_FILES_COUNTED = 100
"""So many of them take longer than one: what following their paths may cost is bounded too."""


def followed_parts(
    lowered: Mapping[str, LoweredFile], told: set[str], run: Run, shard: Shard | None = None
) -> dict[int, PartResult]:
    """What all rules find in each part of which anything is told, or in those of a shard. Files
    that belong together are analysed together; where that fails, each alone, so that only the
    culprit is lost."""
    from cudalint.grouping.parts import Part, parts_of
    from cudalint.shards import PartResult

    parts = parts_of({name: one.links for name, one in lowered.items()})
    parts = [part for part in parts if told.intersection(part.files)]
    numbers = list(range(len(parts)))
    if shard is not None:
        sizes = [sum(lowered[name].program.size for name in part.files) for part in parts]
        numbers = shard.chosen(sizes)
    results, failed = _analyse_parts([parts[number] for number in numbers], lowered, run)
    alone = {
        number: [Part((name,)) for name in parts[numbers[number]].files]
        for number in failed
        if len(parts[numbers[number]].files) + len(parts[numbers[number]].context) > 1
    }
    singles = [part for number in alone for part in alone[number]]
    more, lost = _analyse_parts(singles, lowered, run, apart=True)
    for number, failure in failed.items():
        part = parts[numbers[number]]
        if number not in alone:
            run.errors.append(_not_analysed(part, failure))
        else:
            others = len(part.files) + len(part.context) - 1
            what = f"analysed without what belongs to it, {others} more: {failure}"
            run.notes.append(FileError(part.files[0], what))
    run.errors += [_not_analysed(singles[one], failure) for one, failure in lost.items()]
    found = {numbers[number]: PartResult(together=one) for number, one in results.items()}
    rest = iter(range(len(singles)))
    for number, of_part in alone.items():
        positions = [next(rest) for _ in of_part]
        single = [more[position] for position in positions if position in more]
        found[numbers[number]] = PartResult(alone=single)
    return dict(sorted(found.items()))


def _not_analysed(part: Part, failure: str) -> FileError:
    return FileError(part.files[0], f"not analysed: {failure}", was_read=True)


def merged(shards: Sequence[ShardReport], read: Sequence[ReadFile], run: Run) -> list[Finding]:
    """The findings of all shards, if they are of what was read here."""
    from cudalint.shards import check_inputs, inputs_of, parts_in

    check_inputs(shards, inputs_of(read, run.plan, run.footprint))
    for one in shards:
        run.errors += one.errors
        run.notes += one.notes
    return found_in(parts_in(shards), run)


def found_in(parts: Mapping[int, PartResult], run: Run) -> list[Finding]:
    """The findings in all parts; what else is known of their files goes to the run."""
    together = [part.together for part in parts.values() if part.together is not None]
    findings: list[Finding] = []
    for result in (*together, *(one for part in parts.values() for one in part.alone)):
        findings += result.findings
        run.unread.update(result.unread)
        run.footprints += result.footprint
        run.blank.update(result.blank)
        run.wrappers += result.wrappers
    return findings


def _analyse_parts(
    parts: Sequence[Part], lowered: Mapping[str, LoweredFile], run: Run, *, apart: bool = False
) -> tuple[dict[int, AnalysisResult], dict[int, str]]:
    """By the position of each part, in order, what was found in it, or the reason why it failed.
    ``apart``: other files belong to each."""
    from cudalint import jobs
    from cudalint.jobs import AnalysisResult
    from cudalint.program.packing import packed

    plan = run.plan
    results: dict[int, AnalysisResult] = {}
    failed: dict[int, str] = {}
    pending: list[tuple[int, str]] = []
    sizes = [len(part.files) + len(part.context) for part in parts]
    seconds = [
        plan.bounds.seconds + _SECONDS_PER_LINKED_FILE * (min(size, _MOST_FILES_COUNTED) - 1)
        for size in sizes
    ]
    of_programs = {name for one in lowered.values() if one.has_main for name in one.includes}

    def job(part: Part) -> AnalysisJob:
        named = (name for file in part.files for name in (file, *lowered[file].includes))
        return jobs.AnalysisJob(
            programs=packed(
                run.programs.get(lowered[name].program) for name in (*part.files, *part.context)
            ),
            rules=[rule.code for rule in plan.rules],
            limits=plan.limits,
            models=[str(path) for path in plan.models],
            footprint=run.footprint,
            context=list(part.context),
            program_headers=sorted(of_programs.intersection(named)),
            wrappers=run.wants_wrappers,
            apart=apart,
        )

    def size(number: int) -> int:
        part = parts[number]
        return sum(lowered[name].program.size for name in (*part.files, *part.context))

    for number, part in enumerate(parts):
        key = _analysis_key(job(part), plan)
        kept = run.kept(key, AnalysisResult)
        if kept is not None:
            results[number] = kept
        elif failure := run.timed_out(key, seconds[number]):
            failed[number] = failure
        else:
            pending.append((number, key))
            run.analysed_anew.update(part.files)
    # Large parts first, as above; each with the time that its files need.
    pending.sort(key=lambda one: -size(one[0]))
    payloads = Made(len(pending), lambda one: msgspec.msgpack.encode(job(parts[pending[one][0]])))
    limits = [seconds[number] for number, _ in pending]
    for position, outcome in run.execute(FOLLOWING, jobs.analyze, payloads, limits):
        number, key = pending[position]
        if outcome.result is None:
            failed[number] = outcome.failure
            if outcome.timed_out:
                run.remember(key, seconds[number], [])
            continue
        results[number] = msgspec.msgpack.decode(outcome.result, type=AnalysisResult)
        if run.cache:
            run.cache.store(key, outcome.result)
    return dict(sorted(results.items())), dict(sorted(failed.items()))


def _analysis_key(order: AnalysisJob, plan: Plan) -> str:
    return digest(
        "analysis",
        plan.version,
        *order.programs.programs,
        *order.programs.functions,
        *order.programs.records,
        repr(order.rules),
        repr(order.limits),
        contents_digest(plan.models),
        repr(order.footprint),
        repr(order.context),
        repr(order.program_headers),
        repr((order.wrappers, order.apart, len(order.programs.programs))),
    )
