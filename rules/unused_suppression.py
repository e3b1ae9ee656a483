"""GPU001: a suppression that suppresses nothing."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FileFacts
from cudalint.analysis.rules import FileRule
from cudalint.findings.finding import Finding, Severity
from cudalint.findings.repair import DropSuppression
from cudalint.findings.suppressions import UnusedSuppression
from cudalint_rules._wording import listing


class UnusedSuppressionRule(FileRule):
    """A suppression that suppresses nothing.

    ## What it does

    Reports `cudalint: ignore[...]`, `noqa: GPU...` and `NOLINT(cudalint-...)` comments, or single
    codes of them, that hid no finding in this run, and directives that there are not, such as
    `cudalint: disable[...]`. It runs last, when the findings of all other
    rules are known, and speaks only of rules that were selected.

    ## Why is this bad?

    The defect was mended, or moved to another line, and the comment stayed. It says of correct code
    that it leaks, and it will hide the next finding that happens to appear on its line.

    ## Example

    ```cuda
    cudaMalloc(&d_mask, bytes);  // cudalint: ignore[GPU101] freed by the caller
    blur<<<grid, block>>>(d_image, d_mask, width);
    cudaFree(d_mask);
    ```

    ```python
    err, buffer = cudart.cudaMalloc(size)  # cudalint: ignore[GPU102]
    try:
        fill(buffer)
    finally:
        cudart.cudaFree(buffer)
    ```

    ## Use instead

    ```cuda
    cudaMalloc(&d_mask, bytes);
    blur<<<grid, block>>>(d_image, d_mask, width);
    cudaFree(d_mask);
    ```

    ## Fix

    - Safe: the entries that suppress nothing go, and with the last of them the directive, with its
      comment where there is nothing else in it.

    ## Known problems

    A finding that needs several files may be missing where only one of them is linted; its
    suppression then counts as unused. For a C or C++ file that is named, sources that share headers
    with it are read too, but not all of a large project.
    """

    code, name = "GPU001", "unused-suppression"
    severity = Severity.WARNING

    def check(self, facts: FileFacts) -> Iterator[Finding]:
        """Yield one finding for each comment."""
        for unused in facts.unused_suppressions:
            yield self.finding(
                _message(unused),
                filename=facts.filename,
                span=unused.span,
                subject=",".join(unused.codes) or "all",
                repair=DropSuppression(unused.span, unused.text, unused.codes),
            )


def _message(unused: UnusedSuppression) -> str:
    if unused.unknown_word:
        return (
            f"`{unused.text}` suppresses nothing: `{unused.unknown_word}` is no directive "
            f"(did you mean `{unused.suggestions[0]}`?)"
        )
    if not unused.codes:
        return f"`{unused.text}` names no rule and suppresses nothing: say which, as in [GPU101]"
    idle = [code for code in unused.codes if code not in unused.unknown]
    parts = []
    if idle:
        verb = "is" if len(unused.others) == 1 else "are"
        others = f" ({listing(unused.others)} {verb})" if unused.others else ""
        parts.append(f"there is no {listing(idle)} here to suppress{others}")
    if unused.unknown:
        verb = "is no rule" if len(unused.unknown) == 1 else "are no rules"
        hint = f" (did you mean {listing(unused.suggestions)}?)" if unused.suggestions else ""
        parts.append(f"{listing(unused.unknown)} {verb}{hint}")
    return "; ".join(parts)
