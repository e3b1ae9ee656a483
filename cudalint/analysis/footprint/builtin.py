"""Python's own functions that make or take apart sequences and numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cudalint.analysis.footprint.objects import Array, Items, Plain, Range, text_of, unknown
from cudalint.analysis.footprint.results import whole


def _texts(values: list[Any]) -> str:
    return ", ".join(dict.fromkeys(text for value in values if (text := text_of(value))))


def _range(values: list[Any]) -> Any:
    numbers = [whole(value) for value in values]
    if len(numbers) == 1:
        return Range(0, numbers[0], 1)
    if len(numbers) == 2:
        return Range(numbers[0], numbers[1], 1)
    return Range(*numbers[:3]) if len(numbers) == 3 else unknown(_texts(values))


def _length(values: list[Any]) -> Any:
    value = values[0] if values else None
    if isinstance(value, Items):
        return Plain(len(value.items))
    if isinstance(value, Range) and value.known:
        return Plain(len(value))
    if isinstance(value, Array) and value.shape and value.shape[0] is not None:
        return Plain(value.shape[0])
    return unknown(_texts(values))


def _number(kind: Callable[[Any], Any]) -> Callable[[list[Any]], Any]:
    def convert(values: list[Any]) -> Any:
        value = values[0] if values else Plain(0)
        if isinstance(value, Plain) and value.known and isinstance(value.value, int | float | str):
            try:
                return Plain(kind(value.value))
            except (ValueError, OverflowError):
                return unknown()
        return unknown(_texts(values))

    return convert


def _extreme(choose: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    def extreme(values: list[Any]) -> Any:
        items = values[0].items if len(values) == 1 and isinstance(values[0], Items) else values
        numbers = [value.value for value in items if isinstance(value, Plain) and value.known]
        if (
            items
            and len(numbers) == len(items)
            and all(isinstance(n, int | float) for n in numbers)
        ):
            return Plain(choose(numbers))
        return unknown(_texts(items))

    return extreme


def _list(values: list[Any]) -> Any:
    value = values[0] if values else None
    if isinstance(value, Items):
        return Items(list(value.items))
    if isinstance(value, Range) and value.known and len(value) <= 64:
        return Items([Plain(value.start + k * value.step) for k in range(len(value))])  # type: ignore[operator]
    return Items() if value is None else unknown(_texts(values))


def _listed(value: Any) -> list[Any] | None:
    made = _list([value])
    return made.items if isinstance(made, Items) else None


def _enumerate(values: list[Any]) -> Any:
    items = _listed(values[0]) if values else None
    if items is None:
        return unknown(_texts(values))
    return Items([Items([Plain(number), item], "tuple") for number, item in enumerate(items)])


def _zip(values: list[Any]) -> Any:
    several = [_listed(value) for value in values]
    known = [items for items in several if items is not None]
    if len(known) != len(several):
        return unknown(_texts(values))
    return Items([Items(list(pair), "tuple") for pair in zip(*known, strict=False)])


def _reversed(values: list[Any]) -> Any:
    items = _listed(values[0]) if values else None
    return unknown(_texts(values)) if items is None else Items(items[::-1])


BUILTINS: dict[str, Callable[[list[Any]], Any]] = {
    "range": _range,
    "len": _length,
    "int": _number(int),
    "float": _number(float),
    "abs": _number(lambda value: abs(value) if not isinstance(value, str) else value),
    "round": _number(lambda value: round(value) if not isinstance(value, str) else value),
    "max": _extreme(max),
    "min": _extreme(min),
    "list": _list,
    "tuple": _list,
    "enumerate": _enumerate,
    "zip": _zip,
    "reversed": _reversed,
}
