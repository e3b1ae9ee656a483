"""GPU002: code that could not be read, and how much."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FileFacts
from cudalint.analysis.rules import FileRule
from cudalint.findings.finding import Finding, Severity, Step
from cudalint_rules._wording import plural


class IncompleteParse(FileRule):
    """Code that could not be read, and how much.

    ## What it does

    Counts the functions and statements of a file that the parser gave up on: the body of a function
    whose type comes from a missing header, code behind a syntax error, an embedded kernel that is
    put together at run time. One finding for each file, with every lost part as a step.

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

    ```python
    source = template.render(block=block_size)
    module = cupy.RawModule(code=source)  # dropped: the text is not known before it runs
    ```

    ## Use instead

    Tell cudalint where the headers are: a `compile_commands.json` in the project or one of its
    `build*` folders, or `include-folders` in `[tool.cudalint]`.

    ```toml
    [tool.cudalint]
    include-folders = ["third_party/solver/include"]
    ```

    ## Known problems

    A missing macro can make the parser read something other than the compiler does without an error
    to show for it. That cannot be counted.

    ## References

    - [JSON compilation database](https://clang.llvm.org/docs/JSONCompilationDatabase.html)
    """

    code, name = "GPU002", "incomplete-parse"
    severity = Severity.INFO

    def check(self, facts: FileFacts) -> Iterator[Finding]:
        """Yield one finding if anything was lost."""
        if not facts.dropped:
            return
        dropped = sorted(facts.dropped, key=lambda part: part.span)
        first, *others = dropped
        message = f"{first.what} was not read: {first.reason}"
        if others:
            verb = "was" if len(others) == 1 else "were"
            message += f"; nor {verb} {plural(len(others), 'other part')} of this file"
        message += f" ({plural(facts.functions_read, 'function')} read)"
        yield self.finding(
            message,
            filename=facts.filename,
            span=first.span,
            steps=tuple(
                Step(facts.filename, part.span, f"{part.what} was not read: {part.reason}")
                for part in others
            ),
        )
