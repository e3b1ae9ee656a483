"""GPU602: an inference loop that records every call for gradients."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts
from cudalint.analysis.facts.tensors import RecordedInference
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.repair import WrapInWith
from cudalint_rules._wording import places, quoted


class MissingNoGrad(FunctionRule):
    """An inference loop records every call of the model for gradients that nobody computes.

    ## What it does

    Reports a function that puts a model in evaluation mode with `eval()` and calls it in a loop,
    with nothing that switches the recording of gradients off: no `torch.no_grad()` or
    `torch.inference_mode()` around the loop, on the function or around every known call of it.
    The loop may be in a function that calls it, and a method of the model may be called that is
    known to run it. Without an `eval()` on the way, also where a module is called in a loop and
    nothing but numbers (`item()`, `argmax()`, a comparison) and detached tensors are made of what
    it returns, if the class, which trains nothing, puts it in evaluation mode elsewhere or has a
    method that hands out its own objects in evaluation mode, or if a service (`@app.post(...)`)
    calls the function for each request. With low confidence, the same without such evidence, a
    method of the model that is out of sight, and a call in no loop whose result is detached at
    last. Where nothing in the file, nor in those that call it,
    goes to a GPU, it is an `info`. Where the loop calls what computes gradients, only the call of
    the model is to be put under `no_grad()`.

    ## Why is this bad?

    `eval()` changes how layers such as dropout behave; it does not stop autograd. Each call keeps
    the activations of all layers until its result dies, several times the memory that inference
    needs, so that a batch that fits in training may not fit in validation beside it.

    ## Example

    ```python
    model.eval()
    for images, labels in loader:
        scores = model(images.cuda())
        right += (scores.argmax(1) == labels.cuda()).sum().item()
    ```

    ## Use instead

    ```python
    model.eval()
    with torch.inference_mode():
        for images, labels in loader:
            ...
    ```

    ## Fix

    - Unsafe: the loop runs in `with torch.inference_mode()`: what it makes can never be a part of a
      graph, which code out of sight may want.

    ## Known problems

    Silent where the function, or the model while it runs, computes a gradient, where the function
    steps an optimizer or hands a result with its graph to its caller, or where the file freezes
    weights: gradients may be wanted, or are off already. A model whose class the program chooses
    as it runs may be any module that is read with it. A `forward` that switches recording off
    itself, perhaps only on one way through it, silences the call of its object where the class can
    be told.

    ## References

    - PyTorch, [Locally disabling gradient computation](https://docs.pytorch.org/docs/stable/notes/autograd.html#locally-disabling-gradient-computation)
    """

    code, name = "GPU602", "missing-no-grad"
    confidence = Confidence.MEDIUM

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the recorded inference loops."""
        for call in facts.tensors.recorded if facts.tensors is not None else ():
            yield self.finding(
                f"{quoted(call.model)} is called{_where(call)} with gradients recorded, and "
                f"{_why(call, facts.filename)}",
                filename=facts.filename,
                span=call.span,
                function=facts.function,
                subject=call.model,
                steps=call.steps,
                severity=Severity.INFO if not call.on_device or facts.is_test else None,
                confidence=None if call.certain else Confidence.LOW,
                repair=_repair(call),
            )


def _repair(call: RecordedInference) -> WrapInWith | None:
    if call.loop is None or not call.in_sight or call.trained_beside:
        return None
    return WrapInWith(call.loop.span, "torch.inference_mode()")


def _where(call: RecordedInference) -> str:
    if call.loop is not None:
        return f" in the loop at line {call.loop.span.row}"
    return f" (by a loop in {call.called_by})" if call.called_by else ""


def _why(call: RecordedInference, filename: str) -> str:
    advice = "under `torch.inference_mode()` or `torch.no_grad()`"
    if call.evaluated is None:
        made = "all that is made of what it returns is numbers, or is detached"
        return f"{made}: put it {advice}"
    where = places((call.evaluated,), filename)
    if call.trained_beside:
        return (
            f"`eval()` ({where}) does not switch that off; what is called beside it computes "
            "gradients: put this call alone under `torch.no_grad()`"
        )
    return (
        f"nothing here computes one; `eval()` ({where}) does not switch that off: put "
        f"{'the loop' if call.loop is not None else 'it'} {advice}"
    )
