"""Many programs in one message. What files include stands in the programs of all of them, most of
the bytes of a large project: it is sent, decoded and kept in memory once."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from cudalint.program.functions import Function, Program, Record


class Packed(msgspec.Struct, array_like=True):
    """Programs, and what stands in them."""

    functions: list[bytes]
    """Encoded, each once."""
    records: list[bytes]
    programs: list[bytes]
    """Encoded, with the numbers of functions and records in their place."""
    whole: list[int] = []
    """The positions of those that were left as they are, nested too deeply to be split."""


class _Split(Program, frozen=True, omit_defaults=True):
    """A program whose functions and records are not decoded."""

    functions: tuple[msgspec.Raw, ...] = ()  # type: ignore[assignment]
    records: tuple[msgspec.Raw, ...] = ()  # type: ignore[assignment]


class _Numbered(Program, frozen=True, omit_defaults=True):
    """A program whose functions and records stand elsewhere."""

    functions: tuple[int, ...] = ()  # type: ignore[assignment]
    records: tuple[int, ...] = ()  # type: ignore[assignment]


def packed(programs: Iterable[bytes]) -> Packed:
    """Pack encoded programs, which are needed one at a time."""
    whole: list[int] = []
    functions: dict[bytes, int] = {}
    records: dict[bytes, int] = {}
    decoder = msgspec.msgpack.Decoder(_Split)
    found: list[bytes] = []
    for data in programs:
        try:
            split = decoder.decode(data)
        except RecursionError:  # whoever has to decode it fails with it alone
            whole.append(len(found))
            found.append(data)
            continue
        parts = {name: getattr(split, name) for name in Program.__struct_fields__}
        parts["functions"] = _numbers(split.functions, functions)
        parts["records"] = _numbers(split.records, records)
        found.append(msgspec.msgpack.encode(_Numbered(**parts)))
    return Packed(list(functions), list(records), found, whole)


def _numbers(raw: Iterable[msgspec.Raw], known: dict[bytes, int]) -> tuple[int, ...]:
    return tuple(known.setdefault(bytes(one), len(known)) for one in raw)


def unpacked(packed: Packed, function: Callable[[bytes], Function] | None = None) -> list[Program]:
    """The programs. Functions that are alike are the same object; ``function`` decodes one, and may
    know it already. Raises ``RecursionError`` where one is nested too deeply."""
    functions = [*map(function or msgspec.msgpack.Decoder(Function).decode, packed.functions)]
    records = [*map(msgspec.msgpack.Decoder(Record).decode, packed.records)]
    decoder = msgspec.msgpack.Decoder(_Numbered)
    found = []
    for position, data in enumerate(packed.programs):
        if position in packed.whole:
            found.append(msgspec.msgpack.decode(data, type=Program))
            continue
        numbered = decoder.decode(data)
        parts = {name: getattr(numbered, name) for name in Program.__struct_fields__}
        parts["functions"] = tuple(functions[number] for number in numbered.functions)
        parts["records"] = tuple(records[number] for number in numbered.records)
        found.append(Program(**parts))
    return found
