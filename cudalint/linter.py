"""Lints many files: prefilter, cache, workers, analysis, rules, suppressions, stable order."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from cudalint import __version__
from cudalint.doubts import doubts
from cudalint.executor import Executor, Handler, Outcome, run_here, took_longer
from cudalint.findings.cells import in_cells
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.fingerprint import fingerprinted
from cudalint.judging import judged
from cudalint.plan import Plan
from cudalint.project.cache import Cache, contents_digest, digest, file_digest
from cudalint.project.files import FileError, SourceFile
from cudalint.project.paths import relative_name
from cudalint.project.reading import decode
from cudalint.project.spool import Made, Spool, Spooled
from cudalint.reports.report import Report
from cudalint.selection import PassedOver, ReadFile, Selection, select
from cudalint.source import Span, is_header
from cudalint.uncalled import without_callers

# What workers do is imported when there is work: most runs of a hook have none.
if TYPE_CHECKING:
    from cudalint.analysis.facts.capacity import Footprint
    from cudalint.analysis.facts.wrappers import Wrapper
    from cudalint.cluster import Cluster
    from cudalint.grouping.groups import Links
    from cudalint.grouping.parts import Part
    from cudalint.jobs import AnalysisJob, AnalysisResult, Lowered, Reading
    from cudalint.lowering import Lowering, Preparer
    from cudalint.neighbours import Neighbours
    from cudalint.shards import PartResult, Shard, ShardReport

_Kept = TypeVar("_Kept")
READING = "reading code"
FOLLOWING = "following paths"
Progress = Callable[[str, int, int], None]
"""Told the stage, how much of it is done, and of how much."""

_SECONDS_PER_LINKED_FILE = 2.0
_MOST_FILES_COUNTED = 100
"""So many of them take longer than one: what following their paths may cost is bounded too."""


@dataclass(frozen=True)
class _Lowered:
    """What is known here of a file that was lowered; workers alone look into its program."""

    program: Spooled
    links: Links
    includes: list[str]
    has_main: bool
    callable: list[str]


@dataclass
class _Run:
    """What one run gathers."""

    plan: Plan
    progress: Progress
    supervised: bool
    errors: list[FileError] = field(default_factory=list)
    notes: list[FileError] = field(default_factory=list)
    unread: dict[str, list[Span]] = field(default_factory=dict)
    blank: set[str] = field(default_factory=set)
    """Files of which nothing could be read."""
    contents: dict[Path, bytes] = field(default_factory=dict)
    passed_over: list[PassedOver] = field(default_factory=list)
    cache: Cache | None = None
    analysts: Executor | None = None
    readings: dict[str, Reading] = field(default_factory=dict)
    """By file: after what it was read last."""
    guesses: bool = False
    """Whether it may be taken to be the same again, while that is found out."""
    programs: Spool = field(default_factory=Spool)
    read_anew: set[str] = field(default_factory=set)
    analysed_anew: set[str] = field(default_factory=set)
    interrupted: bool = False
    footprint: bool = False
    footprints: list[Footprint] = field(default_factory=list)
    wants_wrappers: bool = False
    wrappers: list[Wrapper] = field(default_factory=list)

    def execute(
        self, stage: str, handler: Handler, payloads: Sequence[bytes], seconds: Sequence[float] = ()
    ) -> Generator[tuple[int, Outcome]]:
        """The outcomes of some jobs, in workers (or here: for tests and debuggers)."""
        if not payloads or self.interrupted:
            return
        if not self.supervised:
            yield from run_here(handler, payloads)
            return
        workers = min(self.plan.jobs, len(payloads))
        done = 0

        def pulse() -> None:
            self.progress(stage, done, len(payloads))

        # Of several parts each has to be with whoever remembers it.
        lasting = self.analysts if stage == FOLLOWING and len(payloads) == 1 else None
        if lasting is not None:
            lasting.pulse = pulse
        try:
            with (
                contextlib.nullcontext(lasting)
                if lasting is not None
                else self._workers(handler, workers, pulse)
            ) as executor:
                for outcome in executor.run(payloads, seconds):
                    pulse()
                    done += 1
                    yield outcome
        except KeyboardInterrupt:
            self.interrupted = True

    def _workers(
        self, handler: Handler, workers: int, pulse: Callable[[], None]
    ) -> Executor | Cluster:
        bounds = self.plan.bounds
        if self.plan.scheduler is None:
            return Executor(handler, workers=workers, bounds=bounds, pulse=pulse)
        from cudalint.cluster import dask_cluster

        return dask_cluster(self.plan.scheduler, handler, bounds=bounds, pulse=pulse)

    def spooled(self, lowered: Lowered) -> _Lowered:
        """What is known of a lowered file, its program put by."""
        program = self.programs.put(lowered.program)
        rest = (lowered.links, lowered.includes, lowered.has_main, lowered.callable)
        return _Lowered(program, *rest)

    def select(self, files: Sequence[SourceFile], contents: Mapping[Path, bytes]) -> Selection:
        """What is read of some files."""
        found = select(sorted(files), self.plan, contents, self.progress)
        self.errors += found.errors
        self.notes += found.notes
        self.passed_over += found.passed_over
        self.contents |= contents
        return found

    def timed_out(self, key: str, seconds: float) -> str:
        """What is said of a job that has come to this limit or a higher one before; else empty."""
        limit = self.kept(digest("timed out", key), float) or 0
        return f"{took_longer(limit)}, when it was last tried" if limit >= seconds else ""

    def remember(self, key: str, seconds: float, dependencies: Sequence[str]) -> None:
        """That a job came to its limit: the next run need not wait for it."""
        if self.cache:
            payload = msgspec.msgpack.encode(seconds)
            self.cache.store(digest("timed out", key), payload, dependencies)

    def kept(self, key: str, kind: type[_Kept]) -> _Kept | None:
        """What the cache holds under a key."""
        data = self.cache.load(key) if self.cache else None
        try:
            return None if data is None else msgspec.msgpack.decode(data, type=kind)
        except msgspec.DecodeError:
            return None


def lint(
    files: Sequence[SourceFile],
    plan: Plan,
    *,
    contents: Mapping[Path, bytes] | None = None,
    context: Sequence[SourceFile] = (),
    cache: Cache | None = None,
    progress: Progress | None = None,
    supervised: bool = True,
    footprint: bool = False,
    wrappers: bool = False,
    shards: Sequence[ShardReport] = (),
    near: Neighbours | None = None,
    analysts: Executor | None = None,
    readings: dict[str, Reading] | None = None,
) -> Report:
    """Lint files together: what one of them says of another's functions and classes counts.

    ``contents`` stands for what is on the disk (standard input, an editor's buffer). What
    ``context`` says counts too, but nothing is told of it. The result does not depend on the number
    of workers, on the cache or on the order of ``files``. What ``progress`` raises ends the run.
    ``shards`` have analysed the files already. ``near`` remembers what stands near them,
    ``readings`` after what each was read, and ``analysts`` what they have followed.
    """
    from cudalint.unbuilt import without_builds

    run = _Run(plan, progress or (lambda stage, done, total: None), supervised)
    run.footprint = footprint
    run.wants_wrappers = wrappers
    run.cache = cache or _cache(plan)
    run.analysts = analysts
    run.readings = {} if readings is None else readings
    run.guesses = readings is not None and supervised and plan.jobs > 1 and not plan.scheduler
    contents = contents or {}
    selection = run.select(files, contents)
    read = selection.read
    if not read:
        return Report(
            errors=tuple(sorted(set(run.errors))),
            notes=tuple(sorted(set(run.notes))),
            footprints=() if footprint else None,
            fates=tuple(selection.fates),
        )
    told = {one.file.filename for one in read}
    lowered: dict[str, _Lowered] = {}
    others = [file for file in context if file.filename not in told]
    if shards:
        findings = _merged(shards, read, run)
    else:
        unsaved = _unsaved(contents)
        lowered = _lowered([*read, *run.select(others, contents).read], run, unsaved)
        findings = _found(_analysed(lowered, told, run), run)
    if not (run.interrupted or context or shards) and (
        beside := _neighbours(findings, files, read, plan, contents, near)
    ):
        others = [one.file for one in beside]
        lowered |= _lowered(beside, run, unsaved)
        run.unread, run.footprints, run.blank = {}, [], set()
        findings = _found(_analysed(lowered, told, run), run)
    known = [*files, *context, *others]
    findings = _with_doubts(findings, known, contents, run)
    headers = (Path(name) for one in lowered.values() for name in one.includes)
    alone = {file.filename for file in files if file.explicit and file.language == "python"}
    findings = without_callers(
        findings, [*(file.path for file in known), *headers], contents, alone
    )
    findings = without_builds(findings, read, plan)
    untold = [*others, *(one.file for one in run.passed_over)]
    _forget({file.filename for file in untold}, findings, run)
    if run.cache:
        run.cache.trim()
    failed = {error.filename for error in run.errors}
    run.errors += [
        FileError(one.file.filename, "nothing of it could be read")
        for one in read
        if one.file.explicit and one.file.filename in run.blank
    ]
    analysed = [one for one in read if one.file.filename not in failed]
    sources = {one.file.filename: one.source for one in analysed}
    # Of what was stopped nobody knows which comments it needs.
    unread = None if run.interrupted else run.unread
    kept = _with_fixes(judged(findings, analysed, plan, unread), analysed)
    findings = [in_cells(finding, sources) for finding in kept]
    named = fingerprinted(findings, lambda name: relative_name(Path(name), plan.root))
    return Report(
        findings=tuple(plan.baseline.marked(named) if plan.baseline else named),
        errors=tuple(sorted(set(run.errors))),
        notes=tuple(sorted(set(run.notes))),
        files=len(analysed),
        footprints=_footprints(run) if footprint else None,
        wrappers=tuple(sorted(set(run.wrappers))),
        sources=sources,
        fates=tuple(selection.fates),
        interrupted=run.interrupted,
        read_anew=len(run.read_anew),
        analysed_anew=len(run.analysed_anew),
    )


def lint_shard(
    files: Sequence[SourceFile],
    plan: Plan,
    shard: Shard,
    *,
    progress: Progress | None = None,
    footprint: bool = False,
) -> ShardReport | None:
    """What one of several runs finds in its share of the files; ``None`` where it was stopped. All
    are read, as each may link others."""
    from cudalint.shards import ShardReport, inputs_of

    run = _Run(plan, progress or (lambda stage, done, total: None), supervised=True)
    run.footprint = footprint
    run.cache = _cache(plan)
    read = run.select(files, {}).read
    lowered = _lowered(read, run, ())
    parts = _analysed(lowered, {one.file.filename for one in read}, run, shard)
    if run.interrupted:
        return None
    return ShardReport(
        format=1,
        version=__version__,
        shard=shard.number,
        of=shard.count,
        paths=[],
        inputs=inputs_of(read, plan, footprint),
        parts=parts,
        errors=sorted(set(run.errors)),
        notes=sorted(set(run.notes)),
    )


def linked(
    files: Sequence[SourceFile],
    plan: Plan,
    *,
    contents: Mapping[Path, bytes] | None = None,
    cache: Cache | None = None,
    progress: Progress | None = None,
) -> dict[str, Links]:
    """What links each of the files to others: ``context_of`` says which ones count for some."""
    run = _Run(plan, progress or (lambda stage, done, total: None), supervised=True)
    run.cache = cache or _cache(plan)
    contents = contents or {}
    lowered = _lowered(run.select(files, contents).read, run, _unsaved(contents))
    return {name: one.links for name, one in lowered.items()}


def _cache(plan: Plan) -> Cache | None:
    folder = plan.cache_folder
    return Cache(folder, plan.root, plan.cache_size) if folder else None


# Context ----------------------------------------------------------------------------------------


def _unsaved(contents: Mapping[Path, bytes]) -> tuple[tuple[str, str], ...]:
    """Headers whose text is not what the disk holds."""
    found = []
    for path, data in sorted(contents.items()):
        if is_header(path.name) and file_digest(str(path)) not in ("", digest(data)):
            found.append((str(path), decode(data, "cuda").text))
    return tuple(found)


def _neighbours(
    findings: Sequence[Finding],
    files: Sequence[SourceFile],
    read: Sequence[ReadFile],
    plan: Plan,
    contents: Mapping[Path, bytes],
    near: Neighbours | None,
) -> list[ReadFile]:
    """What stands near the files that somebody named, where a class is accused of what another file
    may do, or where a comment may answer such a finding; and where a function loses something, all
    that may call it, or nothing: who knows but some callers does not know how often it runs."""
    from cudalint.analysis.rules import ClassRule
    from cudalint.neighbours import MOST_READ, Neighbours

    near = near or Neighbours()
    classes = {one.filename for one in findings if issubclass(plan.known[one.code], ClassRule)}
    losing = {one.filename for one in findings if one.within and one.severity is Severity.WARNING}
    named = [one for one in read if one.file.explicit and one.file.language == "cuda"]
    asking = [
        one.file
        for one in named
        if one.file.filename in classes or b"cudalint" in one.data or b"NOLINT" in one.data
    ]
    if asking:
        return near.of(asking, files, plan, contents)
    asking = [one.file for one in named if one.file.filename in losing]
    found = near.of(asking, files, plan, contents) if asking else []
    return found if len(found) < MOST_READ else []


def _with_doubts(
    findings: Sequence[Finding],
    known: Sequence[SourceFile],
    contents: Mapping[Path, bytes],
    run: _Run,
) -> list[Finding]:
    """The findings; of low confidence where a file that was not read may prove them wrong."""
    lost = {one.filename for one in run.errors if not one.was_read}
    unread = {file.filename: file for file in known if file.filename in lost}
    sure = (one for one in findings if one.confidence is not Confidence.LOW)
    found = doubts({one.rests_on for one in sure}, unread.values(), contents)
    for name, steps in found.items():
        what = f"names `{name}`: findings that this may prove wrong have low confidence"
        run.notes += [FileError(step.filename, what) for step in steps]
    kept = []
    for finding in findings:
        steps = found.get(finding.rests_on, [])
        kept.append(finding.doubted(*steps) if steps else finding)
        if steps:  # nobody knows whether a comment there is needed
            run.unread.setdefault(finding.filename, []).append(finding.span)
    return kept


def _forget(untold: set[str], findings: list[Finding], run: _Run) -> None:
    findings[:] = [one for one in findings if one.filename not in untold]
    run.errors = [one for one in run.errors if one.filename not in untold]
    run.notes = [one for one in run.notes if one.filename not in untold]
    run.footprints = [one for one in run.footprints if one.filename not in untold]


# Lowering ---------------------------------------------------------------------------------------


def _lowered(
    read: Sequence[ReadFile], run: _Run, unsaved: tuple[tuple[str, str], ...]
) -> dict[str, _Lowered]:
    """Each file that could be lowered, and their companions."""
    from cudalint.companions import Companions
    from cudalint.frontends.cuda.conditional import asked_together
    from cudalint.lowering import Preparer, header_folder

    companions = Companions(run.passed_over, run.contents, run.plan)
    together = asked_together(one.source.text for one in read if one.file.language == "cuda")
    with header_folder(run.plan) as headers:
        preparer = Preparer(run.plan, headers, together, unsaved)
        lowered = _lower(read, run, preparer)
        lowered |= _lower(companions.of(lowered), run, preparer)
    run.notes += preparer.notes
    return lowered


def _lower(read: Sequence[ReadFile], run: _Run, preparer: Preparer) -> dict[str, _Lowered]:
    """Each file that could be lowered, from the cache where it is there."""
    from cudalint import jobs
    from cudalint.jobs import Lowered

    lowered: dict[str, _Lowered] = {}
    pending: list[Lowering] = []
    for one in read:
        lowering = preparer.prepare(one.file, one.data, one.source)
        kept = run.kept(lowering.key, Lowered)
        if kept is not None:
            run.readings[one.file.filename] = kept.reading
            lowered[one.file.filename] = run.spooled(kept)
        elif failure := run.timed_out(lowering.key, run.plan.bounds.seconds):
            run.errors.append(FileError(one.file.filename, f"not read: {failure}"))
        else:
            pending.append(lowering)
            run.read_anew.add(one.file.filename)
    # Large files first, so that no worker is left with the largest at the end:
    pending.sort(key=lambda lowering: -len(lowering.job.text))
    if pending:
        jobs.preload({lowering.job.language for lowering in pending})
    if run.guesses and len(pending) == 1:
        pending = _lower_by_guess(pending[0], lowered, run)
    again = _lower_all(pending, lowered, run)
    for lowering, failure in again:
        what = f"the CUDA sources in its strings were not read: {failure}"
        run.notes.append(FileError(lowering.job.filename, what))
    _lower_all([lowering.without_embedded() for lowering, _ in again], lowered, run)
    return lowered


def _lower_by_guess(lowering: Lowering, lowered: dict[str, _Lowered], run: _Run) -> list[Lowering]:
    """Lower a file after the reading that it had last time, and find out meanwhile which one it
    has. Returns it where that was another one, or something went wrong."""
    from cudalint import jobs

    guess = run.readings.get(lowering.job.filename, ("", ""))
    if not guess[1]:  # found out as quickly as it is read
        return [lowering]
    job = msgspec.structs.replace(lowering.job, reading=guess)
    payloads = [
        jobs.LOWERING + msgspec.msgpack.encode(job),
        jobs.SETTLING + msgspec.msgpack.encode(lowering.job),
    ]
    results: dict[int, bytes | None] = {}
    reading: Reading | None = None
    with contextlib.closing(run.execute(READING, jobs.lower_or_settle, payloads)) as outcomes:
        for number, outcome in outcomes:
            results[number] = outcome.result
            if outcome.result is None:
                break
            if number == 1:
                reading = msgspec.msgpack.decode(outcome.result, type=jobs.Reading)
                if reading != guess:
                    break
    result = results.get(0)
    if result is not None and reading == guess:
        _keep(lowering, result, lowered, run)
        return []
    job = msgspec.structs.replace(lowering.job, reading=reading)
    return [dataclasses.replace(lowering, job=job)]


def _keep(lowering: Lowering, data: bytes, lowered: dict[str, _Lowered], run: _Run) -> None:
    from cudalint.jobs import Lowered

    result = msgspec.msgpack.decode(data, type=Lowered)
    run.readings[lowering.job.filename] = result.reading
    lowered[lowering.job.filename] = run.spooled(result)
    if run.cache:
        run.cache.store(lowering.key, data, lowering.dependencies(result.includes))


def _lower_all(
    pending: Sequence[Lowering], lowered: dict[str, _Lowered], run: _Run
) -> list[tuple[Lowering, str]]:
    """Lower files. Returns the Python files that failed, with the reason, where the CUDA sources in
    their strings may be to blame."""
    from cudalint import jobs

    again: list[tuple[Lowering, str]] = []
    payloads = Made(len(pending), lambda number: msgspec.msgpack.encode(pending[number].job))
    for number, outcome in run.execute(READING, jobs.lower, payloads):
        lowering = pending[number]
        if outcome.result is None and lowering.job.language == "python" and lowering.job.parse:
            again.append((lowering, outcome.failure or ""))
        elif outcome.result is None:
            failure = f"not read: {outcome.failure}"
            run.errors.append(FileError(lowering.job.filename, failure))
            if outcome.timed_out:
                run.remember(lowering.key, run.plan.bounds.seconds, lowering.dependencies([]))
        else:
            _keep(lowering, outcome.result, lowered, run)
    return again


# Analysis ---------------------------------------------------------------------------------------


def _analysed(
    lowered: Mapping[str, _Lowered], told: set[str], run: _Run, shard: Shard | None = None
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


def _merged(shards: Sequence[ShardReport], read: Sequence[ReadFile], run: _Run) -> list[Finding]:
    """The findings of all shards, if they are of what was read here."""
    from cudalint.shards import check_inputs, inputs_of, parts_in

    check_inputs(shards, inputs_of(read, run.plan, run.footprint))
    for one in shards:
        run.errors += one.errors
        run.notes += one.notes
    return _found(parts_in(shards), run)


def _found(parts: Mapping[int, PartResult], run: _Run) -> list[Finding]:
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
    parts: Sequence[Part], lowered: Mapping[str, _Lowered], run: _Run, *, apart: bool = False
) -> tuple[dict[int, AnalysisResult], dict[int, str]]:
    """By the position of each part, in order, what was found in it, or the reason why it failed.
    ``apart``: other files belong to each."""
    from cudalint import jobs
    from cudalint.jobs import AnalysisResult

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
            programs=[
                run.programs.get(lowered[name].program) for name in (*part.files, *part.context)
            ],
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
        *order.programs,
        repr(order.rules),
        repr(order.limits),
        contents_digest(plan.models),
        repr(order.footprint),
        repr(order.context),
        repr(order.program_headers),
        repr((order.wrappers, order.apart)),
    )


def _footprints(run: _Run) -> tuple[Footprint, ...]:
    """By place; what several groups of files say of a header is said once."""
    unique = {(one.filename, one.span, one.function): one for one in run.footprints}
    return tuple(unique[key] for key in sorted(unique))


def _with_fixes(findings: list[Finding], read: Sequence[ReadFile]) -> list[Finding]:
    if all(finding.repair is None for finding in findings):
        return findings
    from cudalint.fixes.resolve import with_fixes

    files = {one.file.filename: (one.source, one.file.language) for one in read}
    return list(with_fixes(findings, files))
