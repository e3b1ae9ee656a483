"""GPU002: code that could not be read, and how much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from cudalint.analysis.facts import FileFacts, Unfinished
from cudalint.analysis.rules import FileRule
from cudalint.findings.finding import Finding, Severity, Step
from cudalint.program import MISSING_HEADER, Dropped
from cudalint.source import Span
from cudalint_rules._wording import listing, plural

_IN_WORDS = {
    "module": "the file",
    "statement": "a statement",
    "embedded CUDA source": "an embedded CUDA source",
}


class IncompleteParse(FileRule):
    """Code that could not be read, and how much.

    ## What it does

    Counts the functions and statements of a file that the parser gave up on: the body of a function
    whose type comes from a missing header, code behind a syntax error. Also names the functions
    that have more paths than are followed, or than a worker's memory had room for (half a GiB more
    than it starts with). One finding for each file, with every lost part as a step.

    Alone it does not change the exit status. It is 2 where nothing at all could be read of a file
    that was named on the command line; what a folder holds was asked for by nobody.

    In the text reports, findings for want of headers are summed up where there are many: `--select
    GPU002` lists them, and the JSON report always does.

    ## Why is this bad?

    What was not read was not checked. A clean report of a file of which half is missing is worth
    half as much, and you should know that before you rely on it.

    ## Example

    ```cuda
    #include "solver/workspace.h"  // not found

    void Solver::iterate(Workspace<double>& space) {  // dropped: unknown type
        cudaMalloc(&residual, space.bytes());
    }
    ```

    ## Use instead

    Tell cudalint where the headers are: a `compile_commands.json` in the project or one of its
    `build*` folders, or `include-folders` in `[tool.cudalint]`. Of a header that a build makes,
    its template is read (`config.h.in`, `config.h.cmake`), without what only the build knows. Not
    needed are the headers of CUDA, MPI, OpenMP, GoogleTest and GoogleMock: cudalint has its own.

    ```toml
    [tool.cudalint]
    include-folders = ["third_party/solver/include"]
    ```

    ## Known problems

    A missing macro can make the parser read something other than the compiler does without an error
    to show for it. That cannot be counted. What is lost within a kernel embedded in Python
    is not counted either.

    ## References

    - [JSON compilation database](https://clang.llvm.org/docs/JSONCompilationDatabase.html)
    """

    code, name = "GPU002", "incomplete-parse"
    severity = Severity.INFO

    def check(self, facts: FileFacts) -> Iterator[Finding]:
        """Yield one finding if anything was lost."""
        dropped = sorted(facts.dropped, key=lambda part: part.span)
        lost = [_Lost(facts.filename, part.span, _unread(part)) for part in dropped]
        lost += [_Lost(one.filename, one.span, *_unfinished([one])) for one in facts.unfinished]
        if not lost:
            return
        told = []
        if dropped:
            told.append(lost[0].message)
            others = len(dropped) - 1
            if others:
                verb = "was" if others == 1 else "were"
                told.append(f"nor {verb} {plural(others, 'other part')} of this file")
        if facts.unfinished:
            told += _unfinished(facts.unfinished)
        found = self.finding(
            f"{'; '.join(told)} ({plural(facts.functions_read, 'function')} read)",
            filename=lost[0].filename,
            span=lost[0].span,
            steps=tuple(Step(one.filename, one.span, one.message) for one in lost[1:]),
        )
        headers = dict.fromkeys(part.what for part in dropped if part.reason == MISSING_HEADER)
        yield replace(found, missing=tuple(headers))


class _Lost(NamedTuple):
    filename: str
    span: Span
    message: str


def _unread(part: Dropped) -> str:
    if part.reason == MISSING_HEADER:
        return f"the header `{part.what}` was not found: what needs it was not read"
    what = _IN_WORDS.get(part.what, part.what if "`" in part.what else f"`{part.what}`")
    return f"{what} was not read: {part.reason}"


def _unfinished(functions: Sequence[Unfinished]) -> Iterator[str]:
    for memory_full, why in ((False, "there are too many"), (True, "a worker's memory was full")):
        names = [f"`{one.function}`" for one in functions if one.memory_full == memory_full]
        if names:
            yield f"not all paths of {listing(names)} were followed: {why}"
