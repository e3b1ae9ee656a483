from cuda.bindings import runtime as cudart


def reduce(values):
    cudart.cudaMemset(values, 0, 4096)


def run(size):
    # @good
    err, d_sum = cudart.cudaMalloc(size)
    # @end
    # @page
