"""GPU101: an allocation that no path releases."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Finding
from cudalint_rules._leak_wording import leak_finding, never_released
from cudalint_rules._leaks import UNPAIRED, leaks_of
from cudalint_rules._owners import owner_findings


class UnpairedAllocation(FunctionRule):
    """An allocation that no path releases.

    ## What it does

    Finds memory (device, pinned, managed, pitched, arrays, pool allocations, registered host
    memory) that a function acquires, keeps to itself, and releases on none of its ways out. Memory
    that is returned, stored in an object, put into a container that outlives the function or handed
    to a class that releases it has another owner and is not reported.

    In Python also an object whose constructor acquires and whose `close` or `__exit__` releases, if
    a function makes one, keeps it to itself and never closes it.

    ## Why is this bad?

    Nobody can free it any more: the pointer is gone and the memory stays taken until the process
    ends. Called once for each frame or request, the function takes the whole device. The most
    frequent form is one of several siblings forgotten.

    ## Example

    ```cuda
    cudaMalloc(&d_image, bytes);
    cudaMalloc(&d_mask, bytes);
    blur<<<grid, block>>>(d_image, d_mask, width);
    cudaFree(d_image);
    ```

    ```python
    err, d_tile = cudart.cudaMalloc(size)
    check(err)
    render(d_tile)
    ```

    ## Use instead

    ```cuda
    cudaFree(d_image);
    cudaFree(d_mask);
    ```

    ```python
    try:
        render(d_tile)
    finally:
        cudart.cudaFree(d_tile)
    ```

    Better still, let an owner do it: `thrust::device_vector`, `std::unique_ptr` with a deleter, or
    a CuPy array.

    ## Fix

    - Safe: where every path that leaves there holds it, the release is added before the end and
      before each `return`, as the function releases its siblings, else by the function of the same
      API.
    - Unsafe: a `return` whose value may depend on the memory is evaluated first; and where a check
      macro leaves the function in between, a `std::unique_ptr` owns it. Where a call of Python may
      raise while it is there, the rest of the function goes into a `try` with the release in its
      `finally`; a Python object that owns memory is opened by a `with`.

    ## Known problems

    A pointer that goes into a function without a body in the run may have a new owner, whatever
    the function is called: unless the function reads it only (`const float*`), is one of a known
    library, says that it has failed, or gets a block elsewhere that is released after, the finding
    is shown with `--preview` alone. A model says which it is (`takes`, `borrows`). A pointer that
    device code stores (`node->rows = rows`) is kept there.

    At the end of `main`, of a test and of a Python module's own code the process ends, and the
    system takes all memory back: there a leak is `info`, unless each iteration of a loop acquires
    another. So is what a C++ function leaves that `main` runs once, itself or through others: no
    more than that is ever lost. A function that several programs of the run call, or a test, counts
    as a library's, and is a warning from a page (4 KiB) on. `compute-sanitizer` reports it too, and
    the code tends to be called in a loop one day. Where the `main` stands in a source that mentions
    no CUDA, it is read with all that call the function, if these are no more than 16.

    So is what a function loses that nothing calls: one that others cannot name (`static`, an
    unnamed namespace), one in the file of a `main`, or a template of which the program of the run
    has no instance.

    An object that is closed on some paths only counts as closed.

    ## References

    - CUDA C++ Programming Guide,
      [Device Memory](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#device-memory)
    """

    code, name = "GPU101", "unpaired-allocation"

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the allocations of a function that nothing releases."""
        for leak, verdict, last in leaks_of(UNPAIRED, facts):
            yield leak_finding(self, facts, leak, verdict, last, never_released(leak, facts))
        yield from owner_findings(self, facts, handles=False)
