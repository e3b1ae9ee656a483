"""Each step loses its scratch memory."""

import sys

from cuda.bindings import runtime

GIB = 1 << 30


def step() -> bool:
    status, scratch = runtime.cudaMalloc(GIB)
    return int(status) == 0 and int(scratch) != 0


done = 0
while step():
    done += 1
sys.exit(f"out of memory in step {done}")
