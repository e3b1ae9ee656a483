"""GPU504: the allocator's cache is emptied again and again."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import CacheFlush, FunctionFacts, readable
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Step
from cudalint.findings.repair import MoveBehind


class CacheFlushInLoop(FunctionRule):
    """The allocator's cache is emptied in a loop.

    ## What it does

    Reports `torch.cuda.empty_cache()`, CuPy's `free_all_blocks()`, and helpers of the project that
    do little else, where they run in every iteration of a loop over batches, in a module's
    `forward`, or in a method that a training framework calls for every batch (`step`,
    `training_step`, `on_train_batch_end`, ...) of a class of that framework. With `--preview` only:
    a loop over what is called as devices or weights are, one whose iterations call the function
    itself, one that flushes for each request of a kind, and a method that has a loop beside it.

    ## Why is this bad?

    PyTorch and CuPy keep freed blocks to hand them out again at once. Giving them back to the
    driver makes the next iteration pay for `cudaFree` and `cudaMalloc`, which wait for the whole
    device; it frees nothing that the program itself could not have reused, and memory that is
    still referenced stays where it is.

    ## Example

    ```python
    for batch in loader:
        loss = criterion(model(batch.cuda()), target)
        loss.backward()
        optimizer.step()
        torch.cuda.empty_cache()
    ```

    ## Use instead

    ```python
    for batch in loader:
        loss = criterion(model(batch.cuda()), target)
        loss.backward()
        optimizer.step()
    torch.cuda.empty_cache()  # once, before another phase or another process needs the memory
    ```

    ## Fix

    - Unsafe: a flush in the loop's body, or in that of one inside, is made once, after the loop: it
      may have kept a program within memory that was full.

    ## Known problems

    Silent where it is deliberate: after an exception, under a condition that is not about the
    device (every hundredth batch, an option), in a loop whose iterations are whole phases: with a
    loop of their own (epochs), with a loader that is handed to a function, or a data set to a
    method that goes over it, with a model that is built, loaded or spread over devices (a
    comparison of models), or with a peak that is measured; in a loop over variants that stand in
    the source, and in one over the weights of a checkpoint, which are loaded once.
    Where another process shares the device, flushing in the loop may be right: suppress it there.

    ## References

    - PyTorch, [CUDA semantics: memory management](https://docs.pytorch.org/docs/stable/notes/cuda.html#memory-management)
    - CuPy, [Memory management](https://docs.cupy.dev/en/stable/user_guide/memory.html)
    """

    code, name = "GPU504", "cache-flush-in-loop"

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the flushes that are repeated."""
        for flush in facts.capacity.flushes if facts.capacity else ():
            yield self.finding(
                f"{_what(flush)} in {_where(flush, facts)}: the next one has to allocate "
                "everything anew, and waits for the device",
                filename=facts.filename,
                span=flush.span,
                function=facts.function,
                subject=readable(flush.through or flush.api),
                confidence=Confidence.LOW if flush.unsure else None,
                steps=(Step(facts.filename, flush.repeated, _repeated(flush)),),
                repair=_repair(flush),
            )


def _repair(flush: CacheFlush) -> MoveBehind | None:
    """What a helper does besides may be needed in every iteration."""
    if flush.place != "loop" or flush.through:
        return None
    return MoveBehind(flush.span, flush.repeated)


def _what(flush: CacheFlush) -> str:
    if flush.through:
        return f"`{flush.through}` empties the allocator's cache"
    return f"{readable(flush.api).lstrip('.')} empties the allocator's cache"


def _where(flush: CacheFlush, facts: FunctionFacts) -> str:
    if flush.place == "loop":
        return "every iteration"
    return f"every call of `{facts.function}`"


def _repeated(flush: CacheFlush) -> str:
    return "the loop" if flush.place == "loop" else "called for every batch"
