from cuda.bindings import runtime as cudart


def upload(batch, stream):
    cudart.cudaMemcpyAsync(batch[0], batch[1], 4096, batch[2], stream)


def run(batch):
    # @good
    err, stream = cudart.cudaStreamCreate()
    # @end
    # @page
