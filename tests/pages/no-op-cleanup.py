from cuda.bindings import runtime as cudart


def relax(grid, n):
    cudart.cudaMemset(grid, 0, n)


def solve(size, n):
    # @good
    err, d_grid = cudart.cudaMalloc(size)
    # @end
    # @page
