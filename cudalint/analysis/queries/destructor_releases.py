"""What the destructors of a class release."""

from __future__ import annotations

from cudalint.analysis.engine.joining import is_null
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.engine.summary import released_by
from cudalint.analysis.facts import Site
from cudalint.analysis.summaries import Linker
from cudalint.analysis.values.values import Input, Location
from cudalint.program import Record


def released_members(linker: Linker, record: Record, always: bool = False) -> dict[str, Site]:
    """The members that the destructors of a class and its bases release, and where; ``always``:
    whatever else is the case."""
    found: dict[str, Site] = {}
    for one in linker.classes(record.key, record.filename):
        for key in one.methods:
            definition = linker.definition(key, one.filename)
            if definition is None or definition[0].kind != "destructor":
                continue
            run = linker.run_of(*definition)
            for location, release in released_by(run.outcomes if run is not None else ()).items():
                if run is None or (always and not _is_sure(run, location)):
                    continue
                if _is_of_host(release.families, run):
                    continue  # `new`, `malloc` are not our affair
                step = release.step
                name = str(location[1]).removeprefix(".")
                found.setdefault(name, Site(step.filename, step.span, release.api))
    return found


def _is_of_host(families: tuple[str, ...], run: FunctionRun) -> bool:
    known = [run.models.families.get(one) for one in families]
    return bool(known) and all(one is not None and one.space == "host" for one in known)


def _is_sure(run: FunctionRun, location: Location) -> bool:
    """Whether a destructor releases a member unless it is null."""
    for outcome in run.outcomes:
        released = any(release.location == location for release in outcome.released)
        state = State()
        state.conditions = dict(outcome.conditions)
        if not released and outcome.kind == "return" and not is_null(state, Input(location)):
            return False
    return True
