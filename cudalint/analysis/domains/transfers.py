"""Copies, fills, launches and arrays: what a call moves, and how large it is."""

from __future__ import annotations

import re
from dataclasses import replace

from cudalint.analysis.domains.ownership.recorder import Acquired, Recorder, overflow_of
from cudalint.analysis.engine.binding import Binding
from cudalint.analysis.engine.domain import Domain
from cudalint.analysis.engine.evaluate import nbytes
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.facts import (
    Endpoint,
    Fill,
    Site,
    Transfer,
)
from cudalint.analysis.shape.arguments import inputs, named
from cudalint.analysis.shape.counts import Counts
from cudalint.analysis.shape.loops import reads_each, varying
from cudalint.analysis.shape.members import referred, type_of
from cudalint.analysis.shape.walk import plain, space_of_device
from cudalint.analysis.values.arithmetic import apply, divide
from cudalint.analysis.values.values import (
    NULL,
    Address,
    Array,
    Const,
    Input,
    Operation,
    Pointer,
    Sequence,
    Value,
    constant,
    integer,
)
from cudalint.apis.model import ApiFunction, CopyEffect, Family
from cudalint.program import (
    AddressOf,
    Call,
    Expression,
    Index,
    Type,
    Variable,
    render,
    variables,
    walk,
)

_KINDS = ("host-to-host", "host-to-device", "device-to-host", "device-to-device", "default")
"""Directions by the value of ``cudaMemcpyKind``."""
_SIZE_OF_TYPE = re.compile(r"unknown:(sizeof\s*\(\s*[\w:]+\s*\))")
"""Of a type, or of what is named: of `*image.data` nobody knows whether it is more than a byte."""
POINTERS = frozenset({".data", ".ptr", ".ctypes", ".gpudata", ".device_ctypes_pointer"})
"""Attributes of arrays that lead to where their memory is."""

MANAGED_ARRAY = Family(kind="memory", noun="device array", space="device", managed=True)


class Transfers(Domain):
    """Records what a modelled call copies or fills."""

    def modelled(
        self, run: FunctionRun, binding: Binding, name: str, model: ApiFunction, state: State
    ) -> None:
        if model.copies is not None:
            returns = model.returns
            space = "device" if returns is None else _space(run, binding, returns.space)
            _copy(run, binding, model.copies, name, space)
        if model.sets is not None:
            _fill(run, binding, model, name, state)


# Copies and fills -------------------------------------------------------------------------------


def _copy(
    run: FunctionRun, binding: Binding, copy: CopyEffect, name: str, returned: str | None
) -> None:
    size = binding.amount(copy.bytes) if copy.bytes else None
    if copy.rows is not None and size is not None:
        rows = binding.amount(copy.rows)
        size = None if rows is None else apply("*", size, rows)
    if isinstance(size, Operation) and size.operator in ("nbytes", "unknown:shape"):
        size = None
    to, source = (
        _symbol(run, binding, path, copy.offset)
        if copy.symbol == side
        else _endpoint(run, binding, path, size, returned)
        for side, path in (("to", copy.to), ("from", copy.source))
    )
    direction = direction_of(binding, copy.direction)
    places = (binding.expression(copy.to), binding.expression(copy.source))
    if not copy.symbol:  # which the pointer itself may be what goes into
        to, source = _marked(run, to, *places), _marked(run, source, *places[::-1])
    to, source = (
        _counted(run, side, place, binding.amount_expression(copy.bytes))
        for side, place in zip((to, source), places, strict=True)
    )
    if (
        direction == "host-to-device"
        and source is not None
        and source.space == "device"
        and (copy.to == "return")
    ):
        direction = "device-to-device"
    run.log(Recorder).transfer(
        Transfer(
            api=name,
            span=binding.call.span,
            to=to or Endpoint("", None, None),
            source=source,
            bytes=integer(size),
            bytes_text=_amount_text(run, binding, copy.bytes),
            direction=direction,
            whole_data_set=copy.whole_data_set
            and not isinstance(binding.value(copy.source), Sequence | Const)
            and not _is_a_part(run, binding.expression(copy.source)),
            overflow=overflow_of(size),
            element_count=_counts_elements(run, binding, copy.bytes),
            to_itself=_is_one_place(binding, copy),
            of_bytes=_is_of_bytes(binding, copy),
            model=copy,
        )
    )


def _marked(
    run: FunctionRun, side: Endpoint | None, place: Expression | None, other: Expression | None
) -> Endpoint | None:
    """A side of a copy, told whether it is the place of a pointer."""
    if side is None or place is None or other is None or not isinstance(plain(place), AddressOf):
        return side
    pointer = _element_type(run, place)
    element = _element_type(run, other)
    if pointer is None or pointer.kind != "pointer" or pointer.pointee is None or element is None:
        return side
    same = _bare(pointer.pointee) == _bare(element) and element.kind not in ("pointer", "void")
    same = same and element.bytes != 1  # the bytes of a pointer, maybe
    return replace(side, pointer_to=_bare(element)) if same else side


def _counted(
    run: FunctionRun, side: Endpoint | None, place: Expression | None, amount: Expression | None
) -> Endpoint | None:
    """A side of a copy, told whether the copy has as many bytes as its container has elements."""
    call = run.flow.only(amount.symbol) if isinstance(amount, Variable) else None
    if side is None or place is None or not isinstance(call, Call) or call.receiver is None:
        return side
    model = run.models.lookup(call.name)
    container = referred(type_of(call.receiver, run.function, run.program, run.symbols))
    held = container.arguments[0] if container is not None and container.arguments else None
    element = _element_type(run, place) or held
    if model is None or model.counts != "elements" or element is None:
        return side
    whole = plain(place)
    made = run.flow.only(whole.symbol) if isinstance(whole, Variable) else None
    given = made.receiver if isinstance(made, Call) else None
    inside = whole.place if isinstance(whole, AddressOf) else given
    if inside is None or plain(call.receiver) not in {plain(part) for part in walk(inside)}:
        return side
    return replace(side, counted=True, element_bytes=element.bytes)


def _filled(
    run: FunctionRun, to: Endpoint, place: Expression | None, size: Value | None
) -> Endpoint:
    """What is filled, told whether it is the place of one pointer, and more than that."""
    whole = plain(place) if place is not None else None
    if size is None or not isinstance(whole, AddressOf):
        return to
    kind = _element_type(run, whole)
    if kind is None or kind.kind != "pointer" or kind.pointee is None:
        return to
    one = kind.bytes is not None and not any(isinstance(part, Index) for part in walk(whole.place))
    more = one and integer(size) != kind.bytes
    return replace(to, pointer_to=_bare(kind.pointee)) if more else to


def _element_type(run: FunctionRun, side: Expression) -> Type | None:
    """What stands where a side of a copy points to."""
    whole = plain(side)
    given = (run.function, run.program, run.symbols)
    if isinstance(whole, AddressOf):
        return referred(type_of(whole.place, *given))
    declared = referred(type_of(whole, *given))
    return declared.pointee if declared is not None else None


def _bare(kind: Type) -> str:
    return kind.text.removeprefix("const ").removesuffix(" const")


def _is_of_bytes(binding: Binding, copy: CopyEffect) -> bool:
    """Whether a copy is of bytes in a row, as ``memcpy`` has them."""
    if copy.rows is not None:
        return False
    said = [binding.expression(copy.to), binding.expression(copy.source)]
    said.append(binding.amount_expression(copy.bytes))
    return None not in said and said == [one.value for one in binding.call.arguments[:3]]


def _is_one_place(binding: Binding, copy: CopyEffect) -> bool:
    """Whether a copy is of some memory to itself. An element of a table may be any other one."""
    value = binding.value(copy.source)
    sides = (binding.expression(copy.to), binding.expression(copy.source))
    named = all(one and not any(isinstance(p, Index) for p in walk(one)) for one in sides)
    return named and isinstance(value, Pointer) and value == binding.value(copy.to)


def _is_a_part(run: FunctionRun, source: Expression | None) -> bool:
    """Whether each iteration of a loop copies something else: a chunk at a time."""
    headers = run.flow.enclosing.get(run.position.block)
    if source is None or not headers:
        return False
    return reads_each(source) or any(
        variables(source) & varying(run.flow, header, lambda _: True) for header in headers
    )


def direction_of(binding: Binding, text: str) -> str | None:
    """The direction that a model gives: a literal, or the ``cudaMemcpyKind`` at a path."""
    if text in _KINDS:
        return text
    path, _, default = text.partition("|")
    value = binding.value(path)
    if value is None:
        return default or None
    number = integer(value)
    return _KINDS[number] if number is not None and 0 <= number < len(_KINDS) else None


def _fill(run: FunctionRun, binding: Binding, model: ApiFunction, name: str, state: State) -> None:
    assert model.sets is not None
    size = binding.amount(model.sets.bytes) if model.sets.bytes else None
    expression = binding.expression(model.sets.value)
    value = constant(binding.value(model.sets.value))
    if expression is not None:
        # `1.0f` or 0x1234 passed as a byte: what is written matters, not what is left of it.
        written = constant(run.evaluator.value(plain(expression), state))
        value = written if isinstance(written, int | float) else value
    to = _endpoint(run, binding, model.sets.to, size) or Endpoint("", None, None)
    run.log(Recorder).fills.setdefault(
        binding.call.span,
        Fill(
            api=name,
            span=binding.call.span,
            to=_filled(run, to, binding.expression(model.sets.to), size),
            value=value if isinstance(value, int | float) else None,
            value_text=render(expression) if expression is not None else "",
            bytes=integer(size),
            element_bytes=model.sets.element_bytes,
            bytes_text=_amount_text(run, binding, model.sets.bytes),
            element_count=_counts_elements(run, binding, model.sets.bytes),
        ),
    )


def _amount_text(run: FunctionRun, binding: Binding, amount: str | None) -> str:
    """An amount as it is written."""
    expression = binding.amount_expression(amount)
    return run.show(expression) if expression is not None else ""


def _counts_elements(run: FunctionRun, binding: Binding, amount: str | None) -> bool:
    expression = binding.amount_expression(amount)
    counts = run.symbols.memo(Counts)
    return expression is not None and counts.elements(expression, run.function)


def _endpoint(
    run: FunctionRun,
    binding: Binding,
    path: str,
    size: Value | None,
    returned: str | None = None,
) -> Endpoint | None:
    if path == "return":
        target = binding.call.target
        return Endpoint(render(target) if target else "", returned, None)
    value = binding.value(path)
    expression = binding.expression(path)
    if value is None or expression is None:
        return None
    element = pointee_bytes(run, expression)
    found = endpoint(run, run.show(expression), value, size, element)
    multiple = found.times_unknown and not _is_a_part(run, expression)
    return replace(found, element_bytes=element, times_unknown=multiple)


def _symbol(run: FunctionRun, binding: Binding, path: str, offset: str | None) -> Endpoint:
    """A variable of the device, which a copy names."""
    place = binding.expression(path)
    whole = plain(place) if place is not None else None
    if isinstance(whole, AddressOf):
        whole = whole.place
    info = run.evaluator.variable(whole.symbol) if isinstance(whole, Variable) else None
    known = info.type.bytes if info is not None and info.space == "device" else None
    skipped = binding.value(offset) if offset is not None else None
    start = 0 if skipped is None else integer(skipped)
    left = known - start if known is not None and start is not None else None
    kind = info.type if info is not None else None
    element = kind.pointee if kind is not None and kind.kind == "array" else kind
    name = run.show(whole) if whole is not None else ""
    return Endpoint(name, "device", left, element_bytes=element.bytes if element else None)


def pointee_bytes(run: FunctionRun, expression: Expression) -> int | None:
    """Bytes of one element of what an expression points to, from the variable's type."""
    for symbol in sorted(variables(expression)):
        info = run.evaluator.variable(symbol)
        if info is not None and info.type.pointee is not None:
            pointee = info.type.pointee
            if pointee.kind == "pointer" and not isinstance(plain(expression), Variable):
                return pointee.pointee.bytes if pointee.pointee is not None else None
            return pointee.bytes
    return None


def endpoint(
    run: FunctionRun, name: str, value: Value, size: Value | None, element: int | None
) -> Endpoint:
    """What is known of one side of a copy of ``size`` bytes."""
    match value:
        case Pointer(resource=resource, offset=offset):
            acquired = run.log(Recorder).of(resource)
            if acquired is None:
                return Endpoint(name, None, None)
            sure = not acquired.at_least and overflow_of(acquired.bytes) is None
            whole = acquired.bytes if sure else None
            at_start = integer(offset) == 0
            known, skipped = integer(whole), integer(offset)
            if known is not None and skipped:
                known = known - skipped * element if element else None
            elif skipped is None:
                known = None
            return Endpoint(
                name,
                None if acquired.ambiguous else acquired.info.space,
                known,
                acquired.bytes_text,
                element_bytes=element,
                allocation=Site(acquired.filename, acquired.span, acquired.api),
                size_ratio=_ratio(whole, size) if at_start else None,
                overrun_ratio=_ratio(size, whole) if at_start else None,
                overrun_bytes=_excess(size, whole) if at_start else None,
                overrun_element=_element_ratio(size, whole) if at_start else "",
                whole=at_start and whole is not None and whole == size,
                times_unknown=at_start and _is_multiple(whole, size),
            )
        case Address(location=location):
            info = run.evaluator.variable(location[0]) if len(location) == 1 else None
            known = info.type.bytes if info is not None else None
            storage = info.storage if info is not None else None
            space = "host" if storage in ("local", "parameter", "static", "global") else None
            if info is not None and info.space != "host":
                space = "symbol" if info.space == "device" else None
            return Endpoint(name, space, known if storage == "local" else None)
        case Array(space=space):
            return Endpoint(name, space, integer(nbytes(value)))
        case Operation(operator=operator, operands=(base,)) if operator in POINTERS:
            inner = endpoint(run, name, base, size, element)
            # Behind a view there may be more of the array that it shows.
            entire = (isinstance(base, Array) and base.owner) or operator == ".data"
            return inner if entire else replace(inner, bytes=None)
        case Input(location=(*_, ".ctypes", ".data")):
            return Endpoint(name, "host", None)
        case Input(location=("@", Operation() | Array() as base, last)) if last in POINTERS:
            return endpoint(run, name, Operation(str(last), (base,)), size, element)
        case Sequence() | Const(value=str()) if run.python:
            return Endpoint(name, "host", None)
        case _:
            return Endpoint(name, None, None)


def _ratio(above: Value | None, below: Value | None) -> int | None:
    if above is None or below is None:
        return None
    quotient = integer(divide(above, below))
    return quotient if quotient is not None and quotient > 1 else None


def _excess(above: Value | None, below: Value | None) -> int | None:
    if above is None or below is None:
        return None
    difference = integer(apply("-", above, below))
    return difference if difference is not None and difference > 0 else None


def _is_multiple(above: Value | None, below: Value | None) -> bool:
    """Whether a size is that of another, which is not a constant either, times an amount."""
    quotient = divide(above, below) if above is not None and below is not None else None
    return quotient is not None and integer(quotient) is None and integer(below) is None


def _element_ratio(above: Value | None, below: Value | None) -> str:
    """The quotient of two sizes, where it is ``sizeof(T)`` in a template."""
    quotient = divide(above, below) if above is not None and below is not None else None
    named = isinstance(quotient, Operation) and _SIZE_OF_TYPE.fullmatch(quotient.operator)
    return named[1] if named else ""


# Arrays of Python libraries ---------------------------------------------------------------------


def returned_array(
    run: FunctionRun, binding: Binding, model: ApiFunction, name: str, state: State
) -> Value | None:
    """The array that a library function returns, with its size where it is known."""
    returns = model.returns
    assert returns is not None
    origin = run.position.symbol(f"array:{name}")
    state.refresh(origin)
    if returns.view_of is not None:
        base = binding.value(returns.view_of)
        if isinstance(base, Array):
            return Array(base.space, binding.shape(returns.shape, base), base.item_bytes,
                         base.origin, owner=False)  # fmt: skip
    space = _space(run, binding, returns.space)
    size = binding.item_bytes(returns.dtype) if returns.dtype else None
    owner = returns.view_of is None
    array = Array(space, binding.shape(returns.shape), size, origin, owner=owner)
    if space == "device":
        target, total = binding.call.target, nbytes(array)
        run.log(Recorder).acquired(
            Acquired(
                origin=origin.origin,
                name=render(target) if target is not None else f"the result of {name}",
                api=name,
                family="array",
                info=MANAGED_ARRAY,
                filename=run.filename,
                span=binding.call.span,
                bytes=total if integer(total) is not None else None,
                managed=True,
                fallible=False,
            )
        )
    return array


def _space(run: FunctionRun, binding: Binding, declared: str) -> str | None:
    asked = named(binding.call, "device")
    value = NULL if asked is None else run.evaluator.value(asked, binding.state)
    if value != NULL:
        return space_of_device(constant(value))
    if declared == "same" and "device" in binding.parameters:
        place = constant(binding.value("device"))
        if isinstance(place, str):
            return space_of_device(place)
    if declared == "same":
        for expression in inputs(binding.call):
            value = run.evaluator.value(expression, binding.state)
            if isinstance(value, Array):
                return value.space
        return None
    return None if declared == "unknown" else declared
