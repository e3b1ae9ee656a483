"""Lints many files: prefilter, cache, workers, analysis, rules, suppressions, stable order."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from cudalint.executor import Executor, Handler, Outcome, run_here
from cudalint.findings.cells import in_cells
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.fingerprint import fingerprinted
from cudalint.findings.suppressions import (
    UNUSED_CODE,
    FileSuppressions,
    parse_suppressions,
    suppress,
    unused_suppressions,
)
from cudalint.loading import load, text_of
from cudalint.plan import Plan
from cudalint.project.cache import Cache, digest
from cudalint.project.files import FileError, SourceFile
from cudalint.project.paths import relative_name
from cudalint.project.reading import UnreadableError, read_bytes
from cudalint.reports.report import Report
from cudalint.source import Source, Span

# What workers do is imported when there is work: most runs of a hook have none.
if TYPE_CHECKING:
    from cudalint.analysis.facts.capacity import Footprint
    from cudalint.grouping.parts import Part
    from cudalint.jobs import AnalysisJob, AnalysisResult, Lowered
    from cudalint.lowering import Lowering

_Kept = TypeVar("_Kept")
Progress = Callable[[str, int, int], None]
"""Told the stage, how much of it is done, and of how much."""

_SECONDS_PER_LINKED_FILE = 2.0
_SOURCES = frozenset({".c", ".cc", ".cpp", ".cxx"})
_THROWS = re.compile(rb"\bthrow\b")


@dataclass(frozen=True)
class ReadFile:
    """A file that was read and mentions CUDA."""

    file: SourceFile
    data: bytes
    source: Source


@dataclass
class _Run:
    """What one run gathers."""

    plan: Plan
    progress: Progress
    supervised: bool
    errors: list[FileError] = field(default_factory=list)
    notes: list[FileError] = field(default_factory=list)
    unread: dict[str, list[Span]] = field(default_factory=dict)
    together: frozenset[str] = frozenset()
    """Macros that files of the run need to have any CUDA."""
    passed_over: list[SourceFile] = field(default_factory=list)
    """C and C++ files without CUDA whose functions may throw."""
    cache: Cache | None = None
    footprint: bool = False
    footprints: list[Footprint] = field(default_factory=list)

    def execute(
        self, stage: str, handler: Handler, payloads: Sequence[bytes], seconds: Sequence[float] = ()
    ) -> Iterator[tuple[int, Outcome]]:
        """The outcomes of some jobs, in workers (or here: for tests and debuggers)."""
        if not payloads:
            return
        if not self.supervised:
            yield from run_here(handler, payloads)
            return
        workers = min(self.plan.jobs, len(payloads))
        with Executor(handler, workers=workers, bounds=self.plan.bounds) as executor:
            for done, outcome in enumerate(executor.run(payloads, seconds)):
                self.progress(stage, done, len(payloads))
                yield outcome

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
    progress: Progress | None = None,
    supervised: bool = True,
    footprint: bool = False,
) -> Report:
    """Lint files together: what one of them says of another's functions and classes counts.

    ``contents`` stands for what is on the disk (standard input, an editor's buffer). The result
    does not depend on the number of workers, on the cache or on the order of ``files``.
    """
    run = _Run(plan, progress or (lambda stage, done, total: None), supervised)
    run.footprint = footprint
    run.cache = Cache(plan.cache_folder) if plan.cache_folder else None
    read = list(_read(sorted(files), contents or {}, run))
    if not read:
        return Report(
            errors=tuple(sorted(set(run.errors))),
            notes=tuple(sorted(set(run.notes))),
            footprints=() if footprint else None,
        )
    from cudalint.frontends.cuda.conditional import asked_together
    from cudalint.lowering import header_folder

    run.together = asked_together(one.source.text for one in read if one.file.language == "cuda")
    with header_folder(plan) as headers:
        lowered = _lowered(read, run, headers)
        companions = _companions(lowered, run)
        lowered |= _lowered(companions, run, headers)
    findings = _analysed(lowered, run)
    _forget({one.file.filename for one in companions}, findings, run)
    failed = {error.filename for error in run.errors}
    analysed = [one for one in read if one.file.filename not in failed]
    sources = {one.file.filename: one.source for one in analysed}
    findings = _with_fixes(_judged(findings, analysed, run), analysed)
    findings = [in_cells(finding, sources) for finding in findings]
    return Report(
        findings=tuple(fingerprinted(findings, lambda name: relative_name(Path(name), plan.root))),
        errors=tuple(sorted(set(run.errors))),
        notes=tuple(sorted(set(run.notes))),
        files=len(analysed),
        footprints=_footprints(run) if footprint else None,
        sources=sources,
    )


# Reading ----------------------------------------------------------------------------------------


def _read(
    files: Sequence[SourceFile], contents: Mapping[Path, bytes], run: _Run
) -> Iterator[ReadFile]:
    for number, file in enumerate(files):
        run.progress("reading", number, len(files))
        try:
            data = contents[file.path] if file.path in contents else read_bytes(file.path)
            loaded = load(file, data, run.plan.max_file_size)
        except UnreadableError as error:
            run.errors.append(FileError(file.filename, str(error)))
            continue
        if loaded is None:
            if file.path.suffix.lower() in _SOURCES and _THROWS.search(data):
                run.passed_over.append(file)
            continue
        if loaded.note:
            run.notes.append(FileError(file.filename, loaded.note))
        yield ReadFile(file, loaded.data, loaded.source)


def _companions(lowered: Mapping[str, Lowered], run: _Run) -> list[ReadFile]:
    """Of the files without CUDA, those that define what an included header declares: only they
    say whether it throws. Nothing is told of them."""
    declared = {Path(name).stem for one in lowered.values() for name in one.includes}
    found = []
    for file in run.passed_over:
        if file.path.stem in declared:
            with contextlib.suppress(UnreadableError):
                loaded = text_of(file, read_bytes(file.path), run.plan.max_file_size)
                found.append(ReadFile(file, loaded.data, loaded.source))
    return found


def _forget(companions: set[str], findings: list[Finding], run: _Run) -> None:
    findings[:] = [one for one in findings if one.filename not in companions]
    run.errors = [one for one in run.errors if one.filename not in companions]
    run.notes = [one for one in run.notes if one.filename not in companions]
    run.footprints = [one for one in run.footprints if one.filename not in companions]


# Lowering ---------------------------------------------------------------------------------------


def _lowered(read: Sequence[ReadFile], run: _Run, headers: Path | None) -> dict[str, Lowered]:
    """Each file that could be lowered, from the cache where it is there."""
    from cudalint import jobs
    from cudalint.jobs import Lowered
    from cudalint.lowering import Preparer

    lowered: dict[str, Lowered] = {}
    pending: list[Lowering] = []
    preparer = Preparer(run.plan, headers, run.together)
    for one in read:
        lowering = preparer.prepare(one.file, one.data, one.source)
        kept = run.kept(lowering.key, Lowered)
        if kept is None:
            pending.append(lowering)
        else:
            lowered[one.file.filename] = kept
    run.notes += preparer.notes
    # Large files first, so that no worker is left with the largest at the end:
    pending.sort(key=lambda lowering: -len(lowering.job.text))
    if pending:
        jobs.preload({lowering.job.language for lowering in pending})
    again = _lower_all(pending, lowered, run)
    for lowering, failure in again:
        what = f"the CUDA sources in its strings were not read: {failure}"
        run.notes.append(FileError(lowering.job.filename, what))
    _lower_all([lowering.without_embedded() for lowering, _ in again], lowered, run)
    return lowered


def _lower_all(
    pending: Sequence[Lowering], lowered: dict[str, Lowered], run: _Run
) -> list[tuple[Lowering, str]]:
    """Lower files. Returns the Python files that failed, with the reason, where the CUDA sources in
    their strings may be to blame."""
    from cudalint import jobs
    from cudalint.jobs import Lowered

    again: list[tuple[Lowering, str]] = []
    payloads = [msgspec.msgpack.encode(lowering.job) for lowering in pending]
    for number, outcome in run.execute("reading code", jobs.lower, payloads):
        lowering = pending[number]
        if outcome.result is None and lowering.job.language == "python" and lowering.job.parse:
            again.append((lowering, outcome.failure or ""))
        elif outcome.result is None:
            failure = f"not read: {outcome.failure}"
            run.errors.append(FileError(lowering.job.filename, failure))
        else:
            result = msgspec.msgpack.decode(outcome.result, type=Lowered)
            lowered[lowering.job.filename] = result
            if run.cache:
                dependencies = lowering.dependencies(result.includes)
                run.cache.store(lowering.key, outcome.result, dependencies)
    return again


# Analysis ---------------------------------------------------------------------------------------


def _analysed(lowered: Mapping[str, Lowered], run: _Run) -> list[Finding]:
    """The findings of all rules. Files that belong together are analysed together; where that
    fails, each alone, so that only the culprit is lost."""
    from cudalint.grouping.parts import Part, parts_of

    parts = parts_of({name: one.links for name, one in lowered.items()})
    results, failed = _analyse_parts(parts, lowered, run)
    together = [part for part, _ in failed if len(part.files) + len(part.context) > 1]
    alone = [Part((name,)) for part in together for name in part.files]
    more, lost = _analyse_parts(alone, lowered, run)
    for part, failure in [*(one for one in failed if one[0] not in together), *lost]:
        run.errors.append(FileError(part.files[0], failure))
    findings: list[Finding] = []
    for result in (*results, *more):
        findings += result.findings
        run.unread.update(result.unread)
        run.footprints += result.footprint
    return findings


def _analyse_parts(
    parts: Sequence[Part], lowered: Mapping[str, Lowered], run: _Run
) -> tuple[list[AnalysisResult], list[tuple[Part, str]]]:
    """What was found in each part, in order, and the parts that failed, with the reason."""
    from cudalint import jobs
    from cudalint.jobs import AnalysisResult

    plan = run.plan
    results: dict[int, AnalysisResult] = {}
    pending: list[tuple[int, str, bytes]] = []
    of_programs = {name for one in lowered.values() if one.has_main for name in one.includes}
    for number, part in enumerate(parts):
        named = (name for file in part.files for name in (file, *lowered[file].includes))
        order = jobs.AnalysisJob(
            programs=[lowered[name].program for name in (*part.files, *part.context)],
            rules=[rule.code for rule in plan.rules],
            limits=plan.limits,
            models=[str(path) for path in plan.models],
            footprint=run.footprint,
            context=list(part.context),
            program_headers=sorted(of_programs.intersection(named)),
        )
        key = _analysis_key(order, plan)
        kept = run.kept(key, AnalysisResult)
        if kept is None:
            pending.append((number, key, msgspec.msgpack.encode(order)))
        else:
            results[number] = kept
    # Large parts first, as above; each with the time that its files need.
    pending.sort(key=lambda one: -len(one[2]))
    payloads = [payload for _, _, payload in pending]
    seconds = [
        plan.bounds.seconds
        + _SECONDS_PER_LINKED_FILE * (len(parts[number].files) + len(parts[number].context) - 1)
        for number, _, _ in pending
    ]
    failed: dict[int, str] = {}
    for position, outcome in run.execute("following paths", jobs.analyze, payloads, seconds):
        number, key, _ = pending[position]
        if outcome.result is None:
            failed[number] = f"not analysed: {outcome.failure}"
            continue
        results[number] = msgspec.msgpack.decode(outcome.result, type=AnalysisResult)
        if run.cache:
            run.cache.store(key, outcome.result, [str(path) for path in plan.models])
    return (
        [results[number] for number in sorted(results)],
        [(parts[number], failed[number]) for number in sorted(failed)],
    )


def _analysis_key(order: AnalysisJob, plan: Plan) -> str:
    return digest(
        "analysis",
        plan.version,
        *order.programs,
        repr(order.rules),
        repr(order.limits),
        repr(order.models),
        repr(order.footprint),
        repr(order.context),
        repr(order.program_headers),
    )


def _footprints(run: _Run) -> tuple[Footprint, ...]:
    """By place; what several groups of files say of a header is said once."""
    unique = {(one.filename, one.span, one.function): one for one in run.footprints}
    return tuple(unique[key] for key in sorted(unique))


# Judging ----------------------------------------------------------------------------------------


def _judged(findings: Sequence[Finding], read: Sequence[ReadFile], run: _Run) -> list[Finding]:
    """What the settings and the comments leave of the findings, in order."""
    plan = run.plan
    suppressions = {
        one.file.filename: parse_suppressions(one.source, one.file.language) for one in read
    }
    kept = suppress(_configured(_ordered(findings), plan), suppressions)
    if any(rule.code == UNUSED_CODE for rule in plan.rules):
        unused = list(_unused(read, suppressions, run))
        kept += suppress(_configured(unused, plan), suppressions)
    return _ordered(kept)


def _configured(findings: Sequence[Finding], plan: Plan) -> Iterator[Finding]:
    """Per-file ignores, severities, tests, and confidence."""
    ignored: dict[str, frozenset[str]] = {}
    for finding in findings:
        name = finding.filename
        if name not in ignored:
            ignored[name] = plan.ignored_in(name)
        if finding.code in ignored[name]:
            continue
        if finding.confidence is Confidence.LOW and not plan.settings.preview:
            continue
        severity = plan.severities.get(finding.code)
        if severity is None and finding.severity is Severity.WARNING and plan.is_test(name):
            severity = Severity.INFO
        yield dataclasses.replace(finding, severity=severity) if severity else finding


def _unused(
    read: Sequence[ReadFile], suppressions: Mapping[str, FileSuppressions], run: _Run
) -> Iterator[Finding]:
    from cudalint.analysis.facts import FileFacts

    plan = run.plan
    rule: Any = plan.known[UNUSED_CODE](plan.limits)
    known = {code: rule.name for code, rule in plan.known.items()}
    for one in read:
        name = one.file.filename
        ran = {rule.code for rule in plan.rules} - plan.ignored_in(name)
        found = unused_suppressions(
            suppressions[name], known=known, ran=ran, unread=run.unread.get(name, ())
        )
        facts = FileFacts(name, one.file.language, unused_suppressions=tuple(found))
        if facts.unused_suppressions:
            yield from rule.check(facts)


def _with_fixes(findings: list[Finding], read: Sequence[ReadFile]) -> list[Finding]:
    if all(finding.repair is None for finding in findings):
        return findings
    from cudalint.fixes.resolve import with_fixes

    files = {one.file.filename: (one.source, one.file.language) for one in read}
    return list(with_fixes(findings, files))


def _ordered(findings: Sequence[Finding]) -> list[Finding]:
    """By place, then by code. What several groups of files say of a header is said once."""
    unique: dict[tuple[str, Span, str, str, str], Finding] = {}
    for finding in findings:
        key = (finding.filename, finding.span, finding.code, finding.function, finding.subject)
        unique.setdefault(key, finding)
    return [unique[key] for key in sorted(unique)]
