"""Lints many files: prefilter, cache, workers, analysis, rules, suppressions, stable order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cudalint import __version__
from cudalint.executor import Executor
from cudalint.findings.cells import in_cells
from cudalint.findings.finding import Finding
from cudalint.findings.fingerprint import fingerprinted
from cudalint.judging import judged
from cudalint.plan import Plan
from cudalint.project.cache import Cache
from cudalint.project.files import FileError, SourceFile
from cudalint.project.paths import relative_name
from cudalint.reports.report import Report
from cudalint.selection import ReadFile
from cudalint.stages.following import followed_parts, found_in, merged
from cudalint.stages.reading import lowered_files
from cudalint.stages.run import LoweredFile, Progress, Run
from cudalint.stages.surroundings import forget, neighbours, unsaved_headers, with_doubts
from cudalint.uncalled import without_callers

if TYPE_CHECKING:
    from cudalint.analysis.facts.capacity import Footprint
    from cudalint.grouping.groups import Links
    from cudalint.jobs import Reading
    from cudalint.neighbours import Neighbours
    from cudalint.shards import Shard, ShardReport


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

    run = Run(plan, progress or (lambda stage, done, total: None), supervised)
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
    lowered: dict[str, LoweredFile] = {}
    others = [file for file in context if file.filename not in told]
    if shards:
        findings = merged(shards, read, run)
    else:
        unsaved = unsaved_headers(contents)
        lowered = lowered_files([*read, *run.select(others, contents).read], run, unsaved)
        findings = found_in(followed_parts(lowered, told, run), run)
    if not (run.interrupted or context or shards) and (
        beside := neighbours(findings, files, read, plan, contents, near)
    ):
        others = [one.file for one in beside]
        lowered |= lowered_files(beside, run, unsaved)
        run.unread, run.footprints, run.blank = {}, [], set()
        findings = found_in(followed_parts(lowered, told, run), run)
    known = [*files, *context, *others]
    findings = with_doubts(findings, known, contents, run)
    headers = (Path(name) for one in lowered.values() for name in one.includes)
    alone = {file.filename for file in files if file.explicit and file.language == "python"}
    findings = without_callers(
        findings, [*(file.path for file in known), *headers], contents, alone
    )
    findings = without_builds(findings, read, plan)
    untold = [*others, *(one.file for one in run.passed_over)]
    forget({file.filename for file in untold}, findings, run)
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

    run = Run(plan, progress or (lambda stage, done, total: None), supervised=True)
    run.footprint = footprint
    run.cache = _cache(plan)
    read = run.select(files, {}).read
    lowered = lowered_files(read, run, ())
    parts = followed_parts(lowered, {one.file.filename for one in read}, run, shard)
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
    run = Run(plan, progress or (lambda stage, done, total: None), supervised=True)
    run.cache = cache or _cache(plan)
    contents = contents or {}
    lowered = lowered_files(run.select(files, contents).read, run, unsaved_headers(contents))
    return {name: one.links for name, one in lowered.items()}


def _cache(plan: Plan) -> Cache | None:
    folder = plan.cache_folder
    return Cache(folder, plan.root, plan.cache_size) if folder else None


def _footprints(run: Run) -> tuple[Footprint, ...]:
    """By place; what several groups of files say of a header is said once."""
    unique = {(one.filename, one.span, one.function): one for one in run.footprints}
    return tuple(unique[key] for key in sorted(unique))


def _with_fixes(findings: list[Finding], read: Sequence[ReadFile]) -> list[Finding]:
    if all(finding.repair is None for finding in findings):
        return findings
    from cudalint.fixes.resolve import with_fixes

    files = {one.file.filename: (one.source, one.file.language) for one in read}
    return list(with_fixes(findings, files))
