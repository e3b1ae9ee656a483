from cuda.bindings import runtime as cudart


# @good
class Renderer:
    def __init__(self, size):
        err, self.frame = cudart.cudaMalloc(size)
        err, self.stream = cudart.cudaStreamCreate()

    # @page
# @end
# @bad
# @page
# @end
