"""Holds a share of the device until its standard input ends: ``holder.py SHARE``."""

import sys

from cuda.bindings import runtime

runtime.cudaFree(0)
_, free, total = runtime.cudaMemGetInfo()
share = float(sys.argv[1])
if share:
    status, held = runtime.cudaMalloc(int(total * share))
    if int(status):
        sys.exit("out of memory")
print("ready", int(total * share), flush=True)
sys.stdin.read()
