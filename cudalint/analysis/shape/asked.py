"""What is asked of the symbols of a run, and what they answered. What was found in a function holds
as long as the same questions have the same answers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from cudalint.analysis.shape.flow import Flow
from cudalint.apis.loader import ApiModels
from cudalint.program import Function, Program

Door = tuple[Callable[[Any, Any], Any], Any]
Shown = Callable[[Program], Program]
"""A program as whoever asks is shown it."""
_PLAIN = (str, bool, type(None))


class Note(NamedTuple):
    """A question and its answer."""

    doors: tuple[Door, ...]
    """What leads from the symbols to what is asked."""
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    answer: object


class Asked:
    """A view of a part of the symbols that notes what is asked. Nothing can be had of it but
    answers, so that none is missing."""

    __iter__ = None

    def __init__(self, source: Any, notes: list[Note], shown: Shown, doors: tuple[Door, ...] = ()):
        self._source = source
        self._notes = notes
        self._shown = shown
        self._doors = doors
        self._known: dict[object, Any] = {}

    def __bool__(self) -> bool:
        raise TypeError("this is no answer yet")

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__[name] = self._behind(getattr, name)
        return found

    def __getitem__(self, key: object) -> Any:
        return self._behind(_item, key)

    def __contains__(self, item: object) -> bool:
        if item not in self._known:
            self._known[item] = self._behind(_has, item)()
        return bool(self._known[item])

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """The answer to a question."""
        which = (*arguments, *keywords.values())
        plain = bool(which) and all(isinstance(one, _PLAIN) for one in which)
        if plain and which in self._known:
            return self._known[which]
        answer = _asked(self._source, self._doors, arguments, keywords, self._shown)
        self._notes.append(Note(self._doors, arguments, keywords, answer))
        if plain:
            self._known[which] = answer
        return answer

    def _behind(self, door: Callable[[Any, Any], Any], key: object) -> Asked:
        return Asked(self._source, self._notes, self._shown, (*self._doors, (door, key)))


class AskedSymbols(Asked):
    """A view of the symbols themselves."""

    def models(self, language: str) -> ApiModels:
        """The models of a language, which are the same in all runs."""
        models: ApiModels = self._source.models(language)
        return models

    def flow(self, function: Function) -> Flow:
        """The shape of a function, which is decided by the function alone."""
        flow: Flow = self._source.flow(function)
        return flow

    def memo(self, kind: object) -> Asked:
        """What somebody keeps of the run: a view too."""
        if kind not in self._known:
            self._known[kind] = self._behind(_memo, kind)
        found: Asked = self._known[kind]
        return found


def holds(note: Note, symbols: Any, shown: Shown) -> bool:
    """Whether symbols answer a question as others did."""
    answer = _asked(symbols, note.doors, note.arguments, note.keywords, shown)
    return is_same(note.answer, answer)


def is_same(one: object, other: object) -> bool:
    """Whether nobody can tell two answers apart. A function is only the same as itself."""
    if one is other:
        return True
    if type(one) is not type(other) or isinstance(one, Function | Program):
        return False
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return is_same(list(one.items()), list(other.items()))
    if isinstance(one, set | frozenset) and isinstance(other, set | frozenset):
        return one == other and sorted(map(repr, one)) == sorted(map(repr, other))
    if isinstance(one, msgspec.Struct):
        names: tuple[str, ...] = one.__struct_fields__
        return all(is_same(getattr(one, name), getattr(other, name)) for name in names)
    if dataclasses.is_dataclass(one):
        names = tuple(field.name for field in dataclasses.fields(one))
        return all(is_same(getattr(one, name), getattr(other, name)) for name in names)
    return one == other


def _asked(
    source: Any,
    doors: tuple[Door, ...],
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
    shown: Shown,
) -> object:
    for door, key in doors:
        source = door(source, key)
    return _as_shown(source(*arguments, **keywords), shown)


def _as_shown(answer: Any, shown: Shown) -> Any:
    if isinstance(answer, Program):
        return shown(answer)
    if type(answer) in (list, tuple):
        return type(answer)(_as_shown(one, shown) for one in answer)
    return answer


def _item(source: Any, key: object) -> Any:
    return source[key]


def _has(source: Any, key: object) -> Callable[[], bool]:
    return lambda: key in source


def _memo(source: Any, kind: object) -> Any:
    return source.memo(kind)
