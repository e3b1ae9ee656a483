# also: GPU101
from cuda.bindings import runtime as cudart


def run(size):
    # @good
    err, base = cudart.cudaMalloc(size)
    # @end
    # @page
