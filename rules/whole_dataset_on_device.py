"""GPU402: a data set is moved to the device, and then only sliced in a loop."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, SlicedDataSet, readable
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity, Step
from cudalint.project.units import size_text
from cudalint_rules._wording import quoted, steps_at, subject

_SMALL = 8
"""Data sets that take less than this part of the transfer threshold fit anywhere."""


class WholeDatasetOnDevice(FunctionRule):
    """A data set is moved to the device, and then only sliced in a loop.

    ## What it does

    Reports an array that is moved to the device as a whole, where all that follows are loops that
    take one slice of it after the other (`data[start : start + batch]`), or a data loader that
    hands out batches of it. Not where it is also used as a whole, or by random rows. `info` where
    its size is unknown or below `--max-transfer`; silent where it is known to be small.
    As an `info`, also a data set class that moves a member which it hands its items out of, and a
    loop that moves all elements of a list to the device, each with the arrays in it; with low
    confidence where the class is given them.

    ## Why is this bad?

    The device holds all of it all the time, beside the model and its gradients, although it needs
    one batch. With a data set larger than device memory the program stops; with a smaller one the
    batches have to be smaller than they could be.

    ## Example

    ```python
    inputs = torch.randn(samples, features).cuda()
    for start in range(0, samples, batch):
        loss = measure(model(inputs[start : start + batch]))
    ```

    ## Use instead

    ```python
    inputs = torch.randn(samples, features).pin_memory()
    for start in range(0, samples, batch):
        part = inputs[start : start + batch].cuda(non_blocking=True)
        loss = measure(model(part))
    ```

    ## Known problems

    Where the data set fits, moving it once is the faster way, the more so with several epochs.

    ## References

    - PyTorch, [A guide on good usage of `non_blocking` and `pin_memory()`](https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html)
    """

    code, name = "GPU402", "whole-dataset-on-device"
    confidence = Confidence.MEDIUM

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the data sets of which the loops need a part."""
        limit = self.limits.max_transfer
        for data in facts.loops.data_sets:
            if data.together is not None and data.together < limit // _SMALL:
                continue
            large = data.bytes is not None and data.bytes > limit
            yield self.finding(
                _message(data),
                filename=facts.filename,
                span=data.span,
                function=facts.function,
                subject=subject(data.name, data.api),
                advised=True,
                severity=Severity.WARNING if large else Severity.INFO,
                steps=(Step(facts.filename, data.loop, f"the loop goes through {data.slice}"),),
            )
        for moved in facts.lifetimes.moved_sets if facts.lifetimes else ():
            how = "one by one" if moved.by_one else "as a whole"
            yield self.finding(
                f"all items of {quoted(moved.name)} are moved to the device {how} before they are "
                "asked for; if there can be more than the device has memory for, move each batch "
                "where it is used",
                filename=facts.filename,
                span=moved.span,
                function=facts.function,
                subject=moved.name,
                advised=True,
                steps=steps_at((moved.items,) if moved.items else (), "here are its items"),
                severity=Severity.INFO,
                confidence=Confidence.LOW if moved.given else None,
            )


def _message(data: SlicedDataSet) -> str:
    size = "" if data.bytes is None else f" of {size_text(data.bytes)}"
    return (
        f"{readable(data.api)} moves all{size} of {quoted(data.name, 'an array')} to the device, "
        f"and the loop at line {data.loop.row} needs a part at a time; if it can be larger than "
        "device memory, move each part in the loop"
    )
