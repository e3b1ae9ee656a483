"""GPU502: what is alive at the same time is above the device budget."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, Holder, Peak
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Finding, Severity, Step
from cudalint.project.units import size_text
from cudalint_rules._wording import format_against, listing, quoted

_MOST_NAMED = 4


class OverBudgetPeak(FunctionRule):
    """What is alive at the same time is more than the device can hold.

    ## What it does

    Adds up the device memory that is alive at the same time, on each path of a function: what
    `cudaMalloc` and its like acquired and nothing released yet; arrays of CuPy and PyTorch until
    their last owner goes (a variable is rebound or deleted, a function returns, an expression
    has used a temporary). It compares the most with the memory of the device: `--device-memory`,
    else the largest device among the targets, else the largest there is. A single allocation
    above the budget is GPU501. `cudalint check --footprint` shows the peaks of all functions.

    ## Why is this bad?

    The allocation that comes last fails, although each alone would fit. Most of what is alive at
    the peak of array programs are temporaries, and variables that nobody needs any more.

    ## Example

    ```cuda
    cudaMalloc(&d_grid, 9ULL << 30);
    cudaMalloc(&d_next, 9ULL << 30);  // --device-memory 16GiB
    ```

    ```python
    a = cupy.random.rand(500_000_000)  # 4 GB
    a = a * 2.0 + cupy.sin(a)  # 16 GB: a, two temporaries and the sum
    ```

    ## Use instead

    ```cuda
    cudaMalloc(&d_half, 5ULL << 30);  // one half of the grid at a time
    ```

    ```python
    a = cupy.random.rand(500_000_000)
    b = cupy.sin(a)
    a *= 2.0
    a += b  # 8 GB
    ```

    ## Known problems

    It is a lower bound where sizes are not known: they count as nothing. Of a loop the first and
    the last iteration are followed, of one with few all. A long Python function is given up after
    1200 operations if less than a 256th of the budget was alive by then, else after 6000. The
    library's own cache, the context and other processes come on top.

    ## References

    - PyTorch, [CUDA semantics: memory management](https://docs.pytorch.org/docs/stable/notes/cuda.html#memory-management)
    - CuPy, [Memory management](https://docs.cupy.dev/en/stable/user_guide/memory.html)
    """

    code, name = "GPU502", "over-budget-peak"
    severity = Severity.ERROR

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the peak of a function that no selected device can hold."""
        peak = facts.capacity.peak if facts.capacity is not None else None
        if peak is None or peak.inherited or peak.bytes <= self.limits.device_memory:
            return
        if any(holder.bytes > self.limits.device_memory for holder in peak.holders):
            return  # GPU501, or the callee's own
        filename = peak.filename or facts.filename
        asked, budget = format_against(peak.bytes, self.limits.device_memory)
        limit = self.limits.device_memory_text or budget
        yield self.finding(
            f"{asked} are alive here at the same time, more than the device memory of {limit}: "
            f"{_named(peak.holders)}{_advice(peak)}",
            filename=filename,
            span=peak.span,
            function=peak.function or facts.function,
            subject=peak.holders[0].name if peak.holders else "",
            steps=(*peak.steps, *_steps(peak, filename)),
        )


def _named(holders: tuple[Holder, ...]) -> str:
    shown = [
        f"{quoted(holder.name)} ({size_text(holder.bytes)}, line {holder.span.row})"
        for holder in holders[:_MOST_NAMED]
    ]
    if len(holders) > _MOST_NAMED:
        rest = sum(holder.bytes for holder in holders[_MOST_NAMED:])
        shown.append(f"others ({size_text(rest)})")
    return listing(shown, most=_MOST_NAMED + 1)


def _advice(peak: Peak) -> str:
    return f"; {peak.hint}" if peak.hint else ""


def _steps(peak: Peak, filename: str) -> tuple[Step, ...]:
    return tuple(
        Step(holder.filename or filename, holder.span, f"{quoted(holder.name)}: "
             f"{size_text(holder.bytes)}")
        for holder in peak.holders[:_MOST_NAMED]
        if (holder.filename or filename, holder.span) != (filename, peak.span)
    )  # fmt: skip
