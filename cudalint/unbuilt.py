"""What is found in sources that nobody builds: it does no harm to anybody.

The compile database says what is built. A source that it does not list, although it lists others of
its kind in the same folder, is a copy or a draft; unless it came later, or another source includes
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath

from cudalint.findings.finding import Finding, Severity
from cudalint.frontends.cuda.includes import included_names
from cudalint.plan import Plan
from cudalint.project.compile_commands import Databases
from cudalint.project.paths import display_name
from cudalint.selection import ReadFile
from cudalint.source import is_header


def without_builds(
    findings: Sequence[Finding], read: Sequence[ReadFile], plan: Plan
) -> list[Finding]:
    """The findings; ``info`` where they are in a source that the compile database leaves out."""
    accused = {one.filename for one in findings if one.severity is not Severity.INFO}
    sources = [one for one in read if one.file.language == "cuda"]
    databases = Databases(plan.root, plan.compile_commands)
    left_out: dict[str, str] = {}
    for one in sources:
        file = one.file
        if file.filename in accused and not is_header(file.filename):
            database = databases.of(file.path.parent)
            if database is not None and database.leaves_out(file.path):
                left_out[file.filename] = display_name(database.path)
    if not left_out:
        return list(findings)
    included = _included(sources)
    return [
        one.harmless(f"`{left_out[one.filename]}` does not list this file")
        if one.severity is not Severity.INFO
        and one.filename in left_out
        and PurePath(one.filename).name not in included
        else one
        for one in findings
    ]


def _included(sources: Iterable[ReadFile]) -> set[str]:
    names = (name for one in sources for _, name in included_names(one.source.text))
    return {PurePath(name).name for name in names}
