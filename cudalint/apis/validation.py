"""Checks a decoded model: its families exist, its paths and amounts parse."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar, get_args

import msgspec

from cudalint.apis.model import HOOK_KINDS, ApiFunction, Direction, ModelFile, Space
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


def nearest_key(key: str, kind: object, place: str) -> str:
    """The hint for a key that a table does not have: of the table at a place (``.copies``) in one
    of some kind, the nearest; else the table that does have it, or one much like it."""
    at: object = kind
    for step in re.findall(r"\.(\w+)", place):
        fields = {f.encode_name: f.type for s in _structs(at) for f in msgspec.structs.fields(s)}
        at = fields.get(step, at)
    owners = [
        f"`{name}`"
        for name, inner in _inner_tables(kind)
        if key in [f.encode_name for f in msgspec.structs.fields(inner)]
    ]
    if owners and not place:
        return f"; it belongs into {' or '.join(dict.fromkeys(owners))}"
    here = [f.encode_name for s in _structs(at) for f in msgspec.structs.fields(s)]
    if found := nearest(key, here):
        return found
    known = [key for _, inner in _inner_tables(kind) for key in inner.__struct_fields__]
    return nearest(key, known) or (f"; there are {', '.join(sorted(here))}" if here else "")


def _structs(kind: object) -> Iterator[type[msgspec.Struct]]:
    """The tables that a type stands for: itself, or those of a union or a list."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield kind
    for part in get_args(kind):
        yield from _structs(part)


def _inner_tables(kind: object) -> Iterator[tuple[str, type[msgspec.Struct]]]:
    for outer in _structs(kind):
        for item in msgspec.structs.fields(outer):
            for inner in _structs(item.type):
                yield item.encode_name, inner


_METHOD = re.compile(r"[A-Za-z_]\w*")
_NAME = re.compile(r"\.?[A-Za-z_][\w.:]*\*?")


def table_problems(file: ModelFile) -> Iterator[tuple[str, str]]:
    """What is wrong in the tables on tensors, hooks and lifetimes: the table, and what."""
    for name, tensor in file.tensors.items():
        table = f"tensors.{name}"
        for problem in (
            *_bad_names("names", tuple(name.removesuffix("=") for name in tensor.names)),
            *_bad_path("backward", tensor.backward),
            *_bad_path("inserts", tensor.inserts),
            *_bad_argument("buffers", tensor.buffers),
            *_bad_parameter("retain", tensor.retain),
            *_bad_parameter("create", tensor.create),
            *_bad_parameter("bound", tensor.bound),
        ):
            yield table, problem
    for name, hook in file.hooks.items():
        for problem in _bad_names("bases", hook.bases):
            yield f"hooks.{name}", problem
        for key in HOOK_KINDS:
            for method in getattr(hook, key):
                if not _METHOD.fullmatch(method):
                    yield f"hooks.{name}", f"{key}: `{method}` is no name of a method"
    for name, framework in file.tests.items():
        for problem in (
            *_bad_names("names", framework.names),
            *_bad_names("bases", framework.bases, empty=True),
        ):
            yield f"tests.{name}", problem
    for name, way in file.kernels.items():
        limits = (way.limits,) if way.limits else ()
        for problem in (*_bad_names("names", way.names), *_bad_names("limits", limits, empty=True)):
            yield f"kernels.{name}", problem
    for name, lasting in file.lifetimes.items():
        waits = None if lasting.waits == "forever" else lasting.waits
        bound = None if lasting.memoizes == "unbounded" else lasting.memoizes
        for problem in (
            *_bad_names("names", lasting.names),
            *_bad_path("waits", waits, "forever"),
            *_bad_argument("loads", lasting.loads),
            *_bad_argument("stores", lasting.stores),
            *_bad_parameter("offloads", lasting.offloads),
            *_bad_parameter("memoizes", bound),
        ):
            yield f"lifetimes.{name}", problem


def _bad_names(key: str, names: tuple[str, ...], empty: bool = False) -> Iterator[str]:
    if not names and not empty:
        yield f"`{key}` is empty: the table says nothing of anything"
    for name in names:
        if not _NAME.fullmatch(name):
            yield f"{key}: `{name}` is no dotted name, `.method` or beginning that ends in `*`"


def _bad_path(key: str, text: str | None, *words: str) -> Iterator[str]:
    if text is None:
        return
    try:
        parse_path(text, ())
    except ValueError as error:
        yield f"{key}: {error}{nearest(text, ('this', 'return', 'arg0', 'arg1', *words))}"


def _bad_argument(key: str, text: str | None) -> Iterator[str]:
    """``arg1|map_location``: a position, a keyword, or both."""
    position, _, name = (text or "").partition("|")
    yield from _bad_path(key, position or None)
    yield from _bad_parameter(key, name or None)


def _bad_parameter(key: str, name: str | None) -> Iterator[str]:
    if name is not None and not _METHOD.fullmatch(name):
        yield f"{key}: `{name}` is no name of a parameter"


def problems(function: ApiFunction, families: Iterable[str]) -> Iterator[str]:
    """What is wrong with a function's model, most telling first."""
    families = frozenset(families)
    for family in _families(function):
        if family not in families:
            yield f"there is no family `{family}`{nearest(family, families)}"
    receiver = function.receiver
    if receiver is not None and receiver not in families | RECEIVERS:
        yield f"there is no receiver `{receiver}`{nearest(receiver, families | RECEIVERS)}"
    for name in ("swaps", "assigns", "fills"):
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
    for acquisition in function.acquires:
        yield acquisition.family
    if function.provides is not None:
        yield function.provides.family
    for release in function.releases:
        yield from release.families


def _parse_pointer(text: str, parameters: tuple[str, ...]) -> object:
    """The path of a pointer to what is read or written."""
    if text.startswith("*"):
        raise ValueError(f"`{text}`: it is what points there, without the `*`")
    return parse_path(text, parameters)


def _texts(function: ApiFunction) -> Iterator[tuple[str, str | None, Parser]]:
    for acquisition in function.acquires:
        yield "acquires.handle", acquisition.handle, parse_path
        yield "acquires.status", acquisition.status, parse_path
        yield "acquires.bytes", acquisition.bytes, parse_amount
        yield "acquires.of", acquisition.of, parse_path
    if (provision := function.provides) is not None:
        yield "provides.handle", provision.handle, parse_path
        yield "provides.of", provision.of, parse_path
    for release in function.releases:
        yield "releases.handle", release.handle, parse_path
    if (copy := function.copies) is not None:
        yield "copies.to", copy.to, _parse_pointer
        yield "copies.from", copy.source, _parse_pointer
        yield "copies.stream", copy.stream, parse_path
        yield "copies.into", copy.into, parse_path
        when = copy.asynchronous_when
        yield "copies.asynchronous_when", when and when.removeprefix("not "), parse_path
        yield "copies.direction", copy.direction, parse_direction
        yield "copies.bytes", copy.bytes, parse_amount
        yield "copies.rows", copy.rows, parse_amount
    if (fill := function.sets) is not None:
        yield "sets.to", fill.to, _parse_pointer
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
        if lookup.module is not None:
            yield "finds_kernel.module", lookup.module, parse_path
    if (threshold := function.pool_threshold) is not None:
        yield "pool_threshold.attribute", threshold.attribute, parse_path
        yield "pool_threshold.value", threshold.value, parse_path
    if (order := function.order) is not None:
        for path in order.uses:
            yield "order.uses", path, parse_path
        for name in ("stream", "records", "waits", "flags"):
            yield f"order.{name}", getattr(order, name), parse_path
    if (adoption := function.adopts) is not None:
        yield "adopts.pointer", adoption.pointer, parse_path
        yield "adopts.deleter", adoption.deleter, parse_path
    if function.at not in ("", "first", "last", "end"):
        yield "at", function.at, parse_path
    for name in ("status", "destroys", "aliases", "unwraps", "invokes", "dangles", "serves_along"):
        yield name, getattr(function, name), parse_path
    for name in (
        "takes", "swaps", "assigns", "fills", "carries", "inserts", "keeps", "saves", "host_reads",
        "host_writes",
    ):  # fmt: skip
        for path in getattr(function, name):
            yield name, path, parse_path
