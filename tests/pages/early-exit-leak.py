from cuda.bindings import runtime as cudart


def scale(values, n):
    cudart.cudaMemset(values, 0, n)


def run(size, n):
    # @good
    err, d_out = cudart.cudaMalloc(size)
    # @end
    # @page
