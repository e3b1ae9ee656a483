"""GPU407: a memset of a value that does not fit into its bytes."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import Fill, FunctionFacts, readable
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Finding
from cudalint_rules._wording import quoted, subject


class MemsetValue(FunctionRule):
    """A memset of a value that does not fit into its bytes.

    ## What it does

    Reports a fill whose value is a floating-point number other than 0, or an integer that does not
    fit into the unit that is written: 0 to 255 for `cudaMemset`, which sets bytes. `-1`, and a
    number whose bytes are all the same, do what they look like.

    ## Why is this bad?

    `cudaMemset(p, 1.0f, n)` converts the value to the integer 1 and writes it into each byte. A
    `float` then reads 2.4e-38, an `int` 16843009. A larger integer loses all but its lowest byte.

    ## Example

    ```cuda
    cudaMemset(d_weights, 1.0f, n * sizeof(float));
    ```

    ```python
    cudart.cudaMemset(d_distance, 1000, n * 4)
    ```

    ## Use instead

    ```cuda
    thrust::fill_n(thrust::device_pointer_cast(d_weights), n, 1.0f);
    ```

    ```python
    cuda.cuMemsetD32(d_distance, 1000, n)
    ```

    ## Known problems

    A value that fits into a byte but was meant for an element, such as `cudaMemset(p, 1, n)` on
    integers, is not reported: flags and masks are set in this way.

    ## References

    - CUDA Runtime API,
      [cudaMemset](https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__MEMORY.html)
    """

    code, name = "GPU407", "memset-value"

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the fills that write something else than they say."""
        for fill in facts.fills:
            message = _message(fill)
            if message:
                yield self.finding(
                    message,
                    filename=facts.filename,
                    span=fill.span,
                    function=facts.function,
                    subject=subject(fill.to.name, fill.api),
                )


def _message(fill: Fill) -> str | None:
    value, width = fill.value, fill.element_bytes
    if value is None or value == 0:
        return None
    unit = "byte" if width == 1 else f"{8 * width}-bit unit"
    text = fill.value_text or str(value)
    if text.isidentifier():
        text += f" ({value})"
    what = f"{readable(fill.api)} sets each {unit} of {quoted(fill.to.name)} to"
    if isinstance(value, float):
        return f"{what} the integer {int(value)}, not each element to {text}"
    written = value % 256**width
    if value == written or _looks_the_same(value, width):
        return None
    return f"{what} {written}: {text} does not fit into 0..{256**width - 1}"


def _looks_the_same(value: int, width: int) -> bool:
    """Whether all the units of a 64-bit integer are equal: -1, 0x3f3f3f3f."""
    for size in (4, 8):
        if size > width and -(256**size) // 2 <= value < 256**size:
            data = (value % 256**size).to_bytes(size, "little")
            return len({data[i : i + width] for i in range(0, size, width)}) == 1
    return value == -1
