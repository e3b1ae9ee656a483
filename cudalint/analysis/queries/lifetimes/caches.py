"""Caches of device tensors that only grow (Python)."""

from __future__ import annotations

import ast
import re

from cudalint.analysis.facts.lifetimes import TensorCache
from cudalint.analysis.queries.lifetimes.varying_keys import varies
from cudalint.analysis.shape.arguments import inputs
from cudalint.analysis.shape.operations import calls, definitions, expressions, operations
from cudalint.analysis.shape.placement import Placements
from cudalint.analysis.shape.places import holder, place
from cudalint.analysis.shape.subjects import is_module
from cudalint.analysis.shape.symbols import Symbols
from cudalint.analysis.shape.wording import substitute, written_calls
from cudalint.apis.loader import ApiModels
from cudalint.program import (
    Assign,
    Binary,
    Branch,
    Call,
    Constant,
    Delete,
    Expression,
    Function,
    Index,
    Member,
    Operation,
    Parameter,
    Program,
    Return,
    Tuple,
    Unary,
    Variable,
    render,
    variables,
    walk,
)

_FEW = re.compile(
    r"(^|_)(device|dtype|layout|backend|mode|training|kind|rank|gpu|stream|dev|type|name|module|cls"
    r"|key|op|layer|stage|level|split|direction|causal|inverse)(_?(id|index|ids|type|name|str|idx))?s?$",
    re.IGNORECASE,
)
"""Names of what takes few values in one run, as a rule."""
_FEW_RESULTS = 128
"""What `lru_cache` keeps when nobody says how many; of small tensors, no harm."""
_FEW_TYPES = ("bool", "device", "dtype", "layout", "Literal", "Enum", "Stream")


def decorated(function: Function, symbols: Symbols, models: ApiModels) -> tuple[TensorCache, ...]:
    """The decorators of a function that keep device tensors, or what owns some."""
    for decorator, span in zip(function.decorators, function.decorator_spans, strict=False):
        name, _, options = decorator.partition("(")
        effect = models.lifetime_effect(name)
        if effect is None or effect.memoizes is None:
            continue
        bound = _bound(options, effect.memoizes)
        for by_name in (True, False):
            kind = _kept(function, symbols, models, bound, by_name)
            if kind:
                names = ", ".join(p.name for p in function.parameters)
                shown = name.rpartition(".")[2]
                return (TensorCache(kind, shown, span, names, unsure=not by_name),)
        if bound is None and _is_method(function) and _makes_of_itself(function, symbols, models):
            unsure = not _computes_with_itself(function, models)
            shown = name.rpartition(".")[2]
            return (TensorCache("method", shown, span, "self", unsure=unsure, given=True),)
    return ()


def _bound(options: str, parameter: str) -> int | None:
    """How many results are kept; ``None``: all."""
    if parameter == "unbounded":
        return None
    try:
        call = ast.parse(f"f({options}" if options else "f()", mode="eval").body
    except SyntaxError:
        return None
    assert isinstance(call, ast.Call)
    given = [*call.args[:1], *(k.value for k in call.keywords if k.arg == parameter)]
    if not given:
        return 128
    value = given[0]
    number = value.value if isinstance(value, ast.Constant) else 128
    return number if isinstance(number, int) else None


def _kept(
    function: Function, symbols: Symbols, models: ApiModels, bound: int | None, by_name: bool
) -> str:
    """What a decorator keeps; ``by_name``: what is called so takes few values."""
    parameters = function.parameters
    if any(_is_tensor(p, models) for p in parameters):
        return "tensors"
    on_device = bool(_returned(function, symbols) & {"device", "asked"})
    if function.record is not None and _is_method(function):
        module = is_module(symbols, function.record, function.filename)
        many = bound is None or bound > _FEW_RESULTS
        return "method" if module or (on_device and many) else ""
    unbounded = [
        p
        for p in parameters
        if not (_takes_few(p.type.text, p.default) or (by_name and _FEW.search(p.name)))
    ]
    if on_device and bound is None and unbounded and _decides_size(function, unbounded, models):
        return "results"
    return ""


def _returned(function: Function, symbols: Symbols) -> set[str | None]:
    """Where what a function returns lives."""
    placements = Placements(function, symbols)
    return {
        placements.of(block.terminator.value)
        for block in function.blocks
        if isinstance(block.terminator, Return) and block.terminator.value is not None
    }


def _is_method(function: Function) -> bool:
    return function.record is not None and function.kind == "method" and not function.is_static


def _makes_of_itself(function: Function, symbols: Symbols, models: ApiModels) -> bool:
    """Whether a method returns tensors that it makes of nothing but its object, as it says itself;
    not on the host, as far as one can see."""
    names = re.findall(r"[\w.]+", function.returns.text if function.returns else "")
    effects = map(models.lifetime_effect, names)
    says = any(effect is not None and effect.tensor_types for effect in effects)
    return says and not function.parameters and "host" not in _returned(function, symbols)


def _computes_with_itself(function: Function, models: ApiModels) -> bool:
    """Whether a method gives members of its object to functions of tensors."""
    return any(
        (place(part) or "").startswith("this.")
        for _, call in calls(function)
        if models.tensor_effect(call.name) is not None and not call.name.startswith(".")
        for part in walk(*inputs(call))
    )


def _is_tensor(parameter: Parameter, models: ApiModels) -> bool:
    effect = models.lifetime_effect(parameter.type.text.partition("[")[0])
    return effect is not None and effect.tensor_types


def _takes_few(annotation: str, default: Expression | None) -> bool:
    few = isinstance(default, Constant) and isinstance(default.value, bool | str)
    return few or annotation.rpartition(".")[2].startswith(_FEW_TYPES)


def _decides_size(function: Function, keys: list[Parameter], models: ApiModels) -> bool:
    """Whether one of the keys is an extent of an array that the function makes."""
    symbols = {key.symbol for key in keys}
    for _, call in calls(function):
        model = models.lookup(call.name)
        shape = model.returns.shape if model is not None and model.returns is not None else None
        if (
            shape is not None
            and not shape.startswith("like")
            and any(a.keyword is None and variables(a.value) & symbols for a in call.arguments)
        ):
            return True
    return False


# Dictionaries -----------------------------------------------------------------------------------


def dictionaries(
    function: Function, program: Program, symbols: Symbols, models: ApiModels
) -> tuple[TensorCache, ...]:
    """The dictionaries that a function remembers device tensors in, by a key with many values."""
    if function.kind in ("module", "constructor"):
        return ()
    found: dict[str, TensorCache] = {}
    flow = symbols.flow(function)
    placements = Placements(function, symbols)
    for at in operations(function):
        operation = at.operation
        target = getattr(operation, "target", None)
        if not isinstance(target, Index) or not isinstance(operation, Assign | Call):
            continue
        base = target.base
        shared = isinstance(base, Variable) and base.symbol.startswith("::")
        own = (
            isinstance(base, Member)
            and isinstance(base.base, Variable)
            and base.base.symbol == "this"
        )
        if not (shared or own) or place(base) in found:
            continue
        stored = operation.value if isinstance(operation, Assign) else None
        last = flow.last_set(stored.symbol, at.place) if isinstance(stored, Variable) else ()
        made = {placements.made_by(one) for one in last or (operation,)}
        if made.isdisjoint(("device", "asked")):
            continue
        if not _asks_first(function, base, target.index):
            continue  # a table that is filled, not a cache
        if _few_values(function, target.index, models, by_name=False):
            continue
        if not varies(target.index, function, symbols):
            continue
        if not _only_grows(program, function, base, symbols):
            continue
        written = written_calls(function)
        found[place(base) or ""] = TensorCache(
            "global" if shared else "instance",
            render(base) if shared else f"self.{render(base).removeprefix('this.')}",
            operation.span,
            render(substitute(target.index, written)),
            unsure=_few_values(function, target.index, models, by_name=True),
        )
    return tuple(found.values())


def _asks_first(function: Function, base: Expression, key: Expression) -> bool:
    """Whether the function looks whether the key is there: ``if key not in table``, ``.get(key)``,
    ``try: return table[key]``."""
    table, wanted = place(base), render(key)
    for block in function.blocks:
        branch = block.terminator
        if isinstance(branch, Branch) and any(
            isinstance(part, Binary)
            and part.operator == "in"
            and place(part.right) == table
            and render(part.left) == wanted
            for part in walk(branch.condition)
        ):
            return True
    return any(
        call.name == ".get"
        and call.receiver is not None
        and place(call.receiver) == table
        and call.arguments
        and render(call.arguments[0].value) == wanted
        for _, call in calls(function)
    )


def _few_values(function: Function, key: Expression, models: ApiModels, by_name: bool) -> bool:
    """Whether a key takes few values in one run: a device, a type, a constant, a flag, or,
    ``by_name``, what is called so."""
    made = definitions(function)
    parameters = {p.symbol: p for p in function.parameters}

    def named(name: str) -> bool:
        return by_name and _FEW.search(name) is not None

    def few(expression: Expression, depth: int = 0) -> bool:
        match expression:
            case Constant():
                return True
            case Tuple(items=items):
                return all(few(item, depth) for item in items)
            case Member(field=field):
                effect = models.lifetime_effect(f".{field}")
                return named(field) or (effect is not None and effect.few)
            case Binary(operator="==" | "!=" | "<" | ">" | "in" | "is"):
                return True
            case Binary(left=left, right=right):
                return few(left, depth) and few(right, depth)
            case Unary(operator="!"):
                return True
            case Variable(symbol=symbol, name=name):
                if named(name):
                    return True
                parameter = parameters.get(symbol)
                if parameter is not None:
                    return _takes_few(parameter.type.text, parameter.default)
                values = made.get(symbol, [])
                if not values or depth > 4:
                    return False
                return all(
                    few(value.value, depth + 1)
                    if isinstance(value, Assign)
                    else isinstance(value, Call)
                    and (named(value.name.rpartition(".")[2]) or call_is_few(value, depth))
                    for value in values
                )
            case _:
                return False

    def call_is_few(call: Call, depth: int) -> bool:
        parts = inputs(call)
        return bool(parts) and all(few(part, depth + 1) for part in parts)

    return few(key)


def _only_grows(program: Program, function: Function, base: Expression, symbols: Symbols) -> bool:
    """Whether it starts as an empty dictionary, and nothing takes entries out, empties it or puts
    another in its place; a test of its length says that somebody looks after it."""
    table = place(base)
    starts_empty = False
    models = symbols.models(program.language)
    users = symbols.class_methods(function) if isinstance(base, Member) else program.functions
    for other in users:
        for at in operations(other):
            if place(getattr(at.operation, "target", None)) == table:
                if other.kind not in ("module", "constructor"):
                    return False
                starts_empty = starts_empty or _is_empty_dictionary(at.operation, models)
            if _takes_out(at.operation, table, models):
                return False
        if any(_measures(part, table) for part in expressions(other)):
            return False
    return starts_empty


def _is_empty_dictionary(operation: Operation, models: ApiModels) -> bool:
    """Whether it makes one, and not a bounded container of the project."""
    if isinstance(operation, Assign):
        return isinstance(operation.value, Tuple) and not operation.value.items
    effect = models.tensor_effect(operation.name) if isinstance(operation, Call) else None
    return effect is not None and effect.result == "list" and effect.bound is None


def _takes_out(operation: Operation, table: str | None, models: ApiModels) -> bool:
    if isinstance(operation, Delete):
        target = operation.place
        return isinstance(target, Index) and table in (place(target.base), holder(target))
    effect = models.lifetime_effect(operation.name) if isinstance(operation, Call) else None
    return (
        effect is not None
        and effect.evicts
        and place(getattr(operation, "receiver", None)) == table
    )


def _measures(expression: Expression, table: str | None) -> bool:
    return any(
        isinstance(part, Unary) and part.operator == "len" and place(part.operand) == table
        for part in walk(expression)
    )
