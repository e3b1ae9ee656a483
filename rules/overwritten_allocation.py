"""GPU104: the only pointer to an allocation is overwritten."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import ClassFacts, FunctionFacts, Leak, LeakExit, part_of
from cudalint.analysis.rules import ClassRule, FunctionRule
from cudalint.findings.finding import Confidence, Defect, Finding, Severity
from cudalint_rules._leak_wording import Wording, leak_finding, overwriting
from cudalint_rules._leaks import OVERWRITTEN, leaks_of
from cudalint_rules._wording import places, quoted, steps_at


class OverwrittenAllocation(FunctionRule, ClassRule):
    """The only pointer to an allocation is overwritten.

    ## What it does

    Reports memory or a handle whose only pointer gets another value while it is still owned: set to
    null, pointed elsewhere, or acquired anew by the next iteration or a retry. The same goes for a
    member that an assignment operator overwrites, or a method that releases it on another way, and
    that the destructor releases. An allocation in a loop that nothing ever releases is GPU101. With
    low confidence (`--preview`): methods of headers that would do so if they were called twice.

    ## Why is this bad?

    The release that follows frees only the last of them, so the code looks paired and is not. What
    the loop leaves behind grows with the number of iterations.

    ## Example

    ```cuda
    for (const Level& level : pyramid) {
        cudaMalloc(&d_level, level.bytes);
        downsample<<<level.grid, block>>>(d_level, level.width);
    }
    cudaFree(d_level);
    ```

    ```python
    for level in pyramid:
        err, d_level = cudart.cudaMalloc(level.size)
        downsample(d_level, level.width)
    cudart.cudaFree(d_level)
    ```

    ## Use instead

    ```cuda
    cudaMalloc(&d_level, pyramid.front().bytes);  // the largest, once
    for (const Level& level : pyramid) downsample<<<level.grid, block>>>(d_level, level.width);
    cudaFree(d_level);
    ```

    ```python
    for level in pyramid:
        err, d_level = cudart.cudaMalloc(level.size)
        try:
            downsample(d_level, level.width)
        finally:
            cudart.cudaFree(d_level)
    ```

    ## Fix

    - Unsafe: in C++, what a variable holds is released before it gets another value; in a loop,
      where it is declared with null in it.

    ## Known problems

    A copy of the pointer that was kept in a place which cudalint cannot follow (an integer, a
    serialised message) is not seen.

    Of a global it is told what a function puts over its own, there or when it runs again; not what
    two functions put over each other's, nor where one that is out of sight may have emptied it.

    ## References

    - CUDA C++ Programming Guide,
      [Device Memory](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#device-memory)
    """

    code, name = "GPU104", "overwritten-allocation"

    def check(self, facts: FunctionFacts | ClassFacts) -> Iterator[Finding]:
        """Yield the resources whose last pointer a function, or a method of a class, overwrites."""
        if isinstance(facts, ClassFacts):
            yield from self._members(facts)
            return
        yield from self._assignments(facts)
        for leak, verdict, last in leaks_of(OVERWRITTEN, facts):
            yield leak_finding(self, facts, leak, verdict, last, _overwritten(leak, facts))

    def _assignments(self, facts: FunctionFacts) -> Iterator[Finding]:
        for one in facts.overwritten:
            where = places([one.destructor], facts.filename)
            yield self.finding(
                f"{quoted(one.member)} is overwritten while the object may still own what it holds:"
                f" the destructor of {quoted(one.record.name)} ({where}) frees only the last",
                filename=facts.filename,
                span=one.span,
                function=facts.function,
                subject=f"{one.record.name}.{one.member}",
                steps=steps_at([one.destructor], "{text} releases the last value only"),
            )

    def _members(self, facts: ClassFacts) -> Iterator[Finding]:
        certain = [(one, Confidence.MEDIUM) for one in facts.overwritten]
        possible = [(one, Confidence.LOW) for one in facts.overwritable]
        for again, confidence in (*certain, *possible):
            resource, member = again.resource, part_of(again.member)
            last = {**facts.released_elsewhere, **facts.released_by_destructor}.get(member)
            if last is None:
                continue  # Nothing releases it at all: GPU105.
            file, other = resource.filename, [again.released] if again.released else []
            there = f"; it does so on another way ({places(other, file)})" if other else ""
            message = f"{resource} replaces what {quoted(again.member)} may still own: "
            message += f"{quoted(again.method)} does not release it first{there}"
            calls = (again.again,) if again.again else ()
            for call in calls:
                twice = f"calls it more than once ({places([call], file)})"
                message += f", and {quoted(call.text)} {twice}"
            message += ", should it run twice" if confidence is Confidence.LOW else ""
            yield self.finding(
                f"{message}; {places([last], file)} frees only the last",
                filename=file,
                span=resource.span,
                function=again.method,
                subject=f"{facts.record.name}.{again.member}",
                steps=(
                    *steps_at(calls, "{text} calls it again"),
                    *steps_at(other, "{text} releases it here, on another way"),
                    *steps_at([last], "{text} releases the last value only"),
                ),
                severity=Severity.INFO if confidence is Confidence.LOW else None,
                confidence=confidence,
                defect=Defect(f"{again.method}: renews", facts.record.span, again.member),
            )


def _overwritten(leak: Leak, facts: FunctionFacts) -> Wording:
    def say(exits: tuple[LeakExit, ...]) -> str:
        here, end = facts.filename, exits[0].span  # what is released above is so on other paths
        later = [one for one in leak.released if one.filename != here or one.span > end]
        late = f"; the release at {places(later, here)} comes too late for it" if later else ""
        return f"{leak.resource} {overwriting(leak, exits[0])}{late}"

    return say
