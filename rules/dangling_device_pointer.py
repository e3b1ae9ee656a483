"""GPU208: a raw pointer of an array that dies at the end of the expression (Python)."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Finding
from cudalint_rules._wording import quoted


class DanglingDevicePointer(FunctionRule):
    """A raw pointer of an array that dies at the end of the expression.

    ## What it does

    Reports a raw device address (`.data.ptr`, `.data_ptr()`, `.__cuda_array_interface__`,
    `.gpudata`) that is taken from a temporary array, the result of a call or of arithmetic, and
    kept in a variable while nothing keeps the array.

    ## Why is this bad?

    The address is a plain number and holds no reference. The array dies at the end of the line and
    its memory goes back to the pool, which gives it to the next array of that size: the pointer
    then reads, or overwrites, that one. Nothing fails.

    ## Example

    ```python
    weights = cp.ascontiguousarray(matrix.T).data.ptr
    library.gemm(weights, rows, columns)
    ```

    ## Use instead

    ```python
    transposed = cp.ascontiguousarray(matrix.T)
    library.gemm(transposed.data.ptr, rows, columns)
    ```

    Keep the array in a variable for as long as the pointer is in use. Inside one call,
    `library.gemm(f(x).data.ptr, n)`, the temporary lives until the call returns. Work that the call
    only enqueues may outlive it, though: libraries that allocate on the same stream are safe.

    ## Known problems

    A view (a slice, `.T`, `.ravel()`, `.reshape()`) shares the memory of an array that lives on and
    is not reported. `.ravel()` and `.reshape()` copy where the array is not contiguous: missed.

    ## References

    - Numba,
      [CUDA Array Interface: Lifetime management](https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html)
    - CuPy, [Interoperability](https://docs.cupy.dev/en/stable/user_guide/interoperability.html)
    """

    code, name = "GPU208", "dangling-device-pointer"

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the pointers that outlive their arrays."""
        for dangling in facts.dangling:
            yield self.finding(
                f"{quoted(dangling.name)} outlives the array it points into: "
                f"{quoted(dangling.array_text)} is a temporary and dies at the end of this "
                "expression; keep it in a variable",
                filename=facts.filename,
                span=dangling.span,
                function=facts.function,
                subject=dangling.name,
                advised=True,
            )
