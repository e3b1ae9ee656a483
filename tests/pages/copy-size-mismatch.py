import numpy as np
from cuda.bindings import runtime as cudart


def run(n):
    points = np.zeros((n, 3), dtype=np.float32)
    kind = cudart.cudaMemcpyKind.cudaMemcpyHostToDevice
    # @page
    # @good
    cudart.cudaMemcpy(d_points, points.ctypes.data, points.nbytes, kind)
    # @end
    cudart.cudaFree(d_points)
