from cuda.bindings import runtime as cudart


def run(size):
    err, compute = cudart.cudaStreamCreate()
    err, cleanup = cudart.cudaStreamCreate()
    err, d_tile = cudart.cudaMallocAsync(size, compute)
    # @page
    cudart.cudaStreamDestroy(cleanup)
    cudart.cudaStreamDestroy(compute)
