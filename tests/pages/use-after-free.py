from cuda.bindings import runtime as cudart


def read(histogram, size):
    kind = cudart.cudaMemcpyKind.cudaMemcpyDeviceToHost
    err, d_histogram = cudart.cudaMalloc(size)
    # @page
