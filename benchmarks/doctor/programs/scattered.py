"""Fills the device with blocks, frees every second one, and holds the rest until its standard input
ends."""

import sys

from cuda.bindings import runtime

BLOCK = 256 << 20

runtime.cudaFree(0)
blocks = []
while True:
    status, block = runtime.cudaMalloc(BLOCK)
    if int(status):
        break
    blocks.append(block)
for block in blocks[::2]:
    runtime.cudaFree(block)
print("ready", len(blocks[::2]) * BLOCK, flush=True)
sys.stdin.read()
