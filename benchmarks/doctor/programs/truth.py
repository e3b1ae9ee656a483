"""The largest block that can be had, by going down from what is free in steps of a thousandth."""

from cuda.bindings import runtime

runtime.cudaFree(0)
_, free, total = runtime.cudaMemGetInfo()
size = free
while size > 0:
    status, block = runtime.cudaMalloc(size)
    if int(status) == 0:
        runtime.cudaFree(block)
        break
    size -= max(free // 1000, 1)
print(size, flush=True)
