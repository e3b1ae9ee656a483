import numpy as np
from cuda.bindings import runtime as cudart


def run(n):
    result = np.zeros(n, dtype=np.float32)
    err, d_result = cudart.cudaMalloc(result.nbytes)
    cudart.cudaMemset(d_result, 0, result.nbytes)
    # @page
    cudart.cudaFree(d_result)
    return result
