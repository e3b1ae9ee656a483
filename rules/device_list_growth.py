"""GPU603: device tensors collected in a list across iterations."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts
from cudalint.analysis.facts.tensors import DeviceListGrowth
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.repair import KeepOnHost
from cudalint_rules._wording import quoted


class DeviceListGrowthRule(FunctionRule):
    """Device tensors are collected in a list across iterations.

    ## What it does

    Reports a list that receives one device tensor (PyTorch, CuPy, JAX) per iteration of a loop
    without a known small bound, and is joined after the loop only to be copied to the host. A hook
    that a framework calls for every batch (Lightning's `validation_step`) is such a loop, and its
    class's other methods what comes after. With medium confidence, a list of results of a model
    out of training whose elements go to the host one by one after the loop, or which a function
    joins on the device for its caller; with low confidence, such a list of whatever else, and a
    list of the module that a function adds the tensors to which it is given. As an `info`, what is
    joined for the caller, labels and predictions that one loop collects, and whatever hangs on no
    graph: how many bytes each has is not known. So is a tensor that a loop does nothing with but to
    copy it, with one more part behind, into a larger one.

    ## Why is this bad?

    Everything that the loop produced is on the device at once, and joining it needs the same amount
    again. Memory grows with the size of the data set, although the result is wanted on the host.

    ## Example

    ```python
    for images in loader:
        predictions.append(model(images.cuda()))
    return torch.cat(predictions).cpu()
    ```

    ## Use instead

    ```python
    for images in loader:
        predictions.append(model(images.cuda()).cpu())
    return torch.cat(predictions)
    ```

    Each copy waits for the device. Where that costs too much, copy every few batches, or into a
    pinned tensor with `non_blocking=True`.

    ## Fix

    - Unsafe: in PyTorch, what is added to the list is brought to the host by `.cpu()`: each copy
      waits for the device.

    ## Known problems

    Silent where the joined tensor is used on the device before it goes to the host, where the list
    is emptied or bounded within the loop, and for results of one number per iteration.

    ## References

    - PyTorch, [FAQ: Don't accumulate history across your training loop](https://docs.pytorch.org/docs/stable/notes/faq.html)
    """

    code, name = "GPU603", "device-list-growth"

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the lists that grow on the device."""
        for growth in facts.tensors.growths if facts.tensors is not None else ():
            yield self.finding(
                _message(growth),
                filename=facts.filename,
                span=growth.span,
                function=facts.function,
                subject=growth.place,
                steps=growth.steps,
                confidence=_confidence(growth),
                severity=None if growth.to_host and not growth.light else Severity.INFO,
                repair=_repair(growth),
                advised=True,
            )


def _confidence(growth: DeviceListGrowth) -> Confidence | None:
    if growth.unsure:
        return Confidence.LOW
    return Confidence.MEDIUM if growth.apart else None


def _repair(growth: DeviceListGrowth) -> KeepOnHost | None:
    """What PyTorch joins on the device, it joins on the host as well; others do not."""
    if growth.to_host != ".cpu()" or growth.apart or growth.queued:
        return None
    return KeepOnHost(growth.span, growth.place, "cpu", growth.joined.span)


def _message(growth: DeviceListGrowth) -> str:
    if growth.copied and growth.loop is not None:
        return (
            f"each iteration of the loop at line {growth.loop.span.row} copies all of "
            f"{quoted(growth.place)} into a larger one on the device: both are held, and no block "
            "that is freed is large enough for the next; collect the parts in a list, on the host "
            "if they go there, and join them once"
        )
    if growth.queued:
        return (
            f"{quoted(growth.name)} is kept in {quoted(growth.place)} as it is given, on its "
            f"device and with the graph that it may have, until line {growth.joined.span.row} goes "
            "through it; keep a detached copy on the host"
        )
    return (
        f"{quoted(growth.name)} stays on the {_device(growth)} in {quoted(growth.place)}, "
        f"one more {_each(growth)}{_end(growth)}"
    )


def _device(growth: DeviceListGrowth) -> str:
    return "device" if growth.to_host else "model's device"


def _each(growth: DeviceListGrowth) -> str:
    if growth.loop is None:
        return "for each batch that the framework hands to this method"
    return f"per iteration of the loop at line {growth.loop.span.row}"


def _end(growth: DeviceListGrowth) -> str:
    if not growth.to_host:
        row = growth.joined.span.row
        return (
            f", and is joined for the caller at line {row}, which takes as much again; where the "
            "result is large, bring each part to the host as it comes"
        )
    if growth.apart:
        row = growth.joined.span.row
        return f", and goes to the host only at line {row}; bring each to the host as it comes"
    return (
        f", only to be joined at line {growth.joined.span.row} and brought to the host "
        f"({quoted(growth.to_host)}); bring each to the host as it comes"
    )
