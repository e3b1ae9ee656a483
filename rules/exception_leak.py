"""GPU103: an exception can pass between allocation and release."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, SkippedClear
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity, Step
from cudalint_rules._leak_wording import leak_finding, not_released
from cudalint_rules._leaks import EXCEPTION, leaks_of
from cudalint_rules._wording import quoted


class ExceptionLeak(FunctionRule):
    """An exception can pass between allocation and release.

    ## What it does

    Reports memory that the normal path releases and an exception skips. In C++ the exception must
    be in sight: a `throw` in the function, in a macro that it uses, or in a function that it calls.
    In Python every `raise` counts, and every call that is not known to be safe, where no `finally`,
    `with`, `ExitStack` or `weakref.finalize` releases it. Also, as an `info`, a member of a PyTorch
    module that a method empties when it begins and when it ends, but not when it fails: with medium
    confidence where something calls the method of such an object, takes the exception and goes on,
    else with low confidence.

    ## Why is this bad?

    Whoever catches the exception further up goes on working, without the memory. Checks that throw
    look safer than checks that return, and leak just the same, unless an owner's destructor runs.

    ## Example

    ```cuda
    cudaMalloc(&d_keys, bytes);
    if (cudaMalloc(&d_values, bytes) != cudaSuccess) throw std::bad_alloc();
    cudaFree(d_values);
    cudaFree(d_keys);
    ```

    ```python
    err, d_keys = cudart.cudaMalloc(size)
    load(path, d_keys)
    cudart.cudaFree(d_keys)
    ```

    ## Use instead

    ```cuda
    thrust::device_vector<int> keys(n);  // released however the function is left
    ```

    ```python
    try:
        load(path, d_keys)
    finally:
        cudart.cudaFree(d_keys)
    ```

    ## Fix

    - Safe: before a `throw` or `raise` of the function itself, the release is added.
    - Unsafe: else memory gets a scoped owner, which releases later than the code did: a
      `std::unique_ptr` in C++, a `finally` in Python.

    ## Known problems

    Where nobody in the run takes the exception and goes on, the process ends with it: there a leak
    is `info`; where it leaves a function that is `noexcept`, nothing is reported. A handler that
    ends the process does not go on, nor does that of `main` unless it works on the device again. In
    the files that a C++ `main` of the run needs, that holds for what is called by pointer and for
    what nobody is seen to call, too: a handler counts if it guards a call that may lead to the
    function; and so does whoever else is given a pointer to it, as a binding to Python is.
    Elsewhere, as in a library, a function that nobody calls may have callers that go on, unless it
    stands in a header of a file with a `main`. Bindings of a program that were not read are not
    known. A leak is `info`, too, where each call that fails says, if its arguments are right, that
    the device is lost (see `GPU102`).

    A check that throws where a flag of its object is set (`if (running) throw ...`) is taken to
    pass where all who call what sets the flag then call what clears it, before they return.

    A C++ callee whose body is not in the run may throw too; that is shown with `--preview` only. In
    Python a call that merely may raise gives medium confidence, a `raise` high confidence.

    ## References

    - CUDA C++ Programming Guide,
      [Error Checking](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#error-checking)
    - C++ Core Guidelines,
      [E.6: Use RAII to prevent leaks](https://isocpp.github.io/CppCoreGuidelines/CppCoreGuidelines#Re-raii)
    """

    code, name = "GPU103", "exception-leak"

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the allocations that only an exception leaves behind."""
        for leak, verdict, last in leaks_of(EXCEPTION, facts):
            yield leak_finding(self, facts, leak, verdict, last, not_released(leak, facts))
        for skipped in facts.lifetimes.skipped_clears if facts.lifetimes else ():
            yield self._skipped(facts, skipped)

    def _skipped(self, facts: FunctionFacts, skipped: SkippedClear) -> Finding:
        call, clear = f"self{skipped.call}", f"self{skipped.clear}"
        return self.finding(
            f"{quoted(clear)} is skipped when {quoted(call)} raises (line {skipped.filled.row}): "
            f"what that put into {quoted('self.' + skipped.member)} stays until the next call; "
            "clear in a `finally`, or keep it in a local variable",
            filename=facts.filename,
            span=skipped.span,
            function=facts.function,
            subject=skipped.member,
            severity=Severity.INFO,
            confidence=Confidence.MEDIUM if skipped.survived else Confidence.LOW,
            steps=(Step(facts.filename, skipped.filled, "the member is given away here"),),
        )
