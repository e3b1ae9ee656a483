"""GPU306: nobody looks at the errors of a kernel launch."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity, Step
from cudalint.findings.repair import AddCheck


class UncheckedLaunch(FunctionRule):
    """Nobody looks at the errors of a kernel launch.

    ## What it does

    Reports the first launch of a function after which no error is asked for: no
    `cudaGetLastError` or `cudaPeekAtLastError`, and no later synchronisation or blocking copy whose
    status is looked at; neither in the function nor in any of its callers. The other launches are
    its steps.

    ## Why is this bad?

    A launch returns nothing. A wrong configuration, too much shared memory or a missing kernel
    image for the device make it do nothing at all, and the program goes on with what the output
    buffer held before.

    ## Example

    ```cuda
    scale<<<grid, block>>>(d_image, 0.5f, n);
    cudaMemcpy(image, d_image, bytes, cudaMemcpyDeviceToHost);
    ```

    ## Use instead

    ```cuda
    scale<<<grid, block>>>(d_image, 0.5f, n);
    if (cudaGetLastError() != cudaSuccess) {
        return false;
    }
    ```

    ## Fix

    - Unsafe: where the file has a check of its own, `cudaGetLastError()` in that check follows the
      launch: it may end the program where that went on.

    ## Known problems

    A preview rule: much teaching and benchmark code leaves launches unchecked on purpose, and
    a finding there is right without being wanted. Measured precision: 58 of 58 on PolyBench/GPU,
    parts of Rodinia, HeCBench and the CUDA samples, and a book on PyCUDA (2026-11-20); few of them
    would be acted on.

    A function that is neither `main` nor called in the run is taken to be checked by its callers. A
    status of a later synchronisation counts as a check, although it does not report every error of
    the launch's configuration; that of a later asynchronous copy does not. Numba, CuPy and PyCUDA
    raise by themselves: the rule has nothing to say of Python.

    ## References

    - CUDA C++ Programming Guide,
      [Error Checking](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#error-checking)
    """

    code, name = "GPU306", "unchecked-launch"
    severity, confidence = Severity.INFO, Confidence.MEDIUM
    preview = True

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield one finding for a function with unchecked launches."""
        launches = facts.ordering.unchecked_launches if facts.ordering else ()
        if not launches:
            return
        (kernel, span), *others = sorted(launches, key=lambda launch: launch[1])
        message = f"no error is looked at after the launch of `{kernel}`"
        if others:
            message += f", nor after {len(others)} more here"
        yield self.finding(
            f"{message}: call cudaGetLastError after it",
            filename=facts.filename,
            span=span,
            function=facts.function,
            subject=kernel,
            steps=tuple(
                Step(facts.filename, other, f"`{name}` is not checked either")
                for name, other in others
            ),
            repair=AddCheck((span, *(other for _, other in others)), launches=True),
        )
