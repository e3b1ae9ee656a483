"""How much shared memory a Triton launch needs at least for the tiles that it loads ahead."""

from __future__ import annotations

import math

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.facts.launches import StagedMemory
from cudalint.analysis.shape.arguments import bindings
from cudalint.analysis.values.values import Array, integer
from cudalint.program import Expression, Kernel, Launch, StagedTile, Variable

_DEFAULT_STAGES = 3
"""What Triton takes for an NVIDIA device where a launch does not say."""
_USUAL_ELEMENT = 2
"""Bytes of a half-precision number, which most tiles are made of."""


def staged_memory(
    run: FunctionRun, kernel: Kernel | None, launch: Launch, state: State
) -> StagedMemory | None:
    """The shared memory of a launch's tiles, as far as their extents are constant.

    The pipeliner gives a load as many buffers as there are stages between it and the ``tl.dot``
    that needs it: ``num_stages - 1``, one more where that runs asynchronously. That is the least;
    layouts are padded, and whatever else the kernel keeps comes on top.
    """
    if kernel is None or not kernel.staged:
        return None
    arguments = bindings(launch, kernel.parameters)
    stages: int | None = _DEFAULT_STAGES
    if launch.stages is not None:
        stages = integer(run.evaluator.value(launch.stages, state))
    if stages is None or stages < 2:
        return None
    total, assumed = 0, False
    for tile in kernel.staged:
        elements = _elements(run, tile, arguments, state)
        if elements is None:
            continue
        pointer = arguments.get(tile.pointer)
        array = run.evaluator.value(pointer, state) if pointer is not None else None
        size = array.item_bytes if isinstance(array, Array) else None
        assumed = assumed or size is None
        total += elements * (size or _USUAL_ELEMENT)
    return StagedMemory(total * (stages - 1), stages, assumed) if total else None


def _elements(
    run: FunctionRun, tile: StagedTile, arguments: dict[str, Expression], state: State
) -> int | None:
    extents: list[int] = []
    for extent in tile.extents:
        value = arguments.get(extent.symbol) if isinstance(extent, Variable) else extent
        number = integer(run.evaluator.value(value, state)) if value is not None else None
        if number is None or number <= 0:
            return None
        extents.append(number)
    return math.prod(extents)
