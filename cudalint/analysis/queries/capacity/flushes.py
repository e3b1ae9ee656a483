"""Calls that empty an allocator's cache each time that something is repeated."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.facts import CacheFlush
from cudalint.analysis.shape.arguments import bindings
from cudalint.analysis.shape.flow import Flow
from cudalint.analysis.shape.loops import (
    can_avoid,
    derived,
    device_tests,
    innermost,
    ordinary_blocks,
)
from cudalint.analysis.shape.operations import calls, defined, operations, terminal
from cudalint.analysis.shape.reach import closure, ways
from cudalint.analysis.shape.subjects import hook_kinds, is_module
from cudalint.analysis.shape.walk import texts
from cudalint.program import (
    Assign,
    Binary,
    Branch,
    Call,
    Function,
    Operation,
    Tuple,
    Unary,
    Variable,
    variables,
)

_ONCE = re.compile(
    r"device|gpu|state_?dict|checkpoint|ckpt|weights|param(eter)?s|shards", re.IGNORECASE
)
"""What a loop goes over, by its name, where it is devices, each with a cache of its own, or weights
that are loaded once."""
_MOST_HELPER_CALLS = 8


def flushes(run: FunctionRun) -> Iterator[CacheFlush]:
    """The flushes of one function that are repeated without need."""
    flow = run.flow
    found = [
        (at.block, call, through)
        for at, call in calls(run.function)
        if at.block in flow.order and (through := flushed_by(run, call)) is not None
    ]
    if not found:
        return
    ordinary = ordinary_blocks(flow)
    tests = device_tests(flow, run.models.asks_device)
    reported: set[int | None] = set()
    for number, call, through in sorted(found, key=lambda item: item[1].span):
        header = innermost(flow, number)
        if number not in ordinary or header in reported:
            continue  # after an out-of-memory error
        if header is not None:
            always = _each_iteration(flow, header, number, tests)
            requested = tests | _requests(run, header)
            if _is_phase(run, header) or not (
                always or _each_iteration(flow, header, number, requested)
            ):
                continue
            reported.add(header)
            head = flow.head(header) or call.span
            over = terminal(flow.blocks[header])
            once = over is not None and _ONCE.search(run.show(over)) is not None
            asked = not always and not _answers(run, header, number)
            unsure = once or asked or _recurs(run, header)
            yield CacheFlush(call.name, call.span, "loop", head, through, unsure)
        elif _is_called_for_batches(run) and not can_avoid(flow, ordinary, 0, None, number, tests):
            reported.add(header)
            unsure = any(_works(run, one) and not _is_inside(run, one) for one in flow.loops)
            yield CacheFlush(call.name, call.span, "step", run.function.span, through, unsure)


def flushed_by(run: FunctionRun, call: Call) -> str | None:
    """Empty for a call that flushes a cache, the helper's name for one of a function of the run
    that does little else, ``None`` for any other."""
    model = run.models.lookup(call.name)
    if model is not None and not model.guess:
        return "" if model.flushes_cache else None
    helper = run.symbols.function(call.key, run.filename)
    return helper.name if helper is not None and _is_helper(run, helper) else None


def _is_helper(run: FunctionRun, function: Function) -> bool:
    """Whether a function flushes whatever happens, and has no loop."""
    made = list(calls(function))
    if len(made) > _MOST_HELPER_CALLS:
        return False
    flushing = [
        at.block
        for at, call in made
        if (model := run.models.lookup(call.name)) is not None and model.flushes_cache
    ]
    if not flushing:
        return False
    flow = run.symbols.flow(function)
    ordinary = ordinary_blocks(flow)
    tests = device_tests(flow, run.models.asks_device)
    return not flow.loops and any(
        number in ordinary and not can_avoid(flow, ordinary, 0, None, number, tests)
        for number in flushing
    )


def _is_called_for_batches(run: FunctionRun) -> bool:
    """Whether a framework calls a method for every batch: as its own base class says."""
    method = run.function.kind == "method" and run.python
    return method and "each_batch" in hook_kinds(run.symbols, run.function)


def _each_iteration(flow: Flow, header: int, number: int, tests: frozenset[int]) -> bool:
    """Whether the loop cannot go round without the block. A loop that it leaves at once afterwards
    does not go round at all."""
    body = flow.loops[header]
    if number != header and can_avoid(flow, body, header, header, number, tests):
        return False
    onward = ways(flow.blocks, body)
    return header in closure(onward(number), onward)


def _requests(run: FunctionRun, header: int) -> frozenset[int]:
    """The blocks of a loop over nothing, such as ``while True``, whose branches ask which of
    several texts a value is that each iteration gets from somewhere else: a request by its name."""
    over = terminal(run.flow.blocks[header])
    if isinstance(over, Unary) and over.operator == "more":
        return frozenset()
    got = _received(run, header)
    return frozenset(
        number
        for number in run.flow.loops[header]
        if isinstance(branch := run.flow.blocks[number].terminator, Branch)
        and isinstance(test := branch.condition, Binary)
        and test.operator == "=="
        and variables(test) & got
        and any(texts(test))
    )


def _received(run: FunctionRun, header: int) -> set[str]:
    """What the iterations of a loop get from somewhere else, and all that is made of it."""
    inside = [at.operation for at in operations(run.flow.body(header))]
    asked = {defined(one) for one in inside if isinstance(one, Call) and not one.arguments}
    return derived(filter(None, asked), inside)


def _answers(run: FunctionRun, header: int, number: int) -> bool:
    """Whether the branch of a request in which a cache is flushed goes on to work with what came
    with the request: then the flush is no answer in itself."""
    onward = ways(run.flow.blocks, run.flow.loops[header] - {header})
    behind = closure((number,), onward)
    beside = closure(onward(header), lambda one: [way for way in onward(one) if way != number])
    branch = behind - (beside - {number})
    got = _received(run, header)
    return any(
        call.target is not None
        and not call.name.startswith("builtins.")
        and any(variables(one.value) & got for one in call.arguments)
        for at, call in calls(run.function)
        if at.block in branch
    )


def _is_inside(run: FunctionRun, header: int) -> bool:
    """Whether a loop of a method goes over what its object has, such as its heads or layers, and
    not over what it is given: then it is a part of the step, and the step no phase of many."""
    condition = terminal(run.flow.blocks[header])
    sources = run.flow.sources(variables(condition)) if condition is not None else set()
    given = {one.symbol for one in run.function.parameters}
    return "this" in {one.partition(".")[0] for one in sources} and not sources & given


def _recurs(run: FunctionRun, header: int) -> bool:
    """Whether each iteration calls the function itself, for a part of what it was given."""
    return any(call.key == run.function.key for _, call in calls(run.flow.body(header)))


def _is_phase(run: FunctionRun, header: int) -> bool:
    """Whether one iteration is a whole phase: it has a loop over batches of its own, hands a data
    set to something that has, makes a model to go with it, or is measured by itself; or the loop
    goes over variants that stand there."""
    body = run.flow.loops[header]
    if _over_variants(run, header):
        return True
    if _over_devices(run, header) or not _works(run, header):
        return True
    inner = [one for one in run.flow.loops if one != header and one in body]
    if any(_works(run, one) and not _only_moves(run, one) for one in inner):
        return True
    if _hands_out_data_set(run, header) or _hands_to_loops(run, header):
        return True
    if _trains_model_of_its_own(run, header):
        return True
    return any(
        _makes_model(run, call)
        or _measures(run, call)
        or any(one.loop for callee in _run_by(run, call) for one in callee.blocks)
        or any(_measures(run, inner) for callee in _run_by(run, call) for _, inner in calls(callee))
        for _, call in calls(run.flow.body(header))
    )


def _measures(run: FunctionRun, call: Call) -> bool:
    model = run.models.lookup(call.name)
    return model is not None and model.measures_memory


def _over_variants(run: FunctionRun, header: int) -> bool:
    """Whether a loop goes over values that stand in the source: variants, and no batches."""
    condition = terminal(run.flow.blocks[header])
    over = condition.operand if isinstance(condition, Unary) else None
    if isinstance(over, Variable):
        made = run.flow.only(over.symbol)
        over = made.value if isinstance(made, Assign) else None
        return isinstance(over, Tuple) and bool(over.items)
    return isinstance(over, Tuple)


def _over_devices(run: FunctionRun, header: int) -> bool:
    """Whether a loop goes over devices: each has a cache of its own."""
    condition = terminal(run.flow.blocks[header])
    return condition is not None and any(
        isinstance(made, Call) and run.models.asks_device(made.name)
        for symbol in run.flow.sources(variables(condition))
        for made in run.flow.definitions.get(symbol, ())
    )


def _works(run: FunctionRun, header: int) -> bool:
    """Whether a loop does more than look at things and flush: it calls what may use a device."""
    return any(
        not call.name.startswith("builtins.")
        and call.name not in (".__enter__", ".__exit__")
        and not _is_idle(run, call)
        and flushed_by(run, call) is None
        for _, call in calls(run.flow.body(header))
    )


def _is_idle(run: FunctionRun, call: Call) -> bool:
    """Whether a call waits, or does what no device has a part in."""
    effect = run.models.lifetime_effect(call.name)
    return effect is not None and (effect.host or effect.waits is not None)


def _only_moves(run: FunctionRun, header: int) -> bool:
    """Whether all that a loop calls moves the parts of a batch to where they are needed."""
    effects = [run.models.tensor_effect(call.name) for _, call in calls(run.flow.body(header))]
    return all(effect is not None and bool(effect.device) for effect in effects)


def _makes_model(run: FunctionRun, call: Call) -> bool:
    model = run.models.lookup(call.name)
    if model is not None and model.builds_model:
        return True
    made = call.key if call.kind == "constructor" else None
    return made is not None and is_module(run.symbols, made, run.filename)


def _trains_model_of_its_own(run: FunctionRun, header: int) -> bool:
    """Whether each iteration makes a model, and something of its weights (an optimizer), and hands
    both to a function: one that trains."""
    made: dict[str, Call] = {
        symbol: call
        for _, call in calls(run.flow.body(header))
        if (symbol := defined(call)) is not None
    }

    def given(call: Call) -> set[str]:
        return {one.value.symbol for one in call.arguments if isinstance(one.value, Variable)}

    weights = {
        symbol: call.receiver.symbol
        for symbol, call in made.items()
        if isinstance(call.receiver, Variable)
        and call.receiver.symbol in made
        and (effect := run.models.tensor_effect(call.name)) is not None
        and effect.module
    }
    pairs = [
        {weights[one], symbol}
        for symbol, call in made.items()
        for one in given(call) & weights.keys()
    ]
    return any(pair <= given(call) for _, call in calls(run.flow.body(header)) for pair in pairs)


def _hands_out_data_set(run: FunctionRun, header: int) -> bool:
    """Whether each iteration gives a data set, or its loader, that was there before the loop to a
    function: it goes over all of it."""
    inside = list(operations(run.flow.body(header)))
    made_there = {defined(at.operation) for at in inside}
    loaders = {
        symbol
        for symbol, made in run.flow.definitions.items()
        if symbol not in made_there and all(_makes_data_set(run, one) for one in made)
    }
    return any(
        isinstance(call := at.operation, Call)
        and call.kind == "function"
        and not call.name.startswith("builtins.")
        and any(isinstance(a.value, Variable) and a.value.symbol in loaders for a in call.arguments)
        and _each_iteration(run.flow, header, at.block, frozenset())
        for at in inside
    )


def _hands_to_loops(run: FunctionRun, header: int) -> bool:
    """Whether each iteration gives something that was there before the loop to a method, of an
    object out of sight, that goes over it in a loop, as all methods of the run do by that name."""
    inside = list(operations(run.flow.body(header)))
    made_there = {defined(at.operation) for at in inside}
    return any(
        isinstance(call := at.operation, Call)
        and (named := _methods_by_name(run, call))
        and all(
            any(
                _goes_over(run, method, symbol)
                for symbol, value in bindings(call, method.parameters).items()
                if variables(value) and not variables(value) & made_there
            )
            for method in named
        )
        and _each_iteration(run.flow, header, at.block, frozenset())
        for at in inside
    )


def _methods_by_name(run: FunctionRun, call: Call) -> list[Function]:
    """The methods of the run that a method is called by the name of."""
    if not call.name.startswith("."):
        return []
    return [
        function
        for function, _ in run.symbols.functions()
        if function.record is not None and function.name.rpartition(".")[2] == call.name[1:]
    ]


def _goes_over(run: FunctionRun, function: Function, symbol: str) -> bool:
    """Whether a function has a loop over a variable, or over what is made of it whole:
    ``enumerate(loader)``."""
    flow = run.symbols.flow(function)
    for header in flow.loops:
        condition = terminal(flow.blocks[header])
        over = condition.operand if isinstance(condition, Unary) else None
        made = flow.only(over.symbol) if isinstance(over, Variable) else None
        whole = [over, *(one.value for one in made.arguments)] if isinstance(made, Call) else [over]
        if any(isinstance(one, Variable) and one.symbol == symbol for one in whole):
            return True
    return False


def _makes_data_set(run: FunctionRun, operation: Operation) -> bool:
    effect = run.models.lifetime_effect(operation.name) if isinstance(operation, Call) else None
    return effect is not None and effect.data_sets


def _run_by(run: FunctionRun, call: Call) -> list[Function]:
    """The other functions of the run that a call runs: also methods of objects made here."""
    found = [run.symbols.function(call.key, run.filename)]
    if isinstance(call.receiver, Variable):
        name = call.name.removeprefix(".")
        made = run.flow.definitions.get(call.receiver.symbol, ())
        found += [
            run.symbols.method(one.key, name, run.filename)
            for one in made
            if isinstance(one, Call) and one.kind == "constructor"
        ]
    return [one for one in found if one is not None and one.key != run.function.key]
