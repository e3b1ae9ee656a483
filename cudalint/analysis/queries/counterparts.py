"""Which function of a project releases what another one acquires for its callers."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.summary import Outcome
from cudalint.analysis.facts import FunctionFacts, Leak, Misuse, Resource
from cudalint.analysis.summaries import Linker
from cudalint.program import Function

_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_VERBS = frozenset(
    (
        "alloc", "malloc", "calloc", "allocate", "acquire", "new", "make", "create", "init",
        "initialize", "initialise", "setup", "open", "reserve", "begin", "start", "load", "build",
        "free", "dealloc", "deallocate", "release", "delete", "del", "destroy", "deinit",
        "uninit", "finalize", "finalise", "cleanup", "clean", "clear", "teardown", "close",
        "unreserve", "end", "stop", "unload", "dispose", "fini", "exit", "shutdown", "up", "down",
    )
)  # fmt: skip


@dataclass(frozen=True)
class _Releaser:
    function: Function
    families: frozenset[str]


def with_counterparts(
    linker: Linker, runs: Sequence[FunctionRun], facts: Sequence[FunctionFacts]
) -> tuple[FunctionFacts, ...]:
    """The facts, with what a project's own function acquired released by its own function."""
    known = _Counterparts(linker, runs)
    return tuple(
        replace(
            one,
            leaks=tuple(known.in_leak(leak) for leak in one.leaks),
            misuses=tuple(known.in_misuse(misuse) for misuse in one.misuses),
        )
        if any(leak.resource.through for leak in one.leaks)
        or any(misuse.resource and misuse.resource.through for misuse in one.misuses)
        else one
        for one in facts
    )


class _Counterparts:
    def __init__(self, linker: Linker, runs: Sequence[FunctionRun]) -> None:
        self._linker = linker
        self._runs = runs

    def in_leak(self, leak: Leak) -> Leak:
        return replace(leak, resource=self._named(leak.resource))

    def in_misuse(self, misuse: Misuse) -> Misuse:
        return replace(misuse, resource=misuse.resource and self._named(misuse.resource))

    def _named(self, resource: Resource) -> Resource:
        if resource.through is None:
            return resource
        return replace(resource, release=self._release_of(resource.through, resource.family))

    @functools.cached_property
    def _releasers(self) -> list[_Releaser]:
        return list(_releasers(self._linker, self._runs))

    def _release_of(self, wrapper: str, family: str) -> str | None:
        """The name of the one function that releases what a wrapper acquires: one that is called
        alike, or the only one beside it."""
        wrappers = [run.function for run in self._runs if run.function.name == wrapper]
        files, classes = {one.filename for one in wrappers}, {one.record for one in wrappers}
        fitting = [
            one.function
            for one in self._releasers
            if family in one.families
            and one.function.name != wrapper
            and one.function.record in classes
        ]
        beside = [function for function in fitting if function.filename in files]
        about = _about(wrapper)
        for functions in (
            [function for function in beside if _about(function.name) == about],
            [function for function in fitting if _about(function.name) == about],
            beside,
        ):
            names = {function.name for function in functions}
            if names:
                return names.pop() if len(names) == 1 else None
        return None


def _releasers(linker: Linker, runs: Sequence[FunctionRun]) -> Iterator[_Releaser]:
    """The functions that release, whenever they return, what their callers have."""
    for run in runs:
        function = run.function
        if not run.touches_cuda or function.is_main or function.parent is not None:
            continue
        summary, _ = linker.summary(function.key, function.filename)
        returned = [one for one in summary.outcomes if one.kind == "return"] if summary else []
        families = [_released(one) for one in returned]
        always = frozenset.intersection(*families) if families else frozenset()
        if always and not any(one.handed_out for one in returned):
            yield _Releaser(function, always)


def _released(outcome: Outcome) -> frozenset[str]:
    return frozenset[str]().union(*(release.families for release in outcome.released))


def _about(name: str) -> tuple[str, ...]:
    """What a name is about, without what it does: ``pool`` of ``pool_alloc``."""
    words = (word.lower() for word in _WORD.findall(re.split(r"\.|::", name)[-1]))
    return tuple(word for word in words if word not in _VERBS)
