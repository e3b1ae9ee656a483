"""Expressions of a Python program, with the memory that their temporaries take."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cudalint.analysis.footprint.arrays import Shape, broadcast, count, multiplied
from cudalint.analysis.footprint.objects import (
    NOTHING,
    Array,
    Instance,
    Items,
    Memory,
    Name,
    Node,
    Plain,
    Range,
    text_of,
    texts_of,
    unknown,
)
from cudalint.analysis.footprint.results import combine, shape_of, whole
from cudalint.analysis.footprint.state import State
from cudalint.analysis.footprint.surroundings import Surroundings
from cudalint.analysis.values.arithmetic import apply as fold
from cudalint.analysis.values.values import Const, constant
from cudalint.program import (
    EACH,
    Binary,
    Cast,
    Conditional,
    Constant,
    Expression,
    FunctionReference,
    Index,
    Member,
    Slice,
    Tuple,
    Unary,
    Unknown,
    Variable,
    render,
)
from cudalint.source import Span

_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_ELEMENTWISE = frozenset({"+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "~"})
_SAVING = frozenset({"*", "/", "**", "@"})


def current_span(state: State) -> Span:
    """Where the operation that runs stands."""
    block = state.frame.flow.blocks[state.frame.block]
    if state.frame.index < len(block.operations):
        return block.operations[state.frame.index].span
    return getattr(block.terminator, "span", state.frame.function.span)


def allocate(
    machine: Surroundings,
    state: State,
    shape: Shape | None,
    dtype: str | None,
    library: str,
    name: str,
    reason: str = "",
    temporary: int = 0,
    space: str | None = "device",
) -> Array:
    """A new array, and the most that is alive on the device while it is made."""
    array = Array(None, shape, dtype, library, space, unknown=reason)
    if space == "device":
        span, filename = current_span(state), state.frame.function.filename
        array.memory = Memory(array.nbytes(), span, name, filename, reason or name)
        with state.holding(array):
            machine.peaks.observe(state, span, temporary, "what the call needs while it runs")
    return array


# Evaluation -------------------------------------------------------------------------------------


def evaluate(machine: Surroundings, expression: Expression, state: State) -> Any:
    """The value of an expression; its temporaries are alive while it is evaluated."""
    match expression:
        case Constant(value=value):
            return Plain(value)
        case Variable():
            return _variable(machine, expression, state)
        case Member(base=base, field=field):
            return _member(expression, evaluate(machine, base, state), field)
        case Index(base=base, index=index):
            return _index(machine, base, index, state)
        case Slice():
            return _slice(machine, expression, state)
        case Unary(operand=operand):
            return _unary(machine, expression, evaluate(machine, operand, state), state)
        case Binary():
            return _binary(machine, expression, state)
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            decided = evaluate(machine, condition, state)
            if isinstance(decided, Plain) and decided.known:
                return evaluate(machine, then if decided.value else otherwise, state)
            first = evaluate(machine, then, state)
            return first if isinstance(first, Array) else evaluate(machine, otherwise, state)
        case Cast(operand=operand):
            return evaluate(machine, operand, state)
        case Tuple(items=items, kind=kind):
            return _items(machine, items, kind, state)
        case FunctionReference(name=name, key=key):
            return Name(name, key)
        case Unknown(text=text, reads=reads):
            for part in reads:
                evaluate(machine, part, state)
            return unknown(text if text.isidentifier() else "")
        case _:
            return unknown(render(expression))


def _items(machine: Surroundings, items: tuple[Expression, ...], kind: str, state: State) -> Items:
    with state.holding():
        depth = len(state.operands)
        for item in items:
            state.operands.append(evaluate(machine, item, state))
        values = state.operands[depth:]
    return Items(values[1::2] if kind == "dict" else values, kind)


def _variable(machine: Surroundings, variable: Variable, state: State) -> Any:
    for frame in reversed(state.frames):
        if variable.symbol in frame.env:
            return frame.env[variable.symbol]
        if not variable.symbol.startswith("::"):
            break
    info = machine.program.variables.get(variable.symbol)
    if info is not None and info.constant is not None:
        return evaluate(machine, info.constant, state)
    return unknown(variable.name)


def _member(expression: Member, base: Any, field: str) -> Any:
    if isinstance(base, Name):
        return Name(f"{base.name}.{field}", base.key)
    if isinstance(base, Instance):
        return base.fields.get(field, unknown(f"self.{field}"))
    if not isinstance(base, Array):
        return unknown(render(expression))
    match field:
        case "shape" if base.shape is not None:
            return Items([_known(extent, base.unknown) for extent in base.shape], "tuple")
        case "nbytes":
            return _known(base.nbytes(), base.unknown)
        case "ndim" if base.shape is not None:
            return Plain(len(base.shape))
        case "dtype" if base.dtype is not None:
            return Name(f"{base.library or 'numpy'}.{base.dtype}")
        case "device" if base.space is not None:
            return Plain("cuda" if base.space == "device" else "cpu")
        case "T" | "mT":
            return view(base, None if base.shape is None else base.shape[::-1])
        case "data" | "real" | "imag" | "flat":
            return replace(view(base, base.shape), node=None)
        case "grad" if base.gradient is not None:
            return Array(base.gradient, base.shape, base.dtype, base.library, base.space)
        case "size" if base.library != "torch":
            return _known(count(base.shape or None), base.unknown)
        case _:
            return unknown()


def _known(number: int | None, text: str) -> Plain:
    return unknown(text) if number is None else Plain(number)


# Parts of arrays --------------------------------------------------------------------------------


def _index(machine: Surroundings, base: Expression, index: Expression, state: State) -> Any:
    value = evaluate(machine, base, state)
    if index == EACH:
        symbol = base.symbol if isinstance(base, Variable) else ""
        return _element(value, state.frame.elements.get(symbol, 0))
    with state.holding(value):
        at = evaluate(machine, index, state)
    if isinstance(value, Items):
        number = whole(at)
        if number is not None and -len(value.items) <= number < len(value.items):
            return value.items[number]
        return value.items[0] if value.items else unknown()
    if isinstance(value, Array):
        return _part(machine, state, value, at, machine.show(state, Index(base, index)))
    return unknown(text_of(value))


def _element(value: Any, number: int) -> Any:
    if isinstance(value, Items):
        return value.items[min(number, len(value.items) - 1)] if value.items else unknown()
    if isinstance(value, Range):
        if value.start is None or value.step is None:
            return unknown(text_of(value))
        return Plain(value.start + number * value.step)
    if isinstance(value, Array):
        return view(value, value.shape[1:] if value.shape else None)
    return unknown(text_of(value))


def view(base: Array, shape: Shape | None) -> Array:
    """An array that shows another one's memory."""
    return Array(base.memory, shape, base.dtype, base.library, base.space, base.node,
                 unknown=base.unknown)  # fmt: skip


def _part(machine: Surroundings, state: State, base: Array, at: Any, text: str) -> Array:
    """``base[at]``: a view, or a copy where arrays or lists select."""
    keys = at.items if isinstance(at, Items) and at.kind == "tuple" else [at]
    selecting = [key for key in keys if isinstance(key, Array | Items)]
    if base.shape is None:
        return view(base, None)
    if selecting:
        shape: Shape | None = (None,)
        mask = any(isinstance(key, Array) and key.dtype == "bool" for key in selecting)
        if not mask and len(keys) == 1:
            inner = shape_of(selecting[0])
            shape = None if inner is None else (*inner, *base.shape[1:])
        return allocate(
            machine, state, shape, base.dtype, base.library, text, f"`{text}`", space=base.space
        )
    shape_left: list[int | None] = []
    extents = list(base.shape)
    for key in keys:
        if isinstance(key, Plain) and key.known and key.value is None:
            shape_left.append(1)
        elif isinstance(key, Range):
            extent = extents.pop(0) if extents else None
            shape_left.append(_sliced(key, extent))
        elif isinstance(key, Plain) and key.text == "...":
            rest = len(extents) - (len(keys) - 1 - keys.index(key))
            shape_left += [extents.pop(0) for _ in range(max(rest, 0))]
        elif extents:
            extents.pop(0)
    return view(base, (*shape_left, *extents))


def _sliced(key: Range, extent: int | None) -> int | None:
    if extent is None or extent < 0:
        return None
    if key.start is None or key.stop is None or key.step is None:
        return None
    stop = extent if key.stop == _END else key.stop
    return len(range(*slice(key.start, stop, key.step).indices(extent)))


_END = 1 << 62


def _bounds(machine: Surroundings, part: Slice, state: State) -> Range:
    def bound(expression: Expression | None, default: int) -> int | None:
        if expression is None:
            return default
        value = evaluate(machine, expression, state)
        return default if value == NOTHING else whole(value)

    return Range(bound(part.lower, 0), bound(part.upper, _END), bound(part.step, 1))


def _subscript(machine: Surroundings, part: Expression, state: State) -> Any:
    if isinstance(part, Slice):
        return _bounds(machine, part, state)
    return unknown("...") if part == Unknown("...") else evaluate(machine, part, state)


def _slice(machine: Surroundings, expression: Slice, state: State) -> Any:
    base = evaluate(machine, expression.base, state)
    with state.holding(base):
        bounds = _bounds(machine, expression, state)
        keys = [_subscript(machine, part, state) for part in expression.subscripts]
    if isinstance(base, Array):
        at = Items(keys, "tuple") if keys else bounds
        return _part(machine, state, base, at, machine.show(state, expression))
    if isinstance(base, Items):
        return Items(base.items[bounds.start : bounds.stop : bounds.step], base.kind)
    return unknown(text_of(base))


# Operators --------------------------------------------------------------------------------------


def _unary(machine: Surroundings, expression: Unary, value: Any, state: State) -> Any:
    operator = expression.operator
    if operator == "len":
        if isinstance(value, Items | Range) and not (isinstance(value, Range) and not value.known):
            return Plain(len(value.items) if isinstance(value, Items) else len(value))
        if isinstance(value, Array) and value.shape:
            return _known(value.shape[0], value.unknown)
        return unknown(text_of(value))
    if isinstance(value, Array) and operator in ("-", "~"):
        with state.holding(value):
            return _array_operation(machine, expression, [value], state)
    if isinstance(value, Plain) and value.known:
        folded = fold(operator, Const(value.value))
        return Plain(constant(folded)) if isinstance(folded, Const) else unknown()
    return unknown(text_of(value))


def _binary(machine: Surroundings, expression: Binary, state: State) -> Any:
    left = evaluate(machine, expression.left, state)
    with state.holding(left):
        right = evaluate(machine, expression.right, state)
        with state.holding(right):
            if isinstance(left, Array) or isinstance(right, Array):
                return _array_operation(machine, expression, [left, right], state)
    return _plain_operation(expression.operator, left, right)


def _plain_operation(operator: str, left: Any, right: Any) -> Any:
    if isinstance(left, Items) and isinstance(right, Items) and operator == "+":
        return Items([*left.items, *right.items], left.kind)
    if isinstance(left, Items) and operator == "*" and (times := whole(right)) is not None:
        return Items(left.items * min(times, 64), left.kind)
    if isinstance(left, Plain) and isinstance(right, Plain) and left.known and right.known:
        operator = {"/": "true/", "is": "=="}.get(operator, operator)
        folded = fold(operator, Const(left.value), Const(right.value))
        if isinstance(folded, Const):
            return Plain(folded.value)
    return unknown(texts_of(left, right))


def _array_operation(
    machine: Surroundings, expression: Unary | Binary, values: list[Any], state: State
) -> Any:
    operator = expression.operator
    arrays = [value for value in values if isinstance(value, Array)]
    library = next((array.library for array in arrays if array.library != "numpy"), "numpy")
    torch = library == "torch"
    if operator == "@":
        shape = multiplied(*map(shape_of, values))
    elif operator in _COMPARISONS or operator in _ELEMENTWISE:
        shape = broadcast(map(_operand_shape, values))
    else:
        return unknown()
    if operator in _COMPARISONS:
        dtype: str | None = "bool"
    else:
        function = "floating" if operator == "/" else "promote"
        dtype = combine(function, values, torch)
    if not any(array.space == "device" for array in arrays):
        return Array(None, shape, dtype, library, arrays[0].space)
    if operator == "@" and torch:
        machine.keep(state, "cuBLAS workspace:33554432")
    result = allocate(
        machine, state, shape, dtype, library, machine.show(state, expression), texts_of(*values)
    )
    saved = [array.memory for array in arrays] if operator in _SAVING else []
    result.node = connected(state, result, arrays, tuple(m for m in saved if m is not None))
    return result


def _operand_shape(value: Any) -> Shape | None:
    return () if isinstance(value, Plain) else shape_of(value)


def connected(
    state: State, result: Array, inputs: list[Array], saved: tuple[Memory, ...]
) -> Node | None:
    """The node of automatic differentiation behind a result, if it has one."""
    parents = tuple(array.node for array in inputs if array.node is not None)
    if not parents or not state.recording:
        return None
    size = result.memory.bytes if result.memory is not None else 0
    return Node(saved, parents, size)


# Places -----------------------------------------------------------------------------------------


def store(machine: Surroundings, target: Expression, value: Any, state: State) -> None:
    """``target = value``."""
    match target:
        case Variable(symbol=symbol):
            frame = state.frame
            if symbol.startswith("::"):
                frame = next((one for one in state.frames if symbol in one.env), frame)
            frame.env[symbol] = value
        case Member(base=base, field=field):
            owner = evaluate(machine, base, state)
            if isinstance(owner, Instance):
                owner.fields[field] = value
            elif isinstance(owner, Array) and field == "grad":
                owner.gradient = None
        case Index(base=base, index=index):
            owner = evaluate(machine, base, state)
            if isinstance(owner, Items):
                number = whole(evaluate(machine, index, state))
                if number is not None and -len(owner.items) <= number < len(owner.items):
                    owner.items[number] = value
                elif isinstance(value, Array | Items):
                    owner.items.append(value)
        case _:
            pass
