"""GPU604: device work inside the handler of an out-of-memory exception (Python)."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, Retry
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Step
from cudalint_rules._wording import steps_at


class RetryInsideExcept(FunctionRule):
    """Out of memory is answered with more device work while the exception keeps its frames.

    ## What it does

    Reports a call of the model, or of a function that works on tensors, inside the `except` body
    that takes an out-of-memory exception (`torch.cuda.OutOfMemoryError`, CuPy's, or a
    `RuntimeError` whose message is tested for "out of memory"), by its own name or by one that a
    file or class of the run has for it. Where the class is out of sight, or any exception is
    taken, and only what the handler itself writes says "out of memory", confidence is medium.

    ## Why is this bad?

    While the handler runs, the exception is alive, and with it its traceback, every frame that it
    passed and every tensor that these frames hold: the activations of the attempt that did not fit.
    `torch.cuda.empty_cache()` cannot return what is still referenced. The second attempt starts
    with less free memory than the first one had, and fails although it would fit.

    ## Example

    ```python
    try:
        output = model(batch)
    except torch.cuda.OutOfMemoryError:
        torch.cuda.empty_cache()
        output = torch.cat([model(part) for part in batch.split(8)])
    ```

    ## Use instead

    ```python
    too_large = False
    try:
        output = model(batch)
    except torch.cuda.OutOfMemoryError:
        too_large = True
    if too_large:
        torch.cuda.empty_cache()
        output = torch.cat([model(part) for part in batch.split(8)])
    ```

    Behind the `except` body the exception is gone, and its frames with it.

    ## Known problems

    A handler that calls only functions of other files that are not in the run is not reported,
    unless the `try` calls the same. Work on tensors that the call moves to the CPU is fine, and so
    is a `try` that does nothing but allocate: no frame but the function's own is kept.

    ## References

    - PyTorch,
      [My out of memory exception handler can't allocate memory](https://docs.pytorch.org/docs/stable/notes/faq.html#my-out-of-memory-exception-handler-can-t-allocate-memory)
    """

    code, name = "GPU604", "retry-inside-except"

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the first device work of each such handler."""
        for retry in facts.lifetimes.retries if facts.lifetimes else ():
            yield self._finding(retry, facts)

    def _finding(self, retry: Retry, facts: FunctionFacts) -> Finding:
        again = "is called again" if retry.same else "does the work once more"
        return self.finding(
            f"`{retry.call}` {again} inside `except {retry.exception}` (line {retry.handler.row}): "
            "until the handler ends, the exception keeps the frames of the attempt that did not "
            "fit, and their tensors; set a flag here and try again after the `except` body",
            filename=facts.filename,
            span=retry.span,
            function=facts.function,
            subject=retry.call,
            advised=True,
            confidence=Confidence.MEDIUM if retry.unsure else None,
            steps=(
                Step(facts.filename, retry.handler, "the exception is taken here"),
                *steps_at(retry.others, "`{text}` is called here too"),
            ),
        )
