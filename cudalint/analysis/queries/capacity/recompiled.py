"""Kernels that a function compiles anew whenever it is called (Numba).

    def scaled(values):
        @cuda.jit
        def scale(out): ...
        scale[blocks, threads](values)

Each call makes another dispatcher, which compiles the kernel and loads a module; the context keeps
all of them until it is reset (``Context.create_module_image`` in numba_cuda's driver.py).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.facts.capacity import RecompiledKernel
from cudalint.analysis.facts.resources import Site
from cudalint.analysis.shape.callgraph import CallGraph
from cudalint.analysis.shape.operations import expressions, operations
from cudalint.analysis.shape.symbols import identity
from cudalint.analysis.shape.walk import is_within
from cudalint.program import Function, FunctionReference, Kernel, Launch, walk

_COMPILED_WHERE_DEFINED = ("numba",)
"""Dialects whose kernels belong to the object that their definition makes."""


def recompiled(run: FunctionRun) -> Iterator[RecompiledKernel]:
    """The kernels that a function defines, launches and lets go of."""
    function = run.function
    if not run.python or function.kind == "module" or function.decorators:
        return
    own = [kernel for kernel in run.program.kernels if _is_within(kernel, function)]
    launched = {
        at.operation.kernel_key
        for at in (operations(function) if own else ())
        if isinstance(at.operation, Launch)
    }
    for kernel in own:
        if (
            kernel.key in launched
            and _is_always_defined(kernel, function)
            and not _is_kept(kernel, function)
        ):
            yield RecompiledKernel(kernel.name, kernel.span, _again(run, function))


def _is_within(kernel: Kernel, function: Function) -> bool:
    return (
        kernel.dialect in _COMPILED_WHERE_DEFINED
        and kernel.filename == function.filename
        and is_within(kernel.span, function.span)
    )


def _is_always_defined(kernel: Kernel, function: Function) -> bool:
    """Whether a kernel is defined among the statements of a function itself, not in a branch, nor
    in a function within it."""
    columns = [at.operation.span.column for at in operations(function)]
    return kernel.span.column - len("def ") <= min(columns)  # its span is that of its name


def _is_kept(kernel: Kernel, function: Function) -> bool:
    """Whether a function does anything with a kernel but to launch it."""
    return any(
        isinstance(part, FunctionReference) and part.key == kernel.key
        for whole in expressions(function)
        for part in walk(whole)
    )


def _again(run: FunctionRun, function: Function) -> Site | None:
    """Where a loop of the run calls a function, or one that calls it."""
    graph, seen = run.symbols.memo(CallGraph), {identity(function)}
    pending = deque(seen)
    while pending:
        for site in graph.sites(pending.popleft()):
            caller = site.caller
            if run.symbols.flow(caller).enclosing.get(site.at.block):
                return Site(caller.filename, site.call.span, caller.name)
            if identity(caller) not in seen:
                seen.add(identity(caller))
                pending.append(identity(caller))
    return None
