import numba
from numba import cuda


# @bad
# @page 1-3
    partial[cuda.threadIdx.x] = values[cuda.grid(1)]
    sums[cuda.blockIdx.x] = partial[0]


def run(values, sums, grid):
    # @page 5
# @end
# @good
@cuda.jit
def reduce(values, sums):
    partial = cuda.shared.array(0, numba.float32)
    partial[cuda.threadIdx.x] = values[cuda.grid(1)]
    sums[cuda.blockIdx.x] = partial[0]


def run(values, sums, grid, stream):
    # @page
# @end
