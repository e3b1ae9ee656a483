import cupy as cp
import numpy as np


def summarise(rows_per_chunk):
    # @good
    host = np.random.rand(10_000, 10_000)
    sums = cp.empty(10_000)
    # @end
    # @page
    return sums
