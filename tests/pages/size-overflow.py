import numpy
from cuda.bindings import runtime as cudart


def run():
    width, height, channels = 32768, 32768, 4
    # @page
    # @good
    err, d_image = cudart.cudaMalloc(size)
    # @end
    cudart.cudaFree(d_image)
