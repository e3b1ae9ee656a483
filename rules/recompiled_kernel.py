"""GPU508: a function compiles its kernel, and loads another module, on every call (Numba)."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, RecompiledKernel
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Finding, Severity, Step
from cudalint_rules._wording import listing, quoted, steps_at


class RecompiledKernelRule(FunctionRule):
    """A function compiles its kernel, and loads another module, on every call.

    ## What it does

    Reports a Numba kernel (`@cuda.jit`) that is defined in the function that launches it, and that
    the function does nothing else with. It is an `info` where no loop of the run comes to the
    function, and silent where a program calls it once, or a test does.

    ## Why is this bad?

    Every call makes a new dispatcher, with an empty cache: it compiles the kernel, which takes
    longer than most kernels run, and loads a module. The context holds every module until it is
    reset: device memory grows with the calls, and no `del` gets any of it back.

    ## Example

    ```python
    def scaled(values, factor):
        @cuda.jit
        def scale(out, factor):
            out[cuda.grid(1)] *= factor

        scale[blocks, 256](values, factor)
    ```

    ## Use instead

    ```python
    @cuda.jit
    def scale(out, factor):
        out[cuda.grid(1)] *= factor


    def scaled(values, factor):
        scale[blocks, 256](values, factor)
    ```

    Where the kernel needs a constant of the call, keep it by that constant
    (`functools.lru_cache` on a function that returns it).

    ## Known problems

    Silent for a kernel that is returned, stored or defined in a branch, and in functions with
    decorators: it may be kept. Kernels of other libraries are cached by their source (CuPy), or
    unload with their module object (PyCUDA).

    ## References

    - Numba CUDA,
      [driver.py](https://github.com/NVIDIA/numba-cuda/blob/main/numba_cuda/numba/cuda/cudadrv/driver.py),
      `Context.create_module_image`: the context keeps what it loads
    - Numba,
      [CUDA kernel declaration](https://nvidia.github.io/numba-cuda/user/kernels.html)
    """

    code, name = "GPU508", "recompiled-kernel"

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the kernels that live no longer than a call."""
        if facts.is_main or facts.is_test or facts.runs_once:
            return
        kernels = facts.capacity.recompiled if facts.capacity else ()
        if kernels:
            yield self._finding(kernels, facts)

    def _finding(self, kernels: tuple[RecompiledKernel, ...], facts: FunctionFacts) -> Finding:
        first, *others = kernels
        again = (first.again,) if first.again is not None else ()
        each = f"each call of {quoted(facts.function)}"
        if first.again is not None:
            each += f", as by the loop in {quoted(first.again.text)},"
        names = listing([quoted(kernel.name) for kernel in kernels])
        loads = "another module for each" if others else "another module"
        return self.finding(
            f"{each} compiles {names} and loads {loads}, which the context keeps until it is "
            f"reset; define {'them' if others else 'it'} outside of the function",
            filename=facts.filename,
            span=first.span,
            function=facts.function,
            subject=first.name,
            steps=(
                *(Step(facts.filename, one.span, "and this one") for one in others),
                *steps_at(again, "{text} comes here in a loop"),
            ),
            severity=None if again else Severity.INFO,
            advised=True,
        )
