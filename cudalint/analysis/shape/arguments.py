"""What a call gives for which parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from cudalint.apis.model import ApiFunction
from cudalint.apis.paths import Path, parse_path
from cudalint.program import Call, Constant, Expression, Launch, Parameter, Tuple

Item = TypeVar("Item")


@dataclass(frozen=True)
class Given(Generic[Item]):
    """The arguments of one call: expressions, or what somebody made of them."""

    positional: Sequence[Item]
    named: Mapping[str, Item]
    cut: bool = False
    """Whether more may be given out of sight: ``f(first, *rest, **options)``."""

    def at(self, index: int | None, name: str | None) -> Item | None:
        """What is given at a position, or by a name."""
        if name is not None and name in self.named:
            return self.named[name]
        known = index is not None and index < len(self.positional)
        return self.positional[index] if known else None  # type: ignore[index]

    def bind(
        self, parameters: Sequence[Parameter], packed: Callable[[Sequence[Item]], Item]
    ) -> dict[str, Item]:
        """What is given for parameters, by their symbols; what is left for ``*rest`` is packed."""
        found: dict[str, Item] = {}
        position = 0
        for parameter in parameters:
            if parameter.starred == "*":
                if not self.cut:
                    found[parameter.symbol] = packed(self.positional[position:])
                position = len(self.positional)
            elif parameter.starred:
                continue
            elif parameter.name in self.named:
                found[parameter.symbol] = self.named[parameter.name]
            elif position < len(self.positional) and not parameter.keyword_only:
                found[parameter.symbol] = self.positional[position]
                position += 1
        return found


def given(call: Call | Launch) -> Given[Expression]:
    """The arguments of a call. Where those after ``*arguments`` go cannot be told."""
    positional: list[Expression] = []
    unpacked = False
    for argument in call.arguments:
        unpacked = unpacked or argument.starred == "*"
        if argument.keyword is None and not argument.starred and not unpacked:
            positional.append(argument.value)
    named = {one.keyword: one.value for one in call.arguments if one.keyword is not None}
    return Given(positional, named, any(argument.starred for argument in call.arguments))


def bindings(call: Call | Launch, parameters: Sequence[Parameter]) -> dict[str, Expression]:
    """What a call gives for parameters, by their symbols: a tuple for ``*rest``."""
    return given(call).bind(parameters, lambda rest: Tuple(tuple(rest)))


def given_at(call: Call, path: Path) -> Expression | None:
    """The argument, receiver or target that a path of an API model starts at."""
    match path.root:
        case "this":
            return call.receiver
        case "return":
            return call.target
        case "argument":
            return given(call).at(path.index, path.name)
        case _:
            return None


def argument(call: Call, path: str) -> Expression | None:
    """The argument at a path such as ``arg1|map_location``: a position, a keyword, or both."""
    arguments = given(call)
    for part in path.split("|"):
        number = part.removeprefix("arg")
        found = arguments.at(int(number) if number.isdigit() else None, part)
        if found is not None:
            return found
    return None


def named(call: Call, keyword: str | None) -> Expression | None:
    """What a keyword argument gives."""
    return next((a.value for a in call.arguments if keyword and a.keyword == keyword), None)


def named_constant(call: Call, keyword: str | None) -> object:
    """The constant that a keyword argument gives, if it is one."""
    value = named(call, keyword)
    return value.value if isinstance(value, Constant) else None


def inputs(call: Call) -> list[Expression]:
    """The receiver of a call, and its arguments."""
    arguments = [argument.value for argument in call.arguments]
    return arguments if call.receiver is None else [call.receiver, *arguments]


def sizes(model: ApiFunction | None, call: Call) -> Iterator[Expression]:
    """The arguments of a call that are numbers of bytes."""
    if model is None:
        return
    amounts = [acquisition.bytes for acquisition in model.acquires]
    amounts += [one.bytes for one in (model.copies, model.sets) if one is not None]
    for amount in amounts:
        try:
            path = parse_path(amount or "", model.parameters)
        except ValueError:
            continue  # computed of several arguments
        if (argument := given_at(call, path)) is not None:
            yield argument
