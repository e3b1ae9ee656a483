"""Python's own functions that make or take apart sequences and numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from cudalint.analysis.footprint.objects import Items, Plain, Range, texts_of, unknown
from cudalint.analysis.footprint.results import whole


def _range(values: list[Any]) -> Any:
    numbers = [whole(value) for value in values]
    if len(numbers) == 1:
        return Range(0, numbers[0], 1)
    if len(numbers) == 2:
        return Range(numbers[0], numbers[1], 1)
    return Range(*numbers[:3]) if len(numbers) == 3 else unknown(texts_of(*values))


def _number(kind: Callable[[Any], Any]) -> Callable[[list[Any]], Any]:
    def convert(values: list[Any]) -> Any:
        value = values[0] if values else Plain(0)
        if isinstance(value, Plain) and value.known and isinstance(value.value, int | float | str):
            try:
                return Plain(kind(value.value))
            except (ValueError, OverflowError, TypeError):
                return unknown()
        return unknown(texts_of(*values))

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
        return unknown(texts_of(*items))

    return extreme


def _list(values: list[Any]) -> Any:
    value = values[0] if values else None
    if isinstance(value, Items):
        return Items(list(value.items))
    if isinstance(value, Range) and value.known and len(value) <= 64:
        return Items([Plain(value.start + k * value.step) for k in range(len(value))])  # type: ignore[operator]
    return Items() if value is None else unknown(texts_of(*values))


def _listed(value: Any) -> list[Any] | None:
    made = _list([value])
    return made.items if isinstance(made, Items) else None


def _of_lists(make: Callable[..., list[Any]]) -> Callable[[list[Any]], Any]:
    def apply(values: list[Any]) -> Any:
        several = [items for value in values if (items := _listed(value)) is not None]
        return Items(make(*several)) if len(several) == len(values) else unknown(texts_of(*values))

    return apply


def _pairs(*several: Iterable[Any]) -> list[Any]:
    return [Items(list(pair), "tuple") for pair in zip(*several, strict=False)]


BUILTINS: dict[str, Callable[[list[Any]], Any]] = {
    "range": _range,
    "int": _number(int),
    "float": _number(float),
    "abs": _number(abs),
    "round": _number(round),
    "max": _extreme(max),
    "min": _extreme(min),
    "list": _list,
    "tuple": _list,
    "enumerate": _of_lists(lambda items: _pairs(map(Plain, range(len(items))), items)),
    "zip": _of_lists(_pairs),
    "reversed": _of_lists(lambda items: items[::-1]),
}
