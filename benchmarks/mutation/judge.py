"""Worker side: makes the mutants of a unit, and lints each of them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from benchmarks.common import preview_rules
from benchmarks.mutation.framework_mutants import framework_mutants
from benchmarks.mutation.model import (
    ACCEPTED,
    FRAMEWORK_KINDS,
    KINDS,
    Job,
    Mutant,
    Release,
    Verdict,
)
from benchmarks.mutation.mutants import mutants
from benchmarks.mutation.releases import releases
from cudalint import jobs
from cudalint.apis.loader import ApiModels, load
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.rule import Limits
from cudalint.program import Program
from cudalint.program.packing import packed
from cudalint.source import Source

RULES = ("GPU101", "GPU102", "GPU103", "GPU104", "GPU105", "GPU106", "GPU108")
"""What is asked of a mutant of a release."""


class UnitJob(msgspec.Struct, frozen=True, array_like=True):
    """A unit to prepare: the texts of its files and their headers, its lowered files, and the
    rules that must be silent."""

    texts: dict[str, str]
    programs: list[bytes]
    rules: list[str]
    limits: Limits
    kinds: tuple[str, ...] = KINDS


class MutatedRelease(msgspec.Struct, frozen=True, array_like=True):
    """A release with its mutants."""

    release: Release
    mutants: list[Mutant]
    refused: dict[str, str]


class PreparedUnit(msgspec.Struct, frozen=True, array_like=True):
    """A unit, linted."""

    findings: list[str]
    """Warnings and errors; where there is one, the unit is not mutated."""
    baseline: list[tuple[str, str, int, int]]
    releases: list[MutatedRelease]


def prepare(data: bytes) -> bytes:
    """Handler of ``UnitJob``: the encoded ``PreparedUnit``."""
    order = msgspec.msgpack.decode(data, type=UnitJob)
    shown = _findings(order.programs, order.rules, order.limits)
    loud = [
        f"{finding.filename}:{finding.span.row}: {finding.code} {finding.message}"
        for finding in shown
        if finding.severity is not Severity.INFO and finding.confidence is not Confidence.LOW
    ]
    prepared: list[MutatedRelease] = []
    if not loud:
        programs = [msgspec.msgpack.decode(program, type=Program) for program in order.programs]
        models: dict[str, ApiModels] = {
            program.language: load(program.language) for program in programs
        }
        texts = {name: Source(name, text) for name, text in order.texts.items()}
        released = releases(programs, models)
        for release in released if set(order.kinds) & set(KINDS) else ():
            if release.filename not in texts:
                continue  # in a header that is not among the paths
            found, refused = mutants(texts[release.filename], release)
            prepared.append(MutatedRelease(release, found, refused))
        if "python" in models and set(order.kinds) & set(FRAMEWORK_KINDS):
            for program in programs:
                for change, mutant, why in framework_mutants(
                    texts[program.filename], released, models["python"]
                ):
                    one = [mutant] if mutant is not None else []
                    refused = {change.api: why} if mutant is None else {}
                    prepared.append(MutatedRelease(change, one, refused))
    return msgspec.msgpack.encode(
        PreparedUnit(loud, [_key(finding) for finding in shown], prepared)
    )


def judge(data: bytes) -> bytes:
    """Handler of ``Job``: the encoded ``Verdict``."""
    job = msgspec.msgpack.decode(data, type=Job)
    programs = [*job.programs, *(_lower(lowering).program for lowering in job.lowering)]
    rules = RULES if job.kind in KINDS else tuple(ACCEPTED[job.kind])
    verdict = _verdict(job, _findings(programs, rules, Limits()))
    return msgspec.msgpack.encode(verdict)


def _lower(job: bytes) -> jobs.Lowered:
    return msgspec.msgpack.decode(jobs.lower(job), type=jobs.Lowered)


def _findings(programs: list[bytes], rules: Sequence[str], limits: Limits) -> list[Finding]:
    order = jobs.AnalysisJob(programs=packed(programs), rules=list(rules), limits=limits, models=[])
    encoded = jobs.analyze(msgspec.msgpack.encode(order))
    result = msgspec.msgpack.decode(encoded, type=jobs.AnalysisResult)
    return result.findings


def _key(finding: Finding) -> tuple[str, str, int, int]:
    return finding.code, finding.filename, finding.span.row, len(finding.steps)


def _verdict(job: Job, found: Sequence[Finding]) -> Verdict:
    """Killed: a new finding of an accepted rule, with `--preview` if need be, names an acquisition
    whose resource the release ended. Device resets (GPU108) name it in their message or among their
    steps, what overwrites a member (GPU104) in its message."""

    def original(filename: str, row: int) -> int:
        moved = job.added_rows if filename == job.release.filename and row >= job.row else 0
        return max(row - moved, min(row, job.row))

    before = set(job.baseline)
    new = [
        finding
        for finding in found
        if (
            finding.code,
            finding.filename,
            original(finding.filename, finding.span.row),
            len(finding.steps),
        )
        not in before
    ]
    wanted = {(target.filename, target.row) for target in job.release.targets}
    names = {target.name for target in job.release.targets}
    # A framework mutant changes one thing, and has a few rules: what is new comes of it.
    anywhere = job.kind in FRAMEWORK_KINDS
    elsewhere: list[str] = []
    on_request = preview_rules()
    for finding in sorted(new, key=lambda one: one.confidence is Confidence.LOW):
        places = {(finding.filename, original(finding.filename, finding.span.row))}
        places |= {
            (step.filename, original(step.filename, step.span.row))
            for step in finding.steps
            if finding.code == "GPU108"
        }
        shown = f"{finding.code} at {finding.filename}:{finding.span.row}"
        is_named = finding.code in ("GPU104", "GPU108") and any(
            f"`{name}`" in finding.message for name in names
        )
        if not places & wanted and not is_named and not anywhere:
            elsewhere.append(f"{shown} (another allocation)")
        elif finding.code not in ACCEPTED[job.kind]:
            elsewhere.append(f"{shown} (not the rule for it)")
        else:
            asked = finding.confidence is Confidence.LOW or finding.code in on_request
            return Verdict(True, shown, asked)
    return Verdict(False, "; ".join(elsewhere) or "nothing new is found")
