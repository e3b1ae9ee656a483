"""GPU404: the same data are copied to the device in each iteration."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, RepeatedTransfer, readable
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity, Step
from cudalint_rules._wording import listing, quoted, subject


class TransferInLoop(FunctionRule):
    """The same data are copied to the device in each iteration.

    ## What it does

    Reports a copy from the host to the device in a loop that changes neither what is copied nor
    where it goes, and where the loop only reads the copy. Also a Numba kernel that is launched in a
    loop with NumPy arrays: every launch copies them to the device and back. With medium confidence,
    as an `info`, also an array that is fetched for a function of the host whose result goes back to
    the device (CuPy).

    ## Why is this bad?

    A copy takes far longer than most kernels, and stops the host until the device is done. One copy
    before the loop does the same.

    ## Example

    ```cuda
    for (int round = 0; round < rounds; ++round) {
        cudaMemcpy(d_table, table, bytes, cudaMemcpyHostToDevice);
        apply<<<grid, block>>>(d_table, d_images + round * pixels);
    }
    ```

    ```python
    for inputs, labels in loader:
        weight = class_weights.to("cuda")
        loss = cross_entropy(model(inputs), labels, weight=weight)
    ```

    ## Use instead

    ```cuda
    cudaMemcpy(d_table, table, bytes, cudaMemcpyHostToDevice);
    for (int round = 0; round < rounds; ++round) {
        apply<<<grid, block>>>(d_table, d_images + round * pixels);
    }
    ```

    ```python
    weight = class_weights.to("cuda")
    for inputs, labels in loader:
        loss = cross_entropy(model(inputs), labels, weight=weight)
    ```

    ## Known problems

    Silent where the copy or its source may be written in the loop by something out of sight: a
    kernel whose parameter is not a pointer to const, a function of another library; and where
    the loop measures itself by events on the device. A benchmark that measures the copy by the
    clock of the host is meant to repeat it, too.

    ## References

    - CUDA C++ Best Practices Guide,
      [Data Transfer Between Host and Device](https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#data-transfer-between-host-and-device)
    - Numba,
      [Memory management](https://nvidia.github.io/numba-cuda/user/memory.html#data-transfer)
    """

    code, name = "GPU404", "transfer-in-loop"

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the copies that a loop repeats."""
        for copy in facts.loops.repeated:
            yield self.finding(
                _message(copy),
                filename=facts.filename,
                span=copy.span,
                function=facts.function,
                subject=subject(copy.names[0], copy.api),
                advised=True,
                steps=(Step(facts.filename, copy.loop, "the loop that repeats it"),),
            )
        for trip in facts.loops.round_trips:
            yield self.finding(
                f"what {quoted(trip.step)} makes of the array that line {trip.fetch.row} fetches "
                "goes to the device again; let the device compute it, if it can",
                filename=facts.filename,
                span=trip.span,
                function=facts.function,
                subject=trip.step,
                steps=(Step(facts.filename, trip.fetch, "it is fetched to the host here"),),
                severity=Severity.INFO,
                confidence=Confidence.MEDIUM,
                advised=True,
            )


def _message(copy: RepeatedTransfer) -> str:
    what = listing(quoted(name, "an array") for name in copy.names)
    where = f"the loop at line {copy.loop.row}"
    if copy.implicit:
        arrays = "a host array" if len(copy.names) == 1 else "host arrays"
        them = "it" if len(copy.names) == 1 else "them"
        return (
            f"each launch of {quoted(copy.api)} in {where} copies {what} to the device and back, "
            f"as {arrays}; move {them} to the device once, before the loop"
        )
    return (
        f"{readable(copy.api)} copies {what} to the device in each iteration of {where}, which "
        "does not change it; copy it once, before the loop"
    )
