# options: --device-memory 22GiB
from cuda.bindings import driver as cuda
from cuda.bindings import runtime as cudart


def run(stream):
    status, pool = cudart.cudaDeviceGetDefaultMemPool(0)
    keep = cuda.cuuint64_t(2**64 - 1)
    attribute = cudart.cudaMemPoolAttr.cudaMemPoolAttrReleaseThreshold
    cudart.cudaMemPoolSetAttribute(pool, attribute, keep)
    # @good
    status, tile = cudart.cudaMallocAsync(4 << 30, stream)
    cudart.cudaFreeAsync(tile, stream)
    # @end
    # @page
    cudart.cudaFree(volume)
