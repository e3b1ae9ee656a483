"""Checks a decoded model: its families exist, its paths and amounts parse."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar, get_args

from cudalint.apis.model import ApiFunction, Direction, Space
from cudalint.apis.paths import (
    parse_amount,
    parse_direction,
    parse_dtype,
    parse_path,
    parse_shape,
)

RECEIVERS = frozenset({"array", *get_args(Space)})
"""What the receiver of a method may be, besides a family."""

Item = TypeVar("Item")
Parser = Callable[[str, tuple[str, ...]], object]
DIRECTIONS: tuple[str, ...] = get_args(Direction)


class ModelError(ValueError):
    """A model file that says something impossible: where, and what would be right."""

    def __init__(self, path: str, table: str, message: str) -> None:
        super().__init__(f"{path}: [{table}]: {message}" if table else f"{path}: {message}")
        self.path = path
        self.table = table
        self.message = message


def nearest(word: str, known: Iterable[str]) -> str:
    """``; did you mean `x`?``, or nothing where no name is near."""
    found = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.6)
    return f"; did you mean `{found[0]}`?" if found else ""


def problems(function: ApiFunction, families: Iterable[str]) -> Iterator[str]:
    """What is wrong with a function's model, most telling first."""
    families = frozenset(families)
    for family in _families(function):
        if family not in families:
            yield f"there is no family `{family}`{nearest(family, families)}"
    receiver = function.receiver
    if receiver is not None and receiver not in families | RECEIVERS:
        yield f"there is no receiver `{receiver}`{nearest(receiver, families | RECEIVERS)}"
    for name in ("swaps", "assigns"):
        if len(getattr(function, name)) not in (0, 2):
            yield f"{name} takes two paths, not {len(getattr(function, name))}"
    for what, text, parse in _texts(function):
        if text is None:
            continue
        try:
            parse(text, function.parameters)
        except ValueError as error:
            yield f"{what}: {error}"


def _families(function: ApiFunction) -> Iterator[str]:
    for acquisition in _several(function.acquires):
        yield acquisition.family
    for release in _several(function.releases):
        yield from release.families


def _several(value: tuple[Item, ...] | Item) -> tuple[Item, ...]:
    return value if isinstance(value, tuple) else (value,)


def _texts(function: ApiFunction) -> Iterator[tuple[str, str | None, Parser]]:
    for acquisition in _several(function.acquires):
        yield "acquires.handle", acquisition.handle, parse_path
        yield "acquires.status", acquisition.status, parse_path
        yield "acquires.bytes", acquisition.bytes, parse_amount
    for release in _several(function.releases):
        yield "releases.handle", release.handle, parse_path
    if (copy := function.copies) is not None:
        yield "copies.to", copy.to, parse_path
        yield "copies.from", copy.source, parse_path
        yield "copies.stream", copy.stream, parse_path
        yield "copies.into", copy.into, parse_path
        when = copy.asynchronous_when
        yield "copies.asynchronous_when", when and when.removeprefix("not "), parse_path
        yield "copies.direction", copy.direction, parse_direction
        yield "copies.bytes", copy.bytes, parse_amount
        yield "copies.rows", copy.rows, parse_amount
    if (fill := function.sets) is not None:
        yield "sets.to", fill.to, parse_path
        yield "sets.value", fill.value, parse_path
        yield "sets.bytes", fill.bytes, parse_amount
    if (result := function.returns) is not None:
        yield "returns.shape", result.shape, parse_shape
        yield "returns.dtype", result.dtype, parse_dtype
        yield "returns.temporary_bytes", result.temporary_bytes, parse_amount
        yield "returns.view_of", result.view_of, parse_path
        yield "returns.second_if", result.second_if, parse_path
        yield "returns.in_place", result.in_place, parse_path
        yield "returns.may_alias", result.may_alias, parse_path
    if (launch := function.launches) is not None:
        yield "launches.kernel", launch.kernel, parse_path
        for path in (*launch.grid, *launch.block):
            yield "launches", path, parse_path
        yield "launches.shared", launch.shared, parse_amount
        yield "launches.stream", launch.stream, parse_path
    if (embedded := function.embeds) is not None:
        for source in embedded.source:
            yield "embeds.source", source, parse_path
        yield "embeds.kernel", embedded.kernel, parse_path
        yield "embeds.options", embedded.options, parse_path
    if (opt_in := function.opts_in) is not None:
        yield "opts_in.kernel", opt_in.kernel, parse_path
        yield "opts_in.value", opt_in.value, parse_amount
        yield "opts_in.attribute", opt_in.attribute, parse_path
    if (lookup := function.finds_kernel) is not None:
        yield "finds_kernel.handle", lookup.handle, parse_path
        yield "finds_kernel.name", lookup.name, parse_path
    if (threshold := function.pool_threshold) is not None:
        yield "pool_threshold.attribute", threshold.attribute, parse_path
        yield "pool_threshold.value", threshold.value, parse_path
    if (order := function.order) is not None:
        for path in order.uses:
            yield "order.uses", path, parse_path
        for name in ("stream", "records", "waits", "flags"):
            yield f"order.{name}", getattr(order, name), parse_path
    for name in ("status", "aliases", "unwraps", "invokes", "dangles", "serves_along"):
        yield name, getattr(function, name), parse_path
    for name in ("takes", "swaps", "assigns", "inserts", "keeps", "host_reads", "host_writes"):
        for path in getattr(function, name):
            yield name, path, parse_path
