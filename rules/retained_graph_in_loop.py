"""GPU606: `retain_graph=True` in every iteration."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts
from cudalint.analysis.facts.tensors import RetainedGraph
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Finding, Severity
from cudalint.findings.repair import DropRetainGraph, Named
from cudalint_rules._wording import quoted


class RetainedGraphInLoop(FunctionRule):
    """The graph is kept after each iteration's backward pass.

    ## What it does

    Reports `backward(retain_graph=True)` in a loop that also steps an optimizer, where no second
    backward pass of the same iteration needs the graph: either a value of an earlier iteration is
    carried along with its graph, or a value computed once before the loop goes into every step, or
    nothing needs the graph at all. Where nothing in the file, nor in those that call it, goes to a
    GPU, it is an `info`.

    ## Why is this bad?

    `retain_graph=True` keeps the buffers of the whole graph. With a value that is carried from step
    to step the graph reaches back to the first one: each step takes longer and holds more memory
    than the one before. The flag is usually there to silence "Trying to backward through the graph
    a second time", which was the symptom of exactly that.

    ## Example

    ```python
    for x in loader:
        state = cell(x, state)
        loss = criterion(state)
        loss.backward(retain_graph=True)
        optimizer.step()
    ```

    ## Use instead

    ```python
    for x in loader:
        state = cell(x, state.detach())
        loss = criterion(state)
        loss.backward()
        optimizer.step()
    ```

    Compute anew in each iteration what depends on the weights.

    ## Fix

    - Unsafe: `retain_graph=True` goes, and what the iteration before hands on is detached: its
      gradients then end at the iteration, and another backward pass, if there is one, fails.

    ## Known problems

    Two backward passes through one graph in one iteration need the flag on the first: silent, also
    where the second one is out of sight. Loops without an optimizer step (a Jacobian row by row)
    are silent.

    ## References

    - PyTorch, [torch.Tensor.backward](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html)
    """

    code, name = "GPU606", "retained-graph-in-loop"

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the backward calls that keep the graph."""
        for kept in facts.tensors.retained_graphs if facts.tensors is not None else ():
            yield self.finding(
                f"the graph of {quoted(kept.name)} is kept in every iteration of the loop at line "
                f"{kept.loop.span.row}{_why(kept)}",
                filename=facts.filename,
                span=kept.span,
                function=facts.function,
                subject=kept.name,
                steps=kept.steps,
                severity=None if kept.on_device else Severity.INFO,
                repair=_repair(kept),
                advised=kept.carried is not None,
            )


def _repair(kept: RetainedGraph) -> DropRetainGraph | None:
    if kept.from_before:
        return None  # what is computed where is for its author to say
    carried = Named(kept.carried.span, kept.carried.text) if kept.carried else None
    return DropRetainGraph(kept.span, carried)


def _why(kept: RetainedGraph) -> str:
    if kept.carried is None:
        return ", and no second backward pass needs it: drop `retain_graph=True`"
    name = quoted(kept.carried.text)
    if kept.from_before:
        return (
            f": {name}, computed once at line {kept.carried.span.row} before the loop, goes into "
            "every step; compute it in each iteration and drop `retain_graph=True`"
        )
    return (
        f": {name} (line {kept.carried.span.row}) carries it over from the iteration before; "
        f"detach {name} between iterations and drop `retain_graph=True`"
    )
