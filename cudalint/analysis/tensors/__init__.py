"""Follows tensors: which hold on to a graph, where they live, and what keeps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cudalint.analysis.facts import FunctionFacts, TensorFacts
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.shape.subjects import packages
from cudalint.analysis.shape.symbols import Symbols
from cudalint.apis.loader import ApiModels
from cudalint.program import Function, Program
from cudalint.source import Span

LIBRARIES = ("torch", "cupy", "jax", "lightning", "pytorch_lightning", "accelerate", "apex")


def with_tensors(
    symbols: Symbols, programs: Sequence[Program], facts: tuple[FunctionFacts, ...]
) -> tuple[FunctionFacts, ...]:
    """The facts of all functions, with what is known of their tensors. A function whose paths were
    not followed gets facts of its own."""
    found = _tensor_facts(symbols, programs)
    if not found:
        return facts
    known = {(fact.filename, fact.span) for fact in facts}
    return (
        *(
            replace(fact, tensors=found[fact.filename, fact.span][1])
            if (fact.filename, fact.span) in found
            else fact
            for fact in facts
        ),
        *(
            FunctionFacts(function.name, filename, span, language="python", tensors=tensors)
            for (filename, span), (function, tensors) in found.items()
            if (filename, span) not in known
        ),
    )


def _tensor_facts(
    symbols: Symbols, programs: Sequence[Program]
) -> Mapping[tuple[str, Span], tuple[Function, TensorFacts]]:
    """The facts of every Python function that has to do with tensors, by file and position."""
    relevant = [
        program
        for program in programs
        if program.language == "python" and _mentions_tensors(program, symbols.models("python"))
    ]
    if not relevant:
        return {}
    from cudalint.analysis.tensors.growth import growths
    from cudalint.analysis.tensors.inference import recorded
    from cudalint.analysis.tensors.recopied import recopied
    from cudalint.analysis.tensors.remembered import remembered
    from cudalint.analysis.tensors.retained import retained_graphs
    from cudalint.analysis.tensors.retention import retentions
    from cudalint.analysis.tensors.run import TensorRun
    from cudalint.analysis.tensors.view import View

    run = TensorRun(symbols)
    filenames = {program.filename for program in relevant}
    wanted = run.interesting(filenames)
    run.run(wanted)
    found = {}
    for known in wanted:
        solution = run.solution(known)
        if solution is None:
            continue
        view = View(known, solution, run)
        kept = (*retentions(view), *remembered(view))
        grown = (*growths(view), *recopied(view))
        facts = TensorFacts(kept, recorded(view), grown, retained_graphs(view))
        facts = _one_each(facts)
        if facts != TensorFacts():
            found[known.function.filename, known.function.span] = (known.function, facts)
    return found


def _one_each(facts: TensorFacts) -> TensorFacts:
    """One fact for what one line does wrong: recording that nobody wants explains what is kept of
    it, and a graph that is kept the recording of the call, and the list that grows."""
    evaluated = {one.loop for one in facts.recorded if one.evaluated is not None}
    retentions = tuple(
        one for one in facts.retentions if one.let_go is None or one.loop not in evaluated
    )
    late = {one.loop for one in retentions if one.let_go is not None}
    spans = {one.span for one in retentions}
    growing = {one.span for one in facts.growths}
    recording = {one.loop for one in facts.recorded if one.evaluated is None}
    return replace(
        facts,
        retentions=tuple(
            replace(one, hides=one.span in growing or one.loop in late & recording)
            for one in retentions
        ),
        recorded=tuple(
            one for one in facts.recorded if one.evaluated is not None or one.loop not in late
        ),
        growths=tuple(one for one in facts.growths if one.span not in spans),
    )


def _mentions_tensors(program: Program, models: ApiModels) -> bool:
    """Whether a file calls what only those libraries have; or puts a model in evaluation mode."""
    return not packages(program).isdisjoint(LIBRARIES) or any(
        effect.evaluates
        for one in program.functions
        for _, call in calls(one)
        if not call.arguments and (effect := models.tensor_effect(call.name)) is not None
    )
