import numba
from numba import cuda


@cuda.jit
def prefix_sum(values, sums, size):
    partial = cuda.shared.array(0, numba.float32)
    partial[cuda.threadIdx.x] = values[cuda.grid(1)]
    sums[cuda.grid(1)] = partial[cuda.threadIdx.x]


def run(d_in, d_out, grid):
    size = 1024 * 1024
    stream = cuda.stream()
    # @page
