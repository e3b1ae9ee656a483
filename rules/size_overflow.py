"""GPU505: a size computed in too narrow an integer."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, NarrowSize, Overflow, readable
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity, Step
from cudalint.project.units import size_text
from cudalint.source import Span
from cudalint_rules._wording import quoted, subject


class SizeOverflow(FunctionRule):
    """A size computed in too narrow an integer.

    ## What it does

    Computes the size of each allocation and copy as C++ does, in the types of its operands, and
    reports a product of constants that does not fit before it is widened to `size_t`. NumPy's
    fixed-width integers are computed in the same way.

    With low confidence (`--preview`) it tells of two products whose factors are not known, too: a
    number of mebibytes or more in 32 bits, and the sum of several allocations in 32 bits, compared
    with something, where each of these is computed in more.

    ## Why is this bad?

    The product of two `int` is an `int`. Beyond 2147483647 it wraps: to a negative number, which as
    a `size_t` is larger than any memory, or to a small positive one, which allocates happily and is
    overrun by the first kernel.

    ## Example

    ```cuda
    const int width = 32768, height = 32768, channels = 4;
    cudaMalloc(&d_image, width * height * channels);
    ```

    ```python
    size = numpy.int32(width) * numpy.int32(height) * numpy.int32(channels)
    err, d_image = cudart.cudaMalloc(size)
    ```

    ## Use instead

    ```cuda
    cudaMalloc(&d_image, static_cast<size_t>(width) * height * channels);
    ```

    ```python
    size = int(width) * int(height) * int(channels)
    ```

    Putting `sizeof` first has the same effect, since it is a `size_t`:
    `sizeof(float) * width * height`.

    ## Known problems

    Only constants prove an overflow; any other product of `int` parameters that could overflow is
    not reported.

    ## References

    - SEI CERT C,
      [INT30-C: Ensure that unsigned integer operations do not wrap](https://wiki.sei.cmu.edu/confluence/x/QtYxBQ)
    """

    code, name = "GPU505", "size-overflow"
    severity = Severity.ERROR

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield each overflowing size once, at its first use."""
        uses: dict[Overflow, list[tuple[Span, str, str]]] = {}
        for allocation in facts.allocations:
            if allocation.overflow:
                use = (allocation.span, allocation.resource.api, allocation.resource.name)
                uses.setdefault(allocation.overflow, []).append(use)
        for copy in facts.transfers:
            if copy.overflow:
                use = (copy.span, copy.api, copy.to.name)
                uses.setdefault(copy.overflow, []).append(use)
        for overflow, places in uses.items():
            uses_in_order = sorted(places)
            span, api, name = uses_in_order[0]
            others = uses_in_order if overflow.span else uses_in_order[1:]
            size = f"{overflow.value} ({size_text(overflow.value)})"
            what = f"the size {quoted(overflow.text)} of {readable(api)}"
            yield self.finding(
                f"{what} is {size}, which does not fit into {quoted(overflow.type)}",
                filename=facts.filename,
                span=overflow.span or span,
                function=facts.function,
                subject=subject(name, api),
                steps=tuple(
                    Step(facts.filename, use, f"{readable(user)} uses this size")
                    for use, user, _ in others
                ),
            )
        known = {use for places in uses.values() for use, _, _ in places}
        known |= {allocation.span for allocation in facts.allocations if allocation.bytes}
        known |= {copy.span for copy in facts.transfers if copy.bytes}
        for narrow in facts.narrow:
            if narrow.span not in known:
                yield self._may_wrap(narrow, facts)

    def _may_wrap(self, narrow: NarrowSize, facts: FunctionFacts) -> Finding:
        of = f"the size of {readable(narrow.api)}" if narrow.api else "what is compared here"
        return self.finding(
            f"{quoted(narrow.text)}, {of}, is computed in {quoted(narrow.type)}: it wraps where"
            f" {quoted(narrow.unknown)} is {narrow.wraps_from} or more",
            filename=facts.filename,
            span=narrow.span,
            function=facts.function,
            subject=subject(narrow.text, narrow.api or "compared"),
            severity=Severity.WARNING,
            confidence=Confidence.LOW,
        )
