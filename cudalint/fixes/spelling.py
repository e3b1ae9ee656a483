"""How a project would write the release of a resource: as it writes others, else as its API has
it."""

from __future__ import annotations

import re

from cudalint.findings.repair import Named, ReleaseOnExits
from cudalint.fixes.text import Text, demand, is_place

_CALL = re.compile(r"(?P<callee>[A-Za-z_][\w.:]*)\s*\((?P<arguments>[^()]*)\)", re.DOTALL)
_CASTS = re.compile(r"\(\s*\w+\s*\*+\s*\)|&")


def last_name(api: str) -> str:
    """``cudaFree`` of ``cuda.bindings.runtime.cudaFree``."""
    return re.split(r"\.|::", api)[-1]


def release_call(repair: ReleaseOnExits, text: Text) -> tuple[str, Named | None]:
    """The call that releases the resource of a repair, and after which other release it is made."""
    for site in repair.released:
        call = text.at(site.span)
        if _releases(call, repair.name):
            return " ".join(call.split()), site
    for site in repair.siblings:
        call = text.at(site.span)
        if is_place(site.text) and _releases(call, site.text):
            parts = re.split(rf"(?<![\w.>]){re.escape(site.text)}(?!\w)", call)
            if len(parts) == 2:
                return " ".join(repair.name.join(parts).split()), site
    own = usual_release(repair.api, repair.releases)
    demand(own)
    return f"{_prefix(repair, text)}{own}({repair.name})", None


def _releases(call: str, name: str) -> bool:
    """Whether a call takes a variable, and else only what is a name or a number."""
    match = _CALL.fullmatch(call.strip())
    if match is None:
        return False
    arguments = [_CASTS.sub("", one).strip() for one in match["arguments"].split(",")]
    return name in arguments and all(is_place(one) or one.isdigit() for one in arguments)


def usual_release(api: str, releases: tuple[str, ...]) -> str | None:
    """The function of an API's own library that releases what it acquires, and takes no more than
    that."""
    modules, prefix = api.rpartition(".")[0], _prefix_of(api)
    if last_name(api).endswith("Async"):
        return None
    for release in releases:
        name = last_name(release)
        qualified = release.rpartition(".")[0]
        own = qualified == modules or (not qualified and _prefix_of(name) == prefix)
        if own and prefix and not name.endswith("Async"):
            return name
    return None


def _prefix_of(api: str) -> str:
    """``cuda`` of ``cudaMalloc``; it tells the library."""
    match = re.match("[a-z]+", last_name(api))
    return match[0] if match else ""


def _prefix(repair: ReleaseOnExits, text: Text) -> str:
    """What stands before the name of the function that acquires: ``cudart.``."""
    written = text.at(repair.acquired)
    match = re.match(rf"([\w.:]*?){re.escape(last_name(repair.api))}\b", written)
    return match[1] if match else ""
