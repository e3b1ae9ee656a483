"""How a project would write the release of a resource: as it writes others, else as its API has
it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cudalint.findings.repair import Named, ReleaseOnExits
from cudalint.fixes.text import Text, demand, is_place

_CALL = re.compile(r"(?P<callee>[A-Za-z_][\w.:]*)\s*\((?P<arguments>[^()]*)\)", re.DOTALL)
_CASTS = re.compile(r"\(\s*\w+\s*\*+\s*\)|&")
_VERB = re.compile(r"Create|Destroy|Alloc|Malloc|Free|Init|Load|Unload|Open|Close")


def last_name(api: str) -> str:
    """``cudaFree`` of ``cuda.bindings.runtime.cudaFree``, ``cuCtxCreate`` of ``cuCtxCreate_v4``,
    which a macro makes of it."""
    return re.sub(r"_v\d$", "", re.split(r"\.|::", api)[-1])


def release_call(
    repair: ReleaseOnExits, text: Text, *, renewed: bool = False
) -> tuple[str, Named | None]:
    """The call that releases the resource of a repair, and after which other release it is made.
    ``renewed``: a release of the variable may be that of another one, which it holds later."""
    known = {last_name(one) for one in repair.releases}
    usual = None if repair.wrapped else usual_release(repair.api, repair.releases)
    for site in repair.released:
        call = text.at(site.span)
        callee, arguments = parts_of_call(call)
        if repair.name in arguments and (len(arguments) == 1 or callee in known):
            return " ".join(call.split()), site
    demand(renewed or repair.released or not _is_mentioned(usual, repair, text))
    for site in repair.siblings:
        call = text.at(site.span)
        callee, arguments = parts_of_call(call)
        fits = callee == usual or callee == f"{usual}Async" or repair.wrapped
        if repair.api.endswith("Async"):
            fits = callee in known
        alone = len(arguments) == 1 or (callee in known and repair.name not in arguments)
        if site.text in arguments and alone and (fits or callee not in known):
            written = re.sub(rf"(?<![\w.>]){re.escape(site.text)}(?!\w)", repair.name, call)
            return " ".join(written.split()), site
    demand(usual)
    prefix = prefix_of(repair.api, text.at(repair.acquired))
    return f"{prefix}{usual}({repair.name})", None


def parts_of_call(call: str) -> tuple[str, list[str]]:
    """The name and the arguments of a call that takes nothing but names and numbers."""
    match = _CALL.fullmatch(call.strip())
    if match is None:
        return "", []
    arguments = [_CASTS.sub("", one).strip() for one in match["arguments"].split(",")]
    simple = all(is_place(one) or one.isdigit() for one in arguments)
    return last_name(match["callee"]), arguments if simple else []


def _is_mentioned(release: str | None, repair: ReleaseOnExits, text: Text) -> bool:
    """Whether the function releases it on paths that are never taken, for all that is known."""
    pattern = rf"\b{release}\s*\([^()]*\b{re.escape(repair.name)}\b"
    return release is not None and re.search(pattern, text.at(repair.function)) is not None


def usual_release(api: str, releases: tuple[str, ...]) -> str | None:
    """The function of an API's own library that releases what it acquires, and takes no more than
    that."""
    if last_name(api).endswith("Async"):
        return None
    found = list(dict.fromkeys(_of_library(api, releases)))
    if len(found) > 1:
        about = _VERB.sub("", last_name(api))
        alike = [name for name in found if _VERB.sub("", name) == about]
        return alike[0] if len(alike) == 1 else None
    return found[0] if found else None


def _of_library(api: str, releases: tuple[str, ...]) -> Iterator[str]:
    """Those of some functions that belong to an API's library, and wait for no stream."""
    modules, prefix = api.rpartition(".")[0], _library_of(api)
    for release in releases:
        name = last_name(release)
        qualified = release.rpartition(".")[0]
        own = qualified == modules if qualified else _library_of(name) == prefix
        if own and prefix and not name.endswith("Async"):
            yield name


def _library_of(api: str) -> str:
    """``cuda`` of ``cudaMalloc``; it tells the library."""
    match = re.match("[a-z]+", last_name(api))
    return match[0] if match else ""


def prefix_of(api: str, acquired: str) -> str:
    """What stands before the name of the function in a call that acquires: ``cudart.``."""
    match = re.match(rf"([\w.:]*?){re.escape(last_name(api))}\b", acquired)
    return match[1] if match else ""
