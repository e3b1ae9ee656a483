"""What hooks hold and store in the object that registers them (Python)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cudalint.analysis.facts.lifetimes import GraphHook, LeftBehind
from cudalint.analysis.facts.resources import Site
from cudalint.analysis.shape.operations import calls, definitions, expressions, operations
from cudalint.analysis.shape.places import holder, place
from cudalint.analysis.shape.symbols import Symbols
from cudalint.analysis.shape.wording import substitute, written_calls
from cudalint.apis.loader import ApiModels
from cudalint.program import (
    Assign,
    Call,
    Expression,
    Function,
    FunctionReference,
    Index,
    Member,
    Operation,
    Tuple,
    Variable,
    render,
    variables,
    walk,
)
from cudalint.source import Span

# Hooks on the graph -----------------------------------------------------------------------------


def graph_hooks(function: Function, symbols: Symbols, models: ApiModels) -> tuple[GraphHook, ...]:
    """The hooks on nodes of the graph that hold the object itself, where that may hold the graph:
    no collector sees such a circle."""
    found = []
    for _, call in calls(function):
        effect = models.lifetime_effect(call.name)
        node = call.receiver
        if effect is None or not effect.hooks_graph or not isinstance(node, Member):
            continue
        inner = models.lifetime_effect("." + node.field)
        if inner is None or not inner.graph_nodes or function.record is None:
            continue
        if not any(_holds_self(function, one.value, symbols, models) for one in call.arguments):
            continue
        kept = next(_kept_by(function, symbols, models), None)
        if kept is not None:
            shown = render(substitute(node, written_calls(function)))
            found.append(GraphHook(shown, call.span, kept))
    return tuple(found)


def _holds_self(
    function: Function, value: Expression, symbols: Symbols, models: ApiModels, depth: int = 0
) -> bool:
    """Whether a callable holds the receiver: a bound method, a closure, ``partial(f, self)``."""
    for part in walk(value):
        if part == Variable("self", "this") or "this" in variables(part):
            return True
        if isinstance(part, FunctionReference):
            inner = symbols.function(part.key, function.filename)
            if inner is not None and inner.parent is not None and _mentions_self(inner):
                return True
        if isinstance(part, Variable) and depth < 3:
            made = symbols.flow(function).definitions.get(part.symbol, ())
            if any(
                _holds_self(function, one, symbols, models, depth + 1)
                for operation in made
                for one in _given(operation, models)
            ):
                return True
    return False


def _given(operation: Operation, models: ApiModels) -> Iterator[Expression]:
    """What an operation's result may hold."""
    if isinstance(operation, Assign):
        yield operation.value
    elif isinstance(operation, Call):
        effect = models.lifetime_effect(operation.name)
        if effect is None or not effect.weak:
            yield from (argument.value for argument in operation.arguments)


def _mentions_self(function: Function) -> bool:
    return any("this" in variables(part) for part in expressions(function))


def _kept_by(function: Function, symbols: Symbols, models: ApiModels) -> Iterator[Site]:
    """Where an object of the class keeps what may hold the graph: a method stores what it is given,
    or something out of sight wraps the method and may keep its result."""
    for decorator, span in zip(function.decorators, function.decorator_spans, strict=False):
        effect = models.tensor_effect(decorator.partition("(")[0])
        if effect is None or not effect.harmless:
            yield Site(function.filename, span, f"`@{decorator.partition('(')[0]}`")
    for method in symbols.methods(function.record):
        if method.kind != "constructor":
            for name, span in _stores(method, models):
                yield Site(method.filename, span, f"`self.{name}`")


# What hooks store -------------------------------------------------------------------------------


def left_behind(function: Function, symbols: Symbols, models: ApiModels) -> tuple[LeftBehind, ...]:
    """What the hooks of an object stored in it, where a method removes the hooks and leaves it."""
    if function.record is None or function.kind == "constructor":
        return ()
    removal = next(
        (
            call
            for _, call in calls(function)
            if (effect := models.lifetime_effect(call.name)) is not None
            and effect.unhooks
            and not call.arguments
            and _handles(function, symbols, call) & _hook_handles(function, symbols, models)
        ),
        None,
    )
    if removal is None:
        return ()
    stored: dict[str, Site] = {}
    for hook in _own_hooks(function, symbols, models):
        for inner in _with_nested(hook, symbols):
            for name, span in _stores(inner, models):
                stored.setdefault(name, Site(inner.filename, span, name))
    changed = set(_changed(function, symbols, models))
    ends = models.ends_object(function.name)
    return tuple(
        LeftBehind(name, removal.span, site, ends)
        for name, site in stored.items()
        if name not in changed
    )[:1]


def _handles(function: Function, symbols: Symbols, removal: Call) -> set[str]:
    """The member that the handle of a removal is in or comes from."""
    name = holder(removal.receiver) if removal.receiver is not None else None
    made = symbols.flow(function).only(name) if name is not None else None
    if isinstance(made, Assign):
        name = holder(made.value.base if isinstance(made.value, Index) else made.value)
    return {name} if name is not None and name.startswith("this.") else set()


def _hook_handles(function: Function, symbols: Symbols, models: ApiModels) -> set[str]:
    """The members of the class that the handles of its module hooks are put in."""
    found = set()
    for method in symbols.methods(function.record):
        results = {
            place(call.target)
            for _, call in calls(method)
            if (effect := models.lifetime_effect(call.name)) is not None and effect.hooks
        }
        found |= {name for name in results if name is not None and name.startswith("this.")}
        for _, call in calls(method):
            puts = models.tensor_effect(call.name)
            if puts is None or not puts.inserts or not call.arguments:
                continue
            name = holder(call.receiver) if call.receiver is not None else None
            given = {place(part) for part in walk(call.arguments[0].value)}
            if name is not None and name.startswith("this.") and given & results:
                found.add(name)
    return found


def _own_hooks(function: Function, symbols: Symbols, models: ApiModels) -> Iterator[Function]:
    """The methods that the class registers as hooks of modules."""
    for method in symbols.methods(function.record):
        for _, call in calls(method):
            effect = models.lifetime_effect(call.name)
            if effect is None or not effect.hooks or not call.arguments:
                continue
            hook = call.arguments[0].value
            if isinstance(hook, Member) and place(hook.base) == "this":
                found = symbols.method(function.record, hook.field, function.filename)
                if found is not None:
                    yield found


def _with_nested(function: Function, symbols: Symbols) -> Iterator[Function]:
    yield function
    for other, _ in symbols.functions():
        if other.parent == function.key and other.filename == function.filename:
            yield other


def _stores(function: Function, models: ApiModels) -> Iterator[tuple[str, Span]]:
    """The members that a function puts what it is given in, as it is: which, and where."""
    given = {parameter.symbol for parameter in function.parameters}
    made = definitions(function)
    for at in operations(function):
        operation = at.operation
        if isinstance(operation, Assign):
            name, value = place(operation.target), operation.value
        elif isinstance(operation, Call) and operation.receiver is not None and operation.arguments:
            effect = models.tensor_effect(operation.name)
            if effect is None or not effect.inserts:
                continue
            name, value = place(operation.receiver), operation.arguments[0].value
        else:
            continue
        if name is None or not name.startswith("this.") or name.count(".") != 1 or "[" in name:
            continue
        items = value.items if isinstance(value, Tuple) else (value,)
        if any(_is_given(item, given, made, models) for item in items):
            yield name.removeprefix("this."), operation.span


def _is_given(
    value: Expression,
    given: set[str],
    made: Mapping[str, Sequence[Operation]],
    models: ApiModels,
    depth: int = 0,
) -> bool:
    """Whether a value may be a parameter, a part of one, or made of one on the same device."""
    if depth > 6:
        return False
    of = models.tensor_effect("." + value.field) if isinstance(value, Member) else None
    if isinstance(value, Index | Member) and (of is None or of.result != "number"):
        return _is_given(value.base, given, made, models, depth + 1)
    if not isinstance(value, Variable):
        return False
    return value.symbol in given or any(
        _is_given(source, given, made, models, depth + 1)
        for operation in made.get(value.symbol, ())
        if (source := _same_device(operation, models)) is not None
    )


def _same_device(operation: Operation, models: ApiModels) -> Expression | None:
    """What an operation's result is, or is made of on the same device."""
    if isinstance(operation, Assign):
        return operation.value
    effect = models.tensor_effect(operation.name) if isinstance(operation, Call) else None
    if effect is None or effect.device == "host" or effect.result == "number":
        return None
    return operation.receiver if isinstance(operation, Call) else None


def _changed(
    function: Function, symbols: Symbols, models: ApiModels, depth: int = 0
) -> Iterator[str]:
    """The members that a method, or one that it calls, empties or gives another value."""
    for at in operations(function):
        operation = at.operation
        target = place(getattr(operation, "target", None)) or place(
            getattr(operation, "place", None)
        )
        if target is not None and target.startswith("this."):
            yield target.removeprefix("this.").partition(".")[0].partition("[")[0]
        if not isinstance(operation, Call) or operation.receiver is None:
            continue
        effect = models.tensor_effect(operation.name)
        name = holder(operation.receiver) or ""
        if effect is not None and effect.clears and name.startswith("this."):
            yield name.removeprefix("this.")
        if place(operation.receiver) == "this" and depth < 3:
            inner = symbols.method(
                function.record, operation.name.removeprefix("."), function.filename
            )
            if inner is not None:
                yield from _changed(inner, symbols, models, depth + 1)
