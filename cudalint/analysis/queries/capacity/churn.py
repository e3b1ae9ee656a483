"""Memory that is taken and given back again and again, in sizes that vary."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cudalint.analysis.domains.ownership.recorder import Acquired, Recorder
from cudalint.analysis.engine.binding import Binding
from cudalint.analysis.engine.run import FunctionRun, position_of
from cudalint.analysis.engine.state import State
from cudalint.analysis.facts import CacheFlush, Churn, Site
from cudalint.analysis.shape.loops import around, reads_each, varying
from cudalint.analysis.shape.operations import calls, operations, terminal
from cudalint.analysis.shape.reach import closure, ways
from cudalint.analysis.values.values import integer
from cudalint.apis.model import Acquisition
from cudalint.apis.paths import parse_amount, paths_in
from cudalint.findings.finding import Step
from cudalint.program import (
    Assign,
    Binary,
    Block,
    Call,
    Constant,
    Delete,
    Expression,
    Index,
    Tuple,
    Variable,
    children,
    variables,
)
from cudalint.source import Span

FEWEST_SIZES = 3
"""Different sizes in one caller from which a function that takes and gives back is churn."""


def churn(
    runs: Sequence[FunctionRun], flushed: dict[int, tuple[CacheFlush, ...]]
) -> dict[int, tuple[Churn, ...]]:
    """The churn of all functions, by the ``id`` of their runs; ``flushed`` holds the repeated
    flushes in the same way."""
    found: dict[int, list[Churn]] = defaultdict(list)
    reusable: dict[tuple[str, str], tuple[FunctionRun, list[_Raw]]] = {}
    for run in runs:
        raw = list(_raw(run))
        for one in raw:
            if (churned := _in_loop(run, one)) is not None:
                found[id(run)].append(churned)
        if raw:
            reusable[run.function.key, run.filename] = (run, raw)
        found[id(run)].extend(_flushed(run, {flush.span for flush in flushed.get(id(run), ())}))
    for caller in runs:
        for callee, churned in _called(caller, reusable):
            if not any(churned.span == other.span for other in found[id(callee)]):
                found[id(callee)].append(churned)
    return {key: tuple(several) for key, several in found.items() if several}


class _Raw(NamedTuple):
    """One allocation that its function makes by itself and releases."""

    acquired: Acquired
    block: int
    size: tuple[Expression, ...]
    released: tuple[Site, ...]
    leaves: bool
    """On some path the function hands it out: it looks for a size that there is room for."""


def _raw(run: FunctionRun) -> Iterator[_Raw]:
    for origin, record in run.log(Recorder).records.items():
        acquired = record.acquired
        if acquired.managed or acquired.through or not record.released or not origin.count("#"):
            continue
        if record.lost:
            continue  # that it leaks says more
        if acquired.info.kind != "memory" or acquired.info.space != "device":
            continue
        place, call = position_of(origin), run.made_by(origin)
        model = run.models.lookup(acquired.api)
        if place is None or call is None or model is None or model.stream_ordered:
            continue
        size = tuple(_size_parts(run, call, model.parameters, model.acquires))
        if size:
            released = tuple(record.released.values())
            yield _Raw(acquired, place[0], size, released, bool(record.handed_over))


def _size_parts(
    run: FunctionRun, call: Call, parameters: tuple[str, ...], acquisitions: tuple[Acquisition, ...]
) -> Iterator[Expression]:
    binding = Binding(call, parameters, run.evaluator, State())
    for acquisition in acquisitions:
        if acquisition.bytes is None:
            continue
        for path in paths_in(parse_amount(acquisition.bytes, parameters)):
            if path.root == "argument" and (expression := binding.root(path)) is not None:
                yield expression


# In one loop ------------------------------------------------------------------------------------


def _in_loop(run: FunctionRun, raw: _Raw) -> Churn | None:
    if raw.leaves:
        return None
    for header in around(run.flow, raw.block):
        if _counts_to_few(run, header):
            continue
        changing = varying(run.flow, header, run.models.asks_device)
        if not any(variables(part) & changing or reads_each(part) for part in raw.size):
            continue
        if _is_listed(run, header, raw.size, changing):
            continue
        # What the next iteration releases, or what went by another name before, grows.
        holder = raw.acquired.location[0] if raw.acquired.location else None
        inside = {
            operation.span
            for _, _, operation in operations(_later(run, raw.block, header))
            if not isinstance(operation, Call)
            or holder is None
            or any(holder in variables(argument.value) for argument in operation.arguments)
            or not operation.arguments
        }
        released = [site for site in raw.released if site.span in inside]
        if released:
            return Churn(
                raw.acquired.api,
                raw.acquired.shown,
                raw.acquired.span,
                "loop",
                run.show(raw.size[0]),
                released[0],
            )
    return None


def _counts_to_few(run: FunctionRun, header: int) -> bool:
    """Whether a loop counts up to so few that there are not sizes enough for churn."""
    match terminal(run.flow.blocks[header]):
        case Binary(operator="<" | "!=", right=Constant(value=int(most))):
            return most < FEWEST_SIZES
        case _:
            return False


def _is_listed(
    run: FunctionRun, header: int, size: tuple[Expression, ...], changing: frozenset[str] | set[str]
) -> bool:
    """Whether all sizes stand in a table of the source: a sweep, which takes each size once."""
    tables = {
        symbol
        for symbol, several in run.flow.definitions.items()
        for made in several
        if isinstance(made, Assign)
        and isinstance(made.value, Tuple)
        and all(isinstance(item, Constant) for item in made.value.items)
    }
    inside = [at.operation for at in operations(run.flow.body(header))]
    pending, seen = list(size), set[str]()
    while pending and tables:
        part = pending.pop()
        if isinstance(part, Index) and variables(part.base) & tables:
            continue
        if isinstance(part, Variable):
            if part.symbol in seen or part.symbol not in changing:
                continue
            seen.add(part.symbol)
            given = [
                operation.value
                for operation in inside
                if isinstance(operation, Assign)
                and operation.target == part
                and not operation.augmented
            ]
            if len(given) != 1 or part.symbol in variables(given[0]):
                return False
            pending += given
        pending += children(part)
    return bool(tables)


def _later(run: FunctionRun, start: int, header: int) -> list[Block]:
    """The blocks that the same iteration of a loop may still run."""
    blocks = run.flow.blocks
    found = closure([start], ways(blocks, run.flow.loops[header] - {header}))
    return [block for block in blocks if block.number in found]


# A caching allocator whose cache is emptied -----------------------------------------------------


def _flushed(run: FunctionRun, spans: set[Span]) -> Iterator[Churn]:
    """The first array of a loop that is made, deleted and flushed in every iteration."""
    for header in run.flow.loops if spans else ():
        body = run.flow.body(header)
        flush = [call for _, call in calls(body) if call.span in spans]
        dead = {
            operation.place.symbol
            for _, _, operation in operations(body)
            if isinstance(operation, Delete) and isinstance(operation.place, Variable)
        }
        for acquired, call in _made_in(run, run.flow.loops[header]) if flush else ():
            name = _holds(body, call, dead)
            if name:
                yield Churn(
                    acquired.api,
                    name,
                    acquired.span,
                    "flush",
                    released=Site(run.filename, flush[0].span, flush[0].name),
                )
                break


def _made_in(run: FunctionRun, body: frozenset[int]) -> Iterator[tuple[Acquired, Call]]:
    for origin, record in run.log(Recorder).records.items():
        if not origin.startswith("array:") or "@" not in origin:
            continue
        place, call = position_of(origin), run.made_by(origin)
        if place is not None and place[0] in body and call is not None and call.receiver is None:
            yield record.acquired, call


def _holds(body: Sequence[Block], call: Call, dead: set[str]) -> str:
    """The deleted variable that holds what a call made, or what was computed from it at once."""
    made = call.target.symbol if isinstance(call.target, Variable) else ""
    if made in dead and isinstance(call.target, Variable):
        return call.target.name
    for _, _, operation in operations(body):
        if (
            isinstance(operation, Assign)
            and isinstance(operation.target, Variable)
            and operation.target.symbol in dead
            and made.startswith("%")
            and made in variables(operation.value)
        ):
            return operation.target.name
    return ""


# A function that is called with several sizes ---------------------------------------------------


def _called(
    caller: FunctionRun, reusable: dict[tuple[str, str], tuple[FunctionRun, list[_Raw]]]
) -> Iterator[tuple[FunctionRun, Churn]]:
    sizes: dict[tuple[str, str], dict[Span, tuple[tuple[str, int], ...]]] = defaultdict(dict)
    for key, filename, arguments, span in caller.calls_made:
        if (key, filename) in reusable:
            sizes[key, filename][span] = tuple(
                (symbol, number)
                for symbol, value in arguments
                if (number := integer(value)) is not None
            )
    for where, sites in sizes.items():
        callee, several = reusable[where]
        if len(sites) < FEWEST_SIZES or callee is caller:
            continue
        for raw in several:
            if callee.flow.enclosing.get(raw.block):
                continue
            deciding = _deciding(callee, raw)
            asked = {
                span: tuple(number for symbol, number in arguments if symbol in deciding)
                for span, arguments in sites.items()
            }
            different = {numbers for numbers in asked.values() if numbers}
            if len(different) >= FEWEST_SIZES:
                yield (
                    callee,
                    Churn(
                        raw.acquired.api,
                        raw.acquired.shown,
                        raw.acquired.span,
                        "calls",
                        callee.show(raw.size[0]),
                        raw.released[0],
                        tuple(numbers[0] for numbers in sorted(different)),
                        tuple(
                            Step(
                                caller.filename,
                                span,
                                f"`{callee.function.name}` is called with "
                                f"{', '.join(map(str, asked[span]))}",
                            )
                            for span in sorted(asked)
                            if asked[span]
                        ),
                    ),
                )


def _deciding(run: FunctionRun, raw: _Raw) -> set[str]:
    """The parameters that the size is computed from."""
    parameters = {parameter.symbol for parameter in run.function.parameters}
    return parameters & run.flow.sources({one for part in raw.size for one in variables(part)})
