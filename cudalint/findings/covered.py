"""Which languages and libraries each rule is known to speak: those of its fixtures.

``covered.toml`` is written by ``python -m benchmarks.covered --write`` from the programs in which a
rule must find something, so that nothing is claimed here that no test shows.
"""

from __future__ import annotations

import functools
from importlib.resources import files

import msgspec


class Covered(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the bad programs of one rule are written in."""

    languages: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()


@functools.cache
def covered() -> dict[str, Covered]:
    """By the rules' codes; a plug-in's rule is not in it."""
    text = files("cudalint.findings").joinpath("covered.toml").read_bytes()
    return msgspec.toml.decode(text, type=dict[str, Covered])
