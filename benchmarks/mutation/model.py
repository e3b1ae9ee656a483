"""What the stages of the mutation run tell each other."""

from __future__ import annotations

import msgspec

from cudalint.project.reading import Language
from cudalint.source import Span

REMOVED, EARLY_RETURN, CONDITIONAL = "removed", "early-return", "conditional"
KINDS = (REMOVED, EARLY_RETURN, CONDITIONAL)
"""Kinds of mutants of a release."""

DETACH, ITEM, FLOAT, NO_GRAD = "detach", "item", "float", "no-grad"
MAP_LOCATION, FINALLY, WITH, EMPTY_CACHE = "map-location", "finally", "with", "empty-cache"
FRAMEWORK_KINDS = (DETACH, ITEM, FLOAT, NO_GRAD, MAP_LOCATION, FINALLY, WITH, EMPTY_CACHE)
"""Kinds of mutants of Python programs: what is taken away, or moved into the loop."""

GROUPS = {"releases": KINDS, "python": FRAMEWORK_KINDS}

FOUND_BY = ("path", "member", "name", "family")
"""How the acquisitions of a release were found, the surest first: a path leads there; the class
acquires into the member; a variable of the same name; any of a fitting family."""
BY_TEXT = "text"
"""As the place of a framework mutant is found."""

SWITCH = "CUDALINT_MUTANT"
"""The environment variable that the mutants' conditions ask for: nobody knows its value."""

ACCEPTED: dict[str, dict[str, str]] = {
    REMOVED: {
        "GPU101": "it was the only release",
        "GPU102": "other paths still release it",
        "GPU103": "it was the release of the exceptional path",
        "GPU104": "the pointer is overwritten or acquired again afterwards",
        "GPU105": "the resource belongs to a member",
        "GPU106": "the resource is a handle",
        "GPU108": "only a device reset is left to end it",
    },
    EARLY_RETURN: {
        "GPU101": "the new return leaves it with a caller that never releases it",
        "GPU102": "the new return passes the release by",
        "GPU103": "the new return stands in the handler of an exception",
        "GPU104": "the new return leaves a helper, and the caller acquires again",
        "GPU105": "the destructor or closing method may return before it",
        "GPU106": "the resource is a handle",
        "GPU108": "only a device reset is left to end it on the new path",
    },
    CONDITIONAL: {
        "GPU101": "where the condition is false, a caller is left with it that never releases it",
        "GPU102": "the path on which the condition is false leaks",
        "GPU103": "the release of the exceptional path runs sometimes",
        "GPU104": "the pointer is overwritten where the condition is false",
        "GPU105": "the destructor or closing method releases sometimes",
        "GPU106": "the resource is a handle",
        "GPU108": "only a device reset is left to end it where the condition is false",
    },
    DETACH: dict.fromkeys(("GPU601", "GPU603"), "what is kept keeps its graph"),
    ITEM: dict.fromkeys(("GPU601", "GPU603"), "what is kept keeps its graph"),
    FLOAT: dict.fromkeys(("GPU601", "GPU603"), "what is kept keeps its graph"),
    NO_GRAD: {
        "GPU602": "the loop records every call",
        "GPU601": "what the loop keeps has a graph now",
    },
    MAP_LOCATION: {"GPU605": "the checkpoint goes where it was saved"},
    FINALLY: {
        "GPU103": "an exception passes the release by",
        "GPU106": "the resource is a handle",
        "GPU101": "the block always leaves before the release",
        "GPU102": "the block returns before the release",
        "GPU105": "the resource belongs to a member",
        "GPU609": "the release is a hook's removal",
    },
    WITH: {
        "GPU101": "nothing releases it any more",
        "GPU102": "a return leaves without what the block did at its end",
        "GPU103": "only the exceptional path was covered by the block",
        "GPU105": "the resource belongs to a member",
        "GPU106": "the resource is a handle",
        "GPU609": "the resource is a hook",
    },
    EMPTY_CACHE: {"GPU504": "the loop flushes now"},
}
"""The rules that may kill a mutant of each kind, and why."""


class Target(msgspec.Struct, frozen=True, array_like=True):
    """An acquisition whose resource a release ends."""

    filename: str
    row: int
    name: str
    family: str


class Release(msgspec.Struct, frozen=True):
    """One call that releases, in a program without findings."""

    filename: str
    span: Span
    api: str
    handle: str
    """The released place as written."""
    function: str
    language: Language
    returns: str
    """What an early return gives back: ``return 1``; empty where none can stand."""
    targets: tuple[Target, ...]
    found_by: str
    exempt: dict[str, str] = {}
    """Kinds of mutants that change nothing here, and why."""


class Mutant(msgspec.Struct, frozen=True):
    """A changed text."""

    kind: str
    text: str
    row: int
    """The first changed row."""
    added_rows: int = 0
    """Rows inserted before ``row``."""


class Job(msgspec.Struct, frozen=True, array_like=True):
    """A mutant to lint: its program, the rest of its unit, and what must be found."""

    programs: list[bytes]
    """Of the unit's other files, lowered."""
    lowering: list[bytes]
    """The mutated file and the files that include it, to be lowered (``LoweringJob``)."""
    baseline: list[tuple[str, str, int, int]]
    """Findings before the change: code, file, row, number of steps."""
    release: Release
    kind: str
    row: int
    added_rows: int


class Verdict(msgspec.Struct, frozen=True, array_like=True):
    """What became of a mutant."""

    killed: bool
    why: str
    """The finding that killed it, or what was found instead."""
    preview: bool = False
    """It is told with `--preview` only."""
