# also: GPU503
from cuda.bindings import runtime as cudart


def downsample(level, width):
    cudart.cudaMemset(level, 0, width)


def build(pyramid):
    # @page
