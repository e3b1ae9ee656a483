from cuda.bindings import runtime as cudart


def run():
    # @page
    # @good
    cudart.cudaMemset(d_cube, 0, 4 << 30)
    # @end
    cudart.cudaFree(d_cube)
