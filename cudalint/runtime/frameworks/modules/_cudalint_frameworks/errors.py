"""What is not pretended says so."""

from __future__ import annotations

from typing import Any, NoReturn

from _cudalint_frameworks import recorder

PREFIX = "not simulated: "


class NotSimulatedError(RuntimeError):
    """The pretended device cannot do this: no verdict may come of what follows."""

    __module__ = "builtins"


def not_simulated(what: str) -> NoReturn:
    """Say it in the trace too: the program may catch the error."""
    recorder.note(PREFIX + what)
    raise NotSimulatedError(PREFIX + what)


def refusing(what: str) -> Any:
    """A function that is not simulated."""

    def refuse(*arguments: Any, **named: Any) -> NoReturn:
        not_simulated(what)

    refuse.__wrapped__ = refuse  # type: ignore[attr-defined]  # as context managers have it
    return refuse
