"""The path engine and what it learns: programs in, facts out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.facts import ClassFacts, FileFacts, FunctionFacts, Unfinished
from cudalint.analysis.facts.wrappers import Wrapper
from cudalint.analysis.kept import Kept
from cudalint.apis.loader import ApiModels
from cudalint.program import Program


@dataclass(frozen=True)
class RunFacts:
    """What the rules look at: every function, class and file of a run."""

    functions: tuple[FunctionFacts, ...]
    classes: tuple[ClassFacts, ...]
    files: tuple[FileFacts, ...]
    wrappers: tuple[Wrapper, ...] = ()
    """Of the project's own allocators, where they are asked for."""


def analyze(
    programs: Sequence[Program],
    models: dict[str, ApiModels],
    program_headers: frozenset[str] = frozenset(),
    *,
    with_wrappers: bool = False,
    notable_peak: int = 1,
    is_full: Callable[[], bool] = lambda: False,
    kept: Kept | None = None,
) -> RunFacts:
    """Follow the paths of all functions of a run, linked across its files.

    ``models`` holds the API models by language (``cuda``, ``python``); ``program_headers`` names
    headers that files with a ``main`` include that are not among the programs; ``is_full`` tells
    whether there is no memory left to follow more; ``kept`` is what earlier runs have found;
    ``notable_peak``: the bytes of memory alive at once that are of interest.
    """
    from cudalint.analysis.contexts import function_facts
    from cudalint.analysis.footprint.peaks import peaks_of
    from cudalint.analysis.queries.capacity import with_capacity
    from cudalint.analysis.queries.classes import class_facts, member_misuses
    from cudalint.analysis.queries.counterparts import with_counterparts
    from cudalint.analysis.queries.member_table import collect
    from cudalint.analysis.queries.process_end import ProcessEnd
    from cudalint.analysis.queries.wrappers import wrappers
    from cudalint.analysis.summaries import Linker
    from cudalint.analysis.tensors import with_tensors

    linker = Linker(programs, models, is_full, kept)
    runs = [
        run
        for function, program in linker.functions()
        if (run := linker.run_of(function, program)) is not None
    ]
    members = collect(linker, runs)
    unfinished = _unfinished(runs, programs)
    ends = ProcessEnd(linker, program_headers)
    classes = class_facts(linker, members, ends)
    functions = function_facts(linker, runs, member_misuses(members, linker), classes, ends)
    functions = with_counterparts(linker, runs, functions)
    peaks = peaks_of(runs, notable_peak)
    return RunFacts(
        functions=with_tensors(linker, programs, with_capacity(runs, functions, peaks)),
        classes=classes,
        files=tuple(
            FileFacts(
                program.filename,
                program.language,
                kernels=program.kernels,
                dropped=program.dropped,
                functions_read=len({(one.filename, one.span) for one in program.functions}),
                unfinished=tuple(unfinished.get(id(program), ())),
            )
            for program in programs
        ),
        wrappers=wrappers(linker, runs) if with_wrappers else (),
    )


def _unfinished(
    runs: Sequence[FunctionRun], programs: Sequence[Program]
) -> dict[int, list[Unfinished]]:
    """The functions that were not followed to their end, each with one program (by identity): its
    file's own where that is linted, else one that includes it."""
    own = {program.filename: program for program in reversed(programs)}
    found: dict[int, list[Unfinished]] = {}
    for run in runs:
        if run.exhausted and run.touches_cuda:
            function = run.function
            told = Unfinished(
                function.name, function.filename, function.span, memory_full=run.memory_full
            )
            found.setdefault(id(own.get(function.filename, run.program)), []).append(told)
    return found
