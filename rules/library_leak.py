"""GPU107: memory that a library acquired and nobody releases."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FileFacts
from cudalint.analysis.rules import FileRule
from cudalint.findings.finding import Finding


class LibraryLeak(FileRule):
    """Memory that a library acquired and nobody releases.

    ## What it does

    Reports device memory and handles that were acquired inside a shared library, with no line of
    the program's own on the way but the call into it, and were still there when the program ended.
    Only a run shows this: the rule speaks with `--runtime` alone, and names the library.

    ## Why is this bad?

    The source says nothing of it: the call looks innocent. A library keeps workspaces and plans for
    each handle that it gave out, and caches that a function of its own empties; a server that calls
    it once for each request loses a little device memory every time.

    ## Example

    ```cuda
    void smooth(float* field, int n) {
        filter_plan* plan = filter_create(n);  // libfilter.so allocates a workspace
        filter_run(plan, field);
    }  // filter_destroy(plan) is missing
    ```

    ## Use instead

    ```cuda
    void smooth(float* field, int n) {
        filter_plan* plan = filter_create(n);
        filter_run(plan, field);
        filter_destroy(plan);
    }
    ```

    Where a library keeps a cache, call the function that empties it, or suppress the finding at the
    call with the reason.

    ## Known problems

    What a library keeps for the life of the process on purpose is reported too. Libraries that are
    linked statically are part of the program, and their leaks are GPU101 or GPU106.

    ## References

    - [NVIDIA Compute Sanitizer: leak checking](https://docs.nvidia.com/compute-sanitizer/ComputeSanitizer/index.html#leak-checking)
    """

    code, name = "GPU107", "library-leak"

    def check(self, facts: FileFacts) -> Iterator[Finding]:
        """Yield nothing: runs make these findings."""
        yield from ()
