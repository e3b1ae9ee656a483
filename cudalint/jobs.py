"""What workers do: lower one file, and analyse the programs of a run. Bytes in, bytes out."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from cudalint import registry
from cudalint.analysis.facts.capacity import Footprint
from cudalint.analysis.facts.wrappers import Wrapper
from cudalint.analysis.kept import Kept
from cudalint.analysis.shape.symbols import short_name
from cudalint.executor import JobError, is_full, stop_if_asked
from cudalint.findings.finding import Finding
from cudalint.findings.rule import Limits
from cudalint.grouping.groups import Links, links_of
from cudalint.program import MISSING_HEADER, Program
from cudalint.program.packing import Packed, unpacked
from cudalint.project.reading import Language
from cudalint.source import Span

if TYPE_CHECKING:
    from cudalint.analysis import RunFacts


Reading = tuple[str, str]
_MOST_PIECES = 256
"""Of memory above the budget, a path comes to a piece as large as its share early."""


class LoweringJob(msgspec.Struct, array_like=True):
    """A file to lower. ``parse`` holds the fields of the CUDA frontend's ``ParseOptions``; for
    Python they say how CUDA C++ in strings is parsed, and ``models`` which calls take it."""

    filename: str
    text: str
    language: Language
    parse: dict[str, Any]
    models: list[str] = []
    reading: Reading | None = None
    """After which it is read, where that is known (``frontends/cuda/parse.py``)."""


class Lowered(msgspec.Struct, array_like=True):
    """A lowered file: its program (encoded), what links it to others, and what it includes."""

    program: bytes
    links: Links
    includes: list[str]
    has_main: bool = False
    callable: list[str] = []
    """Short names of its own functions that other files may call."""
    reading: Reading = ("", "")
    """After which it was read."""


class AnalysisJob(msgspec.Struct, array_like=True):
    """Programs to analyse together, and the rules to ask."""

    programs: Packed
    rules: list[str]
    limits: Limits
    models: list[str]
    footprint: bool = False
    """Whether the peaks of all functions are wanted."""
    context: list[str] = []
    """Files of which nothing is told here: another job does."""
    program_headers: list[str] = []
    """Headers that files with a ``main`` include, here or in other jobs."""
    wrappers: bool = False
    """Whether the project's own allocators are wanted."""
    apart: bool = False
    """Whether other files belong to these that could not be analysed with them: what is done with a
    class, a global or a kernel is not seen whole."""


class AnalysisResult(msgspec.Struct, array_like=True):
    """What the rules found, and per file what could not be read."""

    findings: list[Finding]
    unread: dict[str, list[Span]]
    footprint: list[Footprint] = []
    blank: list[str] = []
    """Files of which nothing could be read."""
    wrappers: list[Wrapper] = []


def preload(languages: set[Language]) -> None:
    """Import what workers will need, before they are forked."""
    if "cuda" in languages:
        import cudalint.frontends.cuda.lowering.program
        import cudalint.frontends.cuda.parse
    if "python" in languages:
        import cudalint.frontends.python.lowering.parts
        import cudalint.frontends.python.parsing  # noqa: F401


def lower(job: bytes) -> bytes:
    """Handler of ``LoweringJob``: an encoded ``Lowered``."""
    program, reading = _lower(msgspec.msgpack.decode(job, type=LoweringJob))
    lowered = Lowered(
        msgspec.msgpack.encode(program),
        links_of(program),
        sorted(set(program.includes)),
        any(function.is_main for function in program.functions),
        sorted(_callable(program)),
        reading,
    )
    return msgspec.msgpack.encode(lowered)


def settle(job: bytes) -> bytes:
    """Handler of the ``LoweringJob`` of a CUDA file: the encoded ``Reading``."""
    from cudalint.frontends.cuda.options import ParseOptions
    from cudalint.frontends.cuda.parse import ParseFailure, settled

    order = msgspec.msgpack.decode(job, type=LoweringJob)
    options = decode_options(order.parse, ParseOptions)
    try:
        return msgspec.msgpack.encode(settled(order.filename, order.text, options))
    except ParseFailure as error:
        raise JobError(str(error)) from None


def lower_or_settle(job: bytes) -> bytes:
    """Either of them, for workers that do both: the first byte says which."""
    return settle(job[1:]) if job[:1] == SETTLING else lower(job[1:])


SETTLING, LOWERING = b"s", b"l"


def _callable(program: Program) -> set[str]:
    """The names by which C and C++ sources may call what a file defines."""
    return {
        short_name(one.name)
        for one in program.functions
        if one.filename == program.filename and one.named_by != "file" and not one.is_main
    }


def _lower(order: LoweringJob) -> tuple[Program, Reading]:
    from cudalint.frontends.cuda.options import ParseOptions

    if order.language == "python":
        from cudalint.frontends.python import read as read_python

        options = decode_options(order.parse, ParseOptions) if order.parse else None
        return read_python(order.filename, order.text, options, order.models), ("", "")
    from cudalint.frontends.cuda import read_after
    from cudalint.frontends.cuda.parse import ParseFailure, Reading

    options = decode_options(order.parse, ParseOptions)
    reading = Reading(*order.reading) if order.reading else None
    try:
        return read_after(order.filename, order.text, options, reading)
    except ParseFailure as error:
        raise JobError(str(error)) from None


def encode_options(options: Any) -> dict[str, Any]:
    """Parse options as plain data."""
    data: dict[str, Any] = msgspec.to_builtins(options, enc_hook=str, order="deterministic")
    return data


def decode_options(data: dict[str, Any], kind: Any) -> Any:
    """Parse options from plain data."""
    return msgspec.convert(data, kind, dec_hook=lambda kind, value: Path(value))


def analyze(job: bytes) -> bytes:
    """Handler of ``AnalysisJob``: the encoded ``AnalysisResult``."""
    order = msgspec.msgpack.decode(job, type=AnalysisJob)
    return msgspec.msgpack.encode(_analyze(unpacked(order.programs), order))


def analyze_again(job: bytes) -> bytes:
    """The same, for a worker that analyses the same files again and again."""
    order = msgspec.msgpack.decode(job, type=AnalysisJob)
    kept = _kept(tuple(order.models))
    try:
        return msgspec.msgpack.encode(_analyze(kept.unpacked(order.programs), order, kept))
    except _FullError:
        pass  # with what it has kept: what is found may not depend on that
    finally:
        kept.end()
    del kept
    _kept.cache_clear()
    return analyze(job)


class _FullError(Exception):
    """There is no memory left to follow more."""


def _leave_if_full() -> bool:
    if is_full():
        raise _FullError
    return False


@functools.cache
def _kept(_: tuple[str, ...]) -> Kept:
    """What was followed with some models."""
    return Kept(stop_if_asked)


def _analyze(
    programs: list[Program], order: AnalysisJob, kept: Kept | None = None
) -> AnalysisResult:
    from cudalint import analysis
    from cudalint.analysis.rules import ClassRule, FileRule, FunctionRule
    from cudalint.apis.loader import ApiModels, load

    programs = [part for program in programs for part in (program, *program.embedded)]
    models: dict[str, ApiModels] = {
        language: load(language, tuple(order.models))
        for language in dict.fromkeys(program.language for program in programs)
    }
    facts = analysis.analyze(
        programs,
        models,
        frozenset(order.program_headers),
        with_wrappers=order.wrappers,
        notable_peak=1 if order.footprint else order.limits.device_memory // _MOST_PIECES,
        is_full=is_full if kept is None else _leave_if_full,
        kept=kept,
    )
    known = registry.all_rules()
    findings: list[Finding] = []
    for code in order.rules:
        rule = known[code](order.limits)
        asked: list[Any] = []
        # A rule may look at more than one kind of facts.
        if isinstance(rule, FunctionRule):
            asked.extend(facts.functions)
        if isinstance(rule, ClassRule):
            asked.extend(facts.classes)
        if isinstance(rule, FileRule):
            asked.extend(facts.files)
        for fact in asked:
            findings += [_placed(finding, fact, order.apart) for finding in rule.check(fact)]
    elsewhere = set(order.context)
    unread: dict[str, list[Span]] = {}
    for program in programs:
        if program.dropped and program.filename not in elsewhere:
            spans = unread.setdefault(program.filename, [])
            spans += [dropped.span for dropped in program.dropped]
    for file in facts.files:
        for one in file.unfinished:
            if one.filename not in elsewhere:
                unread.setdefault(one.filename, []).append(one.span)
    for finding in findings if order.apart else ():
        if finding.rests_on:  # nobody knows whether a comment there is needed
            unread.setdefault(finding.filename, []).append(finding.span)
    footprint = _footprints(facts) if order.footprint else []
    return AnalysisResult(
        [finding for finding in findings if finding.filename not in elsewhere],
        unread,
        [one for one in footprint if one.filename not in elsewhere],
        [one.filename for one in programs if one.filename not in elsewhere and _is_blank(one)],
        [one for one in facts.wrappers if one.filename not in elsewhere],
    )


def _placed(finding: Finding, fact: object, apart: bool) -> Finding:
    """A finding with where it is, and with what it rests on: what is said of a class holds if all
    of it is seen, and what a Python function does wrong, if anybody calls it."""
    from cudalint.analysis.facts import ClassFacts, FunctionFacts

    if isinstance(fact, ClassFacts):
        finding = dataclasses.replace(finding, rests_on=fact.record.name)
    elif isinstance(fact, FunctionFacts) and fact.filename == finding.filename:
        finding = dataclasses.replace(finding, within=fact.span)
    if isinstance(fact, FunctionFacts) and fact.language == "python":
        finding = dataclasses.replace(finding, uncalled=fact.uncalled)
    return finding.doubted() if apart and finding.rests_on else finding


def _is_blank(program: Program) -> bool:
    """Whether nothing of a file could be read: a header that is missing is no such part."""
    functions = [
        one
        for one in program.functions
        if one.kind != "module" or any(block.operations for block in one.blocks)
    ]
    read = functions or program.records or program.kernels or program.variables
    return not read and any(part.reason != MISSING_HEADER for part in program.dropped)


def _footprints(facts: RunFacts) -> list[Footprint]:
    return [
        Footprint(one.filename, one.function, one.span, one.capacity.peak)
        for one in facts.functions
        if one.capacity is not None and one.capacity.peak is not None
    ]
