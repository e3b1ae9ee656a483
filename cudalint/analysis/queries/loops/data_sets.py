"""Data sets that are moved to the device as a whole although loops only need a part at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from cudalint.analysis.facts.loops import SlicedDataSet
from cudalint.analysis.facts.transfers import Transfer
from cudalint.analysis.queries.loops.repeated import goes_to_device
from cudalint.analysis.queries.loops.uses import Uses
from cudalint.analysis.shape.arguments import given_at
from cudalint.analysis.shape.loops import around, derived, innermost
from cudalint.analysis.shape.operations import At, targets
from cudalint.analysis.shape.places import names
from cudalint.apis.paths import parse_path
from cudalint.program import (
    EACH,
    Assign,
    Call,
    Constant,
    Expression,
    Index,
    Member,
    Slice,
    Unary,
    Variable,
    children,
    render,
)

_DESCRIBING = frozenset(
    {"shape", "dtype", "device", "ndim", "size", "nbytes", "itemsize", "dim", "numel", "is_cuda"}
)
"""Attributes and methods of every library's arrays that tell about them and read no element."""
_MOST_SERVERS = 4
"""How many data sets and loaders may be around one another."""


@dataclass
class _Reads:
    """What a function does with one array."""

    slices: list[tuple[int, str]] = field(default_factory=list)
    """The loops that take parts of it, and how."""
    whole: bool = False


def sliced_data_sets(uses: Uses) -> Iterator[SlicedDataSet]:
    """The arrays that a function moves to the device before loops that only slice them."""
    found: list[tuple[SlicedDataSet, frozenset[int]]] = []
    for place in uses.places:
        call = place.operation
        if not isinstance(call, Call) or not isinstance(call.target, Variable):
            continue
        if uses.flow.enclosing.get(place.block):
            continue  # a part of the data already, as the loop around it reads more
        transfer = uses.transfer(call)
        if transfer is None or not _moves(uses, call, transfer):
            continue
        symbol = call.target.symbol
        if uses.written_elsewhere({symbol}):
            continue
        reads = _follow(uses, place, symbol, 0)
        if reads.whole or not reads.slices:
            continue
        header, how = reads.slices[0]
        data_set = SlicedDataSet(
            uses.run.show(call.target),
            transfer.api,
            call.span,
            transfer.bytes,
            transfer.bytes,
            uses.loop_span(header),
            how,
        )
        found.append((data_set, frozenset(header for header, _ in reads.slices)))
    for data_set, headers in found:
        sizes = [other.bytes for other, others in found if headers & others]
        known = [size for size in sizes if size is not None]
        yield replace(data_set, together=sum(known) if len(known) == len(sizes) else None)


def _moves(uses: Uses, call: Call, transfer: Transfer) -> bool:
    model = uses.model(call)
    if model is None or model.copies is None or model.copies.to != "return":
        return False
    if transfer.source is None or transfer.source.space == "device":
        return False
    return transfer.direction in ("host-to-device", "default", None) and (
        goes_to_device(uses, call, transfer)
    )


def _follow(uses: Uses, place: At, symbol: str, depth: int) -> _Reads:
    """What happens with the array in a variable from the operation on that put it there."""
    result = _Reads()
    for other in uses.places:
        rebinds = any(
            isinstance(t, Variable) and t.symbol == symbol for t in targets(other.operation)
        )
        if rebinds and other != place and _after(uses, place, other.block, other.position):
            result.whole = True
            return result
        written = [t for t in targets(other.operation) if not isinstance(t, Variable)]
        if any(symbol in names(target) for target in written):
            result.whole = True  # filled or changed in place: it is no mere input
            return result
    for reader, block, operand in uses.reads(frozenset({symbol})):
        if reader == place:
            continue
        index = reader.position if reader is not None else len(uses.flow.blocks[block].operations)
        if not _after(uses, place, block, index):
            continue
        if reader is not None and isinstance(reader.operation, Call):
            if _describes(reader.operation, operand):
                continue
            served = _served(uses, reader, operand, depth)
            if served is not None:
                result.slices += served.slices
                result.whole = result.whole or served.whole
                continue
        _read(uses, block, operand, symbol, result)
        if result.whole:
            return result
    return result


def _after(uses: Uses, place: At, block: int, index: int) -> bool:
    return uses.flow.reaches(place.block, place.position, block, index)


def _describes(call: Call, operand: Expression) -> bool:
    """``data.size(0)``."""
    method = call.name.rpartition(".")[2]
    return operand == call.receiver and isinstance(operand, Variable) and method in _DESCRIBING


def _served(uses: Uses, reader: At, operand: Expression, depth: int) -> _Reads | None:
    """What is done with a data set or loader around the array, if the call makes one."""
    call = reader.operation
    assert isinstance(call, Call)
    model = uses.model(call)
    if model is None or not model.serves or not isinstance(operand, Variable):
        return None
    if model.serves_along is not None:
        axis = given_at(call, parse_path(model.serves_along, model.parameters))
        if axis is not None and not (isinstance(axis, Constant) and axis.value == 0):
            return _Reads(whole=True)
    if depth >= _MOST_SERVERS or not isinstance(call.target, Variable):
        return _Reads(whole=True)
    return _follow(uses, reader, call.target.symbol, depth + 1)


def _read(uses: Uses, block: int, operand: Expression, symbol: str, result: _Reads) -> None:
    """Add what an expression reads of an array: a part, its description, or all of it."""
    pending = [operand]
    while pending:
        expression = pending.pop()
        match expression:
            case Slice(base=Variable(symbol=base), lower=lower, upper=upper) if base == symbol:
                _take(uses, block, expression, result)
                pending += [part for part in (lower, upper) if part is not None]
            case Index(base=Variable(symbol=base), index=index) if base == symbol and index == EACH:
                header = innermost(uses.flow, block)
                if header is None:
                    result.whole = True
                else:
                    result.slices.append((header, render(Variable(symbol, symbol))))
            case Member(base=Variable(symbol=base), field=attribute) if base == symbol:
                result.whole = result.whole or attribute not in _DESCRIBING
            case Unary(operator="len" | "more"):
                continue
            case Variable(symbol=name) if name == symbol:
                result.whole = True
            case _:
                pending += children(expression)


def _take(uses: Uses, block: int, part: Slice, result: _Reads) -> None:
    """A slice: a part that moves on with a loop, or something else."""
    bounds = [bound for bound in (part.lower, part.upper) if bound is not None]
    for header in around(uses.flow, block) if len(bounds) == 2 else ():
        if all(_counting(uses, header) & set(names(bound)) for bound in bounds):
            result.slices.append((header, uses.run.show(part)))
            return
    result.whole = True


def _counting(uses: Uses, header: int) -> set[str]:
    """The variables that go through the data in order: the elements of a ``range``, what an
    iteration adds to, and what is computed from them."""
    made = [place.operation for place in uses.places if isinstance(place.operation, Call)]
    ranges = derived(uses.flow.ranges, made)  # also what is put around one: `tqdm(range(n))`
    start: set[str] = set()
    computing: list[Assign | Call] = []
    for place in uses.inside(header):
        operation = place.operation
        if isinstance(operation, Call) and operation.name.startswith("builtins."):
            computing.append(operation)  # `min(start + size, len(data))`
        if not isinstance(operation, Assign) or not isinstance(operation.target, Variable):
            continue
        value = operation.value
        each = isinstance(value, Index) and value.index == EACH
        if operation.augmented or (each and ranges & set(names(value))):
            start.add(operation.target.symbol)
        elif not each:
            computing.append(operation)
    return derived(start, computing)
