"""GPU601: a loss or metric is kept across iterations together with its graph."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts
from cudalint.analysis.facts.tensors import GraphRetention
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.repair import Detach
from cudalint_rules._retention_wording import retained


class GraphRetentionRule(FunctionRule):
    """A loss or metric is kept across iterations together with its graph.

    ## What it does

    Reports a tensor that is added to a running total, or appended to a list, once per training
    step while it is still attached to the graph that computed it. The evidence is a `backward()`
    in the same loop: the tensor is what it is called on, or flows into it.

    With low confidence, as one step of the proof may be missing: what a method keeps
    (`meter.update(loss)`), an element that a variable chooses (`losses[key]`); and without a
    `backward()` in sight a sum or list over a loop of which only a number is used in the end, or
    that is detached only after the loop. Also what the `forward` of a module
    adds to one of its buffers, made of what it is given (medium where it has weights of its own,
    else low), and what a module computes with its parts the first time only and keeps (medium where
    it is taken or computed from what a part gave, low where a function was given that). Where
    nothing goes to a GPU, and in tests, this is an `info`.

    ## Why is this bad?

    The graph of a tensor lives as long as the tensor. A running total is a chain through the graphs
    of all steps so far, a list holds one graph each: memory grows with every step, long after the
    line that caused it. What `backward()` has not freed stays on the device; the rest of a graph,
    some kilobytes, stays on the host. `clone()` and `cpu()` do not let go of the graph.

    ## Example

    ```python
    for batch in loader:
        loss = criterion(model(batch), batch.y)
        loss.backward()
        optimizer.step()
        total += loss
    ```

    ## Use instead

    ```python
    for batch in loader:
        loss = criterion(model(batch), batch.y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    ```

    `item()` gives a number and waits for the device; `detach()` gives a tensor without a graph and
    does not wait.

    ## Fix

    - Safe: where the same loop computes the gradient, `.detach()` is added to what is kept: nobody
      computes another. `.item()`, which also makes a number of it and waits, is yours to choose.
    - Unsafe: the same where the gradient is computed elsewhere, or none in sight. Not where the
      loop would then record for nobody (`GPU602`), or the list grow on the device (`GPU603`).

    ## Known problems

    Silent where the place is emptied, replaced or bounded within the loop, where what it holds goes
    into a `backward()` itself, and, where no `backward()` in sight shows that there is a gradient,
    where what is collected goes out of sight.

    ## References

    - PyTorch, [FAQ: My model reports "cuda runtime error(2): out of memory"](https://docs.pytorch.org/docs/stable/notes/faq.html)
    """

    code, name = "GPU601", "graph-retention"

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the values that are kept with their graphs."""
        for kept in facts.tensors.retentions if facts.tensors is not None else ():
            yield self.finding(
                retained(kept),
                filename=facts.filename,
                span=kept.span,
                function=facts.function,
                subject=kept.place,
                advised=True,
                steps=kept.steps,
                confidence=_confidence(kept),
                severity=_severity(kept, facts.is_test),
                repair=_repair(kept),
            )


def _repair(kept: GraphRetention) -> Detach | None:
    """Only where the loop itself computes the gradient is it certain that nobody else wants to."""
    if kept.remembered or kept.buffer or kept.holds_tensor or kept.hides:
        return None
    seen = kept.loop is not None and kept.differentiated is not None and not kept.inside
    return Detach(kept.span, kept.name, safe=seen and kept.sure)


def _severity(kept: GraphRetention, is_test: bool) -> Severity | None:
    petty = not kept.on_device or (is_test and kept.let_go is not None)
    return Severity.INFO if petty else None


def _confidence(kept: GraphRetention) -> Confidence | None:
    """Where no gradient is computed in sight, where a method keeps it, and of an element that a
    variable chooses, one step of the proof may be missing."""
    if kept.through or kept.let_go is not None or kept.chosen:
        return Confidence.LOW
    if kept.buffer or kept.remembered:
        return Confidence.MEDIUM if kept.sure else Confidence.LOW
    return None
