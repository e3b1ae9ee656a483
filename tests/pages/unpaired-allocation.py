from cuda.bindings import runtime as cudart


def check(err):
    if err != cudart.cudaError_t.cudaSuccess:
        raise SystemExit(err)


def render(tile):
    cudart.cudaMemset(tile, 0, 4096)


def draw(size):
    # @good
    err, d_tile = cudart.cudaMalloc(size)
    check(err)
    # @end
    # @page
