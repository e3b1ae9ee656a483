import numba
from numba import cuda


# @bad
# @page
    tile[cuda.threadIdx.x, 0] = source[cuda.grid(1)]
    target[cuda.grid(1)] = tile[0, cuda.threadIdx.x]
# @end
# @good
@cuda.jit
def transpose(source, target):
    # @page
    tile[cuda.threadIdx.x, 0] = source[cuda.grid(1)]
    target[cuda.grid(1)] = tile[0, cuda.threadIdx.x]
# @end
