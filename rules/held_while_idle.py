"""GPU607: a large allocation held while the program waits."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, IdleHold, readable
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Finding, Severity, Step
from cudalint.project.units import size_text

_LEAST_SECONDS = 10.0
"""A pause of less keeps nobody from using the device."""


class HeldWhileIdle(FunctionRule):
    """A large allocation is held while the program sleeps or waits for somebody.

    ## What it does

    Reports device memory of a known size, 1 GiB or more (`--large-allocation`), that a function
    still holds when it sleeps for ten seconds or more, waits for the keyboard, or enters an event
    loop. Where the memory is used again afterwards, the finding is an `info`.

    ## Why is this bad?

    Device memory cannot be swapped out: while this process waits, every other one on the device
    goes without, and runs out of memory for no reason that it could see.

    ## Example

    ```python
    table = torch.rand(1_000_000_000, device="cuda")
    print(table.mean().item())
    time.sleep(600)
    ```

    ```cuda
    float* table = nullptr;
    if (cudaMalloc(&table, 4ull << 30) != cudaSuccess) return 1;
    bool done = summarize(table);
    std::this_thread::sleep_for(std::chrono::minutes(10));
    cudaFree(table);
    ```

    ## Use instead

    ```python
    table = torch.rand(1_000_000_000, device="cuda")
    print(table.mean().item())
    del table
    torch.cuda.empty_cache()
    time.sleep(600)
    ```

    Release the memory before the wait. PyTorch and CuPy keep what is freed in a pool of the
    process: `torch.cuda.empty_cache()` or `free_all_blocks()` gives it back to the device.

    ## Known problems

    Sizes and pauses that are not constants are not known, and nothing is said of them; nor of
    memory that the caller holds.

    ## References

    - PyTorch,
      [Memory management](https://docs.pytorch.org/docs/stable/notes/cuda.html#memory-management)
    - CuPy, [Memory Management](https://docs.cupy.dev/en/stable/user_guide/memory.html)
    """

    code, name = "GPU607", "held-while-idle"

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the large allocations that a wait finds in place."""
        for hold in facts.lifetimes.idle if facts.lifetimes else ():
            long = hold.seconds is None or hold.seconds >= _LEAST_SECONDS
            if long and hold.bytes >= self.limits.large_allocation:
                yield self._finding(hold, facts)

    def _finding(self, hold: IdleHold, facts: FunctionFacts) -> Finding:
        wait = readable(hold.wait.text)
        length = "" if hold.seconds is None else f" for {_duration(hold.seconds)}"
        row = hold.wait.span.row
        if hold.used_later:
            advice = "allocate it again afterwards if the device is shared"
        else:
            how = f" with {hold.release}" if hold.release else ""
            advice = f"nothing uses it afterwards: release it{how} before the wait"
        return self.finding(
            f"`{hold.name}` keeps {size_text(hold.bytes)} on the device while the program "
            f"waits in {wait}{length} (line {row}); {advice}",
            filename=facts.filename,
            span=hold.span,
            function=facts.function,
            subject=hold.name,
            advised=True,
            steps=(
                Step(facts.filename, hold.span, f"`{hold.name}` is allocated here"),
                Step(facts.filename, hold.wait.span, "the program waits here and holds it"),
            ),
            severity=Severity.INFO if hold.used_later else None,
        )


def _duration(seconds: float) -> str:
    for size, unit in ((3600, "hour"), (60, "minute")):
        if seconds >= size and seconds % size == 0:
            count = int(seconds // size)
            return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
    return f"{seconds:g} seconds"
