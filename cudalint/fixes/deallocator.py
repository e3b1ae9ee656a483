"""The release that fits, in place of one that does not."""

from __future__ import annotations

import re

from cudalint.findings.fix import Applicability, Fix
from cudalint.findings.repair import UseRelease
from cudalint.fixes.spelling import last_name, usual_release
from cudalint.fixes.text import Text, demand

_CALL = re.compile(r"(?P<before>(?:\w+(?:\.|::))*)(?P<name>\w+)\s*\((?P<argument>[^(),]*)\)")
_DELETE = re.compile(r"(?P<name>delete)\s*(?:\[\])?\s*(?P<argument>\w[\w.>-]*)")


def use_release(repair: UseRelease, text: Text) -> Fix:
    """Another function with the same argument, of the library that has acquired it."""
    written = text.at(repair.call)
    match = _CALL.fullmatch(written) or _DELETE.fullmatch(written)
    new = usual_release(repair.api, repair.releases)
    demand(match and new)
    assert match is not None
    demand(_member(match["argument"]) == _member(repair.name))
    assert new is not None
    start, end = text.bounds(repair.call)
    message = f"Release it by `{new}`"
    if match["name"] == "delete":
        edit = text.edit(start, end, f"{new}({match['argument']})")
        return Fix(message, (edit,), Applicability.SAFE)
    # The module that is written before the one function has to hold the other as well.
    modules = [name.rpartition(".")[0] for name in (repair.called, repair.api)]
    demand(match["name"] == last_name(repair.called) != new)
    demand(not match["before"] or modules[0] == modules[1] != "")
    at = start + match.start("name")
    edit = text.edit(at, at + len(match["name"]), new)
    return Fix(message, (edit,), Applicability.SAFE)


def _member(place: str) -> str:
    """``pixels`` of ``frame->pixels[2]``: the last of the names that lead to a place."""
    return re.split(r"\W+", re.sub(r"\[.*|\W+$", "", place))[-1]
