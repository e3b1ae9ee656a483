from cuda.bindings import driver as cuda
from cuda.bindings import runtime as cudart


def run(n):
    err, d_distance = cudart.cudaMalloc(n * 4)
    # @page
    cudart.cudaFree(d_distance)
