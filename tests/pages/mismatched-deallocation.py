from cuda.bindings import runtime as cudart


def load(size):
    # @good
    err, h_frame = cudart.cudaMallocHost(size)
    # @end
    # @page
