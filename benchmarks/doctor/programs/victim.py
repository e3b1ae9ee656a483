"""Wants most of a device of which somebody else holds most."""

import sys

from cuda.bindings import runtime

runtime.cudaFree(0)
_, free, total = runtime.cudaMemGetInfo()
status, mine = runtime.cudaMalloc(total // 2)
if int(status):
    sys.exit("out of memory")
runtime.cudaFree(mine)
