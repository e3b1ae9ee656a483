"""What varies in size leaves holes of 1,984 MiB in PyTorch's cache; ``fragmentation.py [SNAPSHOT]``
writes a snapshot when memory runs out."""

import sys

import torch

GIB, MIB = 1 << 30, 1 << 20
kept = []


def block(size: int) -> torch.Tensor:
    return torch.empty(size, dtype=torch.uint8, device="cuda")


if len(sys.argv) > 1:
    torch.cuda.memory._record_memory_history(max_entries=100_000, stacks="python")
while torch.cuda.mem_get_info()[0] >= 5 * GIB:
    whole = block(4 * GIB)
    del whole
    # Does not fit a hole that an earlier pass left.
    kept.append(block(2 * GIB + 64 * MIB))
try:
    large = block(5 * GIB)
except torch.cuda.OutOfMemoryError:
    if len(sys.argv) > 1:
        torch.cuda.memory._dump_snapshot(sys.argv[1])
    raise
